"""Tables at the shell: the label, columns to leave out, and what is said where a column is not what it should be."""

import gzip
import io
from dataclasses import replace

import numpy as np
import pytest

from dynmargin import load
from dynmargin.data import tables

FLOWERS = """id,size,weight,colour,kind
r1,1.0,5,red,a
r2,2.0,4,blue,b
r3,1.5,5,green,a
r4,2.5,3,red,b
"""


@pytest.fixture
def flowers(folder):
    (folder / "flowers.csv").write_text(FLOWERS)
    return folder


def test_the_label_is_asked_for_before_anything_is_read(run, flowers, monkeypatch):
    monkeypatch.setattr(tables, "parse_csv", None)
    (flowers / "flowers.csv.gz").write_bytes(gzip.compress(FLOWERS.encode()))
    asked = "which column is the label? use --label NAME; the columns are id, size, weight, colour, kind\n"
    for name in ("flowers.csv", "flowers.csv.gz"):
        assert run("train", name) == (3, "", f"dynmargin train: {name}: {asked}")
        assert run("compare", name) == (3, "", f"dynmargin compare: {name}: {asked}")
    (flowers / "numbers.csv").write_text("1,2,3\n4,5,6\n")
    assert "use --label NUMBER: 1 is the first of 3, -1 the last" in run("train", "numbers.csv")[2]
    (flowers / "wide.csv").write_text(",".join(f"c{j}" for j in range(50)) + "\n")
    assert run("train", "wide.csv")[2].endswith("the columns are c0, c1, c2, c3, c4, c5, c6, c7, c8, ..., c49\n")
    assert "no column is called 'sort'; there are id" in run("train", "flowers.csv", "--label", "sort")[2]
    words = ("--label", "kind", "--drop", "id,col")
    assert "no column is called 'col'; there are id" in run("train", "flowers.csv", *words)[2]


def test_the_label_is_asked_for_in_parquet_and_from_a_pipe_too(run, flowers):
    pytest.importorskip("pyarrow")
    assert run("data", "convert", "train", "train.parquet") == (0, "", "")
    assert "which column is the label? use --label NAME; the columns are label, f1" in run("train", "train.parquet")[2]
    code, _, err = run("train", "-", "m.npz", "--format", "csv", stdin=FLOWERS.encode())
    assert (code, "which column is the label?" in err) == (3, True)


def test_columns_that_are_dropped_stay_dropped(run, flowers):
    words = ("--label", "kind", "--drop", "id,colour")
    assert run("train", "-q", "flowers.csv", "f.npz", *words) == (0, "", "")
    model = load(flowers / "f.npz")
    assert model.feature_names.tolist() == ["size", "weight"]
    assert model.parameters["drop"] == ["id", "colour"]
    code, out, _ = run("verify", "f.npz", "flowers.csv")
    assert code == 0
    assert out.endswith(
        "; labels from the column kind, as the model says; without the columns id, colour, as the model says\n"
    )
    assert run("predict", "flowers.csv", "f.npz") == (0, "Accuracy = 100.0000% (4/4)\n", "")
    (flowers / "fewer.csv").write_text("weight,size\n5,1.0\n")
    assert run("predict", "fewer.csv", "f.npz") == (0, "a\n", "")
    assert (
        "kind is the label; --drop cannot leave it out"
        in run("train", "flowers.csv", "--label", "kind", "--drop", "kind")[2]
    )
    assert "--drop is for tables" in run("train", "train", "--drop", "3")[2]


def test_numbers_of_columns_are_those_of_the_table_that_was_trained_on(run, flowers):
    rows = np.random.default_rng(0).normal(size=(30, 4)).round(3)
    rows[:, 1] = np.arange(30)
    rows[:, 0] = rows[:, 2] > 0  # the label; column 2 numbers the rows
    for name, places in {"all": [0, 1, 2, 3], "unlabelled": [1, 2, 3], "features": [2, 3]}.items():
        text = io.StringIO()
        np.savetxt(text, rows[:, places], delimiter=",", fmt="%.3f")
        (flowers / f"{name}.csv").write_text(text.getvalue())
    assert run("train", "-q", "all.csv", "n.npz", "--label", "1", "--drop", "2") == (0, "", "")
    assert run("verify", "n.npz", "all.csv")[0] == 0
    labels = [run("predict", f"{name}.csv", "n.npz", "-", "-q")[1] for name in ("all", "unlabelled", "features")]
    assert labels[0] == labels[1] == labels[2] != ""


def test_a_column_that_is_missing_is_the_one_that_is_named(run, flowers):
    assert run("train", "-q", "flowers.csv", "f.npz", "--label", "kind", "--drop", "id,colour")[0] == 0
    (flowers / "short.csv").write_text("kind,size\na,1.0\n")  # as many columns as the model has features
    for command in (("predict", "short.csv", "f.npz"), ("verify", "f.npz", "short.csv")):
        code, _, err = run(*command)
        assert (code, err.endswith("short.csv: there is no column 'weight', which the model needs\n")) == (3, True)
    (flowers / "more.csv").write_text("size,weight,note,kind\n1.0,5,text,a\n")
    code, out, err = run("predict", "more.csv", "f.npz")
    assert (code, out) == (0, "Accuracy = 100.0000% (1/1)\n")
    assert err == "dynmargin: the model does not use the column note\n"
    advice = "leave it out with --drop note"
    assert run("verify", "f.npz", "more.csv")[:2] == (2, f"other data: the table also has the column note; {advice}\n")


def test_verify_never_advises_to_drop_the_label(run, flowers):
    assert run("train", "-q", "flowers.csv", "f.npz", "--label", "kind", "--drop", "id,colour")[0] == 0
    model = load(flowers / "f.npz")
    for name, names in (("named.npz", model.feature_names), ("plain.npz", None)):  # as if it came from Python
        replace(model, feature_names=names, parameters={}).save(flowers / name)
    out = run("verify", "named.npz", "flowers.csv")[1]
    assert out.endswith("colour, kind; name the label with --label, and leave the others out with --drop\n")
    message = "if one of them is the label, name it with --label; leave the others out with --drop, or write a"
    assert message in run("verify", "plain.npz", "flowers.csv")[2]
    replace(model, feature_names=None, parameters={"label": "2"}).save(flowers / "number.npz")  # of another table
    assert message in run("verify", "number.npz", "flowers.csv")[2]
    for name in ("named.npz", "plain.npz", "number.npz"):
        assert run("verify", "-q", name, "flowers.csv", "--label", "kind", "--drop", "id,colour") == (0, "", "")
    (flowers / "just.csv").write_text("size,weight,the kind\n1.0,5,a\n2.0,3,b\n")
    out = run("verify", "named.npz", "just.csv")[1]
    assert out.endswith("the column the kind; if it is the label, name it with --label 'the kind'\n")


def test_text_is_refused_by_column_with_what_to_do(run, flowers):
    _, _, err = run("train", "flowers.csv", "--label", "kind")
    assert err.endswith(
        "the columns 'id', 'colour' hold text, not numbers: leave them out with --drop id,colour, or write a column of "
        "0 and 1 for every category\n"
    )
    _, _, err = run("train", "flowers.csv", "--label", "kind", "--drop", "id")
    assert "column 'colour' holds text ('red', 'blue', ...), not numbers: leave it out with --drop colour, or" in err
