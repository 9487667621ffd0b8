"""Type checkers see every public type: mypy --strict and pyright over the README, the gallery and what is below.

    python -m tests.type_checks

They check against the installed package, as a user's editor does. Pyright needs Node.js, and fetches itself the first
time; where it cannot, that is said, and mypy decides alone. Exit code 1 if one of them complains.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

# What each expression is to a type checker.
USES = """
import numpy as np
from numpy.typing import NDArray
from typing import assert_type

import dynmargin
from dynmargin import (
    BinaryProblem, Certificate, Check, CPath, JointProblem, LinearModel, MaxMarginClassifier, NewtonClassifier,
    PDMClassifier, Verification, c_path, load,
)

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
assert_type(NewtonClassifier().fit(X, y), NewtonClassifier)
assert_type(NewtonClassifier().fit(X, y).certificate_, Certificate)
assert_type(NewtonClassifier().fit(X, y).certificate_.verify(X, y), Verification)
PDMClassifier().fit(X, y).certificate_.verify(X, y)
assert_type(MaxMarginClassifier().fit(X, y).coef_, NDArray[np.float64])
assert_type(MaxMarginClassifier().fit(X, y).history_, list[Check])
assert_type(MaxMarginClassifier().fit(X, y).settled(X), NDArray[np.bool_])
assert_type(load("model.npz"), LinearModel)
assert_type(load("model.npz").certificate, Certificate | None)
assert_type(load("model.npz").score(X, y), float)
assert_type(load("model.npz").verify(X, y).verdict == "proven", bool)
assert_type(c_path(X, y), CPath)
assert_type(c_path(X, y).at(1.0), LinearModel)
assert_type(dynmargin.theory.pdm_update_bound(10.0, 1.0, 0.1), float)
assert_type(dynmargin.theory.pdm_update_bound(10.0, 1.0, np.array([0.1, 0.2])), NDArray[np.float64])
"""

# Calls that a type checker refuses, each of them.
WRONG = """
from dynmargin import MaxMarginClassifier, NewtonClassifier, PDMClassifier

PDMClassifier(epsilonn=0.1)
MaxMarginClassifier(0.1, c=1.0)
NewtonClassifier(C="large")
"""
# To mypy the constructor of a class with a base of no type takes anything, and scikit-learn has no types. So it refuses
# wrong parameters only where there are stubs of scikit-learn, such as these; pyright reads its source in their place.
STUBS = {"__init__.pyi": "", "base.pyi": "class BaseEstimator: ...\nclass ClassifierMixin: ...\n"}

# The few functions of the gallery have no annotations, which would hide what they show.
OF_SCRIPTS = ["--allow-untyped-defs", "--allow-untyped-calls"]
# Pyright would guess the types of libraries that have none, often wrongly, and they need not be installed. That a loop
# may have no rounds is no matter of types.
PYRIGHT = {
    "useLibraryCodeForTypes": False,
    "reportMissingImports": False,
    "reportMissingModuleSource": False,
    "reportPossiblyUnboundVariable": False,
}


def programs(folder: Path) -> list[Path]:
    """Write what is to be checked into a folder: the blocks of the README as one program, and `USES`."""
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    texts = {"readme.py": "\n".join(blocks), "uses.py": USES}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def refused(folder: Path, command: list[str]) -> bool:
    """Whether a checker complains about every line of `WRONG`, which no other file is beside."""
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    found = subprocess.run([*command, "wrong.py"], cwd=folder, capture_output=True, text=True).stdout
    lines = [number for number, line in enumerate(WRONG.splitlines(), 1) if "(" in line]
    accepted = [number for number in lines if not re.search(rf"wrong\.py:{number}:.*error", found)]
    for number in accepted:
        print(f"{command[2]} accepts: {WRONG.splitlines()[number - 1]}")
    return not accepted


def main() -> int:
    """Run both; return 1 if one of them complains, or does not where it should."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [path.name for path in programs(folder)]
        scripts = [shutil.copy(path, folder) for path in sorted((ROOT / "examples").glob("plot_*.py"))]
        (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
        # scikit-learn, pandas and dask have no types of their own: that is not ours to complain about.
        mypy = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports"]
        pyright = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
        commands, checkers = [[*mypy, *paths], [*mypy, *OF_SCRIPTS, *scripts]], [mypy]
        if subprocess.run([*pyright, "--version"], capture_output=True).returncode == 0:
            commands.append([*pyright, "--project", name])
            checkers.append(pyright)
        else:
            print("pyright does not run here: left out")
        codes = [subprocess.run(command, cwd=folder).returncode for command in commands]
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "sklearn").mkdir()
        for stub, text in STUBS.items():
            (Path(name) / "sklearn" / stub).write_text(text, encoding="utf-8")
        codes += [not refused(Path(name), command) for command in checkers]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
