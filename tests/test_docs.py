"""The code in the README and the docs runs, links lead somewhere, and docstrings print what they say."""

import doctest
import functools
import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib.pyplot
import pytest

import dynmargin
import dynmargin.dask

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    module.name for module in pkgutil.walk_packages(dynmargin.__path__, "dynmargin.") if "_core" not in module.name
]


OPTIONAL = {
    "sklearn.callback": "scikit-learn has callbacks from 1.9 on",
    "dask": "needs dask",
    "distributed": "needs dask",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, monkeypatch, tmp_path, capsys):
    """Blocks of a page share their names, from top to bottom. A block right after code is what the code prints."""
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code, times, shown in CODE.findall(page.read_text(encoding="utf-8")):
        try:
            exec(compile(code, str(page), "exec"), names)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
            pytest.skip(OPTIONAL[error.name])
        printed = capsys.readouterr().out
        if times:
            printed, shown = (re.sub(r"[\s\d.]+", " ", text) for text in (printed, shown))
        assert not shown or printed == shown


CODE = re.compile(
    r"^```python\n(.*?)^```\n(?:\n(<!-- times vary -->\n)?```\n(.*?)^```\n)?", flags=re.DOTALL | re.MULTILINE
)


def headings(page):
    """The anchors of a page, as GitHub and the site make them from its headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("[CS]*.md")], ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8")):
        place = page.parent / target if target else page
        if target in GENERATED and page.name == "index.md":
            continue  # by the build
        assert place.exists(), target
        if anchor and anchor.startswith("dynmargin."):
            assert anchor in public_names(), anchor
        elif anchor:
            assert anchor in headings(place), f"{target}#{anchor}"


GENERATED = ("gallery/index.rst",)


def public_names():
    names = {f"dynmargin.{name}" for name in dynmargin.__all__} - {"dynmargin.__version__", "dynmargin.theory"}
    parts = {"theory": dynmargin.theory.__all__, "dask": dynmargin.dask.__all__}
    return names | {f"dynmargin.{part}.{name}" for part, its in parts.items() for name in its}


def test_the_reference_has_every_public_name():
    listed = re.findall(
        r"^   ((?:(?:theory|dask)\.)?[A-Za-z]\w*)$", (ROOT / "docs" / "api.rst").read_text(), flags=re.MULTILINE
    )
    assert sorted(f"dynmargin.{name}" for name in listed) == sorted(public_names())


@pytest.mark.parametrize("name", sorted(public_names()))
def test_a_public_name_has_an_example(name):
    if name.startswith("dynmargin.dask."):
        pytest.importorskip("distributed")
    thing = functools.reduce(getattr, name.split(".")[1:], dynmargin)
    assert ">>>" in thing.__doc__


def contents(page):
    """The pages that a page lists in its table of contents."""
    lists = re.findall(r"```{toctree}\n:hidden:\n\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line.rpartition("<")[2].strip(">") for block in lists for line in block.splitlines()]


def test_every_page_is_two_clicks_from_the_first():
    first = contents(ROOT / "docs" / "index.md")
    sections = [ROOT / "docs" / f"{name}.md" for name in first]
    second = [name for section in sections if section.exists() for name in contents(section)]
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert sorted(pages) == sorted({*first, *second} - {"api", "gallery/index"})
    assert len(second) == len(set(second))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_short(page):
    """At most 1,500 words of prose, tables and code apart; lines of at most 120 characters, or one sentence each."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = [line for line in text.splitlines() if not line.startswith(("|", "    "))]
    assert len(re.findall(r"\w[\w'.,-]*", " ".join(prose))) <= 1500
    assert not [line for line in prose if line.startswith("%")]  # to the site that is a comment
    long = [line for line in prose if len(line) > 125 and not line.startswith("![")]
    assert not [line for line in long if re.search(r"[.:;] [A-Z]", line)]


EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("name", ["plot_01_margin", "plot_10_verify_yourself", "plot_12_many_classes"])
def test_an_example_of_the_gallery_runs(name, monkeypatch):
    """Three of them, a few seconds; `make docs` runs all."""
    matplotlib.use("agg")
    script = ROOT / "examples" / f"{name}.py"
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), {"__name__": "__main__"})
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_of_the_gallery_says_what_it_shows(script):
    title, underline = script.read_text(encoding="utf-8").splitlines()[1:3]
    assert title
    assert underline == "=" * len(title)


@pytest.mark.parametrize("module", MODULES)
def test_doctests(module):
    if module.startswith("dynmargin.dask"):
        pytest.importorskip("distributed", reason=OPTIONAL["distributed"])
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_a_figure_still_to_be_filled_in(page):
    assert not re.search(r"\b(FIGURE|TODO|TBD)\b", page.read_text(encoding="utf-8"))
