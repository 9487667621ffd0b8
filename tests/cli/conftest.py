"""A folder of small files, and a way to run commands in it."""

import io
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_digits

from dynmargin.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Digits, even against odd and all ten, as LIBSVM text and CSV; models of them."""
    folder = tmp_path_factory.mktemp("cli")
    X, y = load_digits(return_X_y=True)
    X = X / 16
    signs = np.where(y % 2 == 0, 1, -1)
    for name, labels, rows in (
        ("train", signs, slice(1200)),
        ("test", signs, slice(1200, None)),
        ("ten", y, slice(None)),
    ):
        dump_svmlight_file(X[rows], labels[rows], str(folder / name), zero_based=False)
    names = [f"p{j}" for j in range(64)]
    kinds = np.where(signs > 0, "even", "odd")
    lines = [
        ",".join(["kind", *names]),
        *(",".join([k, *map(repr, x)]) for k, x in zip(kinds, X.tolist(), strict=True)),
    ]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    assert main(["train", "-q", str(folder / "train"), str(folder / "model.npz")]) == 0
    return folder


@pytest.fixture
def run(folder, monkeypatch, capfd):
    """Run a command line in the folder: exit code, standard output, standard error."""

    def run(*words, stdin=b""):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        try:
            code = main(list(words))
        except SystemExit as end:
            code = end.code
        out, err = capfd.readouterr()
        return code, out, err

    return run
