"""The outcome of checking a certificate: proven, or the reason why not."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Verdict = Literal["proven", "not proven", "altered", "other data", "other problem"]


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate.

    Attributes
    ----------
    verdict : {"proven", "not proven", "altered", "other data", "other problem"}
        "proven" when both bounds hold in real arithmetic for this data; "altered" when the problem, weights or counts
        are not those the certificate was made with; "other data" when the rows, labels or weights are not; "other
        problem" when it is not about the C, classes, loss or intercept asked about; otherwise "not proven".
    margin : float
        The largest margin that the weights prove, or NaN when it was not computed.
    upper_bound : float
        The smallest upper bound that the counts prove, or NaN when it was not computed.
    detail : str
        A sentence on the verdict.
    problem : str
        The problem that the bounds are about, as it was checked; empty when they were not computed.

    Examples
    --------
    >>> from dynmargin import MaxMarginClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], ["left", "right", "right"]
    >>> certificate = MaxMarginClassifier().fit(X, y).certificate_
    >>> verification = certificate.verify(X, y)
    >>> verification.verdict, bool(verification)
    ('proven', True)
    >>> print(verification.problem)
    classes left, right; squared hinge, C = 1, an intercept with scaling 1; 3 rows, 2 features, without sample weights
    >>> print(certificate.verify(X, y, C=10.0))
    other problem: C = 1, not C = 10 for every row
    """

    verdict: Verdict
    margin: float
    upper_bound: float
    detail: str
    problem: str = ""

    def __bool__(self) -> bool:
        return self.verdict == "proven"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.detail}" + (f" ({self.problem})" if self.problem else "")


def unproven(verdict: Verdict, detail: str) -> Verification:
    """Return a verdict for which no bound was computed."""
    return Verification(verdict, np.nan, np.nan, detail)
