"""The code in the README and the docs runs, links lead somewhere, and docstrings print what they say."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib
import pytest

import dynmargin

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    module.name for module in pkgutil.walk_packages(dynmargin.__path__, "dynmargin.") if "_core" not in module.name
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_code_of_a_page_runs(page, monkeypatch, tmp_path):
    """Blocks of a page share their names, from top to bottom."""
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        try:
            exec(compile(block, str(page), "exec"), names)
        except ModuleNotFoundError as error:
            if error.name != "sklearn.callback":
                raise
            pytest.skip("scikit-learn has callbacks from 1.9 on")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("module", MODULES)
def test_doctests(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_a_figure_still_to_be_filled_in(page):
    assert not re.search(r"\b(FIGURE|TODO|TBD)\b", page.read_text(encoding="utf-8"))
