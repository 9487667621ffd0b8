"""The tables in the docs agree with the code: algorithms, their classifiers and options, parameters, stop reasons.

A table stands between ``<!-- its name: begin -->`` and ``<!-- its name: end -->``. To write all of them again:
``python -m tests.test_docs_tables --write``.
"""

import csv
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import geometric_mean, median
from typing import get_args

import pytest

import dynmargin
from dynmargin.algorithms.registry import ALGORITHMS, NAMES, Range
from dynmargin.training.result import StopReason

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def classifiers():
    return {algorithm.estimator: algorithm for algorithm in ALGORITHMS.values()}


def parameters_of(classifier):
    return inspect.signature(getattr(dynmargin, classifier)).parameters


def markdown(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|\n" for cells in lines)


def value(thing):
    return f'"{thing}"' if isinstance(thing, str) else repr(thing)


def yes(condition):
    return "yes" if condition else ""


def title_of(algorithm):
    return algorithm.title + (" (its intercept is not regularised)" if algorithm.free_bias else "")


def estimators():
    """One row per classifier: its algorithm and what it can do."""
    return markdown(
        ["classifier", "algorithm", "hard margin", "hinge loss", "joint margin", "online"],
        (
            [
                f"`{name}`",
                title_of(algorithm),
                yes(not algorithm.soft_only),
                yes("hinge" in algorithm.losses),
                yes("multi_class" in parameters_of(name)),
                yes(algorithm.online),
            ]
            for name, algorithm in classifiers().items()
        ),
    )


def algorithms():
    """One row per algorithm: its names, its classifier and its own parameters."""
    return markdown(
        ["name", "algorithm", "classifier", "parameters of its own"],
        (
            [
                ", ".join(f"`{name}`" for name in (algorithm.name, *algorithm.variants)),
                title_of(algorithm),
                f"`{algorithm.estimator}`",
                ", ".join(f"`{name}={value(option.default)}`" for name, option in algorithm.options.items()),
            ]
            for algorithm in ALGORITHMS.values()
        ),
    )


def options():
    """One row per parameter that only one algorithm has."""
    return markdown(
        ["classifier", "parameter", "allowed", "meaning"],
        (
            [
                f"`{algorithm.estimator}`",
                f"`{name}={value(option.default)}`",
                allowed(option),
                meaning(algorithm.estimator, name).replace("``", "`"),
            ]
            for algorithm in ALGORITHMS.values()
            for name, option in algorithm.options.items()
        ),
    )


def meaning(estimator, parameter):
    """What the documentation of an estimator says of a parameter, on one line."""
    text = re.search(rf"^{parameter} : .*\n((?: {{4}}.*\n)+)", getattr(dynmargin, estimator).__doc__, flags=re.M)
    return " ".join(text[1].split())


def allowed(option):
    words = "True or False"
    if isinstance(option.within, Range):
        low, high, closed = option.within
        words = f"{'at least' if closed in ('left', 'both') else 'above'} {low:g}"
        if high is not None:
            words += f", {'at most' if closed in ('right', 'both') else 'below'} {high:g}"
    elif isinstance(option.within, tuple):
        words = " or ".join(f"`{value(word)}`" for word in option.within)
    return words + "; one per class" * option.per_class + "; None" * option.or_none


def names():
    """One row per name for the command line and `compare`."""
    return markdown(
        ["name", "algorithm", "in Python", "joint margin"],
        (
            [
                f"`{name}`",
                title_of(algorithm),
                f"`{algorithm.estimator}({', '.join(f'{option}={value(it)}' for option, it in fixed.items())})`",
                yes(algorithm.joint),
            ]
            for name, (algorithm, fixed) in NAMES.items()
        ),
    )


def parameters():
    """One row per group of parameters that are not an algorithm's own: which classifiers have them."""
    everyone = [*classifiers(), "MaxMarginClassifierCV"]
    owned = {name for algorithm in ALGORITHMS.values() for name in algorithm.options}
    groups = {}
    for name in dict.fromkeys(name for classifier in everyone for name in parameters_of(classifier)):
        if name not in owned:
            having = tuple(classifier for classifier in everyone if name in parameters_of(classifier))
            groups.setdefault(having, []).append(f"`{name}`")
    return markdown(
        ["parameters", "which classifiers have them"],
        ([", ".join(group), who(having, everyone)] for having, group in groups.items()),
    )


def who(having, everyone):
    lacking = [classifier for classifier in everyone if classifier not in having]
    if not lacking:
        return "all"
    if len(lacking) < len(having):
        return f"all but {listed(lacking)}"
    return listed(having)


def listed(classifiers):
    *most, last = [f"`{classifier}`" for classifier in classifiers]
    return f"{', '.join(most)} and {last}" if most else last


TABLES = {table.__name__: table for table in (estimators, algorithms, options, names, parameters)}
MARKED = re.compile(r"(<!-- (?P<name>\w+): begin -->\n)(?P<table>.*?)(<!-- (?P=name): end -->)", re.DOTALL)
PLACES = [
    pytest.param(match["name"], match["table"], id=f"{page.name}-{match['name']}")
    for page in PAGES
    for match in MARKED.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("name", "table"), PLACES)
def test_a_table_agrees_with_the_code(name, table):
    assert table == TABLES[name](), "python -m tests.test_docs_tables --write"


def test_every_table_is_in_the_docs_and_every_marker_has_its_counterpart():
    assert {place.values[0] for place in PLACES} == set(TABLES)
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert len(re.findall(r"<!-- \w+: begin -->", text)) == len(re.findall(r"<!-- \w+: end -->", text)) == len(PLACES)


def test_the_guide_explains_every_reason_to_stop():
    page = (ROOT / "docs" / "fitting.md").read_text(encoding="utf-8")
    table = page.partition("| reason | what happened |\n")[2].partition("\n\n")[0]
    reasons = [line.split("|")[1] for line in table.splitlines()]
    assert sorted(re.findall(r"\w+", " ".join(reasons))) == sorted(get_args(StopReason))


def test_the_raw_data_of_the_random_problems_give_the_figures_of_the_page():
    """What was not certified counts as the limit of 5 seconds; where no peer got there, there is no ratio."""
    seconds = defaultdict(dict)
    with (ROOT / "docs" / "data" / "speed-random.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            runs = [float(row[f"run_{number}_s"]) for number in (1, 2, 3) if row[f"run_{number}_s"]]
            seconds[row["problem"]][row["library"]] = median(runs) if row["reached"] == "yes" else 5.0
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    for library in ("MaxMargin", "PDM"):
        ratios = [
            times[f"{library} float32"] / min(peers)
            for times in seconds.values()
            if (peers := [time for name, time in times.items() if name.startswith("LinearSVC")])
        ]
        faster = f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"
        assert f"| `{library}Classifier` | {geometric_mean(ratios):.2f} | {faster} | {max(ratios):.2f} |" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_source_files_that_a_page_names_exist(page):
    folders = ("src", "cpp", "tests", "tools", "benchmarks")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.*p*")]
    for name in re.findall(r"`([\w/]+\.(?:hpp|cpp|py))`", page.read_text(encoding="utf-8")):
        assert any(path.as_posix().endswith(f"/{name}") for path in sources), name


def write():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = MARKED.sub(lambda match: match[1] + TABLES[match["name"]]() + match[4], text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} is written")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.test_docs_tables --write")
    write()
