"""Whatever a file holds or becomes while it is read: a sentence, little memory, and no crash."""

import io
import zipfile

import numpy as np
import pytest

from dynmargin import DataError
from dynmargin.data.npz import read_arrays


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
        (npy(np.full(8, 0x110000, dtype=np.uint32), descr="<U8", shape=()), "characters that do not exist"),
        (npy(np.full(8, 0xD800, dtype=np.uint32), descr="<U8", shape=()), "characters that do not exist"),
        (b"\x93NUMPY\x03\x00\x10\x00\x00\x00" + b" " * 16, "only structured arrays need"),
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
    with pytest.raises(DataError, match="the array 'a' cannot be read: it is there twice"):
        read_arrays(np.frombuffer(file.getvalue(), dtype=np.uint8), "file", "a".__eq__)
