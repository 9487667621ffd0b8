"""What a new user stumbled over in the shell: several files, folders that are not there, odd names, tiny files."""

import os
import signal
import time

import numpy as np
import pytest

import dynmargin
from dynmargin import load
from dynmargin.cli import options, training


@pytest.fixture
def parts(folder):
    """The training rows in three files, the first of which does not have all features."""
    lines = (folder / "train").read_text().splitlines(keepends=True)
    lines.sort(key=lambda line: max(int(entry.partition(":")[0]) for entry in line.split()[1:]))
    (folder / "sorted").write_text("".join(lines))
    for i in range(3):
        (folder / f"part-{i}.svm").write_text("".join(lines[400 * i : 400 * (i + 1)]))
    return folder


def test_several_files_are_as_good_as_one(run, parts):
    assert run("train", "-q", "sorted", "one.npz")[0] == 0
    code, _, err = run("train", "part-*.svm", "several.npz")
    assert (code, err.splitlines()[0].startswith("part-*.svm: 1200 rows, 64 features, read in ")) == (0, True)
    one, several = (load(parts / name).certificate for name in ("one.npz", "several.npz"))
    assert (one.margin, one.upper_bound, one.data_digest) == (several.margin, several.upper_bound, several.data_digest)
    assert run("verify", "one.npz", "part-*.svm") == run("verify", "several.npz", "sorted")
    assert run("verify", "one.npz", "part-[01].svm")[0] == 2
    assert run("predict", "part-*.svm", "one.npz") == run("predict", "sorted", "one.npz")


def test_several_files_need_a_name_for_the_model_and_must_be_there(run, parts):
    assert run("train", "part-*.svm")[2] == "dynmargin train: name the MODEL when the data are several files\n"
    assert run("verify", "model.npz", "no-*.svm")[2] == "dynmargin verify: no-*.svm: no file matches this pattern\n"
    assert "the output is the input" in run("train", "part-*.svm", "part-1.svm")[2]
    (parts / "odd[1].svm").write_text((parts / "train").read_text())  # a name, not a pattern
    assert run("verify", "model.npz", "odd[1].svm")[0] == 0


def test_several_files_must_be_alike(run, parts):
    for name, text in {"a": "x,kind\n1,u\n2,v\n", "b": "y,kind\n1,u\n", "c": "x,kind\n1,7\n"}.items():
        (parts / f"odd-{name}.csv").write_text(text)
    message = "odd-b.csv: its columns are not those of odd-a.csv: y, not x\n"
    assert run("train", "odd-[ab].csv", "m.npz", "--label", "kind")[2].endswith(message)
    message = "odd-c.csv: its labels are numbers, and those of odd-a.csv are text\n"
    assert run("train", "odd-[ac].csv", "m.npz", "--label", "kind")[2].endswith(message)
    (parts / "base-0.svm").write_text("1 0:1\n-1 2:1\n")
    (parts / "base-1.svm").write_text("1 1:1\n-1 2:2\n")  # begins with 0 too, though it does not show
    assert run("train", "-q", "base-*.svm", "base.npz")[0] == 0
    assert (load(parts / "base.npz").first_index, load(parts / "base.npz").n_features) == (0, 3)


def test_a_folder_that_is_not_there_is_what_is_wrong(run, folder):
    for words in (("train", "nosuch.dm"), ("predict", "nosuch.dm", "model.npz"), ("verify", "model.npz", "nosuch.dm")):
        code, _, err = run(*words, "--memory", "1GB")
        assert (code, err) == (3, f"dynmargin {words[0]}: nosuch.dm: there is no such folder\n")
    assert run("train", "nosuch/")[2] == "dynmargin train: nosuch/: there is no such folder\n"
    assert "write one with dynmargin data convert train train.dm/" in run("train", "train", "--format", "folder")[2]


def test_names_with_commas_are_one_name_each(run, folder):
    assert options.names('a, b ,"c,d", "say ""e""",') == ["a", "b", "c,d", 'say "e"']
    (folder / "odd.csv").write_text('"size, cm","say ""x""", kind,note\n1,2,a,n\n3,1,b,n\n')
    asked = 'use --label NAME; the columns are "size, cm", "say ""x""", " kind", note\n'
    assert run("train", "odd.csv")[2].endswith(asked)
    assert 'there are "size, cm"' in run("train", "odd.csv", "--label", "kind")[2]
    assert run("train", "-q", "odd.csv", "odd.npz", "--label", " kind", "--drop", '"size, cm",note')[0] == 0
    assert load(folder / "odd.npz").feature_names.tolist() == ['say "x"']
    assert '; without the columns "size, cm", note' in run("verify", "odd.npz", "odd.csv")[1]
    assert '\n  drop          "size, cm", note\n' in run("info", "odd.npz")[1]
    (folder / "text.csv").write_text('"a, b",c d,kind\nx,y,1\nz,y,2\n')
    assert "leave them out with --drop '\"a, b\",c d', or" in run("train", "text.csv", "--label", "kind")[2]


def test_options_that_would_be_ignored_say_what_they_need(run, folder):
    code, _, err = run("train", "train", "never.npz", "--checkpoint-every", "60")
    assert (code, err) == (3, "dynmargin train: --checkpoint-every needs --checkpoint FILE\n")
    assert not (folder / "never.npz").exists()
    needed = "--scores needs OUT, the file to write the scores to; - for standard output"
    for words in ((), ("--json",)):
        assert run("predict", "test", "model.npz", "--scores", *words) == (3, "", f"dynmargin predict: {needed}\n")


def test_a_handful_of_rows_cannot_be_compared(run, folder):
    for rows, why in {
        "1 1:1\n-1 1:-1\n1 1:2\n": "class -1 has only one row",
        "1 1:1\n2 1:-1\n3 1:2\n" * 2: "2 of 6 rows are held out, and there are 3 classes",
    }.items():
        (folder / "tiny").write_text(rows)
        code, _, err = run("compare", "tiny")
        assert (code, err.startswith("dynmargin compare: there are too few rows: ")) == (3, True)
        assert err.endswith(f"but {why}\n")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm clock")
def test_a_limit_of_time_is_for_reading_too(run, folder, monkeypatch):
    monkeypatch.setattr(training, "LEAST_TIME", 0.01)
    os.mkfifo(folder / "nobody")  # nobody writes to it
    code, _, err = run("train", "nobody", "m.npz", "--max-time", "0.01")
    assert code == 3
    assert err.startswith("dynmargin train: --max-time 0.01 was over before the rows were read (0.")
    assert err.endswith(" s), so there is no model\n")
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert run("train", "-q", "train", "m.npz", "--max-time", "1e300")[0] == 0
    assert np.isfinite(load(folder / "m.npz").coef).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm clock")
def test_a_limit_of_time_is_for_scaling_too(run, monkeypatch):
    def read(arguments, read=training.read):
        found = read(arguments)
        monkeypatch.setattr(training, "LEAST_TIME", 0.01)  # from now on
        return found

    monkeypatch.setattr(training, "LEAST_TIME", 100.0)
    monkeypatch.setattr(training, "read", read)
    monkeypatch.setattr("dynmargin.model.scaling.scaling_of", lambda *_, **__: time.sleep(100))
    code, _, err = run("train", "-q", "train", "m.npz", "--scale", "standard", "--max-time", "1e-9")
    assert (code, err.partition(" (")[0]) == (
        3,
        "dynmargin train: --max-time 1e-09 was over before the rows were scaled",
    )


@pytest.mark.parametrize("name", ["PDMClassifier", "NewtonClassifier", "ROMMAClassifier", "MaxMarginClassifierCV"])
def test_a_classifier_that_needs_rows_in_memory_says_which_does_not(name, run, folder):
    assert run("data", "convert", "train", f"{name}.dm/")[0] == 0
    with pytest.raises(TypeError, match=f"{name} needs rows in memory, and .* MaxMarginClassifier trains on them"):
        getattr(dynmargin, name)().fit(dynmargin.open_data(folder / f"{name}.dm"))


def test_what_is_opened_must_be_a_folder(folder):
    with pytest.raises(dynmargin.DataError, match="nope: there is no such folder"):
        dynmargin.open_data(folder / "nope")
    with pytest.raises(
        dynmargin.DataError, match=r"this is a file, not a folder; write one with dynmargin data convert"
    ):
        dynmargin.open_data(folder / "train")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.svm", b"", "there are no rows"),
        ("empty.csv", b"\n", "the file is empty"),
        ("names.csv", b"a,b,label\n", "there are no rows below the names of the columns"),
        ("semi.csv", b"a;b;label\n1;2;1\n", "its first line has semicolons, and no commas; write commas instead"),
        ("tabs.csv", b"a\tlabel\n1\t2\n", "its first line has tabs, and no commas; use --format tsv"),
        ("commas.tsv", b"a,label\n1,2\n", "its first line has commas, and no tabs; use --format csv"),
        (
            "latin.csv",
            "größe,label\n1,1\n".encode("latin-1"),
            "its first line is not UTF-8 text (byte 3); write it as ",
        ),
    ],
)
def test_what_is_no_table_is_refused_in_words(name, content, message, run, folder):
    (folder / name).write_bytes(content)
    label = () if name.endswith("svm") else ("--label", "label")
    code, _, err = run("train", name, "m.npz", *label)
    assert (code, err.startswith(f"dynmargin train: {name}: {message}")) == (3, True)
    if label:
        code, _, err = run("data", "convert", name, f"{name}.dm/", *label)
        assert (code, "no rows" in err or message in err) == (3, True)


def test_labels_that_look_wrong_are_mentioned(run, folder):
    (folder / "measured").write_text("".join(f"{k / 8} 1:{k}\n" for k in range(30)))
    assert (
        "are 30 different numbers, not all of them whole; each is taken" in run("train", "-q", "measured", "m.npz")[2]
    )
    (folder / "large").write_text("123456789012345678 1:1\n-1 2:1\n")
    assert "dynmargin: labels beyond 2**53 are rounded" in run("train", "-q", "large", "m.npz")[2]
    assert "--label 1 is ignored: LIBSVM text has" in run("train", "-q", "train", "m.npz", "--label", "1")[2]
    assert run("train", "-q", "train", "m.npz")[2] == ""


def test_a_model_in_the_wrong_place_is_pointed_out(run, folder):
    assert run("predict", "model.npz", "train")[2].endswith(
        "model.npz is a model, and train is not; the order is DATA MODEL\n"
    )
    assert run("verify", "train", "model.npz")[2].endswith("the order is MODEL DATA\n")
    assert run("convert", "model.npz", "theirs")[0] == 0
    hint = "theirs is a model of LIBLINEAR; convert it with dynmargin convert theirs theirs.npz\n"
    assert run("predict", "train", "theirs")[2].endswith(hint)


def test_standard_output_may_follow_options(run, folder):
    assert run("predict", "train", "model.npz", "--scores", "-")[1].startswith("label 1\n")
    code, _, err = run("compare", "train", "--csv", "out", "--plot", "out")
    assert (code, "would both be written to out" in err) == (3, True)


def test_a_line_of_numbers_is_hardly_one_of_names(run, folder):
    (folder / "iris.csv").write_text("5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n")
    notice = "dynmargin: iris.csv: the first line is taken for names (5.1, 3.5, setosa); if it is a row, put a line of"
    assert run("train", "-q", "iris.csv", "m.npz", "--label", "3")[2].startswith(notice)
    assert run("data", "convert", "iris.csv", "iris.dm/", "--label", "3")[2].startswith(notice)
    (folder / "counted.csv").write_text("0,1,label\n5.1,3.5,setosa\n7.0,3.2,versicolor\n")  # as pandas numbers columns
    assert run("train", "-q", "counted.csv", "m.npz", "--label", "label")[2] == ""


def test_an_empty_label_is_a_missing_one(run, folder):
    (folder / "gap.csv").write_text("x,kind\n1,a\n2,\n3,b\n")
    code, _, err = run("train", "gap.csv", "m.npz", "--label", "kind")
    assert (code, err) == (3, "dynmargin train: gap.csv: the label 'kind' is missing in row 2 (counting from 1)\n")


def test_a_pattern_without_quotes_replaces_no_data(run, parts):
    before = (parts / "part-1.svm").read_bytes()
    code, _, err = run("train", "part-0.svm", "part-1.svm")  # as a shell expands it
    assert code == 3
    assert err.startswith("dynmargin train: part-1.svm already exists and is not a model; remove it, or")
    assert (parts / "part-1.svm").read_bytes() == before
    np.savez(parts / "data.npz", X=np.eye(2), y=[0, 1])  # an archive, as models are
    before = (parts / "data.npz").read_bytes()
    assert run("train", "part-0.svm", "data.npz")[0] == 3
    assert (parts / "data.npz").read_bytes() == before
    assert run("train", "-q", "train", "again.npz")[0] == run("train", "-q", "train", "again.npz")[0] == 0


def test_a_file_without_values_does_not_say_where_indices_begin(run, parts):
    (parts / "other-0.svm").write_text("")
    (parts / "other-1.svm").write_text((parts / "part-0.svm").read_text())
    assert run("train", "-q", "part-0.svm", "alone.npz")[0] == 0
    assert run("train", "-q", "other-*.svm", "both.npz")[0] == 0
    alone, both = load(parts / "alone.npz"), load(parts / "both.npz")
    assert (both.n_features, both.first_index) == (alone.n_features, alone.first_index)
    np.testing.assert_array_equal(both.coef, alone.coef)
