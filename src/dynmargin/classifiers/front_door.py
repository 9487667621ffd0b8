"""The front door: the algorithm is chosen for the data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from ..algorithms.registry import ALGORITHMS, find
from ..problem.packed import PackedProblem
from ..problem.problems import Problem, Weights
from ..training.fit import Fit
from ..training.request import Request
from ..training.result import Result
from .fitted import Proven
from .on_disk import FitsOnDisk
from .parameters import Cost, Intercept, Losses, MarginFloor, StopBySettledRows, parameter, words
from .settling import SettlingClassifier


class Chosen:
    """What a fit leaves beside `Fitted`, for type checkers."""

    algorithm_: str


class FrontDoor(Proven, Chosen, Losses, MarginFloor, Intercept, FitsOnDisk):
    """Base of the classifiers that choose among algorithms.

    Parameters
    ----------
    algorithm : {"auto", "newton", "dcd", "pdm"}, default="auto"
        "auto" lets dual coordinate descent, Newton's method and, where both are slow, the perceptron with dynamic
        margin take turns: whichever is expected to close the gap first continues, as the run shows how fast each gap
        falls. Turns are measured in counted work, not in seconds, so the result is the same on every machine. For the
        hard margin it takes the perceptron with dynamic margin where there are more than 30 rows per feature and
        ``epsilon`` is at least 0.001, else dual coordinate descent; for the hinge always the latter.

    Attributes
    ----------
    algorithm_ : str
        The algorithm that had the last turn, and which others had one, or why it was chosen.
    """

    _algorithm = "auto"

    algorithm: Literal["auto", "newton", "dcd", "pdm"] = parameter(
        default="auto", within=[words("auto", "newton", "dcd", "pdm")]
    )

    def _train(self, problem: PackedProblem, request: Request) -> Result:
        _, train = find(self.algorithm)
        result: Result = train(problem, request)
        return result if result.algorithm else replace(result, algorithm=f"{self.algorithm}: as asked")

    def _validated(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], NDArray[Any], Weights | None]:
        losses = ALGORITHMS[self.algorithm].losses
        if self.loss not in losses:
            raise ValueError(
                f"algorithm={self.algorithm!r} needs loss={losses[0]!r}; use 'auto' or 'dcd' for the hinge"
            )
        return super()._validated(X, y, sample_weight)

    def _publish(
        self, fitted: Fit, problems: Sequence[Problem], y: NDArray[Any], sample_weight: Weights | None
    ) -> None:
        self.algorithm_ = fitted.results[0].algorithm  # the first class speaks for all
        super()._publish(fitted, problems, y, sample_weight)


class MaxMarginClassifier(StopBySettledRows, Cost, FrontDoor, SettlingClassifier):
    """Maximum-margin linear classifier by the algorithm that suits the data, with a certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dynmargin import MaxMarginClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MaxMarginClassifier().fit(X, y).algorithm_.partition(":")[0]
    'newton'
    """
