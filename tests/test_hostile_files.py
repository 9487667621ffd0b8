"""Whatever a file holds or becomes while it is read: a sentence, little memory, and no crash."""

import bz2
import errno
import gzip
import io
import itertools
import json
import lzma
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import weakref
import zipfile
from contextlib import contextmanager, suppress
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from zstd_archives import compress_zstd

import dynmargin
from dynmargin import DataError, ModelFileError, _core, load, read_libsvm
from dynmargin.cli import training
from dynmargin.cli.main import main
from dynmargin.cli.signals import ending_on_signals
from dynmargin.data import tables
from dynmargin.data.archives import contents
from dynmargin.data.atomic import atomic_folder, atomic_write, require_writable
from dynmargin.data.dataset import Csr, Dataset
from dynmargin.data.formats import convert_to_folder, read_dataset, write_dataset
from dynmargin.data.npy import HEADERS
from dynmargin.data.npz import read_arrays
from dynmargin.model import liblinear_file
from dynmargin.problem.matrix import as_matrix


def npy(array, **changed):
    """Return the bytes of an .npy file whose header may lie."""
    header = repr({**np.lib.format.header_data_from_array_1_0(array), **changed}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.tobytes(order="A")


def archive(entries, compression=zipfile.ZIP_STORED):
    """Return the bytes of an .npz archive with these entries, as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as packed:
        for name, content in entries.items():
            packed.writestr(f"{name}.npy", content)
    return np.frombuffer(file.getvalue(), dtype=np.uint8)


@pytest.mark.parametrize(
    "array",
    [
        *(np.ones((3, 4)), np.asfortranarray(np.arange(12).reshape(3, 4)), np.array(3.5), np.array("text")),
        *(np.array(["a", "ü€"]), np.array([b"x", b"yy"]), np.zeros((0, 4)), np.array([True, False])),
        np.arange(3, dtype=">i8"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_arrays_come_back_as_they_were(array, compression):
    found = read_arrays(archive({"a": npy(array), "b": b"no array"}, compression), "file", "a".__eq__)
    assert found.keys() == {"a"}
    assert found["a"].dtype == array.dtype
    np.testing.assert_array_equal(found["a"], array)


ONES = np.ones(4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(ONES, shape=(10**12,)), "which is not what follows"),
        (npy(ONES, shape=(-4,)), "which is not what follows"),
        (npy(ONES, shape=(2**62, 2**62)), "which is not what follows"),
        (npy(ONES, shape=(3,)), "which is not what follows"),
        (npy(ONES[:0], shape=(0, *[2**62] * 3)), "its shape is not possible"),
        (npy(ONES, descr="|O"), "it holds object"),
        (npy(ONES, descr="<c16", shape=(2,)), "it holds complex128"),
        (npy(ONES, descr="<M8[s]"), "it holds datetime64"),
        (npy(ONES, descr="|V8"), "neither numbers nor text"),
        (npy(ONES, descr=[("a", "<f8")]), "neither numbers nor text"),
        (npy(ONES[:0], descr="<U0", shape=(10**12,)), "neither numbers nor text"),
        (npy(ONES, descr="nonsense"), "its header is damaged"),
        (npy(ONES, shape=4), "its header is damaged"),
        (npy(np.full(8, 0x110000, dtype=np.uint32), descr="<U8", shape=()), "it holds invalid Unicode"),
        (npy(np.full(8, 0xD800, dtype=np.uint32), descr="<U8", shape=()), "it holds invalid Unicode"),
        (b"\x93NUMPY\x03\x00\x10\x00\x00\x00" + b" " * 16, "unsupported .npy version 3.0"),
        (b"\x93NUMPY\x01\x00\x00\x27" + b"-" * 0x2700, "its header is damaged"),
        (b"\x93NUMPY\x01\x00\x00\x27" + b"(" * 0x2700, "its header is damaged"),
        (b"", "its header is damaged"),
        (b"something else", "its header is damaged"),
    ],
    ids=range(20),
)
def test_an_array_whose_header_lies_is_refused(content, message):
    with pytest.raises(DataError, match=f"file: the array 'a' cannot be read: .*{message}"):
        read_arrays(archive({"a": content}), "file", "a".__eq__)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_that_is_cut_or_changed_anywhere_is_read_whole_or_refused(compression):
    good = archive({"a": npy(np.arange(20.0))}, compression)
    for cut in range(len(good)):
        with pytest.raises(DataError):
            read_arrays(good[:cut], "file", "a".__eq__)
    for place in range(len(good)):
        changed = good.copy()
        changed[place] ^= 0x55
        try:
            found = read_arrays(changed, "file", "a".__eq__)
        except DataError:
            continue
        assert not found or np.array_equal(found["a"], np.arange(20.0))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_the_same_name_are_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a.npy", npy(ONES))
        packed.writestr("a.npy", npy(2 * ONES))
    with pytest.raises(DataError, match="the array 'a' cannot be read: duplicate entry"):
        read_arrays(np.frombuffer(file.getvalue(), dtype=np.uint8), "file", "a".__eq__)


def test_an_archive_that_numpy_could_not_have_written_is_refused():
    """An LZMA entry may ask for a dictionary of 4 GB, whatever it holds."""
    for compression in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with pytest.raises(DataError, match="the array 'a' cannot be read: it is compressed in a way that NumPy never"):
            read_arrays(archive({"a": npy(ONES)}, compression), "file", "a".__eq__)


def test_too_little_memory_for_a_header_is_not_blamed_on_it(monkeypatch):
    def exhausted(_):
        raise MemoryError

    monkeypatch.setitem(HEADERS, (1, 0), exhausted)
    monkeypatch.setattr(_core, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="there is not enough memory: the header of an array takes 1"):
        read_arrays(archive({"a": npy(ONES)}), "file", "a".__eq__)


# Files and arrays that change while they are read; make sanitize-address makes a single wrong access fatal.


@contextmanager
def meanwhile(*steps):
    """Take the steps in another thread, over and over and at least once; raise what they raise."""
    done, failed = threading.Event(), []

    def work():
        try:
            for step in itertools.chain(steps, itertools.cycle(steps)):
                step()
                if done.is_set():
                    return
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    if failed:
        raise failed[0]


def test_what_fails_meanwhile_is_raised():
    with pytest.raises(ZeroDivisionError), meanwhile(lambda: 1 / 0):
        pass


def sparse(n_rows=20_000, n_columns=1000, per_row=10, index=np.int32):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, n_columns, n_rows * per_row).astype(index)
    return Csr(
        rng.normal(size=len(columns)), columns, np.arange(n_rows + 1, dtype=index) * per_row, (n_rows, n_columns)
    )


CHANGES = {
    "columns beyond the last": lambda X: X.indices.fill(2**31 - 1),
    "negative columns": lambda X: X.indices.fill(-(2**31)),
    "rows beyond the last value": lambda X: X.indptr[1:].fill(2**31 - 1),
    "rows that end before they begin": lambda X: X.indptr[::2].fill(-(2**31)),
    "one row with all values": lambda X: X.indptr.__setitem__(slice(1, None), len(X.data)),
}


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_no_change_of_a_matrix_makes_the_core_leave_its_arrays(change, index):
    X = sparse(index=index)
    good = X.indices.copy(), X.indptr.copy()
    n_rows, n_columns = X.shape
    matrix, rng = as_matrix(X), np.random.default_rng(1)
    problem = _core.Problem(np.where(rng.random(n_rows) < 0.5, 1, -1).astype(np.int8), 1.0, 1.0, 1.0)
    joint = _core.JointProblem(rng.integers(1, 4, n_rows).astype(np.int32), 1.0, np.ones(3))
    online = _core.OnlineState(n_columns, 1.0, True)
    places, counts = np.arange(n_rows), np.ones(n_rows, dtype=np.int64)
    calls = [
        lambda: _core.pack(matrix),
        lambda: problem.digest(matrix),
        lambda: problem.margin_of_weights(matrix, np.ones(n_columns), 0.5),
        lambda: problem.bound_of_counts(matrix, places, counts),
        lambda: joint.margin_of_weights(matrix, np.ones((3, n_columns)), np.zeros(3)),
        lambda: online.present(matrix, problem, None, 0.5),
        lambda: as_matrix(X),
    ]

    def restore():
        X.indices[:], X.indptr[:] = good

    with meanwhile(lambda: change(X), restore):
        for call in calls * 20:
            with suppress(ValueError, RuntimeError):  # it may notice
                call()
    restore()
    for call in calls:
        call()


def test_a_file_that_is_rewritten_while_it_is_read(tmp_path):
    """Few long lines, then many short ones: what is counted in one must not be filled with the other."""
    path = tmp_path / "data"
    texts = [b"1 " + b"#" * 4000 + b"\n", b"1\n" * 2000, b"1" + b" 1:1" * 1000 + b"\n", b"1 1:1\n" * 600]
    path.write_bytes(texts[0] * 100)

    def rewrite(text):
        with path.open("r+b") as file:
            file.write(text * 100)
            file.truncate()

    with meanwhile(*(partial(rewrite, text) for text in texts)):
        for _ in range(100):
            with suppress(DataError):
                read_libsvm(path)


@pytest.mark.parametrize("name", ["data.txt", "data.npz", "data.csv", "folder/"])
def test_a_file_that_is_shortened_after_it_was_read(name, tmp_path):
    """A mapped one would end the process by SIGBUS."""
    X = sparse()
    y = np.arange(len(X.indptr) - 1) % 2.0
    dense = np.tile(np.arange(100.0), (2000, 1))
    dataset = Dataset(dense, y[:2000]) if name == "data.csv" else Dataset(X, y)
    path = f"{tmp_path}/{name}"
    write_dataset(dataset, path)
    read = read_dataset(path, label="label")
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        os.truncate(path, 0)
    _core.pack(as_matrix(read.X))
    np.testing.assert_array_equal(read.y, dataset.y)


def test_a_file_may_grow_or_shrink_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.write_bytes(b"1 1:1\n" * 10)
    for size, rows in ((6, 10), (6000, 10), (0, 10)):  # what the system says about its size
        monkeypatch.setattr("dynmargin.data.archives.os.fstat", lambda _, size=size: SimpleNamespace(st_size=size))
        assert len(read_libsvm(path)[1]) == rows


# Memory.

LIMITED = """
import resource
from dynmargin.data.formats import read_dataset
from dynmargin.problem.matrix import as_matrix
from dynmargin import _core
if {path!r}.endswith((".csv", ".parquet")):
    import pyarrow
    pyarrow.set_cpu_count(1), pyarrow.set_io_thread_count(1)
    for small in {small!r}:
        read_dataset(small)  # pyarrow's threads are running from now on
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + {megabytes} * 10**6
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    _core.pack(as_matrix(read_dataset({path!r}).X))
    print("read")
except (ValueError, MemoryError) as error:
    print(type(error).__name__, error)
"""


def read_limited(path, megabytes, **environment):
    """Read and pack a file in a process that may take that much more memory than it has at the start."""
    small = [f"{path.parent}/{name}" for name in ("small.csv", "small.parquet")]
    for one in small:
        write_dataset(Dataset(np.eye(2), None), one)
    code = LIMITED.format(path=str(path), megabytes=megabytes, small=small)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


has_limits = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")


def needs_limits(test):
    """Mark a test that limits the memory of a process, which sanitizers need far more of."""
    return pytest.mark.unsanitized(has_limits(test))


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": compress_zstd}


def bomb(suffix, megabytes):
    """Return a small file that unpacks to much: spaces, which are a valid text."""
    piece = b"1 1:1" + b" " * (10**6 - 6) + b"\n"
    if suffix in (".npz", ".npz of unknown"):
        entries = {"X" if suffix == ".npz" else "other": npy(np.zeros(megabytes * 125_000))}
        return archive(entries, zipfile.ZIP_DEFLATED).tobytes()
    return PACKERS[suffix](piece * 10) * (megabytes // 10)  # several streams


@needs_limits
@pytest.mark.parametrize("suffix", [*PACKERS, ".npz"])
def test_a_bomb_is_refused_before_it_fills_the_memory(suffix, tmp_path):
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(bomb(suffix, 300))
    message = read_limited(path, 700)
    assert re.search("^DataError .*it unpacks to more than .* set DYNMARGIN_MAX_UNPACKED", message)
    message = read_limited(path, 200, DYNMARGIN_MAX_UNPACKED="50000000")
    assert "it unpacks to more than 50 MB" in message


@needs_limits
def test_entries_of_an_archive_that_nobody_asked_for_take_no_memory(tmp_path):
    content = np.frombuffer(bomb(".npz of unknown", 300), dtype=np.uint8)
    path = tmp_path / "data.npz"
    path.write_bytes(content.tobytes())
    assert read_limited(path, 50).endswith(
        "it holds neither X nor a whole CSR matrix: data, indices, indptr, shape are missing"
    )


def test_the_limit_can_be_set_and_is_a_number(tmp_path, monkeypatch):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n" * 1000))
    monkeypatch.setenv("DYNMARGIN_MAX_UNPACKED", "6000")
    assert len(read_dataset(str(path)).y) == 1000
    monkeypatch.setenv("DYNMARGIN_MAX_UNPACKED", "5999")
    with pytest.raises(DataError, match="it unpacks to more than 6 kB; if you trust it, set DYNMARGIN_MAX_UNPACKED"):
        read_dataset(str(path))
    for text in ("-1", "much"):
        monkeypatch.setenv("DYNMARGIN_MAX_UNPACKED", text)
        with pytest.raises(ValueError, match="must be a number of bytes"):
            read_dataset(str(path))


@needs_limits
@pytest.mark.parametrize("name", ["data", "data.gz", "data.csv", "data.parquet", "data.npz", "folder/"])
def test_too_little_memory_is_never_blamed_on_the_file(name, tmp_path):
    rng = np.random.default_rng(0)
    dataset = Dataset(rng.integers(1, 1000, size=(20_000, 50)).astype(np.float64), None)
    write_dataset(dataset, f"{tmp_path}/{name}")
    messages = {read_limited(tmp_path / name, megabytes) for megabytes in (3, 5, 8, 12)}
    assert any(message.startswith("MemoryError") for message in messages)
    for message in messages - {"read"}:
        assert re.search(
            r"^MemoryError there is not enough memory: .* takes .* [MG]B; .* is available; free some", message
        )


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("flaw", ["none", "a label missing", "cut short", "one more row, too short"])
def test_pyarrow_has_let_go_of_what_it_read_when_the_reading_is_over(format, flaw, tmp_path, monkeypatch):
    """A thread of its own that lets go of it while Python is being finalized aborts the process."""
    path = tmp_path / f"data.{format}"
    write_dataset(Dataset(np.arange(200_000.0).reshape(-1, 4), None), str(path))
    content = path.read_bytes()
    path.write_bytes({"cut short": content[:-10], "one more row, too short": content + b"1,2\n"}.get(flaw, content))
    seen = []
    take = tables.Lent.take

    def note(lent):
        seen.append(weakref.ref(what := take(lent)))
        return what

    monkeypatch.setattr(tables.Lent, "take", note)
    monkeypatch.setattr(tables, "MOST_PATIENCE", 60.0)
    label = "missing" if flaw == "a label missing" else None
    for read in (read_dataset, partial(convert_to_folder, out=f"{tmp_path}/folder/")):
        with suppress(DataError):
            read(str(path), label=label)
        assert [one() for one in seen] == [None] * len(seen)
    assert seen


@needs_limits
@pytest.mark.parametrize("name", ["/dev/zero", "pipe", "weights", "standard input"])
def test_a_stream_without_end_is_refused_before_it_fills_the_memory(name, tmp_path):
    """In a process whose memory it would fill."""
    for path in ("pipe", "data"):
        (tmp_path / path).write_text("1 1:1\n-1 2:1\n")
    line = {"pipe": "train <(cat /dev/zero) m", "weights": "train data m --weights /dev/zero"}
    words = line.get(name, "train - m < /dev/zero" if name == "standard input" else f"train {name} m")
    done = subprocess.run(
        ["bash", "-c", f"ulimit -v 4000000; {sys.executable} -m dynmargin {words}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "DYNMARGIN_MAX_UNPACKED": "20000000"},
    )
    message = done.stderr.splitlines()[-1]
    assert re.search("^dynmargin train: .*: it does not end within 20 MB; if you trust it, set DYNMARGIN", message)
    assert done.returncode == 3


def test_the_limit_of_a_stream_is_half_of_the_memory(monkeypatch):
    monkeypatch.setattr(_core, "available_memory", lambda: 3e6)
    with pytest.raises(DataError, match=r"data: it does not end within 1\.5 MB"):
        contents(io.BytesIO(bytes(2_000_000)))
    assert len(contents(io.BytesIO(bytes(1_400_000)))) == 1_400_000


def test_a_file_of_holes_is_refused_before_memory_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(_core, "available_memory", lambda: 1e8)
    with (tmp_path / "data").open("wb") as file:
        file.truncate(10**9)  # takes no space on the disk
    with pytest.raises(MemoryError, match="there is not enough memory: the file takes 1 GB"):
        contents(tmp_path / "data")
    write_dataset(Dataset(np.eye(2), None), f"{tmp_path}/d/")
    header = json.loads((tmp_path / "d" / "header.json").read_text())
    header["blocks"][0][2] = 8 * 10**9
    (tmp_path / "d" / "header.json").write_text(json.dumps(header))
    os.truncate(tmp_path / "d" / "rows-000000", 8 * 10**9)
    with pytest.raises(MemoryError, match="there is not enough memory: the block rows-000000 takes 8 GB"):
        read_dataset(str(tmp_path / "d"))


@needs_limits
@pytest.mark.parametrize(
    ("used", "stat", "available"), [("400000", "anon 1\ninactive_file 300000\n", 900_000), ("2000000", "", 0)]
)
def test_what_a_container_has_used_is_not_available(used, stat, available, tmp_path):
    """Pages of files that nobody has used lately are given back."""
    for name, text in (("max", "1000000"), ("current", used), ("stat", stat)):
        (tmp_path / f"memory.{name}").write_text(text)
    assert _core.available_memory(str(tmp_path)) == available
    (tmp_path / "memory.max").write_text("max")
    assert _core.available_memory(str(tmp_path)) > 1_000_000


@needs_limits
def test_the_core_says_how_much_memory_it_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr("dynmargin.data.binary.BLOCK_BYTES", 1 << 20)
    write_dataset(Dataset(np.random.default_rng(0).random((40_000, 50)), None), f"{tmp_path}/folder/")
    message = read_limited(tmp_path / "folder", 25)
    assert message.startswith("MemoryError there is not enough memory: packing the rows takes 16.6 MB; ")


def test_a_line_of_endless_columns_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("0" + ",0" * 2_000_000 + "\n1\n")
    monkeypatch.setenv("DYNMARGIN_MAX_UNPACKED", "10000000000")
    with pytest.raises(DataError, match=r"x\.csv: a table of 2000001 columns takes 20 GB of memory; use LIBSVM text"):
        read_dataset(str(tmp_path / "x.csv"))


# Numbers and names that cannot be.

CSR = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}
TABLE = {"X": np.eye(2), "y": np.array([0, 1])}


@pytest.mark.parametrize(
    "arrays",
    [
        *({**CSR, "shape": shape} for shape in (np.array(2), np.array([2.0, np.inf]), np.array([2, 2, 2]))),
        *({**CSR, "shape": np.array(shape)} for shape in ([2, -1], [-1, 2], [2**62, 2], ["2", "2"])),
        {**CSR, "shape": np.array([2, 2**64 - 1], dtype=np.uint64)},
        *({**CSR, "indices": np.array(indices)} for indices in ([0, 2**62], [0, -1], [0.0, 1.0], [[0, 1]], 7)),
        *(
            {**CSR, "indptr": np.array(starts)}
            for starts in ([0, 2**62, 2], [0, 1, 2**62], [5, 1, 2], [0.0, 1, 2], 7, [])
        ),
        *({**CSR, "data": data} for data in (np.ones((2, 1)), np.array(1.0), np.array(["1", "2"]), np.ones(1))),
        *({**CSR, "format": format} for format in (np.array(b"csc"), np.array([b"csr", b"csr"]), np.array(7))),
        *({**TABLE, "X": X} for X in (np.array(1.0), np.ones(2), np.ones((2, 1, 1)), np.array([["1"], ["2"]]))),
        *({**TABLE, "y": np.array(y)} for y in ([1], [[1, 2]], 1, [b"a", b"b"], [1j, 2j])),
        *(
            {**TABLE, "feature_names": np.array(names)}
            for names in (["a"], ["a", "a"], [1, 2], [b"a", b"b"], "ab", [["a", "b"]])
        ),
    ],
)
def test_arrays_that_are_no_data_are_refused_in_a_sentence(arrays, tmp_path):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(DataError, match=r"x\.npz: .+"):
        read_dataset(str(tmp_path / "x.npz"))


def header(**changed):
    """Return the changes of a header that are to be made."""
    return changed


@pytest.mark.parametrize(
    "header",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 5000,
        '{"format": "dynmargin data", "version": 1e999}',
        *(header(version=version) for version in ("1", None, [1], 2**70, True)),
        *(header(dense=dense) for dense in ("other", None, 1, [], {})),
        *(header(values=values) for values in ("int64", None, 1, [], {})),
        *(header(columns=columns) for columns in (-1, 1, "2", None, 2.5, [2], 2**31, 2**63, 2**70, True)),
        *(header(labels=labels) for labels in (1, "yes", [], None, [0.0], [0.0, "1"], [[0], [1]], [0.0, 1e999])),
        *(header(label_rows=rows) for rows in (1, None, [], [1], [2, 1], [3, -1], [1.0, 1.0])),
        *(header(first_index=first) for first in (2, -1, "1", 1.0, True, [])),
        *(header(feature_names=names) for names in (["a"], ["a", "a"], [1, 2], "ab", {}, [["a"], ["b"]], 7)),
        *(header(feature_names=["a", name]) for name in ("\ud800", "b" * 10_000)),
        *(header(blocks=blocks) for blocks in (None, 1, {}, [1], [[]], [[2, 2, 80, "00" * 64, 1, 0]])),
        *(header(**{"blocks": [{place: value}]}) for place, value in enumerate((3, 3, 8, "00" * 64, 2, 1))),
        *(header(**{"blocks": [{place: value}]}) for place in range(6) for value in (-1, None, 1.5, "x", [], 2**70)),
    ],
    ids=lambda header: str(header)[-60:],
)
def test_a_folder_whose_header_is_nonsense_is_refused_in_a_sentence(header, tmp_path):
    write_dataset(Dataset(Csr(*list(CSR.values())[:3], (2, 2)), np.array([0.0, 1.0])), f"{tmp_path}/d/")
    path = tmp_path / "d" / "header.json"
    if not isinstance(header, str):
        written = json.loads(path.read_text())
        blocks = header.get("blocks")
        if isinstance(blocks, list) and isinstance(blocks[0], dict):  # one number of the block is changed
            (place, value), *_ = blocks[0].items()
            assert written["blocks"][0][place] != value
            header = {"blocks": [[value if i == place else old for i, old in enumerate(written["blocks"][0])]]}
        header = json.dumps(written | header)
    path.write_text(header)
    with pytest.raises(DataError, match=r"/d: .+"):
        read_dataset(str(tmp_path / "d"))


def test_a_block_of_a_folder_must_be_a_file(tmp_path):
    write_dataset(Dataset(np.eye(2), None), f"{tmp_path}/d/")
    (tmp_path / "d" / "rows-000000").unlink()
    (tmp_path / "d" / "rows-000000").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="rows-000000 is not as it was written: it is not a file"):
        read_dataset(str(tmp_path / "d"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["header.json", "rows-000000"])
def test_a_pipe_in_a_folder_is_refused_and_nobody_waits_for_it(name, tmp_path):
    write_dataset(Dataset(np.eye(2), None), f"{tmp_path}/d/")
    (tmp_path / "d" / name).unlink()
    os.mkfifo(tmp_path / "d" / name)
    code = f"from dynmargin.data.formats import read_dataset; read_dataset({str(tmp_path / 'd')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert re.search(f"{re.escape(name)} is (missing or|not as it was written: it is not a file)", done.stderr)


def test_a_header_of_a_folder_is_not_endless(tmp_path):
    write_dataset(Dataset(np.eye(2), None), f"{tmp_path}/d/")
    os.truncate(tmp_path / "d" / "header.json", 10**9)
    with pytest.raises(DataError, match=r"header\.json is missing or damaged"):
        read_dataset(str(tmp_path / "d"))
    names = np.array([f"{j:01000}" for j in range(70)])
    wide = Dataset(np.zeros((1, 70_000)), None, np.tile(names, 1000))
    with pytest.raises(DataError, match="the names of its columns take more than 64 MB"):
        write_dataset(wide, f"{tmp_path}/wide/")
    assert not (tmp_path / "wide").exists()


LIBLINEAR = {
    "solver_type": "L2R_LR",
    "nr_class": "2",
    "label": "1 -1",
    "nr_feature": "2",
    "bias": "1",
    "w": "\n1\n2\n3",
}


@pytest.mark.parametrize(
    "changed",
    [
        *({"nr_class": n} for n in ("0", "1", "-2", "1e9", "99999999999999999999", "9" * 5000, "two", "")),
        *({"nr_feature": n} for n in ("-1", "3", "99999999999999999999", "nan", "")),
        *({"bias": bias} for bias in ("nan", "inf", "-inf", "1e999", "much", "")),
        *({"label": labels} for labels in ("1", "1 1", "1 2 3", "1 99999999999999999999", "1 " + "9" * 400, "a b", "")),
        *({"w": weights} for weights in ("\n1\n2", "\n1\n2\nnan", "\n1\n2\ninf", "\n1\n2\nthree", "")),
        {"bias": "1e300", "w": "\n1\n2\n1e300"},
        *({name: None} for name in LIBLINEAR),
    ],
    ids=str,
)
def test_a_liblinear_model_that_is_nonsense_is_refused_in_a_sentence(changed, tmp_path):
    fields = {name: text for name, text in {**LIBLINEAR, **changed}.items() if text is not None}
    (tmp_path / "model").write_text("".join(f"{name} {text}\n".replace("w \n", "w\n") for name, text in fields.items()))
    content = contents(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"model .*is not a .*model"):
        liblinear_file.parse(content, "model") if liblinear_file.is_model(content) else load(tmp_path / "model")


def test_the_liblinear_model_itself_is_read(tmp_path):
    text = "".join(f"{name} {text}\n".replace("w \n", "w\n") for name, text in LIBLINEAR.items())
    model = liblinear_file.parse(np.frombuffer(text.encode(), dtype=np.uint8), "model")
    assert (model.classes.tolist(), model.coef.tolist(), model.intercept.tolist()) == ([-1, 1], [[1, 2]], [3])


def test_an_index_that_no_memory_is_enough_for_is_refused_before_training(tmp_path, monkeypatch, capsys):
    (tmp_path / "data").write_text("1 1:1\n-1 20000000:1\n")
    dataset = read_dataset(str(tmp_path / "data"))
    monkeypatch.setattr(_core, "available_memory", lambda: 1e9)
    with pytest.raises(MemoryError, match=r"training with 20000000 features takes 1\.28 GB"):
        dynmargin.PDMClassifier().fit(dataset.csr().to_scipy(), dataset.y)
    training.mention_many_features(dataset)
    assert capsys.readouterr().err == (
        "dynmargin: the largest index makes 20000000 features; training takes 1.28 GB of memory\n"
    )


# What is written.


@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)])
@pytest.mark.parametrize("writer", ["atomic_write", "atomic_folder"])
@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_signal_leaves_no_temporary_file_and_is_what_the_process_dies_of(writer, number, tmp_path):
    code = f"""
import time
from dynmargin.cli.signals import ending_on_signals
from dynmargin.data import tables
from dynmargin.data.atomic import {writer}
with ending_on_signals(), {writer}({str(tmp_path / "out")!r}):
    print("writing", flush=True)
    time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        assert process.wait() == -number
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_signal_that_was_swallowed_does_not_make_the_process_immortal():
    """The second is ignored, for the sake of the clean-up; the third is the end."""
    code = """
import signal, time
from dynmargin.cli.signals import ending_on_signals
from dynmargin.data import tables
with ending_on_signals():
    try:
        print("running", flush=True)
        time.sleep(100)
    except BaseException:
        print("swallowed", flush=True)
    for _ in range(1000):
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            print("mortal", flush=True)
            time.sleep(100)
        time.sleep(0.01)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        for word in (b"running\n", b"swallowed\n", b"mortal\n"):
            assert process.stdout.readline() == word
            process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM


def test_signals_are_caught_by_the_command_line_only_and_given_back():
    before = signal.getsignal(signal.SIGTERM)
    with ending_on_signals():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
    with meanwhile(lambda: ending_on_signals().__enter__()):  # in a thread that may not set handlers
        pass


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with ending_on_signals():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("writer", [atomic_write, atomic_folder])
def test_what_fails_while_it_is_written_leaves_nothing(writer, tmp_path):
    with pytest.raises(KeyboardInterrupt), writer(tmp_path / "out"):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


needs_posix = pytest.mark.skipif(os.name != "posix", reason="modes and links are those of POSIX")


@needs_posix
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    (tmp_path / "secret").write_text("old")
    (tmp_path / "secret").chmod(0o600)
    with atomic_write(tmp_path / "secret") as file:
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}  # the temporary one, too
        file.write(b"new")
    assert (tmp_path / "secret").read_text() == "new"
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


@needs_posix
def test_what_a_link_points_to_must_be_writable(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "out")
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        require_writable(tmp_path / "link")
    (tmp_path / "nowhere").mkdir()
    require_writable(tmp_path / "link")
    with atomic_folder(tmp_path / "link") as folder:
        (folder / "file").touch()
    assert (tmp_path / "nowhere" / "out" / "file").exists()
    assert (tmp_path / "link").is_symlink()
    with pytest.raises(IsADirectoryError):
        require_writable(tmp_path / "link")


@needs_posix
@pytest.mark.parametrize("writer", [atomic_write, atomic_folder])
def test_what_is_written_is_no_failure_where_folders_cannot_be_flushed(writer, tmp_path, monkeypatch):
    fsync = os.fsync

    def files_only(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", files_only)
    with writer(tmp_path / "out"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders cannot be flushed")
def test_every_file_of_a_folder_is_flushed_before_it_gets_its_name(tmp_path, monkeypatch):
    flushed, fsync, rename = [], os.fsync, os.rename
    monkeypatch.setattr(os, "fsync", lambda handle: (flushed.append(os.fstat(handle).st_ino), fsync(handle)))
    monkeypatch.setattr(os, "rename", lambda *names: (flushed.append("renamed"), rename(*names)))
    write_dataset(Dataset(np.eye(2), np.array([0, 1])), f"{tmp_path}/d/")
    files = {path.stat().st_ino for path in (tmp_path / "d").iterdir()}
    assert len(files) == 2
    assert set(flushed[:2]) == files
    assert flushed[2:] == [(tmp_path / "d").stat().st_ino, "renamed", tmp_path.stat().st_ino]


@pytest.mark.parametrize(
    "words",
    [
        ["train", "data", "weights", "--weights", "weights"],
        ["train", "data", "./link", "--weights", "weights"],
        ["train", "data", "data"],
        ["train", "d", "d/header.json"],
        ["predict", "data", "model.npz", "model.npz"],
        ["predict", "d", "model.npz", "d/rows-000000"],
        ["convert", "model.npz", "model.npz"],
        ["data", "convert", "data", "data"],
        ["data", "convert", "d", "d/rows-000000", "--to", "npz"],
        ["compare", "data", "--csv", "data"],
    ],
    ids=" ".join,
)
def test_no_command_overwrites_what_it_reads(words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("1 1:1\n-1 2:1\n")
    (tmp_path / "weights").write_text("1\n1\n")
    (tmp_path / "link").symlink_to("weights")
    write_dataset(Dataset(np.eye(2), np.array([0, 1])), "d/")
    assert main(["train", "-q", "data", "model.npz"]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(words) == 3
    assert "the output is the input; name another file" in capfd.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
