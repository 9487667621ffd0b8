"""What new users stumbled over and was left alone at first: rows, seeds, labels, dates, marks, and columns."""

import datetime

import numpy as np
import pytest

from dynmargin import DataError, MaxMarginClassifier, load, open_data, read_libsvm
from dynmargin.cli import options
from dynmargin.data import binary


@pytest.fixture
def on_disk(run, folder, monkeypatch):
    """The training rows as a folder of several blocks, which stay on the disk, and a model of them."""
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.setattr(binary, "BLOCK_BYTES", 20_000)
    if not (folder / "rows.dm").exists():
        assert run("data", "convert", "train", "rows.dm/")[0] == 0
    return "rows.dm", "--memory", "500kB"


def test_values_that_are_too_large_are_named_by_file_and_row(run, folder):
    (folder / "large-0").write_text("1 1:1\n-1 2:1\n")
    (folder / "large-1").write_text("1 1:1\n-1 2:1e200\n")
    code, _, err = run("train", "-q", "large-*", "m.npz")
    assert code == 3
    assert err.startswith("dynmargin train: row 2 of large-1 (counting from 1) has values so large that their squares")
    assert err.endswith("; scale the features with --scale standard\n")
    message = "dynmargin data: large.dm: row 2 (counting from 1) has values so large"
    assert run("data", "convert", "large-1", "large.dm/")[2].startswith(message)
    assert run("train", "-q", "large-*", "m.npz", "--scale", "standard")[0] == 0


@pytest.mark.parametrize("words", [("train", "train", "m.npz"), ("compare", "train")])
def test_a_seed_is_not_negative(words, run):
    code, _, err = run(*words, "--seed", "-1")
    assert (code, "argument --seed: -1 is not a valid seed: it must be a whole number from 0 to" in err) == (3, True)
    assert run(*words, "--seed", str(2**32))[0] == 3
    assert run("train", "-q", "train", "m.npz", "--seed", str(2**32 - 1), "--algorithm", "pdm")[0] == 0


def test_one_number_of_passes_and_the_limit_that_was_stated(run, on_disk):
    code, out, err = run("train", on_disk[0], "disk.npz", *on_disk[1:])
    assert (code, out.splitlines()[0].count(" pass")) == (0, 1)
    assert "of memory\n" in err
    code, _, err = run("train", "-q", on_disk[0], "m.npz", "--memory", "20kB")
    assert (code, "--memory 20kB is not enough: training on these 1200 rows takes at least" in err) == (3, True)


def test_a_label_that_nothing_has_a_column_for_is_mentioned(run, on_disk, folder):
    assert run("train", "-q", on_disk[0], "disk.npz", *on_disk[1:])[0] == 0
    for words in (on_disk, ("rows.dm",), ("train",)):
        code, out, err = run("verify", "disk.npz", *words, "--label", "kind")
        assert (code, "kind" in out, "dynmargin: --label kind is ignored: " in err) == (0, False, True)


def test_rows_on_a_disk_are_scored_by_their_own_labels(run, on_disk, folder):
    rows = open_data(folder / "rows.dm", memory_limit="500kB")
    classifier = MaxMarginClassifier(random_state=0).fit(rows)
    X, y = read_libsvm(folder / "train")
    assert classifier.score(rows) == classifier.score(rows, y) == classifier.score(X, y)
    classifier.save(folder / "scored.npz")
    assert load(folder / "scored.npz").score(rows) == classifier.score(rows)
    for one in (classifier, load(folder / "scored.npz")):
        with pytest.raises(TypeError, match="y is missing"):
            one.score(X)


def test_a_file_of_a_folder_that_is_missing_is_named(run, on_disk, folder):
    assert run("data", "convert", "train", "broken.dm/")[0] == 0
    (folder / "broken.dm" / "rows-000001").unlink()
    message = "broken.dm: its file rows-000001 is missing; copy the folder again, or write it again with dynmargin"
    assert message in run("train", "broken.dm", "m.npz")[2]


def test_dates_are_no_numbers(run, folder):
    (folder / "dates.csv").write_text("when,x,kind\n2026-01-02,1,0\n2026-01-03,2,1\n")
    message = "column 'when' holds dates or times, not numbers: leave it out with --drop when, or write a number"
    assert message in run("train", "dates.csv", "m.npz", "--label", "kind")[2]
    assert "the label 'when' holds dates or times, neither" in run("train", "dates.csv", "--label", "when")[2]
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    times = [datetime.datetime(2026, 1, day) for day in (1, 2)]
    table = {"t": times, "d": [time - times[0] for time in times], "s": ["a", "b"], "none": [None, None], "y": [0, 1]}
    parquet.write_table(pyarrow.table(table), folder / "times.parquet")
    message = "the columns 't', 'd', 's', 'none' hold dates or times, text, no values, not numbers: leave"
    assert message in run("train", "times.parquet", "m.npz", "--label", "y")[2]


def test_a_mark_before_a_text_is_no_part_of_it(run, folder):
    text = (folder / "train").read_bytes()
    (folder / "marked").write_bytes(b"\xef\xbb\xbf" + text)
    assert run("train", "-q", "marked", "marked.npz")[0] == run("verify", "marked.npz", "train")[0] == 0
    assert run("data", "convert", "marked", "marked.dm/")[0] == run("verify", "marked.npz", "marked.dm")[0] == 0
    (folder / "wide").write_bytes(text.decode().encode("utf-16"))
    with pytest.raises(DataError, match="it is UTF-16 text; write it as UTF-8"):
        read_libsvm(folder / "wide")


def test_a_table_without_its_suffix_is_recognised(run, folder):
    (folder / "table").write_text((folder / "table.csv").read_text())
    assert run("train", "table", "m.npz")[2].endswith("; if it is a table, use --format csv\n")
    assert run("train", "-q", "table", "m.npz", "--format", "csv", "--label", "kind")[0] == 0


def test_files_may_have_their_columns_in_another_order(run, folder):
    rows = [line.split(",") for line in (folder / "table.csv").read_text().splitlines()]
    (folder / "order-0.csv").write_text("".join(",".join(row) + "\n" for row in rows[:900]))
    (folder / "order-1.csv").write_text("".join(",".join(row[::-1]) + "\n" for row in [rows[0], *rows[900:]]))
    assert run("train", "-q", "order-*.csv", "order.npz", "--label", "kind")[0] == 0
    assert run("verify", "order.npz", "table.csv")[0] == run("verify", "order.npz", "order-*.csv")[0] == 0
    assert run("predict", "order-1.csv", "order.npz", "-")[0] == 0


def test_what_is_not_scaled_is_said_so(run):
    out = run("verify", "model.npz", "train", "--scale", "standard")[1]
    assert out == "other problem: the features are not scaled, but --scale standard was asked for\n"


def test_weights_may_begin_with_a_mark(run, folder):
    (folder / "weights").write_bytes(b"\xef\xbb\xbf" + b"1\n" * 1200)
    assert run("train", "-q", "train", "m.npz", "--weights", "weights")[0] == 0
    np.testing.assert_array_equal(load(folder / "m.npz").coef, load(folder / "model.npz").coef)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "array.npy",
            b"\x93NUMPY\x01\x00v\x00{'descr'",
            "an .npy file holds a single array; write X and y into one .npz",
        ),
        ("archive", b"PK\x03\x04 and so on", "it is a zip archive; if it is an .npz file, use --format npz"),
        ("frame", b"PAR1 and so on", "it is a Parquet file; use --format parquet"),
        (
            "gap.csv",
            b"a,b,y\n1,2,0\n2,?,1\n3,4,0\n",
            "column 'b' holds '?' in row 2 (counting from 1), and numbers else",
        ),
        (
            "gaps.csv",
            b"a,b,y\n1,2,0\n-,?,1\n3,4,0\n",
            "write numbers only, or leave all 2 columns like this out with --d",
        ),
        (
            "unnamed.csv",
            b"a,y,\n1,0,\n2,1,\n",
            "column '' holds no values, not numbers: leave it out with --drop '\"\"'",
        ),
    ],
)
def test_what_is_no_data_of_ours_is_refused_with_advice(name, content, message, run, folder):
    (folder / name).write_bytes(content)
    code, _, err = run("train", name, "m.npz", *(("--label", "y") if name.endswith("csv") else ()))
    assert (code, message in err) == (3, True)


def test_columns_without_a_name_are_left_out_by_two_quotes(run, folder):
    assert options.names('"",a') == ["", "a"]
    (folder / "unnamed.csv").write_text("a,y,\n1,0,\n2,1,\n")
    assert run("train", "-q", "unnamed.csv", "m.npz", "--label", "y", "--drop", '""') == (0, "", "")
    (folder / "counted.csv").write_text(",a,y\n0,1,0\n1,2,1\n")  # as pandas writes the index
    index = "column 1 has no name, like an index that pandas writes"
    notice = f"dynmargin: counted.csv: {index}; if it is one, leave it out with --drop 1\n"
    for words in (("train", "-q", "counted.csv", "m.npz"), ("data", "convert", "counted.csv", "counted.dm/")):
        assert run(*words, "--label", "y") == (0, "", notice)
    assert run("train", "-q", "counted.csv", "m.npz", "--label", "y", "--drop", "1") == (0, "", "")


def test_labels_that_are_missing_are_asked_for_as_the_file_has_them(run, folder):
    np.savez(folder / "rows.npz", X=np.eye(3))
    assert "in an .npz file they are the array y" in run("train", "rows.npz", "m.npz")[2]


def test_a_model_with_names_says_so_where_the_data_have_none(run, folder):
    (folder / "named.csv").write_text("a,b,y\n1,2,0\n2,1,1\n3,1,1\n")
    (folder / "rows.svm").write_text("0 1:1 2:2\n1 1:2 2:1\n")
    assert run("train", "-q", "named.csv", "named.npz", "--label", "y")[0] == 0
    code, _, err = run("predict", "rows.svm", "named.npz", "-q")
    assert (code, err) == (
        0,
        "dynmargin: the model's features have names and those of the data have none, so they are matched by position\n",
    )
    assert run("predict", "named.csv", "named.npz", "-q")[2] == ""


def test_rows_of_a_table_in_pieces_are_counted_from_its_beginning(run, folder, monkeypatch):
    monkeypatch.setattr("dynmargin.data.tables.PIECE_BYTES", 400)
    lines = [f"{k}.5,{k % 2}" for k in range(300)]
    lines[249] = ",1"
    (folder / "gap.csv").write_text("\n".join(["a,y", *lines]) + "\n")
    code, _, err = run("data", "convert", "gap.csv", "gap.dm/", "--label", "y")
    assert (code, "column 'a' has no value in row 250 (counting from 1)" in err) == (3, True), err


def test_a_limit_of_memory_counts_what_training_takes_beside_rows_that_fit(run, folder, monkeypatch):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    (folder / "few.svm").write_text("".join(f"{k % 2} 1:{k + 1} 2:{(k * 7) % 5}\n" for k in range(200)))
    assert run("data", "convert", "few.svm", "few.dm/")[0] == 0
    assert "they stay on the disk" in run("train", "few.dm", "m.npz", "--memory", "20MB")[2]
    assert "they stay on the disk" not in run("train", "few.dm", "m.npz", "--memory", "40MB")[2]
