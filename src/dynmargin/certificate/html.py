"""Certificates as a table for notebooks."""

from collections.abc import Mapping, Sequence
from html import escape


def as_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Write what is proven, one row per certificate; all have the same columns."""
    lines = [_line("th", list(rows[0])), *(_line("td", list(row.values())) for row in rows)]
    return f"<table><caption>Certificate</caption>{''.join(lines)}</table>"


def _line(cell: str, texts: list[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
