"""Where the pages of the classifiers are, for the links in a notebook."""

from importlib.metadata import metadata


def address() -> str:
    """Return the address of the documentation as the package states it, with a slash at its end."""
    stated = (line.split(", ", 1) for line in metadata("dynmargin").get_all("Project-URL") or [])
    return next((url.rstrip("/") + "/" for name, url in stated if name == "Documentation"), "")


ADDRESS = address()
PAGE = ADDRESS + "api/dynmargin.{estimator_name}.html"
