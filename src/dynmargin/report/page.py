"""The whole page: one file that holds its style and its script, and may load nothing."""

import base64
import hashlib
import os
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from ..certificate.verification import Verification
from ..data.atomic import atomic_write
from .markup import Markup, element, joined
from .sections import sections
from .subject import Origin, Subject


def as_page(subject: Subject) -> str:
    """Return the report as the text of an HTML file."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    # Even if some text were taken for markup, no other script than this one would run, and nothing could be loaded.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    title = f"Report: {subject.origin.title}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(style)),
    )
    made = f"Made by dynmargin {version('dynmargin')}. This file needs no network and loads nothing."
    main = element("main", element("h1", title), *sections(subject))
    body = element("body", main, element("footer", made), element("script", Markup(script)))
    return joined(Markup("<!doctype html>\n"), element("html", head, body, lang="en"), Markup("\n"))


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    origin: Origin,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    feature_names: Any = None,
    verification: Verification | None = None,
) -> None:
    """Write the report of a model to one file, as a whole or not at all."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("a report needs matplotlib: pip install matplotlib") from None
    page = as_page(Subject.of(model, origin, X, y, sample_weight, feature_names, verification))
    with atomic_write(path) as file:
        file.write(page.encode())
