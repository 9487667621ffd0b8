"""What a report is about: a model, perhaps some rows with labels, and what can be said of both."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.verification import Verification
from ..displays.margins import in_units_of
from ..model.linear_model import LinearModel, labels_of
from ..problem.matrix import as_floats
from ..problem.problems import label_text

Values = NDArray[np.float64]

LONGEST_NAME = 60  # characters of a feature or a label that are shown; nobody reads more


def shown(label: Any) -> str:
    """Return a label or a name as text to read: on one line, not too long."""
    text = label_text(label)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


@dataclass(frozen=True)
class Origin:
    """Where model and rows come from, as the reader of a report may know them.

    Attributes
    ----------
    title : str
        What the report calls the model.
    data : str
        What it calls the rows.
    commands : tuple of str
        What verifies the model, on the rows of the report if it was trained on them.
    with_its_data : tuple of str
        What verifies it where these rows are not, or not as they were, what it was trained on.
    digest : str or None
        That of the model's file.
    """

    title: str
    data: str
    commands: tuple[str, ...]
    with_its_data: tuple[str, ...] = ()
    digest: str | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and perhaps rows and their labels; rows whose label the model does not know are left out.

    Attributes
    ----------
    model : LinearModel
        The model.
    origin : Origin
        Where everything comes from.
    X : rows or None
        Some rows.
    y : array or None
        Their labels.
    numbers : array of int
        The number of each row in the data, from 1.
    left_out : int
        How many rows had a label that the model does not know.
    verification : Verification or None
        What came out of verifying the model on these very data.
    feature_names : array of str or None
        The names of the features.
    """

    model: LinearModel
    origin: Origin
    X: Any = None
    y: NDArray[Any] | None = None
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    left_out: int = 0
    verification: Verification | None = None
    feature_names: NDArray[Any] | None = None

    @classmethod
    def of(
        cls,
        model: LinearModel,
        origin: Origin,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        feature_names: Any = None,
        verification: Verification | None = None,
    ) -> "Subject":
        """Gather what there is; labels that are none of the model's classes are set aside.

        `verification` is that of the data, where the rows are only a part of them; otherwise the rows are verified.
        """
        names = model.feature_names if feature_names is None else np.asarray(feature_names)
        if names is not None and names.shape != (model.n_features,):
            raise ValueError(f"feature_names must be {model.n_features} names, one per feature; got {names.shape}")
        if X is None:
            if y is not None:
                raise ValueError("labels without rows say nothing; give X too")
            return cls(model, origin, feature_names=names)
        X = X.tocsr() if hasattr(X, "tocsr") else as_floats(X)
        if y is None:
            return cls(model, origin, X, None, np.arange(1, X.shape[0] + 1), feature_names=names)
        y = np.ravel(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"there are {X.shape[0]} rows and {len(y)} labels")
        if model.certificates and verification is None:
            verification = model.verify(X, y, sample_weight)
        known = np.flatnonzero(np.isin(y, model.classes))
        left_out = len(y) - len(known)
        if left_out:
            X, y = X[known], y[known]
        if len(y) == 0:
            raise ValueError(
                "no row has a label that the model knows" if left_out else "there are no rows to report on"
            )
        return cls(model, origin, X, y, known + 1, left_out, verification, names)

    @property
    def classes(self) -> list[str]:
        """The labels, as text to read."""
        return [shown(label) for label in self.model.classes.tolist()]

    @property
    def commands(self) -> tuple[str, ...]:
        """What verifies the model: not on rows that it was not trained on, or that have no labels."""
        origin, found = self.origin, self.verification
        fails = found is None or found.verdict == "other data"
        return origin.with_its_data if fails and origin.with_its_data else origin.commands

    @property
    def two_classes(self) -> bool:
        """Whether one row of weights tells two classes apart."""
        return len(self.model.coef) == 1

    def feature(self, column: int) -> str:
        """Return the name of a feature: its own, or its number as in the data."""
        if self.feature_names is not None:
            return shown(self.feature_names[column])
        return f"feature {column + (self.model.first_index or 0)}"

    @cached_property
    def rows(self) -> Any:
        """The rows as the weights see them."""
        return self.model._linear(self.X)[0]

    @cached_property
    def scores(self) -> Values:
        """The scores of the rows, one column per row of weights."""
        return self.model.decision_function(self.X).reshape(self.X.shape[0], -1)

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """The number of the class that each row gets."""
        places = np.arange(len(self.model.classes))
        scores = self.scores.ravel() if self.two_classes else self.scores
        return labels_of(scores, places)

    @cached_property
    def actual(self) -> NDArray[np.int64]:
        """The number of each row's own class."""
        order = np.argsort(self.model.classes)
        y: Any = self.y
        found: NDArray[np.int64] = order[np.searchsorted(self.model.classes, y, sorter=order)]
        return found

    @cached_property
    def rivals(self) -> NDArray[np.int64]:
        """The number of the best class that is not a row's own."""
        if self.two_classes:
            return 1 - self.actual
        others = self.scores.copy()
        others[np.arange(len(others)), self.actual] = -np.inf
        found: NDArray[np.int64] = others.argmax(axis=1)
        return found

    @cached_property
    def margins(self) -> Values:
        """How far each row is on the right side: negative where it is misclassified.

        In the units of the certified margin where one certificate is about all classes; otherwise the score of the own
        class minus the best of the others.
        """
        rows = np.arange(len(self.scores))
        if self.two_classes:
            found: Values = np.where(self.actual == 1, 1.0, -1.0) * self.scores.ravel()
        else:
            found = self.scores[rows, self.actual] - self.scores[rows, self.rivals]
        return in_units_of(self.model.certificates[0], found) if self.in_units_of_the_margin else found

    @property
    def in_units_of_the_margin(self) -> bool:
        """Whether the margins of rows can be compared with the certified one."""
        return len(self.model.certificates) == 1

    @property
    def accuracy(self) -> float:
        """The share of rows that get their own label."""
        return float(np.mean(self.predicted == self.actual))

    @cached_property
    def settled_share(self) -> float | None:
        """The share of rows that no more training would classify otherwise; None where that is not known."""
        if self.X is None or not self.model.certificates:
            return None
        try:
            return float(self.model.settled(self.X).mean())
        except ValueError:  # a free intercept
            return None
