"""What is loaded when: a shell user feels start-up time."""

import subprocess
import sys
from pathlib import Path


def modules_after(code):
    script = f"import sys\n{code}\nprint(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    return set(
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    )


def test_importing_the_package_loads_nothing_heavy():
    assert modules_after("import dynmargin").isdisjoint({"numpy", "scipy", "sklearn"})


def test_training_and_verifying_need_numpy_only():
    code = """
import numpy as np
from dynmargin import Schedule, _core
from dynmargin.algorithms.pdm import train_pdm
from dynmargin.matrix import as_matrix
from dynmargin.problem import BinaryProblem
from dynmargin.task import Task
from dynmargin.training import Plan
X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
matrix = as_matrix(X)
task = Task(matrix, _core.pack(matrix), BinaryProblem(1, 1.0, 1.0, 1.0), y)
outcome = train_pdm(task, Plan(0.01, "certificate", Schedule(), seed=0))
assert outcome.certificate.achieved and outcome.certificate.verify(X, y)
"""
    assert modules_after(code).isdisjoint({"scipy", "sklearn"})


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
    import dynmargin

    for name in dynmargin.__all__:
        assert getattr(dynmargin, name) is not None
        assert name in dir(dynmargin)
    assert not hasattr(dynmargin, "nothing")


def test_there_is_one_version():
    import dynmargin

    changelog = (Path(__file__).parent.parent / "CHANGELOG.md").read_text()
    assert f"## {dynmargin.__version__}" in changelog
