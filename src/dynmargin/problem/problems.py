"""The problems that a model answers, two-class and joint, and how labels become problems.

`BinaryProblem` and `JointProblem` have the same methods; nothing above this package asks which it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core

Loss = Literal["squared_hinge", "hinge"]
Weights = NDArray[np.float64]
Sides = NDArray[np.signedinteger[Any]]


def label_text(label: Any) -> str:
    """Write a label as users write it: whole numbers without a point; what a terminal would act on is escaped."""
    value = label.item() if isinstance(label, np.number | np.bool_ | np.str_) else label
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return text if (text := str(value)).isprintable() else ascii(text)


def as_labels(classes: NDArray[Any]) -> tuple[Any, ...]:
    """Return labels one by one, as Python's own numbers and text; other types, such as dates, stay NumPy's."""
    return tuple(classes.tolist() if classes.dtype.kind in "fiubUO" else classes)


@dataclass(frozen=True)
class BinaryProblem:
    """One label against another, or against the rest.

    Attributes
    ----------
    positive : object
        The label of the positive side; every other class is on the negative one.
    C_positive, C_negative : float
        The price of a squared slack (of a slack, for the hinge) on either side, class weights included; infinite for
        the hard margin.
    rho : float
        ``intercept_scaling``, the paper's augmentation; 0 without an intercept.
    loss : {"squared_hinge", "hinge"}
        The 2-norm or the 1-norm soft margin.
    free_bias : bool
        Whether the intercept is not regularised, as in SVM-light and LIBSVM; `rho` is 0 then.
    classes : tuple
        All labels that there are; empty if any label but the positive one is on the negative side.

    Examples
    --------
    >>> from dynmargin import PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], ["left", "right", "right"]
    >>> problem = PDMClassifier(C=0.5, class_weight={"left": 2.0}).fit(X, y).certificate_.problem
    >>> str(problem.positive), problem.C_positive, problem.C_negative, problem.rho
    ('right', 0.5, 1.0, 1.0)
    """

    positive: Any
    C_positive: float
    C_negative: float
    rho: float
    loss: Loss = "squared_hinge"
    free_bias: bool = False
    classes: tuple[Any, ...] = ()

    joint: ClassVar[bool] = False

    @property
    def negative(self) -> Any:
        """The label of the negative side when there are two classes; None for all the rest."""
        return next(label for label in self.classes if label != self.positive) if len(self.classes) == 2 else None

    @property
    def hard_margin(self) -> bool:
        """Whether no slack is allowed."""
        return bool(np.isinf(self.C_positive))

    @property
    def title(self) -> str:
        """Which class the problem is about, where that is not all of them."""
        return f"class {label_text(self.positive)} against the rest" if len(self.classes) != 2 else ""

    @property
    def prices(self) -> dict[str, float]:
        """What slacks cost, by whose they are."""
        if len(self.classes) != 2:
            return {"the class": self.C_positive, "the rest": self.C_negative}
        return {
            f"class {label_text(self.positive)}": self.C_positive,
            f"class {label_text(self.negative)}": self.C_negative,
        }

    @property
    def labels(self) -> tuple[Any, ...]:
        """The label of each row of weights."""
        return (self.positive,)

    def numbers(self) -> list[float]:
        """Return the numbers that a digest covers."""
        return [self.rho, self.C_positive, self.C_negative, float(self.loss == "hinge"), float(self.free_bias)]

    def counts_shape(self, n_rows: int) -> tuple[int, ...]:
        """Return the shape of the counts: one per row."""
        return (n_rows,)

    def sides(self, y: Any, sample_weight: Weights | None) -> Sides:
        """Return +1 and -1 for the two sides, 0 for rows of zero weight, which are left out."""
        positive: NDArray[np.bool_] = np.asarray(y) == self.positive
        sides = 2 * positive.view(np.int8) - 1  # takes an eighth of the time of np.where
        if sample_weight is not None:
            sides[sample_weight == 0] = 0
        return sides

    def margins(self, scores: NDArray[np.float64], y: Any) -> NDArray[np.float64]:
        """Return the scores of rows, signed by their sides."""
        return self.sides(y, None) * scores

    def split(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Split weights, whose last coordinate is that of the bias, into weights and intercept."""
        return w[:-1], float(w[-1]) * (1.0 if self.free_bias else self.rho)

    def to_core(self, sides: Sides, sample_weight: Weights | None = None, n_threads: int = 1) -> _core.Problem:
        """State the problem over rows on these sides; passes over them may use so many threads."""
        return _core.Problem(
            sides,
            self.rho,
            self.C_negative,
            self.C_positive,
            sample_weight,
            hinge=self.loss == "hinge",
            free_bias=self.free_bias,
            n_threads=n_threads,
        )


@dataclass(frozen=True)
class JointProblem:
    """Every class against every other, in one space (Kesler's construction).

    The margin of a row is the score of its own class minus the best score of the others. One slack per row makes up for
    what is missing: Crammer and Singer's problem, with squared slacks. It has the methods of `BinaryProblem`.

    Attributes
    ----------
    classes : tuple
        The labels, in the order of the rows of weights.
    costs : tuple of float
        The price of a squared slack for the rows of each class, class weights included; infinite for the hard margin.
    rho : float
        ``intercept_scaling``; 0 without an intercept.

    Examples
    --------
    >>> from dynmargin import PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]], ["up", "right", "down"]
    >>> problem = PDMClassifier(multi_class="joint").fit(X, y).certificate_.problem
    >>> problem.classes, problem.costs
    (('down', 'right', 'up'), (1.0, 1.0, 1.0))
    """

    classes: tuple[Any, ...]
    costs: tuple[float, ...]
    rho: float

    joint: ClassVar[bool] = True
    loss: ClassVar[Loss] = "squared_hinge"
    free_bias: ClassVar[bool] = False
    positive: ClassVar[str] = "all"  # where a class is named
    title: ClassVar[str] = ""

    @property
    def hard_margin(self) -> bool:
        """Whether no slack is allowed."""
        return bool(np.isinf(self.costs[0]))

    @property
    def prices(self) -> dict[str, float]:
        """What slacks cost, by whose they are."""
        return {f"class {label_text(label)}": cost for label, cost in zip(self.classes, self.costs, strict=True)}

    @property
    def labels(self) -> tuple[Any, ...]:
        """The label of each row of weights."""
        return self.classes

    def numbers(self) -> list[float]:
        """Return the numbers that a digest covers."""
        return [self.rho, *self.costs]

    def counts_shape(self, n_rows: int) -> tuple[int, ...]:
        """Return the shape of the counts: one per row and wrong class."""
        return n_rows, len(self.classes)

    def sides(self, y: Any, sample_weight: Weights | None) -> Sides:
        """Return the number of each row's class, from 1; 0 for rows of zero weight, left out, and other labels."""
        labels = np.asarray(y)
        sides: NDArray[np.int32] = np.zeros(len(labels), dtype=np.int32)
        for number, label in enumerate(self.classes, start=1):
            sides[labels == label] = number
        if sample_weight is not None:
            sides[sample_weight == 0] = 0
        return sides

    def margins(self, scores: NDArray[np.float64], y: Any) -> NDArray[np.float64]:
        """Return by how much the own class of each row outscores the best of the others; NaN for other labels."""
        rows, place = np.arange(len(scores)), self.sides(y, None) - 1
        others = scores.copy()
        others[rows, place] = -np.inf
        return np.where(place < 0, np.nan, scores[rows, place] - others.max(axis=1))

    def split(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Split weights, one row per class and the augmented coordinate last, into weights and intercepts."""
        return np.ascontiguousarray(w[:, :-1]), w[:, -1] * self.rho

    def to_core(self, sides: Sides, sample_weight: Weights | None = None, n_threads: int = 1) -> _core.JointProblem:
        """State the problem over rows of these classes; passes over them may use so many threads."""
        return _core.JointProblem(sides, self.rho, np.array(self.costs), sample_weight, n_threads)


Problem = BinaryProblem | JointProblem


def state_problems(
    classes: NDArray[Any],
    C: float,
    class_weights: Weights,
    *,
    rho: float,
    loss: Loss = "squared_hinge",
    free_bias: bool = False,
    joint: bool = False,
) -> list[Problem]:
    """State what is to be solved; against the rest, a class weight counts for its own class only, as in LIBLINEAR."""
    costs = [float(cost) for cost in C * class_weights]
    if joint and len(classes) > 2:
        return [JointProblem(as_labels(classes), tuple(costs), rho)]
    shared: dict[str, Any] = {
        "rho": 0.0 if free_bias else rho,
        "loss": loss if np.isfinite(C) else "squared_hinge",  # without slacks both losses are the same
        "free_bias": free_bias,
    }
    shared["classes"] = as_labels(classes)
    if len(classes) == 2:
        return [BinaryProblem(classes[1], costs[1], costs[0], **shared)]
    return [BinaryProblem(label, cost, C, **shared) for label, cost in zip(classes, costs, strict=True)]


def first_foreign(problem: Problem, y: NDArray[Any], sample_weight: Weights | None) -> int | None:
    """Return the first row whose label is not one of the classes; rows of weight zero may have any."""
    if not problem.classes:
        return None
    foreign = np.ones(len(y), dtype=bool) if sample_weight is None else sample_weight != 0
    for label in problem.classes:
        foreign &= y != label
    return int(foreign.argmax()) if foreign.any() else None


def require_one_kind(problems: Sequence[Problem]) -> None:
    """Refuse problems of one model that differ in more than their classes and costs."""
    if len({(problem.rho, problem.free_bias, problem.loss) for problem in problems}) > 1:
        raise ValueError("the classes of a model need the same loss and the same kind of intercept")


def binary(problems: Sequence[Problem]) -> list[BinaryProblem]:
    """Return problems that are known to be about two sides; a joint one is refused."""
    found = [problem for problem in problems if isinstance(problem, BinaryProblem)]
    if len(found) < len(problems):
        raise ValueError("a joint margin needs rows that fit into memory; train each class against the rest instead")
    return found


def require_two_classes(classes: NDArray[Any]) -> None:
    """Refuse labels that leave nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(f"there is only one class, {label_text(classes[0])}; a classifier needs two or more")


def require_weight_in_every_class(classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> None:
    """Refuse weights that leave no row of some class."""
    if sample_weight is None:
        return
    for label in classes:
        if not sample_weight[y == label].any():
            name = label_text(label)
            raise ValueError(f"all rows of class {name} have weight zero; drop the class, or give it weight")


def distinct(y: NDArray[Any]) -> NDArray[Any]:
    """Return the labels, each once and in order.

    As np.unique does, but two labels, the usual case, are found by comparing: a twentieth of the time of hashing.
    """
    first: NDArray[Any] = np.unique(y[:100])
    if len(first) == 2 and ((y == first[0]) | (y == first[1])).all():
        return first
    return np.unique(y)
