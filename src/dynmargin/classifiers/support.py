"""The counts of all problems as scikit-learn shows them: ``support_`` and ``dual_coef_``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.certificate import Certificate
from ..problem.problems import Problem, Weights


def support_of(
    certificates: Sequence[Certificate],
    scales: Sequence[float | None],
    problems: Sequence[Problem],
    y: NDArray[Any],
    sample_weight: Weights | None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows with a count and their signed counts; `scales` are what a count is worth as a dual weight."""
    parts = [
        certificate.signed_counts(problem.sides(y, sample_weight))
        for certificate, problem in zip(certificates, problems, strict=True)
    ]
    if len(parts) == 1:
        support = parts[0][0].copy()
    else:
        counted = np.zeros(len(y), dtype=bool)
        for rows, _ in parts:
            counted[rows] = True
        support = np.flatnonzero(counted)
    dual_coef = []
    for certificate, scale, (rows, signed) in zip(certificates, scales, parts, strict=True):
        if scale is None:  # t / ‖a‖² scales a to the length of the optimum: a t / ‖a‖² = u / gamma_d there
            upper_bound = certificate.upper_bound
            scale = 1 / (upper_bound * upper_bound * certificate.counts.data.sum()) if 0 < upper_bound < np.inf else 0.0
        if len(parts) == 1:
            dual_coef.append(scale * signed)
        else:
            dual_coef.append(np.zeros((len(signed), len(support))))
            dual_coef[-1][:, np.searchsorted(support, rows)] = scale * signed
    return support, np.vstack(dual_coef)
