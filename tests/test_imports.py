"""Who may import whom, and what is loaded when: a shell user feels start-up time."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import dynmargin
from dynmargin.algorithms.registry import NAMES

ROOT = Path(dynmargin.__file__).parent

# What each package may import beside itself and the core, as its docstring says.
MAY_IMPORT = {
    "theory": set(),
    "problem": set(),
    "certificate": {"problem"},
    "training": {"problem", "certificate", "data"},
    "algorithms": {"theory", "problem", "certificate", "training"},
    "data": {"problem"},
    "model": {"problem", "certificate", "training", "data"},
    "path": {"problem", "certificate", "training", "algorithms", "model"},
    "shards": {"problem", "certificate", "data", "training", "algorithms"},
    "progress": {"problem", "certificate", "training"},
    "displays": {"problem", "certificate", "training", "path"},
    "report": {"problem", "certificate", "training", "data", "model", "displays"},
    "classifiers": {
        *("theory", "problem", "certificate", "training", "algorithms", "data", "model", "path", "progress", "report"),
        "shards",
    },
}
MAY_IMPORT["dask"] = {*MAY_IMPORT["classifiers"], "classifiers", "shards"}
MAY_IMPORT["comparison"] = {*MAY_IMPORT["classifiers"], "classifiers", "displays"}
MAY_IMPORT["paper"] = {*MAY_IMPORT["comparison"], "comparison"}
MAY_IMPORT["cli"] = {*MAY_IMPORT["paper"], "paper", "shards", "dask"}

WITHOUT_SCIKIT_LEARN = (
    "theory",
    "problem",
    "certificate",
    "training",
    "algorithms",
    "data",
    "model",
    "path",
    "progress",
    "shards",
)


def test_the_house_lists_every_folder_below_all_that_it_imports():
    """CONTRIBUTING.md's table of folders is the order in which they rest on each other."""
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| `src/dynmargin/` |")[2].partition("\n\n")[0]
    listed = re.findall(r"`(\w+)/`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert sorted(listed) == sorted(MAY_IMPORT)
    for place, package in enumerate(listed):
        assert MAY_IMPORT[package] <= set(listed[:place]), package
    assert set(listed[: listed.index("displays")]) == set(WITHOUT_SCIKIT_LEARN)


# Where modules of ours are imported by a computed name: the front door, what the registry names, and commands.
BY_NAME = {
    "dynmargin",
    "dynmargin.dask",
    "dynmargin.algorithms.registry",
    "dynmargin.comparison.compare",
    "dynmargin.cli.parser",
    "dynmargin.model.linear_model",  # from a file
    "dynmargin.classifiers.restored",  # to its classifier
}


def module_name(path):
    parts = ["dynmargin", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


@cache
def syntax(name):
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def imports(name):
    """Return all that a module imports: lazily, inside a function, or for type checkers only does not matter."""
    package = name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]
    return imported(syntax(name), package)


def imported(tree, package):
    """Return what a module of a package imports; of a name that is taken from a module, the module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            above = parents[: len(parents) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inner = [f"{base}.{alias.name}" for alias in node.names]
            found |= {name if name in FILES or name == "dynmargin._core" else base for name in inner}
    return found


def ours(name):
    """Return the modules of the package that a module imports, the compiled core left out."""
    return {found for found in imports(name) if found in FILES}


def part(name):
    """Return the folder, or the module at the top, that a module belongs to."""
    return name.split(".")[1] if "." in name else ""


def test_imports_are_found_wherever_they_stand():
    code = """
import numpy as np
from .. import _core, theory
from ..problem.packed import PackedProblem
if TYPE_CHECKING:
    from .certificate import Certificate
def later():
    from . import online
    import sklearn.svm
"""
    assert imported(ast.parse(code), "dynmargin.certificate") == {
        *("numpy", "sklearn.svm", "dynmargin._core", "dynmargin.theory", "dynmargin.problem.packed"),
        *("dynmargin.certificate.certificate", "dynmargin.certificate.online"),
    }


def test_every_part_of_the_package_has_its_place():
    assert {part(name) for name in FILES} - {"", "__main__"} == set(MAY_IMPORT)
    for name in set(MAY_IMPORT) - {"theory"}:
        assert "It may import " in ast.get_docstring(syntax(f"dynmargin.{name}"))


@pytest.mark.parametrize("name", [name for name in FILES if part(name) in MAY_IMPORT])
def test_nothing_imports_what_stands_above_it(name):
    own = part(name)
    assert {part(found) for found in ours(name)} <= {own, *MAY_IMPORT[own]}


def test_the_order_of_the_packages_has_no_cycle():
    list(TopologicalSorter(MAY_IMPORT).static_order())


def test_the_registry_imports_nothing_of_the_package():
    assert ours("dynmargin.algorithms.registry") == set()


def test_no_modules_import_each_other_not_even_lazily():
    try:
        list(TopologicalSorter({name: ours(name) - {name} for name in FILES}).static_order())
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_computed_names_are_imported_in_few_places():
    found = set()
    for name in FILES:
        for node in ast.walk(syntax(name)):
            called = node.func if isinstance(node, ast.Call) else None
            if getattr(called, "attr", getattr(called, "id", "")) in ("import_module", "__import__"):
                wanted = node.args[0].value if isinstance(node.args[0], ast.Constant) else "."
                found |= {name} if wanted.startswith((".", "dynmargin")) else set()
    assert found == BY_NAME


@pytest.mark.parametrize("name", [name for name in FILES if part(name) in WITHOUT_SCIKIT_LEARN])
def test_nothing_below_the_classifiers_imports_scikit_learn(name):
    assert {found.partition(".")[0] for found in imports(name)}.isdisjoint({"sklearn", "joblib"})


def modules_after(code):
    script = f"import sys\n{code}\nprint(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    return set(
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    )


def test_importing_the_package_loads_nothing_heavy():
    assert modules_after("import dynmargin").isdisjoint({"numpy", "scipy", "sklearn"})


def test_every_algorithm_fits_and_is_verified_without_scikit_learn():
    """Nor scipy; "auto" and the others that can also train for a joint margin."""
    code = """
sys.modules["sklearn"] = sys.modules["scipy"] = None  # whoever asks for them fails
import numpy as np
from dynmargin.algorithms.registry import NAMES, find
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import state_problems
from dynmargin.training.fit import fit
from dynmargin.training.request import Request
X, y = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
for name, (algorithm, settings) in NAMES.items():
    options = {"rho": 1.0, "loss": settings.get("loss", "squared_hinge"), "free_bias": algorithm.free_bias}
    for joint in {False, algorithm.joint}:
        problems = state_problems(np.unique(y), 1.0, np.ones(3), joint=joint, **options)
        fitted = fit(as_matrix(X), y, None, problems, Request(), find(name)[1])
        assert all(certificate.verify(X, y) for certificate in fitted.certificates), (name, joint)
    print(name)
sys.modules.pop("sklearn"), sys.modules.pop("scipy")
"""
    loaded = modules_after(code)
    assert set(NAMES) <= loaded  # every name was printed
    assert loaded.isdisjoint({"scipy", "sklearn", "joblib"})


def test_the_commands_need_numpy_only(tmp_path):
    (tmp_path / "data").write_text("1 1:1\n-1 2:1\n")
    data, model = str(tmp_path / "data"), str(tmp_path / "model.npz")
    code = f"""
from dynmargin.cli.main import main
assert main(["train", "-q", {data!r}, {model!r}]) == 0
assert main(["train", "-q", {data!r}, {model!r}, "--algorithm", "pdm"]) == 0
assert main(["predict", "-q", {data!r}, {model!r}]) == 0
assert main(["info", {model!r}]) == 0
assert main(["verify", {model!r}, {data!r}]) == 0
"""
    assert modules_after(code).isdisjoint({"scipy", "sklearn", "pyarrow", "matplotlib", "pandas"})


def test_the_help_does_not_even_need_numpy():
    code = """
from dynmargin.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
"""
    assert "numpy" not in modules_after(code)


def test_names_are_found_and_listed():
    for name in dynmargin.__all__:
        assert getattr(dynmargin, name) is not None
        assert name in dir(dynmargin)
    assert not hasattr(dynmargin, "nothing")


def test_there_is_one_version():
    changelog = (Path(__file__).parent.parent / "CHANGELOG.md").read_text()
    assert f"## {dynmargin.__version__}" in changelog
