"""Certificates as a table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .certificate import Certificate


def certificate_table(certificates: Sequence[Certificate]) -> str:
    """Write a row a certificate: what is proven, and whether that is what was asked for."""
    hinge = certificates[0].loss == "hinge"
    proven = f"{certificates[0].margin_name} proven"
    bounds = ("hinge objective", "none is below") if hinge else (proven, "no classifier has more than")
    head = ["class", *bounds, "gap proven", "gap asked for", "achieved"]
    rows = [
        [
            str(certificate.problem.positive),
            f"{certificate.primal if hinge else certificate.margin:.6g}",
            f"{certificate.dual if hinge else certificate.upper_bound:.6g}",
            f"{certificate.gap:.3g}",
            f"{certificate.epsilon:g}",
            "yes" if certificate.achieved else "no",
        ]
        for certificate in certificates
    ]
    return (
        f"<table><caption>Certificate</caption>{_line('th', head)}{''.join(_line('td', row) for row in rows)}</table>"
    )


def _line(cell: str, texts: list[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
