"""The sections that need rows with labels: predictions, right and wrong, and the worst rows."""

import numpy as np

from ..certificate.settled_share import percent
from ..problem.statement import counted, in_percent
from . import measures, pictures
from .markup import Markup, element, joined, section, table
from .subject import Subject

MOST_CLASSES = 20  # in a table
WORST = 10  # rows
REASONS = 3
WORTH_SAYING = 0.001  # of the rows settled: fewer say that the proof is coarse, nothing about the predictions


def predictions(subject: Subject) -> Markup:
    """Show margins by class, confusions, ROC and precision-recall."""
    roc, precision_recall = measures.curves(subject)
    drawn = [pictures.margins(subject)]
    if roc:
        axes = ("false alarms, in % of the other rows", "found, in % of the class")
        drawn.append(
            pictures.trade_offs("roc", roc, "ROC: found against false alarms", axes, lambda _: ([0, 1], [0, 1]))
        )

        def always(curve: measures.Curve) -> tuple[list[float], list[float]]:
            return [0, 1], [float(curve.y[-1])] * 2

        axes = ("found, in % of the class", "right, in % of those predicted")
        caption = "Precision and recall: right against found"
        drawn.append(pictures.trade_offs("precision-recall", precision_recall, caption, axes, always))
    parts = [confusion(subject), element("div", *drawn, class_="figures")]
    if len(roc) > 1:
        pairs = list(zip(roc, precision_recall, strict=True))[:MOST_CLASSES]
        rows = [[one.label, f"{one.area:.4f}", f"{two.area:.4f}"] for one, two in pairs]
        caption = "Area under the ROC curve and average precision, each class against the rest"
        parts.append(table(["class", "AUC", "average precision"], rows, caption, numbers=(1, 2)))
    return section("Predictions", *parts)


def confusion(subject: Subject) -> Markup:
    """Return the confusion matrix; of many classes, the pairs that are confused most often."""
    counts, labels = measures.confusions(subject), subject.classes
    wrong = int(counts.sum() - np.trace(counts))
    summary = f"{in_percent(subject.accuracy, 2)} of {int(counts.sum()):,} rows are right; {wrong:,} are wrong."
    if (subject.settled_share or 0.0) >= WORTH_SAYING:
        share = percent(subject.settled_share or 0.0)
        summary += f" {share} of the predictions are settled: no more training would change them."
    if len(labels) <= MOST_CLASSES:
        rows = [[labels[i], *(_count(counts[i, j], i == j) for j in range(len(labels)))] for i in range(len(labels))]
        head = [element("span", "is ↓ predicted →"), *labels]
        numbers = tuple(range(1, len(head)))
        inside = table(
            head,
            rows,
            "Confusion matrix: rows by their own class and the predicted one",
            numbers=numbers,
            class_="matrix",
        )
    else:
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[:MOST_CLASSES]
        pairs = [divmod(int(place), len(labels)) for place in order if counts.flat[place]]
        rows = [[labels[i], labels[j], f"{counts[i, j]:,}"] for i, j in pairs]
        inside = table(["is", "predicted", "rows"], rows, "The classes that are confused most often", numbers=(2,))
    return joined(element("p", summary), inside)


def _count(number: int, right: bool) -> Markup:
    kind = "right" if right else "wrong" if number else None
    return element("span", f"{number:,}", class_=kind)


def worst_rows(subject: Subject) -> Markup:
    """List the rows that are furthest on the wrong side."""
    found = measures.worst_rows(subject, WORST, REASONS)
    labels = subject.classes
    rows = [
        [
            f"{row.number:,}",
            f"{labels[row.actual]} → {labels[row.predicted]}",
            f"{row.margin:.4g}",
            "; ".join(f"{name} = {value:.4g}" for name, value in row.against) or "only the intercept",
        ]
        for row in found
    ]
    note = "Rows with the smallest margins, the worst first: mislabelled, or unlike the others of their class?"
    note += " Rows are counted from 1."
    head = ["row", "label → predicted", "margin", "what speaks most against its label"]
    inside = table(head, rows, f"The {counted(len(rows), 'worst row')}", numbers=(2,), class_="worst")
    return section("The worst rows", element("p", note, class_="note"), inside)
