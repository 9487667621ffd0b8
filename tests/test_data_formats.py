"""Whatever format data come in, the rows and labels are the same; what cannot be read is refused with a sentence."""

import errno
import io
import json
import os
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from dynmargin import DataError
from dynmargin.data.atomic import atomic_write
from dynmargin.data.dataset import Csr, Dataset
from dynmargin.data.formats import format_of, read_dataset, write_dataset
from dynmargin.problem.matrix import as_matrix


@pytest.fixture
def dense(rng):
    X = rng.normal(size=(20, 4))
    X[rng.random(X.shape) < 0.3] = 0
    X[0] = 1.0  # no column is empty
    return Dataset(X, rng.integers(0, 3, 20).astype(np.float64))


def toarray(X):
    return sp.csr_array((X.data, X.indices, X.indptr), X.shape).toarray() if isinstance(X, Csr) else X


NAMES = [
    "data.libsvm",
    "data.txt.gz",
    "data.bz2",
    "data.xz",
    "data.csv",
    "data.tsv.gz",
    "data.parquet",
    "data.npz",
    "data.npz.gz",
    "data.npz.xz",
    "folder/",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse", [False, True])
def test_data_are_written_and_read_back(name, sparse, dense, tmp_path):
    path = str(tmp_path / name) + ("/" if name.endswith("/") else "")
    write_dataset(Dataset(dense.csr(), dense.y) if sparse else dense, path)
    read = read_dataset(path, label="label")
    np.testing.assert_array_equal(toarray(read.X), dense.X)
    np.testing.assert_array_equal(read.y, dense.y)
    assert not [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")]


@pytest.mark.parametrize("name", NAMES)
def test_repeated_and_unsorted_columns_are_added_and_sorted(name, tmp_path):
    """Three rows, the second one empty, the last with a column three times."""
    values, columns = np.array([1.0, 2.0, 4.0, 1.0, 8.0, 0.5, 0.25]), np.array([2, 0, 2, 1, 3, 1, 1])
    X = Csr(values, columns, np.array([0, 3, 3, 7]), (3, 4))
    path = str(tmp_path / name) + ("/" if name.endswith("/") else "")
    write_dataset(Dataset(X, np.array([1.0, 2.0, 1.0])), path)
    read = read_dataset(path, label="label").X
    assert toarray(read).tolist() == [[2, 0, 5, 0], [0, 0, 0, 0], [0, 1.75, 0, 8]]
    if isinstance(read, Csr):
        assert read.indices.tolist() == [0, 2, 1, 3]


def test_a_gzip_header_has_neither_a_name_nor_a_time(dense, tmp_path):
    """That of the temporary file would confuse gunzip -N; without a time, the same data are the same bytes."""
    path = tmp_path / "data.csv.gz"
    write_dataset(dense, str(path))
    header = path.read_bytes()[:10]
    assert header[3] == 0  # no flags: neither a name nor a comment
    assert header[4:8] == bytes(4)


def test_rows_that_are_in_order_are_not_copied(dense):
    X = dense.csr()
    assert X.canonical() is X
    assert Csr(X.data[:0], X.indices[:0], np.zeros(4, np.int64), (3, 2)).canonical().shape == (3, 2)


def test_a_folder_is_read_and_never_overwritten(dense, tmp_path):
    path = str(tmp_path / "folder")
    write_dataset(Dataset(dense.csr(), dense.y, first_index=1), path, "folder")
    read = read_dataset(path)
    assert not isinstance(read.X.data, np.memmap)  # see test_hostile_files.py
    assert read.first_index == 1
    assert as_matrix(read.X).n_rows == 20
    with pytest.raises(DataError, match="it already exists"):
        write_dataset(dense, path, "folder")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("{", "is missing or damaged"),
        ("[]", "is missing or damaged"),
        ('{"format": "other", "version": 1}', "is missing or damaged"),
        ('{"format": "dynmargin data", "version": 3}', "its format is version 3; this program reads versions up to 2"),
        ('{"format": "dynmargin data", "version": 1}', "its format is version 1; convert the data again"),
        ('{"format": "dynmargin data", "version": 2}', "'columns' in header.json is None, which is not valid"),
    ],
)
def test_a_foreign_folder_is_refused(header, message, tmp_path):
    (tmp_path / "header.json").write_text(header)
    with pytest.raises(DataError, match=message):
        read_dataset(str(tmp_path))


@pytest.mark.parametrize("sparse", [False, True])
def test_an_archive_holds_nothing_but_the_data_whatever_numpy_does(sparse, dense, tmp_path, monkeypatch):
    """The savez of older versions takes allow_pickle for one more array."""
    savez = np.savez
    monkeypatch.setattr(
        np, "savez", lambda file, *, allow_pickle, **arrays: savez(file, refused=allow_pickle, **arrays)
    )
    write_dataset(Dataset(dense.csr(), dense.y) if sparse else dense, str(tmp_path / "x.npz"))
    entries = ("format", "shape", "data", "indices", "indptr", "y") if sparse else ("X", "y")
    assert zipfile.ZipFile(tmp_path / "x.npz").namelist() == [f"{entry}.npy" for entry in entries]
    with np.load(tmp_path / "x.npz") as read:
        np.testing.assert_array_equal(read["y"], dense.y)


def test_objects_are_never_pickled(tmp_path):
    with pytest.raises(ValueError, match="allow_pickle=False"):
        write_dataset(Dataset(np.eye(2), np.array([None, 1])), str(tmp_path / "x.npz"))
    assert not list(tmp_path.iterdir())


def test_scipys_own_npz_is_read(dense, tmp_path):
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(dense.X))
    read = read_dataset(str(tmp_path / "X.npz"))
    np.testing.assert_array_equal(toarray(read.X), dense.X)
    assert read.y is None
    sp.save_npz(tmp_path / "X.npz", sp.csc_matrix(dense.X))
    with pytest.raises(DataError, match="save it as CSR"):
        read_dataset(str(tmp_path / "X.npz"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indices": np.array([0, 9])}, r"column index 9 in row 1 \(both counting from 0\) is out of range"),
        ({"indptr": np.array([0, 1])}, "row pointers"),
        ({"indptr": np.array([0, 2, 1])}, r"indptr decreases at row 1 \(counting from 0\)"),
        ({"data": np.array(["a", "b"])}, "not one-dimensional numbers"),
        ({"y": np.array([1.0])}, "its labels are"),
        ({"y": np.array([None, None])}, "the array 'y' cannot be read: it holds object"),
        ({"shape": None}, "shape is missing"),
    ],
)
def test_broken_arrays_are_refused(changed, message, tmp_path):
    good = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}
    arrays = {name: array for name, array in {**good, **changed}.items() if array is not None}
    np.savez(tmp_path / "broken.npz", **arrays)
    with pytest.raises(DataError, match=message):
        read_dataset(str(tmp_path / "broken.npz"))


def read_csv(tmp_path, text, **options):
    (tmp_path / "table.csv").write_text(text)
    return read_dataset(str(tmp_path / "table.csv"), **options)


def test_the_label_is_found_by_name_or_number(tmp_path):
    text = "a,kind,b\n1,x,2.5\n3,y,4\n"
    for label in ("kind", "2", "-2"):
        read = read_csv(tmp_path, text, label=label)
        assert read.y.tolist() == ["x", "y"]
        assert read.feature_names.tolist() == ["a", "b"]
        assert read.X.tolist() == [[1, 2.5], [3, 4]]
    with pytest.raises(DataError, match="no column is called 'c'; there are a, kind, b"):
        read_csv(tmp_path, text, label="c")
    with pytest.raises(DataError, match="there is no column 4"):
        read_csv(tmp_path, text, label="4")


def test_a_table_without_names_is_told_by_its_first_line(tmp_path):
    read = read_csv(tmp_path, "1,0.5,7\n-1,0.25,8\n", label="1")
    assert read.feature_names is None
    assert read.y.tolist() == [1, -1]
    assert read.X.tolist() == [[0.5, 7], [0.25, 8]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b\n1,x\n2,y\n",
            r"column 'b' holds text \('x', 'y'\), not numbers: if it is the label, name it with --label; otherwise",
        ),
        ("a,b\n1,2\n,3\n", "column 'a' has no value in row 2"),
        ("a,b\n1,2\n\n3\n", r"not readable as CSV: row 2 \(counting from 1\) has 1 field, and the first line has 2"),
        ("1,2\n3,4,5\n", r"not readable as CSV: row 2 \(counting from 1\) has 3 fields, and the first line has 2"),
        ("a,a\n1,2\n", "several columns are called 'a'; rename all but one"),
        ("", "the file is empty"),
    ],
)
def test_bad_tables_are_refused(text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_csv(tmp_path, text)


def test_a_missing_label_is_named(tmp_path):
    with pytest.raises(DataError, match="the label 'b' is missing in row 2"):
        read_csv(tmp_path, "a,b\n1,x\n2,\n3,\n".replace("x", "1"), label="b")


def test_a_label_that_is_no_label_is_named_with_its_row_and_column(tmp_path):
    with pytest.raises(ValueError, match=r"the label of row 2 \(counting from 1\) in column 'b' is inf"):
        read_csv(tmp_path, "a,b\n1,1.5\n2,inf\n", label="b").labelled()
    with pytest.raises(DataError, match=r"the label 'b' holds dates or times, neither numbers nor text"):
        read_csv(tmp_path, "a,b\n1,2024-01-01 10:00:00\n", label="b")
    with pytest.raises(DataError, match=r"column 'a' holds text \('x'\), not numbers: leave it out with --drop a, or"):
        read_csv(tmp_path, "a,b\nx,1\n", label="b")


@pytest.mark.parametrize("name", ["x.npz", "x/"])
@pytest.mark.parametrize("sparse", [False, True])
def test_columns_are_found_by_their_names_in_every_format(name, sparse, dense, tmp_path):
    names = np.array(["a", "b", "c", "d"])
    write_dataset(Dataset(dense.csr() if sparse else dense.X, dense.y, names), f"{tmp_path}/{name}")
    read = read_dataset(f"{tmp_path}/{name}").aligned(np.array(["d", "a", "c"]))
    np.testing.assert_array_equal(toarray(read.X), dense.X[:, [3, 0, 2]])


def test_a_damaged_parquet_file_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="not readable as Parquet"):
        read_dataset(str(tmp_path / "x.parquet"))


def test_text_labels_do_not_go_into_libsvm_text(tmp_path):
    with pytest.raises(DataError, match="needs labels that are numbers"):
        write_dataset(Dataset(np.ones((1, 1)), np.array(["a"])), str(tmp_path / "x"))
    assert not list(tmp_path.iterdir())


def test_formats_are_told_by_name():
    assert [format_of(name) for name in ("a9a", "a9a.xz", "x.CSV.gz", "y.parquet", "z.npz", "d/")] == [
        *("libsvm", "libsvm", "csv", "parquet", "npz", "folder")
    ]


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 1:2\n")))
    assert read_dataset("-").y.tolist() == [1.0]


def test_the_header_of_a_folder_is_json(dense, tmp_path):
    write_dataset(dense, str(tmp_path / "folder"), "folder")
    header = json.loads((tmp_path / "folder" / "header.json").read_text())
    (block,) = header.pop("blocks")
    assert block[0] == 20
    assert header == {
        "format": "dynmargin data",
        "version": 2,
        "columns": dense.X.shape[1],
        "dense": True,
        "values": "float64",
        "labels": header["labels"],
        "label_rows": header["label_rows"],
    }
    labels, counts = np.unique(dense.y, return_counts=True)
    assert dict(zip(header["labels"], header["label_rows"], strict=True)) == dict(zip(labels, counts, strict=True))


def test_a_full_disk_names_the_file_and_leaves_the_one_before(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    path.write_bytes(b"before")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as error, atomic_write(path) as file:
        file.write(b"after")
    assert error.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["model.npz"]
