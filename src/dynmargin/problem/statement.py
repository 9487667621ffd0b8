"""A problem in words, for verdicts: what was asked, and where it differs from what somebody expects."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from .problems import Problem, label_text
from .wording import wording


def describe(problems: Sequence[Problem]) -> str:
    """Put the problems of a model into words: the classes, the loss, the price of slacks, the intercept."""
    first = problems[0]
    if len(problems) == 1:
        kind = " at once" if first.joint else f", {first.title}" if first.title else ""
        return f"classes {labels_text(first.classes)}{kind}; {_terms(first)}"
    alike: dict[str, list[Any]] = {}  # class weights make different problems
    for problem in problems:
        alike.setdefault(_terms(problem), []).extend(problem.labels)
    terms = "; ".join(alike if len(alike) == 1 else (f"{labels_text(found)}: {text}" for text, found in alike.items()))
    return f"classes {labels_text(first.classes)}, each against the rest; {terms}"


def difference(
    problem: Problem,
    C: float | None = None,
    classes: Collection[Any] | None = None,
    loss: str | None = None,
    intercept_scaling: float | None = None,
) -> str | None:
    """Say where a problem is not the one that is asked about, None where nothing differs."""
    if C is not None and any(price != C for price in problem.prices.values()):
        return f"{_price(problem)}, not C = {label_text(float(C))} for every row"
    if classes is not None and set(problem.classes) != set(classes):
        return f"the classes are {labels_text(problem.classes)}, not {labels_text(classes)}"
    if loss is not None and loss != problem.loss and not problem.hard_margin:  # which is the same for both losses
        return f"the loss is {problem.loss}, not {loss}"
    if intercept_scaling is not None and (problem.free_bias or problem.rho != np.maximum(0.0, intercept_scaling)):
        return f"it has {_intercept(problem.rho, problem.free_bias)}, but {_intercept(intercept_scaling)} was asked for"
    return None


def labels_text(labels: Iterable[Any]) -> str:
    """Write several labels, the first few of many."""
    texts = [among_others(label_text(label)) for label in labels]
    return ", ".join(texts if len(texts) <= 20 else [*texts[:10], f"... ({len(texts)} in all)"]) or "any"


def foreign_text(classes: Iterable[Any], row: int, label: Any) -> str:
    """Say what is wrong with a row, whose label is not one of the classes."""
    known, given, first = list(classes), label_text(label), wording().first_row
    kinds = "; one is text, the other a number" if given in map(label_text, known) else ""
    name = f"row {row + first} (counting from {first})"
    return f"{name} has the label {given}, which is not one of the classes {labels_text(known)}{kinds}"


def among_others(name: str) -> str:
    """Write a name as one of several between commas: in quotes, if it could be taken for several or for less."""
    plain = name and name == name.strip() and not set(name) & set(',"\n')
    return name if plain else '"' + name.replace('"', '""') + '"'


def counted(number: int, noun: str, several: str = "") -> str:
    """Write a number of things: 1 row, 2 rows; `several` is the plural of what takes no s."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"


def in_percent(fraction: "float | np.floating[Any]", digits: int) -> str:
    """Write a fraction in per cent, as in 0.10 %."""
    return f"{fraction:.{digits}%}".replace("%", " %")


def work_text(passes: int, updates: int) -> str:
    """Say how much work a run was."""
    return f"{counted(passes, 'pass', 'passes')}, {counted(updates, 'update')}"


def _terms(problem: Problem) -> str:
    intercept = _intercept(problem.rho, problem.free_bias)
    loss = "hard margin" if problem.hard_margin else problem.loss.replace("_", " ")
    return f"{loss}, {_price(problem)}, {intercept}"


def _intercept(rho: float, free: bool = False) -> str:
    if free:
        return "a free intercept"
    return f"an intercept with scaling {label_text(float(rho))}" if not rho <= 0 else "no intercept"


def _price(problem: Problem) -> str:
    """Write what slacks cost; whole numbers and others with all their digits, so that no two prices look the same."""
    prices = problem.prices
    if len(set(prices.values())) == 1:
        return f"C = {label_text(next(iter(prices.values())))}"
    return "C = " + ", ".join(f"{label_text(price)} for {whose}" for whose, price in prices.items())
