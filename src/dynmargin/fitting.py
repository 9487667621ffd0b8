"""From rows and labels to a model, without scikit-learn: what ``dynmargin train`` does."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .algorithms import table
from .algorithms.choice import choose
from .data.dataset import Csr, Dataset
from .data.libsvm import format_number
from .joint.problem import JointProblem
from .matrix import as_matrix
from .model import LinearModel
from .one_vs_rest import binary_problems, require_weight_in_every_class, shortfall, train_each
from .outcome import Outcome
from .problem import BinaryProblem, distinct
from .task import Task
from .training import Plan

JOINT_ALGORITHMS = ("pdm", "pdm-succ")  # those that can train all classes at once


@dataclass(frozen=True)
class Settings:
    """What is asked of a fit."""

    algorithm: str = "auto"
    epsilon: float = 0.01
    C: float = 1.0
    bias: float = 1.0  # 0 for none
    class_weights: Mapping[str, float] = field(default_factory=dict)  # by label, as text
    multi_class: Literal["ovr", "joint"] = "ovr"
    max_time: float | None = None  # seconds
    seed: int = 0


@dataclass(frozen=True)
class Fit:
    """A model and how it came about."""

    model: LinearModel
    outcomes: list[Outcome]
    algorithm: str  # with the reason, if it was chosen
    seconds: float

    @property
    def achieved(self) -> bool:
        """Whether epsilon is proven for every class."""
        return all(outcome.certificate.achieved for outcome in self.outcomes)

    @property
    def shortfall(self) -> str | None:
        """What a user should know if it did not end as asked."""
        return shortfall(self.outcomes, self.model.classes)


def label_text(label: Any) -> str:
    """Write a label as in a file of labels: whole numbers without a point."""
    return format_number(label.item() if isinstance(label, np.generic) else label)


def classes_of(dataset: Dataset) -> NDArray[Any]:
    """Give the labels, each once and in order; what cannot be trained on is refused here."""
    y, values = dataset.y, dataset.X.data if isinstance(dataset.X, Csr) else dataset.X
    if y is None:
        raise ValueError("the data have no labels; name their column by --label")
    if len(y) == 0:
        raise ValueError("there are no rows to train on")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"the label of row {row + 1} is {y[row]}, which is no label")
    if not np.isfinite(values).all():
        entry = int(np.flatnonzero(~np.isfinite(values).ravel())[0])
        starts = dataset.X.indptr if isinstance(dataset.X, Csr) else np.arange(len(y) + 1) * values.shape[1]
        row = int(np.searchsorted(starts, entry, side="right"))
        raise ValueError(f"row {row} has the value {values.ravel()[entry]}; all values must be finite")
    classes = distinct(y)
    if len(classes) < 2:
        raise ValueError(f"the labels hold 1 class only ({label_text(classes[0])}); a classifier needs two or more")
    return classes


def fit(
    dataset: Dataset,
    settings: Settings,
    warn: Callable[[str], None],
    sample_weight: NDArray[np.float64] | None = None,
) -> Fit:
    """Train on all classes of the data."""
    started = time.perf_counter()
    classes = classes_of(dataset)
    assert dataset.y is not None
    require_weight_in_every_class(classes, dataset.y, sample_weight)
    weights = _class_weights(classes, settings.class_weights, warn)
    free_bias = settings.algorithm == "decomposition"
    problems: Sequence[BinaryProblem | JointProblem]
    joint = settings.multi_class == "joint" and len(classes) > 2
    if joint:
        if settings.algorithm not in ("auto", *JOINT_ALGORITHMS):
            raise ValueError(f"--multi-class joint is for {' and '.join(JOINT_ALGORITHMS)}, not {settings.algorithm}")
        problems = [JointProblem.of(classes, settings.C, weights, settings.bias)]
    else:
        problems = binary_problems(classes, settings.C, weights, settings.bias, free_bias)
    plan = Plan(settings.epsilon, "certificate", "fast", settings.seed, started=started, warn=warn)
    chosen: list[str] = []

    def train(task: Task, plan: Plan) -> Outcome:
        name, reason = settings.algorithm, "as asked"
        if name == "auto":
            name, reason = (JOINT_ALGORITHMS[0], "for a joint margin") if joint else choose(task, plan.epsilon)
        chosen.append(f"{name} ({reason})")
        return table.find(name)(task, plan)

    outcomes = train_each(as_matrix(dataset.X), dataset.y, sample_weight, problems, plan, settings.max_time, train)
    certificates = tuple(outcome.certificate for outcome in outcomes)
    model = LinearModel(
        classes,
        np.vstack([certificate.weights for certificate in certificates]),
        np.hstack([certificate.intercept for certificate in certificates]),
        settings.bias,
        certificates,
        dataset.feature_names,
        dataset.first_index,
        {
            "algorithm": chosen[0],
            "epsilon": settings.epsilon,
            "C": settings.C,
            "class_weights": dict(settings.class_weights),
            "multi_class": settings.multi_class,
            "seed": settings.seed,
            "stop_reason": max(outcomes, key=lambda outcome: outcome.certificate.gap).stop_reason,
        },
    )
    return Fit(model, outcomes, chosen[0], time.perf_counter() - started)


def folds(classes: NDArray[Any], y: NDArray[Any], n_folds: int, seed: int) -> NDArray[np.int64]:
    """Assign every row to a fold at random, each class evenly."""
    random, fold = np.random.default_rng(seed), np.empty(len(y), dtype=np.int64)
    begin = 0
    for label in classes:
        members = random.permutation(np.flatnonzero(y == label))
        fold[members] = (begin + np.arange(len(members))) % n_folds
        begin += len(members)
    return fold


def _class_weights(
    classes: NDArray[Any], asked: Mapping[str, float], warn: Callable[[str], None]
) -> NDArray[np.float64]:
    weights = np.ones(len(classes))
    for text, weight in asked.items():
        found = classes == (float(text) if classes.dtype.kind in "fiub" and _is_number(text) else text)
        if not np.any(found):
            warn(f"no row has the label {text} of -w{text}")
        weights[found] *= weight
    return weights


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
