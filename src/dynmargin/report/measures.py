"""What is counted and ranked for a report: confusions, curves over thresholds, strong features, the worst rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .subject import Subject, Values

MOST_POINTS = 150  # of a curve; more cannot be seen


class Curve(NamedTuple):
    """The trade-off of one class against the rest, as the threshold of its score falls."""

    label: str
    area: float
    x: Values
    y: Values
    thresholds: Values


class Row(NamedTuple):
    """A row far on the wrong side, and what puts it there."""

    number: int
    actual: int
    predicted: int
    margin: float
    against: list[tuple[str, float]]


def confusions(subject: Subject) -> NDArray[np.int64]:
    """Count the rows by their own class (down) and the predicted one (across)."""
    n = len(subject.classes)
    return np.bincount(subject.actual * n + subject.predicted, minlength=n * n).reshape(n, n)


def curves(subject: Subject) -> tuple[list[Curve], list[Curve]]:
    """Return the ROC and the precision-recall curves: one each for two classes, one per class for more.

    A class that none or all of the rows have has no curve.
    """
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

    roc, precision_recall = [], []
    for column, score in enumerate(subject.scores.T):
        place = 1 if subject.two_classes else column
        positive = subject.actual == place
        if positive.all() or not positive.any():
            continue
        false_alarms, found, thresholds = roc_curve(positive, score)
        roc.append(_thin(subject.classes[place], auc(false_alarms, found), false_alarms, found, thresholds))
        precision, recall, thresholds = precision_recall_curve(positive, score, drop_intermediate=True)
        precision, recall, thresholds = precision[:-1][::-1], recall[:-1][::-1], thresholds[::-1]
        area = average_precision_score(positive, score)
        precision_recall.append(_thin(subject.classes[place], area, recall, precision, thresholds))
    return roc, precision_recall


def strongest(subject: Subject, weights: Values, most: int) -> list[tuple[str, float]]:
    """Return the features with the largest weights that are not zero, by name, the largest first."""
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    return [(subject.feature(int(j)), float(weights[j])) for j in order if weights[j] != 0]


def worst_rows(subject: Subject, most: int, reasons: int) -> list[Row]:
    """Return the rows with the smallest margins, and for each the features that speak most against its label."""
    found = []
    for place in np.argsort(subject.margins, kind="stable")[:most]:
        actual, rival = int(subject.actual[place]), int(subject.rivals[place])
        coef = subject.model.coef
        weights = (2 * actual - 1) * coef[0] if subject.two_classes else coef[actual] - coef[rival]
        columns, values = _entries(subject.rows, int(place))
        part = weights[columns] * values
        order = [int(columns[j]) for j in np.argsort(part, kind="stable")[:reasons] if part[j] < 0]
        own = dict(zip(*(found.tolist() for found in _entries(subject.X, int(place))), strict=True))
        against = [(subject.feature(j), float(own.get(j, 0.0))) for j in order]
        predicted = int(subject.predicted[place])
        found.append(Row(int(subject.numbers[place]), actual, predicted, float(subject.margins[place]), against))
    return found


def _entries(X: Any, row: int) -> tuple[NDArray[Any], Values]:
    """Return the columns and the values of a row."""
    if hasattr(X, "indptr"):
        part = slice(int(X.indptr[row]), int(X.indptr[row + 1]))
        return X.indices[part], np.asarray(X.data[part], dtype=np.float64)
    return np.arange(X.shape[1]), np.asarray(X[row], dtype=np.float64)


def _thin(label: str, area: float, x: Values, y: Values, thresholds: Values) -> Curve:
    """Keep as many points of a curve as can be seen: evenly spaced along it, both ends among them."""
    if len(x) > MOST_POINTS:
        along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
        kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], MOST_POINTS)).clip(0, len(x) - 1))
        x, y, thresholds = x[kept], y[kept], thresholds[kept]
    return Curve(label, float(area), x, y, thresholds)
