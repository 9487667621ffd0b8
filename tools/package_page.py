"""The README as the package index shows it: there, links and pictures need whole addresses.

The build calls `dynamic_metadata`. The address of the repository is the one in pyproject.toml; as long as that is a
placeholder, links become their text and pictures are left out, so that nothing on the page is broken.
"""

import re
from pathlib import Path

PICTURE = re.compile(r"^!\[(?P<text>[^\]]*)\]\((?P<target>[^)]+)\)\n\n?", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)]+)\)")
ABSOLUTE = ("https://", "http://", "#")


def page(readme: str, repository: str, version: str) -> str:
    """Return the text with every relative link made absolute, or plain where the repository has no address yet."""
    known = not repository.split("/")[2].endswith(".invalid")

    def picture(found: re.Match[str]) -> str:
        if found["target"].startswith(ABSOLUTE):
            return found[0]
        return found[0].replace(found["target"], f"{repository}/raw/v{version}/{found['target']}") if known else ""

    def link(found: re.Match[str]) -> str:
        if found["target"].startswith(ABSOLUTE):
            return found[0]
        return f"[{found['text']}]({repository}/blob/v{version}/{found['target']})" if known else found["text"]

    return LINK.sub(link, PICTURE.sub(picture, readme))


def dynamic_metadata(settings, project):
    """Return the field of the metadata that the page is; scikit-build-core calls this."""
    text = page(Path("README.md").read_text(encoding="utf-8"), project["urls"]["Repository"], project["version"])
    return {"readme": {"content-type": "text/markdown", "text": text}}
