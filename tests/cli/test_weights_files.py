"""Files of weights: what is wrong with one is said with its line, and before much else is done."""

import gzip

import numpy as np
import pytest

from dynmargin.cli import cluster, weights


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1\n2\nx\n", "w, line 3, column 1: 'x' is not a weight; weights are finite numbers, none of them negative"),
        (b"1\r\n\r\n  -2\r\n", "w, line 3, column 3: '-2' is not a weight"),
        (b"1 nan", "w, line 1, column 3: 'nan' is not a weight"),
        ("1\n\u00a0inf\n".encode(), "w, line 2, column 3: 'inf' is not a weight"),
        ("1\n".encode("utf-16"), "w: the weights must be UTF-8 text, one number per line"),
        (b"1\n2\n", "w has 2 weights for 1200 rows"),
        (b"", "w has 0 weights for 1200 rows"),
    ],
)
def test_a_wrong_weight_is_named_with_its_line(content, message, run, folder):
    (folder / "w").write_bytes(content)
    for words in (("train", "train", "m.npz"), ("verify", "model.npz", "train")):
        code, _, err = run(*words, "--weights", "w")
        assert (code, err.splitlines()[-1].startswith(f"dynmargin {words[0]}: {message}")) == (3, True), err


def test_a_file_of_weights_is_read_before_the_data(run, folder):
    (folder / "w").write_text("one\n")
    assert run("train", "-q", "nosuch", "m.npz", "--weights", "w")[2].startswith(
        "dynmargin train: w, line 1, column 1:"
    )


def test_weights_for_other_rows_are_refused_before_a_cluster_starts(run, folder, monkeypatch):
    def no_cluster(_):
        raise AssertionError("a cluster was started")

    monkeypatch.setattr(cluster, "connected", no_cluster)
    (folder / "w").write_text("1\n2\n")
    lines = (folder / "train").read_text()
    (folder / "half.svm").write_text(f"# a comment\n\n{lines}")
    (folder / "half.svm.gz").write_bytes(gzip.compress(lines.encode()))
    np.savez(folder / "both.npz", X=np.eye(3), y=[0, 1, 1])
    assert run("data", "convert", "train", "weighted.dm/")[0] == 0
    assert run("data", "convert", "train", "weighted.parquet")[0] == 0
    for data, rows in {
        "half.svm*": 2400,
        "table.csv": 1797,
        "both.npz": 3,
        "weighted.dm": 1200,
        "weighted.parquet": 1200,
    }.items():
        label = {"table.csv": ("--label", "kind"), "weighted.parquet": ("--label", "label")}.get(data, ())
        code, _, err = run("train", data, "m.npz", "--weights", "w", "--workers", "2", *label)
        assert (code, err) == (3, f"dynmargin train: w has 2 weights for {rows} rows\n")
    monkeypatch.setattr(weights, "SMALL", 1000)  # what is larger is not read for this, but what is stored is known
    with pytest.raises(AssertionError, match="a cluster was started"):
        run("train", "half.svm", "m.npz", "--weights", "w", "--workers", "2")
    assert "2 weights for 1200 rows" in run("train", "weighted.dm", "m.npz", "--weights", "w", "--workers", "2")[2]
