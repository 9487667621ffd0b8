"""The loss as a parameter, for the algorithms that know both."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from ..problem import BinaryProblem
from .base import MarginClassifier


class TwoLosses(MarginClassifier):
    """A classifier with the parameter ``loss``, "squared_hinge" or "hinge"."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MarginClassifier._parameter_constraints,
        "loss": [StrOptions({"squared_hinge", "hinge"})],
    }

    loss: Any

    def _problems(
        self, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> list[BinaryProblem]:
        problems = super()._problems(classes, y, sample_weight)
        if np.isinf(self.C):  # without slacks both losses are the same
            return problems
        return [replace(problem, loss=self.loss) for problem in problems]
