"""matplotlib's SVG made fit for a page: text stays text, colours follow the theme, nothing reaches outside."""

import io
import re
from typing import Any
from xml.etree import ElementTree

from ..displays import style
from .markup import Markup

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"

# The colours of pictures by the names that the style sheet gives them, for both themes.
THEMED = {
    style.PROVEN: "proven",
    style.BOUND: "bound",
    style.CHOSEN: "chosen",
    style.INK: "ink",
    style.QUIET: "quiet",
    style.PALE: "pale",
    style.BAND: "band",
    "#000000": "ink",
    "#ffffff": "paper",
}


def as_svg(figure: Any, name: str, described: str) -> Markup:
    """Return a figure as inline SVG; `name` sets its ids apart, `described` is for those who cannot see it.

    The figure is drawn at 72 dots per inch, so that pixels of matplotlib are units of the SVG.
    """
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    for prefix, address in (("", SVG), ("xlink", XLINK)):
        ElementTree.register_namespace(prefix, address)
    root = ElementTree.fromstring(file.getvalue())
    _clean(root, name)
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib.clear()
    root.attrib |= {"viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": described}
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _clean(root: Any, name: str) -> None:
    """Drop what a page has no use for; name ids and colours anew."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    used = set(re.findall(r"#([\w-]+)", " ".join(_references(root))))
    for node in root.iter():
        if "id" in node.attrib:
            if node.attrib["id"] in used:
                node.attrib["id"] = f"{name}-{node.attrib['id']}"
            else:
                del node.attrib["id"]
        if (link := node.attrib.get(f"{{{XLINK}}}href")) is not None:
            node.attrib[f"{{{XLINK}}}href"] = f"#{name}-{link[1:]}"
        if (clip := node.attrib.get("clip-path")) is not None:
            node.attrib["clip-path"] = clip.replace("#", f"#{name}-")
        if "style" in node.attrib:
            node.attrib["style"] = _themed(node.attrib["style"])


def _references(root: Any) -> list[str]:
    names = (f"{{{XLINK}}}href", "clip-path")
    return [node.attrib[name] for node in root.iter() for name in names if name in node.attrib]


def _themed(declarations: str) -> str:
    """Replace colours by those of the theme, and the fonts of matplotlib by that of the page."""
    declarations = re.sub(r"font: ([\d.]+px)[^;]*", r"font-size: \1", declarations)
    return re.sub(r"#[0-9a-f]{6}", lambda found: _colour(found[0]), declarations)


def _colour(colour: str) -> str:
    return f"var(--{THEMED[colour]})" if colour in THEMED else colour
