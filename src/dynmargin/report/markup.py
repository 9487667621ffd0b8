"""HTML that is safe by construction: whatever is not markup already is escaped when it becomes part of some."""

from html import escape
from typing import Any


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


VOID = ("meta", "input", "br")


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element; text is escaped, an attribute that is None or False is left out.

    Underscores in the names of attributes stand for hyphens, one at the end is dropped: ``class_``, ``aria_label``.
    """
    words = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.removesuffix("_").replace("_", "-")
        words.append(f" {key}" if value is True else f' {key}="{escape(str(value))}"')
    opening = f"<{name}{''.join(words)}>"
    return Markup(opening if name in VOID else f"{opening}{joined(*children)}</{name}>")


def joined(*children: Any) -> Markup:
    """Return several pieces one after the other; text among them is escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(str(child)) for child in children))


def section(title: str, *children: Any) -> Markup:
    """Return a section with its heading."""
    name = title.lower().replace(" ", "-")
    return element("section", element("h2", title, id=name), *children, aria_labelledby=name)


def table(
    head: list[Any] | None,
    rows: list[list[Any]],
    caption: str,
    *,
    numbers: tuple[int, ...] = (),
    class_: str | None = None,
) -> Markup:
    """Return a table whose rows are headed by their first cell, in a frame that scrolls where it is too wide.

    `numbers` are the columns to align on the right.
    """

    def cell(i: int, content: Any, head: bool) -> Markup:
        scope = "col" if head else "row" if i == 0 else None
        return element("th" if scope else "td", content, scope=scope, class_="number" if i in numbers else None)

    lines = [element("tr", *(cell(i, content, head=False) for i, content in enumerate(row))) for row in rows]
    titles = [cell(i, content, head=True) for i, content in enumerate(head or ())]
    top = element("thead", element("tr", *titles)) if titles else ""
    inside = element("table", element("caption", caption), top, element("tbody", *lines), class_=class_)
    return element("div", inside, class_="scroll", role="region", tabindex="0", aria_label=caption)
