"""Rows that stay on the disk: the folder, streamed conversion, training, verification and prediction over blocks."""

import gzip
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dynmargin
from dynmargin import DataError, MaxMarginClassifier, _core, open_data
from dynmargin.cli.main import main
from dynmargin.data import binary, libsvm, tables
from dynmargin.data.dataset import Csr, Dataset
from dynmargin.data.formats import convert_to_folder, read_dataset, write_dataset
from dynmargin.data.limits import bytes_of
from dynmargin.problem.matrix import as_matrix
from dynmargin.shards.forecast import GAP_PER_EXCESS, Forecast
from dynmargin.shards.on_disk import OnDisk, sum_in_turn
from dynmargin.shards.room import Room
from dynmargin.shards.shard import Shard
from dynmargin.shards.sums import Evidence, tree_sum


def random_rows(rows, columns, per_row, seed):
    """Return CSR rows of about that many entries each."""
    random = np.random.default_rng(seed)
    parts = [np.unique(random.integers(0, columns, per_row)) for _ in range(rows)]
    starts = np.cumsum([0, *map(len, parts)])
    indices = np.concatenate([np.empty(0, int), *parts])
    return sp.csr_matrix((random.normal(size=len(indices)), indices, starts), (rows, columns))


def problem(rows=600, columns=12, seed=0, per_row=8):
    """Return overlapping classes: CSR rows and labels."""
    random, X = np.random.default_rng(seed), random_rows(rows, columns, per_row, seed)
    return X, np.where(X @ random.normal(size=columns) + 0.3 * random.normal(size=rows) > 0, 1.0, -1.0)


def write(path, X, y, names=None):
    csr = X if isinstance(X, np.ndarray) else Csr(X.data, X.indices, X.indptr, X.shape)
    write_dataset(Dataset(csr, y, names), f"{path}/")
    return str(path)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(binary, "BLOCK_BYTES", 4096)


@pytest.fixture
def narrow(tmp_path, small_blocks):
    X, y = problem()
    return write(tmp_path / "narrow", X, y), X, y


def on_disk(path, **changed):
    """Open a folder with as much memory as keeps its rows on the disk."""
    data = open_data(path)
    limit = changed.get("limit", data.folder.memory - 1)
    return open_data(path, memory_limit=max(limit, 1))


# The folder.


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rows_are_stored_and_loaded_bit_for_bit(data):
    """Whatever the layout: all ones or not, single or double, dense or sparse, few columns or many."""
    rows, columns = data.draw(st.integers(0, 12)), data.draw(st.sampled_from([1, 3, 40_000, 70_000]))
    seed, ones = data.draw(st.integers(0, 1000)), data.draw(st.booleans())
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    X = random_rows(rows, columns, 3, seed).astype(dtype)
    if ones:
        X.data[:] = 1
    if columns == 3 and data.draw(st.booleans()):
        X = sp.csr_matrix(np.random.default_rng(seed).normal(size=(rows, 3)))
    packed = _core.pack(as_matrix(X))
    more = columns + data.draw(st.integers(0, 3))
    loaded = _core.load_rows(_core.store_rows(packed), more)
    assert (loaded.n_rows, loaded.n_nonzeros, loaded.n_matrix_columns) == (rows, packed.n_nonzeros, more)
    for ours, theirs in zip(_core.unpack(loaded), _core.unpack(packed), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if rows == 0:
        return
    stated = dynmargin.BinaryProblem(1, 1.0, 1.0, 1.0).to_core(np.ones(rows, np.int8))
    assert stated.digest(loaded) == stated.digest(packed)
    anew = _core.load_rows(_core.store_rows(packed), more, trust_digests=False)
    assert stated.digest(anew) == stated.digest(packed)
    assert stated.largest_norm(loaded) == stated.largest_norm(packed)


def test_stored_rows_of_any_bytes_are_refused_or_sound():
    """What is refused says so; nothing that is accepted reads outside of memory (run under a sanitizer by hand)."""
    random = np.random.default_rng(0)
    for X in (problem(20, 5)[0], problem(20, 40_000)[0], sp.csr_matrix(np.ones((4, 3)))):
        stored = _core.store_rows(_core.pack(as_matrix(X)))
        for _ in range(100):
            changed = stored.copy()
            for place in random.integers(0, min(len(changed), 400), int(random.integers(1, 4))):
                changed[place] = random.integers(256)
            try:
                rows = _core.load_rows(changed, X.shape[1])
            except ValueError as error:
                assert "stored rows" in str(error)  # noqa: PT017
            else:
                assert all(0 <= column < X.shape[1] for column in _core.unpack(rows)[1])
        with pytest.raises(ValueError, match="stored rows"):
            _core.load_rows(stored[: len(stored) // 16 * 8], X.shape[1])
        with pytest.raises(ValueError, match="more columns than the data"):
            _core.load_rows(stored, X.shape[1] - 1)


@pytest.mark.parametrize("dense", [False, True])
def test_a_folder_of_many_blocks_is_read_whole(dense, tmp_path, small_blocks):
    X, _ = problem()
    y = np.array(["left", "right", "middle"])[np.arange(600) % 3]
    path = write(tmp_path / "d", X.toarray() if dense else X, y)
    read = read_dataset(path)
    assert len(list(Path(path).iterdir())) > 5
    np.testing.assert_array_equal(read.X if dense else read.X.to_scipy().toarray(), X.toarray())
    np.testing.assert_array_equal(read.y, y)
    assert open_data(path).classes.tolist() == ["left", "middle", "right"]


def test_many_labels_take_two_bytes_and_more_are_no_classes(tmp_path, monkeypatch):
    y = np.arange(400.0)
    assert read_dataset(write(tmp_path / "many", np.ones((400, 1)), y)).y.tolist() == y.tolist()
    monkeypatch.setattr(binary, "MOST_LABELS", 300)
    with pytest.raises(DataError, match="more than 300 different labels, so they cannot be classes"):
        write(tmp_path / "more", np.ones((400, 1)), y)
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize("place", [0, 9, 70, -1, -30])
def test_a_block_that_has_changed_is_refused_in_words(place, narrow):
    path = narrow[0]
    block = Path(path, "rows-000001")
    content = bytearray(block.read_bytes())
    content[place] ^= 1
    block.write_bytes(content)
    with pytest.raises(DataError, match="its file rows-000001 is not as it was written: "):
        MaxMarginClassifier().fit(on_disk(path))


def test_blocks_that_are_short_swapped_or_gone_are_refused_in_words(narrow):
    path = Path(narrow[0])
    first, second = path / "rows-000000", path / "rows-000001"
    contents = first.read_bytes(), second.read_bytes()
    second.write_bytes(contents[0])
    with pytest.raises(DataError, match="rows-000001 is not as it was written"):
        MaxMarginClassifier().fit(on_disk(path))
    second.write_bytes(contents[1][:-5])
    with pytest.raises(DataError, match=f"it has {len(contents[1]) - 5} bytes, not {len(contents[1])}"):
        MaxMarginClassifier().fit(on_disk(path))
    second.unlink()
    with pytest.raises(DataError, match="its file rows-000001 is missing; copy the folder again"):
        MaxMarginClassifier().fit(on_disk(path))


# Conversion.


def text_of(X, y, first=1):
    lines = []
    for k in range(X.shape[0]):
        row = X[k].tocoo()
        lines.append(
            f"{y[k]:g} " + " ".join(f"{j + first}:{v!r}" for j, v in zip(row.col, row.data.tolist(), strict=True))
        )
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def small_pieces(monkeypatch, small_blocks):
    monkeypatch.setattr(libsvm, "PIECE_BYTES", 3000)
    monkeypatch.setattr("dynmargin.data.archives.SLICE_BYTES", 1000)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_text_is_converted_piece_by_piece_to_what_it_is_read_as(pack, tmp_path, small_pieces):
    X, y = problem()
    text = text_of(X, y)
    (tmp_path / "text").write_bytes(pack(text[: len(text) // 2]) + pack(text[len(text) // 2 :]))
    convert_to_folder(str(tmp_path / "text"), f"{tmp_path}/d/")
    whole, blocks = read_dataset(str(tmp_path / "text")), read_dataset(f"{tmp_path}/d")
    assert len(list((tmp_path / "d").iterdir())) > 5
    assert whole.first_index == blocks.first_index == 1
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(whole.X, name), getattr(blocks.X, name))
    np.testing.assert_array_equal(whole.y, blocks.y)


def test_indices_that_turn_out_to_begin_with_0_are_converted_again(tmp_path, small_pieces, monkeypatch):
    lines = ["1 3:1 9:2\n", "-1 1:1\n"] * 500 + ["1 0:5\n"]
    (tmp_path / "text").write_text("".join(lines))
    convert_to_folder(str(tmp_path / "text"), f"{tmp_path}/d/")
    read = read_dataset(f"{tmp_path}/d")
    assert read.first_index == 0
    np.testing.assert_array_equal(read.X.indices, read_dataset(str(tmp_path / "text")).X.indices)
    with (tmp_path / "text").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(DataError, match="convert a file, not standard input"):
            convert_to_folder("-", f"{tmp_path}/e/")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "text"]


def test_an_error_far_into_a_text_names_its_line_and_leaves_nothing(tmp_path, small_pieces):
    (tmp_path / "text").write_text("1 1:1\n" * 3000 + "1 2:x\n")
    with pytest.raises(DataError, match="text, line 3001, column 5: the value is not a number"):
        convert_to_folder(str(tmp_path / "text"), f"{tmp_path}/d/")
    (tmp_path / "text").write_text("1 1:1\n" * 3000 + "1 2:inf\n")
    with pytest.raises(DataError, match=r"d: row 3001 \(counting from 1\) has the value inf"):
        convert_to_folder(str(tmp_path / "text"), f"{tmp_path}/d/")
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


@pytest.mark.parametrize("name", ["table.csv", "table.tsv", "table.csv.gz", "table.parquet", "table.npz"])
def test_tables_are_converted_to_what_they_are_read_as(name, tmp_path, small_blocks, monkeypatch):
    pytest.importorskip("pyarrow", reason="tables need pyarrow")
    monkeypatch.setattr(tables, "PIECE_BYTES", 4000)
    X, y = problem(300, 4)
    names = np.array(["a", "b", "c", "d"])
    X = X.toarray()
    X[:200, 1] = np.arange(200)  # whole numbers first
    write_dataset(Dataset(X, y, names), str(tmp_path / name))
    label = None if name.endswith("npz") else "label"
    assert convert_to_folder(str(tmp_path / name), f"{tmp_path}/d/", label=label) == (True, ())
    whole, blocks = read_dataset(str(tmp_path / name), label=label), read_dataset(f"{tmp_path}/d")
    np.testing.assert_array_equal(whole.X, blocks.X)
    np.testing.assert_array_equal(whole.y, blocks.y)
    assert blocks.feature_names.tolist() == names.tolist()


@pytest.mark.skipif(os.name != "posix", reason="no signals here")
def test_a_killed_conversion_leaves_nothing_that_looks_complete(tmp_path):
    line = [sys.executable, "-m", "dynmargin", "data", "convert", "-", f"{tmp_path}/d/"]
    with subprocess.Popen(line, stdin=subprocess.PIPE) as process:
        text = b"1 " + b" ".join(b"%d:0.5" % j for j in range(1, 200)) + b"\n"
        until = time.monotonic() + 60
        while not list(tmp_path.rglob("rows-*")) and time.monotonic() < until:
            process.stdin.write(text * 1000)
        process.send_signal(signal.SIGKILL)
        process.stdin.close()
    assert not (tmp_path / "d").exists()
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".d.")
    assert list(left.glob("rows-*"))
    with pytest.raises(DataError, match=r"header\.json is missing or damaged"):
        open_data(left)


# Sums and passes.


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 700), st.integers(0, 100))
def test_sums_in_turn_are_those_of_the_tree(n, seed):
    parts = np.random.default_rng(seed).normal(size=n) * 10.0 ** np.random.default_rng(seed).integers(-9, 9, n)
    assert sum_in_turn(iter(parts.tolist())) == tree_sum(parts.tolist())


def test_blocks_that_fit_are_read_once_and_the_others_on_every_pass(narrow):
    data = on_disk(narrow[0])
    blocks = len(data.folder.blocks)
    read, sizes = [], [100] * blocks

    def reading(i):
        read.append(i)
        rows, y = data.folder.read(i)
        return Shard.of_rows(rows, y)

    shards = OnDisk(reading, sizes, room=250)
    digest = shards.fold(lambda shard, rows: rows + len(shard.y), 0)
    for _ in range(3):
        assert sum(shards.map(lambda shard: len(shard.y))) == 600
    assert digest() == 600
    assert sorted(read) == sorted([0, 1, *list(range(2, blocks)) * 3])
    shards.release()
    shards.map(id)
    assert shards.passes == 4
    assert not shards._resident


# What is kept in memory between two passes.


@pytest.mark.parametrize("layout", ["ones", "sparse", "dense"])
@pytest.mark.parametrize("columns", [50, 40_000, 70_000])
def test_a_pool_holds_the_rows_that_gained_most_rounded_to_float32(layout, columns):
    random = np.random.default_rng(columns)
    blocks = [random_rows(60, columns, 20, seed) for seed in range(3)]
    if layout == "ones":
        for X in blocks:
            X.data[:] = 1
    pool = _core.RowPool(getattr(_core.PoolLayout, layout), columns, 18, 18 * columns)
    expected = []
    for X in blocks:
        gain = np.where(np.arange(60) < 50, random.random(60), 0.0)
        places = pool.take(_core.pack(as_matrix(X)), gain, 0.1)
        lengths = np.diff(X.indptr)
        assert lengths[places].sum() <= 0.1 * X.nnz or layout == "dense"
        by_gain = np.argsort(-gain)[: len(places)]
        assert sorted(by_gain) == places.tolist()
        assert 0 < len(places) <= 6
        expected.append(X[places].toarray().astype(np.float32))
    rows = pool.release()
    found = sp.csr_matrix(_core.unpack(rows), (rows.n_rows, columns))
    np.testing.assert_array_equal(found.toarray(), np.vstack(expected))
    assert rows.dense == (layout == "dense")
    with pytest.raises(ValueError, match="the rows have left the pool"):
        pool.release()


def test_rows_that_float32_cannot_hold_do_not_enter_a_pool():
    X = sp.csr_matrix(np.diag([1.0, 1e60, 1e-60, 2.0]))
    pool = _core.RowPool(_core.PoolLayout.sparse, 4, 4, 4)
    assert pool.take(_core.pack(as_matrix(X)), np.ones(4), 1.0).tolist() == [0, 3]
    assert pool.release().n_rows == 2


def test_a_pool_is_never_larger_than_it_was_made_for():
    X = random_rows(100, 300, 30, 0)
    pool = _core.RowPool(_core.PoolLayout.sparse, 300, 10, 100)
    taken = [pool.take(_core.pack(as_matrix(X)), np.arange(100.0), 0.5) for _ in range(4)]
    rows = pool.release()
    assert rows.n_rows == sum(map(len, taken)) <= 10
    assert 0 < rows.n_nonzeros <= 100


def test_one_layout_holds_the_rows_of_all_blocks(tmp_path, small_blocks):
    X, y = problem(300, 50)
    ones = sp.csr_matrix((np.ones_like(X.data), X.indices, X.indptr), X.shape)
    halves = sp.vstack([ones, X], format="csr")
    kinds = {"ones": (ones, y), "sparse": (halves, np.tile(y, 2)), "dense": (X.toarray() + 0.1, y)}
    for layout, (rows, labels) in kinds.items():
        assert open_data(write(tmp_path / layout, rows, labels)).pool_layout == getattr(_core.PoolLayout, layout)


def test_memory_of_a_block_is_given_to_the_next_when_nobody_needs_it():
    memory = _core.BlockMemory()
    first = memory.take(1000)
    address, view = first.ctypes.data, first[:8]
    assert memory.take(1000).ctypes.data != address
    del first
    view[:] = 7
    assert memory.take(1000).ctypes.data != address
    del view
    assert memory.take(900).ctypes.data == address
    assert memory.take(10).nbytes == 10  # what is much too large is given back


def test_rows_that_are_not_copied_keep_their_bytes():
    X, _ = problem(200, 40_000)
    packed = _core.pack(as_matrix(X))
    stored, memory = _core.store_rows(packed), _core.BlockMemory()
    bytes_ = memory.take(len(stored))
    bytes_[:] = stored
    rows = _core.load_rows(bytes_, X.shape[1], copy=False)
    del bytes_
    memory.take(len(stored))[:] = 0
    for ours, theirs in zip(_core.unpack(rows), _core.unpack(packed), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    shifted = np.empty(len(stored) + 1, np.uint8)[1:]
    shifted[:] = stored
    with pytest.raises(ValueError, match="not aligned"):
        _core.load_rows(shifted, X.shape[1], copy=False)


def test_upper_bounds_that_fall_by_a_factor_tell_the_gap():
    forecast = Forecast()
    assert not forecast.due(1, 0.5)
    for k in range(5):
        forecast.passed(1 + 0.1 * 0.5**k)
    excess = 0.1 * 0.5**4
    assert forecast.gap == pytest.approx(GAP_PER_EXCESS * excess / (1 + excess))
    assert forecast.due(5, 1.01 * forecast.gap)
    assert not forecast.due(5, 0.99 * forecast.gap)
    forecast.checked(5, 3 * excess)
    assert forecast.gap == pytest.approx(3 * excess)
    again = Forecast.from_numbers(forecast.numbers())
    assert (again.gap, again.due(20, 0.0)) == (forecast.gap, True)
    forecast.passed(forecast.bounds[-1])
    assert forecast.due(6, 0.0)  # nothing moves any more


# Training.


def test_newton_over_blocks_is_certified_for_all_rows_and_any_room(narrow):
    path, X, y = narrow
    data = on_disk(path)
    classifier = MaxMarginClassifier(random_state=0).fit(data)
    assert classifier.algorithm_.startswith("newton: exact, ")
    assert "blocks on the disk" in classifier.algorithm_
    assert classifier.certificate_.achieved
    for found in (classifier.certificate_.verify(X, y), classifier.certificate_.verify(data)):
        assert found.verdict == "proven"
    smallest = on_disk(path, limit=needs(data))
    again = MaxMarginClassifier(random_state=0).fit(smallest)
    np.testing.assert_array_equal(again.coef_, classifier.coef_)
    np.testing.assert_array_equal(again.certificate_.counts.data, classifier.certificate_.counts.data)
    assert classifier.n_features_in_ == 12
    np.testing.assert_array_equal(classifier.predict(data), classifier.predict(X))
    np.testing.assert_array_equal(classifier.support_, classifier.certificate_.counts.indices)
    assert classifier.dual_coef_.shape == (1, len(classifier.support_))


def needs(data, exact=True):
    """Return the smallest limit that is accepted."""
    folder = data.folder
    sizes = [block.nbytes for block in folder.blocks]
    low, high = 1, folder.memory
    while low < high:
        middle = (low + high) // 2
        try:
            Room.of(middle, sizes, folder.lengths, folder.n_columns, exact=exact)
        except ValueError:
            low = middle + 1
        else:
            high = middle
    return low


def test_the_counts_of_all_classes_are_part_of_what_training_takes():
    """A certificate per class is kept, perhaps with a count per row: a limit without room for them is refused."""
    blocks = [10_000] * 100, [10_000] * 100, 50
    taken = Room.of(10**9, *blocks, exact=True).for_rows - Room.of(10**9, *blocks, exact=True, n_problems=7).for_rows
    assert taken >= 6 * 16 * 10**6  # a row's number and its count, for every class but the last
    Room.of(3 * 10**7, *blocks, exact=True)
    with pytest.raises(ValueError, match=r"a model of 7 classes of these 1000000 rows takes at least 301 MB"):
        Room.of(2 * 10**8, *blocks, exact=True, n_problems=7)


def test_coordinate_descent_over_blocks_is_certified_for_all_rows(tmp_path, small_blocks):
    X, y = problem(400, 40_000, per_row=30)
    data = on_disk(write(tmp_path / "wide", X, y), limit=6_000_000)
    classifier = MaxMarginClassifier(C=10.0, random_state=0, algorithm="dcd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary.Folder, "memory", property(lambda _: 10**12))
        classifier.fit(data)
        again = MaxMarginClassifier(C=10.0, random_state=0, algorithm="dcd").fit(data)
    assert classifier.algorithm_.startswith("dcd: ")
    assert classifier.certificate_.achieved
    assert classifier.certificate_.verify(X, y).verdict == "proven"
    assert classifier.certificate_.verify(data).verdict == "proven"
    np.testing.assert_array_equal(again.coef_, classifier.coef_)
    sides = np.where(y[classifier.support_] > 0, 1, -1)
    assert (np.sign(classifier.dual_coef_[0]) == sides).all()


def test_rounded_rows_of_the_pool_do_not_limit_the_gap(tmp_path, small_blocks, monkeypatch):
    X, y = problem(400, 5000, per_row=30)
    data = on_disk(write(tmp_path / "wide", X, y), limit=1_500_000)
    monkeypatch.setattr(binary.Folder, "memory", property(lambda _: 10**12))
    classifier = MaxMarginClassifier(C=0.1, random_state=0, algorithm="dcd", epsilon=1e-9).fit(data)
    assert classifier.certificate_.achieved
    assert classifier.certificate_.verify(X, y).verdict == "proven"


def test_several_classes_and_weights_over_blocks(tmp_path, small_blocks):
    X, _ = problem(450, 6)
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3].toarray(), axis=1)]
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    data = on_disk(write(tmp_path / "d", X, y))
    classifier = MaxMarginClassifier(class_weight="balanced", random_state=0).fit(data, sample_weight=weight)
    in_memory = MaxMarginClassifier(class_weight="balanced", random_state=0).fit(X, y, weight)
    for ours, theirs in zip(classifier.certificates_, in_memory.certificates_, strict=True):
        assert ours.problem == theirs.problem
        assert ours.verify(X, y, weight).verdict == ours.verify(data, None, weight).verdict == "proven"
        assert ours.margin <= theirs.upper_bound
        assert theirs.margin <= ours.upper_bound
    assert classifier.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("seed", range(4))
def test_a_certificate_made_in_memory_is_proven_over_many_blocks(seed, narrow):
    path, X, y = narrow
    classifier = MaxMarginClassifier(random_state=seed, epsilon=1e-7).fit(X, y)
    assert classifier.certificate_.verify(on_disk(path)).verdict == "proven"


def test_sums_over_shards_lose_nothing_where_they_are_careful(narrow):
    """The error bound of 24 shards is that of one, up to a factor, though their parts cancel."""
    path, X, y = narrow
    stated = MaxMarginClassifier().fit(X, y).certificate_.problem
    counts = np.random.default_rng(0).integers(1, 2**40, 600)
    weights = np.ones(12)
    data = on_disk(path)
    parts, begin = [], 0
    for _, shard in data.shards().visit():
        rows = np.arange(len(shard.y))
        parts.append(shard.evidence((rows, counts[begin : begin + len(rows)]), stated, weights, 0.0, True))
        begin += len(rows)
    total: Evidence = tree_sum(parts)
    exact = (sp.diags(y * counts) @ X).sum(axis=0)
    _, _, a = total.for_core()
    np.testing.assert_allclose(a, np.ravel(exact), rtol=1e-9)
    assert total.for_core()[0][9] <= 4 * np.finfo(float).eps * np.linalg.norm(a)


@pytest.mark.parametrize("exact", [True, False])
def test_a_limit_that_is_too_small_is_refused_in_bytes_before_anything_is_read(exact, narrow):
    path = narrow[0]
    data = on_disk(path, limit=20_000)
    for block in Path(path).glob("rows-*"):
        block.unlink()
    with pytest.raises(
        ValueError, match=r"a memory limit of 20 kB is not enough: training on these 600 rows takes at"
    ) as e:
        MaxMarginClassifier(algorithm="newton" if exact else "dcd").fit(data)
    what = "the Hessian" if exact else "the dual weights"
    assert all(words in str(e.value) for words in (what, "the blocks", "the counts of the certificate", "kB"))


@pytest.mark.parametrize(("command", "what"), [("verify", "verifying"), ("predict", "predicting")])
def test_commands_refuse_a_limit_that_is_too_small_before_a_block_is_read(
    command, what, narrow, tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.chdir(tmp_path)
    assert main(["train", "-q", "narrow", "model.npz"]) == 0
    for block in Path("narrow").glob("rows-*"):
        block.unlink()
    files = ["model.npz", "narrow"] if command == "verify" else ["narrow", "model.npz"]
    capfd.readouterr()
    assert main([command, *files, "--memory", "5kB"]) == 3
    said = capfd.readouterr().err
    assert f"--memory 5kB is not enough: {what} on these 600 rows takes at least" in said
    assert " for the weights" in said


MEASURED = """
import sys
from pathlib import Path
from dynmargin.cli.main import main
code = main(sys.argv[1:])
print(code, next(line.split()[1] for line in Path("/proc/self/status").open() if line.startswith("VmHWM")))
"""


@pytest.mark.unsanitized
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says what a process took at most")
def test_commands_stay_within_their_memory(tmp_path, monkeypatch):
    """The whole process: of 250,000 rows the blocks take 32 MB, and as arrays more than twice that."""
    monkeypatch.chdir(tmp_path)
    random, rows, per_row = np.random.default_rng(0), 250_000, 20
    columns = (random.integers(0, 50, (rows, per_row)) + 50 * np.arange(per_row)).astype(np.int32)
    values = random.normal(size=rows * per_row).astype(np.float32)
    X = Csr(values, columns.ravel(), np.arange(0, rows * per_row + 1, per_row), (rows, 50 * per_row))
    y = np.where(values[::per_row] > 0, 1.0, -1.0)
    write_dataset(Dataset(X, y), "rows/")
    assert main(["train", "-q", "rows", "model.npz", "--epsilon", "0.5"]) == 0
    for command in (
        ["verify", "model.npz", "rows"],
        ["predict", "rows", "model.npz", "labels", "--scores"],
        ["train", "-q", "rows", "again.npz", "--epsilon", "0.1", "--algorithm", "dcd"],
    ):
        arguments = [sys.executable, "-c", MEASURED, *command, "--memory", "110MB"]
        said = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
        code, peak = said.splitlines()[-1].split()
        assert code == "0"
        assert int(peak) * 1024 <= bytes_of("110MB")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": np.inf}, "the hinge and the hard margin need rows that fit"),
        ({"loss": "hinge"}, "the hinge and the hard margin need rows that fit"),
        ({"loss": "hinge"}, "with loss='squared_hinge' and a finite C only"),
        ({"algorithm": "pdm"}, "with algorithm='auto', 'newton' or 'dcd', not with 'pdm'"),
    ],
)
def test_what_cannot_be_trained_over_blocks_is_refused_in_words(parameters, message, narrow):
    with pytest.raises(ValueError, match=message):
        MaxMarginClassifier(**parameters).fit(on_disk(narrow[0]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--loss", "hinge"), "with --loss squared_hinge and a finite -c only"),
        (("--algorithm", "pdm"), "with --algorithm auto, newton or dcd, not with pdm"),
    ],
)
def test_the_shell_names_its_options(words, message, narrow, monkeypatch, capsys):
    rows = on_disk(narrow[0])
    monkeypatch.setattr("dynmargin.cli.on_disk.rows_on_disk", lambda *_, **__: rows)
    assert main(["train", "-q", str(narrow[0]), "never.npz", *words]) == 3
    assert message in capsys.readouterr().err


def test_labels_belong_to_the_rows(narrow):
    path, _, y = narrow
    with pytest.raises(ValueError, match="labels of their own; leave y out"):
        MaxMarginClassifier().fit(on_disk(path), y)
    certificate = MaxMarginClassifier(random_state=0).fit(on_disk(path)).certificate_
    with pytest.raises(ValueError, match="labels of their own; leave y out"):
        certificate.verify(on_disk(path), 1 - y)


STORED = """
import numpy as np
from dynmargin import _core
rows = _core.csr(np.arange(1, 7) / 3, np.array([0, 2, 5, 1, 2, 5]), np.array([0, 3, 6]), 40)
print(_core.store_rows(_core.pack(rows)).tobytes().hex())
"""


@pytest.mark.unsanitized
def test_what_is_stored_depends_on_the_rows_only():
    """Between columns and values there are bytes that nobody sets: GNU's C library fills them with what it is told."""
    stored = set()
    for junk in ("85", "170"):
        environment = {**os.environ, "MALLOC_PERTURB_": junk}
        arguments = [sys.executable, "-c", STORED]
        stored.add(subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(stored) == 1
    assert len(stored.pop()) > 2 * 64


def checksum(stored):
    """As stored_rows.hpp computes it, for files that somebody has changed on purpose."""
    full, lanes, words = 2**64 - 1, [1, 2, 3, 4], stored.view(np.uint64).tolist()
    whole = len(words) // 4 * 4
    for i, word in enumerate(words):
        lane = i % 4 if i < whole else 0
        found = (lanes[lane] ^ word) * 0x9E3779B97F4A7C15 & full
        lanes[lane] = found ^ found >> 32
    total = len(stored)
    for lane in lanes:
        x = total ^ lane
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & full
        x = (x ^ x >> 27) * 0x94D049BB133111EB & full
        total = x ^ x >> 31
    return total


@pytest.mark.parametrize("columns", [12, 40_000])
def test_whoever_verifies_does_not_trust_the_digests_of_rows(columns):
    """A file whose checksum was made to fit again, but whose digests of rows are those of others."""
    X, _ = problem(20, columns)
    packed = _core.pack(as_matrix(X))
    stored = _core.store_rows(packed)
    words = stored.view(np.uint64)
    renumbered = int(words[3]) * 4 if words[5] else 0
    words[8 + -(-renumbered // 8)] ^= np.uint64(1)  # the digest of the first row
    words[7] = checksum(stored[64:])
    stated = dynmargin.BinaryProblem(1, 1.0, 1.0, 1.0).to_core(np.ones(20, np.int8))
    assert stated.digest(_core.load_rows(stored, columns)) != stated.digest(packed)
    assert stated.digest(_core.load_rows(stored, columns, trust_digests=False)) == stated.digest(packed)


def test_a_column_that_is_stored_twice_is_refused():
    """Of two packed columns with one number, sums over shards would keep only the last."""
    X = sp.csr_matrix(np.eye(3, 40_000) + np.eye(3, 40_000, 7))
    stored = _core.store_rows(_core.pack(as_matrix(X)))
    words = stored.view(np.uint64)
    columns = stored[64 : 64 + 4 * int(words[3])].view(np.uint32)
    columns[1] = columns[0]
    with pytest.raises(ValueError, match=r"checksum"):
        _core.load_rows(stored, X.shape[1])
    words[7] = checksum(stored[64:])
    with pytest.raises(ValueError, match="a column twice"):
        _core.load_rows(stored, X.shape[1])


def test_what_fits_is_trained_on_in_memory(narrow):
    path, X, y = narrow
    ours, theirs = MaxMarginClassifier(random_state=0), MaxMarginClassifier(random_state=0)
    np.testing.assert_array_equal(ours.fit(open_data(path)).coef_, theirs.fit(X, y).coef_)
    blocks = list(open_data(path))
    assert sum(block.shape[0] for block, _ in blocks) == 600
    assert "600 x 12" in repr(open_data(path))


def test_an_amount_of_memory_is_read_as_people_write_it():
    assert [bytes_of(text) for text in ("2GB", "500 MB", "1.5GiB", "7", 1000, "3k")] == [
        *(2 * 10**9, 5 * 10**8, 3 * 2**29, 7, 1000, 3000)
    ]
    for wrong in ("", "much", "-1GB", "0", "nan", "2XB", "1e400"):
        with pytest.raises(ValueError, match="is not an amount of memory; write it as 2GB or 500MB"):
            bytes_of(wrong)


# The command line.


def test_commands_over_blocks_agree_with_those_in_memory(narrow, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.chdir(tmp_path)
    limit = ["--memory", str(on_disk("narrow").memory_limit)]
    assert main(["train", "narrow", "model.npz", *limit]) == 0
    out, err = capfd.readouterr()
    assert "they stay on the disk" in err
    assert "newton: exact" in out
    before = None
    for options in ([], limit):
        assert main(["verify", "model.npz", "narrow", *options]) == 0
        assert capfd.readouterr().out.startswith("proven: ")
        assert main(["predict", "narrow", "model.npz", "out", "--scores", "--settled", *options]) == 0
        said = capfd.readouterr().out
        found = Path("out").read_text()
        assert before in (None, (said, found))
        before = said, found
    assert main(["verify", "model.npz", "narrow", "-c", "3", *limit]) == 2
    assert "other problem" in capfd.readouterr().out


def test_cross_validation_over_blocks_agrees_with_that_in_memory(narrow, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.chdir(tmp_path)
    limit = ["--memory", str(on_disk("narrow").memory_limit)]
    (tmp_path / "weights").write_text("\n".join(str(i % 3) for i in range(600)))
    for options in ([], ["--weights", "weights", "--scale", "maxabs"]):
        said = []
        for where in ([], limit):
            assert main(["train", "narrow", "-v", "3", "--epsilon", "1e-6", "-q", "--json", *options, *where]) == 0
            said.append(json.loads(capfd.readouterr().out))
        assert said[0] == said[1]
    late = ["--max-time", "1e-9", "--epsilon", "1e-9", "-q", "--algorithm", "dcd"]  # which no single pass proves
    assert main(["train", "narrow", "-v", "3", *late, *limit]) == 1
    said = capfd.readouterr()
    assert re.fullmatch(r"Cross Validation Accuracy = \d+\.\d{4}%\n", said.out)
    assert re.findall(r"(fold \d): --max-time is reached", said.err) == ["fold 1", "fold 2", "fold 3"]


@pytest.mark.parametrize("algorithm", ["newton", "dcd"])
def test_training_over_blocks_ends_when_predictions_are_settled(algorithm, narrow, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.chdir(tmp_path)
    path, X, y = narrow
    data = on_disk(path)
    classifier = MaxMarginClassifier(0.1, algorithm=algorithm, stop="predictions", settle=0.98, random_state=0)
    classifier.fit(data)
    assert classifier.stop_reason_ == "predictions"
    assert classifier.settled(X).mean() == classifier.certificate_.settled_share >= 0.98
    assert classifier.certificate_.verify(X, y)
    for others in (X[:100], data):
        classifier.fit(data, settle_on=others)
        assert classifier.certificate_.settled_share is None
    options = ["--until-settled", "98%", "--algorithm", algorithm, "--json", "--memory", str(data.memory_limit)]
    assert main(["train", "narrow", "model.npz", *options]) == 0
    assert json.loads(capfd.readouterr().out)["settled_share"] >= 0.98
    assert main(["verify", "model.npz", "narrow"]) == 0


@pytest.mark.parametrize("kind", ["standard", "maxabs"])
@pytest.mark.parametrize("dense", [False, True])
def test_features_are_scaled_over_blocks_as_in_memory(kind, dense, tmp_path, small_blocks, monkeypatch, capfd):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.chdir(tmp_path)
    X, y = problem()
    X = sp.csr_matrix(X.multiply(10.0 ** np.arange(-5, 7)))
    write("d", X.toarray() + 3 if dense else X, y)
    limit = ["--memory", str(on_disk("d").memory_limit)]
    assert main(["train", "d", "model.npz", "--scale", kind, *limit]) == 0
    out, err = capfd.readouterr()
    assert "they stay on the disk" in err
    assert ("does not centre" in err) == (kind == "standard" and not dense)
    assert "this is about scaled rows" in out
    assert main(["train", "-q", "d", "in-memory.npz", "--scale", kind]) == 0
    ours, theirs = dynmargin.load("model.npz"), dynmargin.load("in-memory.npz")
    assert np.array_equal(ours.scaling.shift, theirs.scaling.shift)
    assert np.array_equal(ours.scaling.divisor, theirs.scaling.divisor)
    assert ours.certificate.data_digest == theirs.certificate.data_digest
    said = []
    for options in ([], limit):
        assert main(["verify", "model.npz", "d", "--scale", kind, *options]) == 0
        assert main(["predict", "d", "model.npz", "--settled", *options]) == 0
        said.append(capfd.readouterr().out)
    assert said[0] == said[1]
    Path("d").rename("before")
    X.data[0] *= 1.01
    write("d", X.toarray() + 3 if dense else X, y)
    assert main(["verify", "model.npz", "d", *limit]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["train", "text", "--memory", "2GB"],
            "--memory needs a folder of blocks: write one with dynmargin data convert text",
        ),
        (["train", "narrow", "--memory", "lots"], "'lots' is not an amount of memory"),
        (["train", "narrow", "--memory", "10kB"], "--memory 10kB is not enough"),
        (["train", "narrow", "--memory", "60kB", "-C"], "-C needs rows that fit into memory; these stay on the disk"),
        (["train", "narrow", "--memory", "60kB", "--drop", "a"], "leave columns out when the folder is written"),
    ],
)
def test_the_command_line_refuses_in_words(words, message, narrow, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("dynmargin.data.limits.resident_memory", lambda: 0)
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("1 1:1\n-1 2:1\n")
    assert main(words) == 3
    assert message in capfd.readouterr().err


def test_a_header_says_what_a_folder_holds(narrow):
    header = json.loads(Path(narrow[0], "header.json").read_text())
    assert sum(block[0] for block in header["blocks"]) == 600
    assert sorted(header["labels"]) == [-1.0, 1.0]
