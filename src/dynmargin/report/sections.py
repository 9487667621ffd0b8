"""The sections of a report, from top to bottom."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..certificate.certificate import Certificate
from ..problem.problems import label_text
from ..problem.statement import counted, describe, in_percent
from . import measures, pictures
from .labelled import predictions, worst_rows
from .markup import Markup, element, section, table
from .subject import Subject, shown

STRONGEST = 20  # features, with two classes
STRONGEST_OF_CLASS = 5
MOST_CLASSES = 20  # in a table

WHY_IT_ENDED = {
    "certificate": "the gap that was asked for is proven",
    "predictions": "enough predictions are settled",
    "converged": "the algorithm had converged",
    "own_rule": "the algorithm's own rule was satisfied",
    "inseparable": "no margin as large as was asked for exists",
    "infeasible": "the classes cannot be separated",
    "stalled": "the bounds hardly moved any more",
    "max_updates": "the limit on updates was reached",
    "max_time": "the time limit was reached",
    "interrupted": "it was interrupted",
    "callback": "a callback ended it",
    "online": "the rows were presented once",
}


def sections(subject: Subject) -> Iterator[Markup]:
    """Return all that there is to say."""
    yield key_figures(subject)
    yield training(subject)
    yield certificate(subject)
    yield features(subject)
    if subject.y is not None:
        yield predictions(subject)
        yield worst_rows(subject)
    yield verification(subject)


def key_figures(subject: Subject) -> Markup:
    """Return the few numbers that matter most."""
    found, figures = subject.model.certificate, []
    if found is not None and found.gap < 1:
        figures.append(("Proven within", f"{gap_text(found.gap)} of the best margin"))
    if subject.y is not None:
        right = int((subject.predicted == subject.actual).sum())
        figures.append((f"Right, of {len(subject.y):,} rows", f"{in_percent(right / len(subject.y), 2)}"))
    figures += [("Classes", f"{len(subject.classes):,}"), ("Features", f"{subject.model.n_features:,}")]
    return element(
        "dl", *(element("div", element("dt", what), element("dd", much)) for what, much in figures), class_="key"
    )


def training(subject: Subject) -> Markup:
    """Say what was trained on what."""
    model = subject.model
    facts: list[tuple[str, Any]] = [("Classes", _listed(subject.classes))]
    if model.certificates:
        facts.append(("Trained on", f"{model.certificates[0].counts.shape[0]:,} rows"))
    facts.append(("Features", f"{model.n_features:,}{'' if subject.feature_names is None else ', with names'}"))
    known = dict(model.parameters)
    trained_by = [label_text(known[name]) for name in ("estimator", "algorithm") if known.get(name) is not None]
    facts.append(("Trained by", ", ".join(trained_by) or "not recorded"))
    if model.certificates:
        problem = describe([one.problem for one in model.certificates]).partition("; ")[2]
        facts.append(("Problem", problem if model.scaling is None else f"{problem}; rows scaled: {model.scaling}"))
    if "stop_reason" in known:
        reason = known.pop("stop_reason")
        facts.append(("Ended because", WHY_IT_ENDED.get(reason, reason)))
    for name in ("epsilon", "seed", "random_state", "search"):
        if known.get(name) is not None:
            facts.append((name.replace("_", " "), label_text(known[name])))
    if model.certificates:
        support = np.unique(np.concatenate([one.counts.rows for one in model.certificates]))
        facts.append(("Rows with a count", f"{len(support):,}: they alone prove the upper bound"))
    if subject.origin.digest:
        facts.append(("Digest of the file", element("code", subject.origin.digest)))
    rows = [[name, value] for name, value in facts]
    return section("What was trained on what", table(None, rows, "The model and its training"), _about_rows(subject))


def _about_rows(subject: Subject) -> Markup:
    """Say which rows the page shows."""
    if subject.X is None:
        return element("p", "No data were given for this page, so it says nothing about errors.", class_="note")
    text = f"This page shows {subject.X.shape[0] + subject.left_out:,} rows of {subject.origin.data}. "
    if subject.y is None:
        text += "They have no labels, so nothing can be said about errors."
    elif subject.verification is None:
        text += "Whether the model was trained on them is not known."
    elif subject.verification.verdict == "other data":
        text += f"They are not the data that the model was trained on: {subject.verification.detail}."
    else:
        text += "The model was trained on them: errors on new rows may be more frequent."
    if subject.left_out:
        text += f" {counted(subject.left_out, 'row')} had a label that the model does not know and are left out."
    return element("p", text, class_="note")


def gap_text(gap: float) -> str:
    """Write a gap in per cent, rounded up to two digits; what is hardly above zero is at most 0.001 %."""
    if gap <= 1e-5:
        return "0.001 %"
    unit = 10.0 ** (np.floor(np.log10(gap)) - 1)
    return f"{100 * np.ceil(round(gap / unit, 6)) * unit:.6g} %"


def in_words(found: Certificate) -> list[Markup]:
    """Put a certificate into words for people who have never heard of one."""
    which = f"For {found.problem.title}, the" if found.problem.title else "The"
    if found.loss == "hinge":
        claim = f"{which} training objective of this classifier is at most {found.primal:.6g}, and no linear classifier"
        claim += f" has one below {found.dual:.6g}."
    else:
        claim = (
            f"{which} {found.margin_name} of this classifier is at least {found.margin:.6g}, and no linear classifier"
        )
        claim += f" has one above {found.upper_bound:.6g} on the same data, at the same price of errors."
    asked = f"{gap_text(found.epsilon)} was asked for."
    if found.gap < 1:
        of = "of the best possible" if found.loss != "hinge" else "of the best possible 1 / sqrt(objective)"
        reached = f"So it is within {gap_text(found.gap)} {of}; {asked}"
    else:
        reached = f"That says little: the bounds are still far apart; {asked}"
    if not found.achieved:
        reached += " That was not reached."
    margin = (
        "The margin is the distance that a classifier keeps between its boundary and the training rows; a row that is"
    )
    margin += (
        " too close, or on the wrong side, costs something instead. Nobody has to be trusted for this: the weights"
    )
    margin += " prove the first number, and integer counts of training rows, which are part of the model, the second."
    limits = "It says nothing about errors on new rows."
    return [element("p", element("strong", claim), " ", reached), element("p", f"{margin} {limits}", class_="note")]


def certificate(subject: Subject) -> Markup:
    """Say and draw what is proven, and how the bounds came together."""
    found = subject.model.certificates
    if not found:
        return section("The certificate", element("p", "This model has no certificate: nothing is proven about it."))
    worst = subject.model.certificate
    assert worst is not None
    words = in_words(worst)
    if len(found) > 1:
        first = f"Each of the {len(found)} classes is told apart from the rest and has a certificate of its own. "
        words.insert(0, element("p", f"{first}This is the one with the largest gap:"))
    drawn: list[Any] = []
    if worst.gap < 1 and worst.margin > 0:
        drawn.append(pictures.certificate(worst) if len(found) == 1 else pictures.gaps(found))
    history = pictures.convergence(subject)
    drawn.append(history or element("p", "How the bounds came together was not recorded.", class_="note"))
    rest: list[Any] = []
    if len(found) > 1:
        shown_ones = sorted(found, key=lambda one: -one.gap)[:MOST_CLASSES]
        rows = [list(one.row().values()) for one in shown_ones]
        which = "every class" if len(rows) == len(found) else f"the {len(rows)} classes with the largest gaps"
        columns = tuple(range(1, len(rows[0])))
        cells = [[shown(row[0]), *row[1:]] for row in rows]
        rest.append(table(list(shown_ones[0].row()), cells, f"What is proven, for {which}", numbers=columns))
    return section("The certificate", *words, element("div", *drawn, class_="figures"), *rest)


def features(subject: Subject) -> Markup:
    """List the strongest features by name."""
    note = (
        "A weight is what one unit of the feature adds to the score. Features on different scales cannot be compared."
    )
    model, labels = subject.model, subject.classes
    if model.scaling is not None:
        note = f"The model scales its rows first ({model.scaling}): a weight is what one unit of a scaled feature adds."
    if subject.two_classes:
        found = measures.strongest(subject, model.coef[0], STRONGEST)
        if not found:
            return section(
                "The strongest features", element("p", "All weights are zero: every row gets the same label.")
            )
        most = max(abs(weight) for _, weight in found)
        rows = [
            [name, f"{weight:+.4g}", labels[int(weight > 0)], _bar(abs(weight) / most, weight < 0)]
            for name, weight in found
        ]
        caption = f"The {len(rows)} largest of {counted(int((model.coef != 0).sum()), 'weight')} that are not zero"
        head = ["feature", "weight", "speaks for", "strength"]
        inside = table(head, rows, caption, numbers=(1,), class_="strength")
    else:
        rows = []
        for label, weights in list(zip(labels, model.coef, strict=True))[:MOST_CLASSES]:
            found = measures.strongest(subject, weights, STRONGEST_OF_CLASS)
            rows.append([label, "; ".join(f"{name} {weight:+.3g}" for name, weight in found) or "none"])
        caption = (
            "The largest weights of each class" if len(labels) == len(rows) else f"Of the first {len(rows)} classes"
        )
        inside = table(["class", "strongest features, with their weights"], rows, caption)
    return section("The strongest features", element("p", note, class_="note"), inside)


def _bar(share: float, against: bool) -> Markup:
    kind = "bar against" if against else "bar"
    return element("span", class_=kind, style=f"width: {max(1, round(100 * share))}%", aria_hidden="true")


def verification(subject: Subject) -> Markup:
    """Say how to verify the model, and whether that has been done."""
    if not subject.model.certificates:
        return section("How to verify it", element("p", "There is nothing to verify: the model has no certificate."))
    words = (
        "This computes both bounds again, from the data and the model alone. It takes no claim of this page, or of the"
    )
    words += " model, on trust, and it needs the very data that the model was trained on."
    parts = [element("p", words), *(element("pre", element("code", line)) for line in subject.commands)]
    found = subject.verification
    if found is not None and found.verdict != "other data":
        proven = "It was done when this page was made" if found else "It failed when this page was made"
        parts.append(
            element(
                "p", element("strong", f"{proven}: {found.verdict}."), f" {found.detail[:1].upper()}{found.detail[1:]}."
            )
        )
    return section("How to verify it", *parts)


def _listed(labels: list[str]) -> str:
    return ", ".join(labels if len(labels) <= MOST_CLASSES else [*labels[:10], f"… ({len(labels)} in all)"])
