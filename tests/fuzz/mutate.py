"""From a valid input to one that is nearly valid: bytes alone would hardly ever get past the first check.

An input is text (LIBSVM data, LIBLINEAR's models) or a zip archive (our models, .npz data, folders of data, arrays). In
text, words and lines are changed; in archives the entries: the header of an array, its values, fields of JSON.
"""

import ast
import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile
from random import Random

import numpy as np

MOST_BYTES = 1 << 16  # of an input: what takes much memory must not owe it to its own size

NUMBERS = (
    *("0", "-0", "1", "-1", "2", "0.1", "1e-3", "-2.5", "+3", "007", "1.", ".5", "nan", "inf", "-inf", "Infinity"),
    *(
        "1e308",
        "1e309",
        "-1e999",
        "5e-324",
        "1e-400",
        "1e99999999999999999999",
        "0x10",
        "1_0",
        "1,5",
        "--1",
        "1e",
        "e5",
    ),
    *("127", "255", "256", "65536", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740993"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-2147483649"),
    *("-9223372036854775808", "9" * 400, "0." + "0" * 400 + "1", "3" * 30 + "." + "3" * 30),
)
WORDS = (
    *NUMBERS,
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "#",
    ":",
    "1:",
    ":1",
    "qid:1",
    "qid:",
    "a",
    "é",
    "\uff11",
    "w",
    "label",
    "{",
    "[",
)
DTYPES = (
    "<f8",
    "<f4",
    ">f8",
    "<f2",
    "<i8",
    "<i4",
    ">i4",
    "<u8",
    "|u1",
    "|b1",
    "<c16",
    "<U3",
    "|S3",
    "|O",
    "<M8[s]",
    "|V4",
)
INTEGERS = tuple(int(number) for number in NUMBERS if number.removeprefix("-").isdecimal() and len(number) < 25)
FLOATS = tuple(
    float(number) for number in ("0", "-0.0", "1", "-1", "nan", "inf", "-inf", "1e308", "-1e308", "5e-324", "1e200")
)


def mutate(data: bytes, random: Random) -> bytes:
    """Change an input once or a few times, according to its kind."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        data = (mutate_archive if data[:2] == b"PK" else mutate_text)(data, random)[:MOST_BYTES]
    return data


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """Change, drop, repeat or insert some bytes."""
    begin, length = random.randrange(len(data) + 1), random.choice((1, 1, 2, 4, 8, 64))
    middle = data[begin : begin + length]
    match random.randrange(5):
        case 0:
            middle = random.randbytes(len(middle))
        case 1:
            middle = b""
        case 2:
            middle *= random.choice((2, 3, 50))
        case 3:
            middle = (
                random.choice((b"\0", b"\xff", b"\x80", struct.pack("<q", random.choice(INTEGERS) % 2**63))) + middle
            )
        case _:
            return data[:begin]
    return data[:begin] + middle + data[begin + length :]


def mutate_text(data: bytes, random: Random) -> bytes:
    """Change words, lines or bytes, or compress the whole."""
    choice = random.randrange(12)
    if choice == 0:
        return mutate_bytes(data, random)
    if choice == 1 and len(data) < 4096:
        return random.choice((gzip.compress, bz2.compress, lzma.compress))(data)
    if choice <= 4:  # lines
        lines = data.split(b"\n")
        i, j = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(4):
            case 0:
                lines[i], lines[j] = lines[j], lines[i]
            case 1:
                lines.insert(i, lines[j])
            case 2:
                del lines[i]
            case _:
                lines[i] = lines[i] + b" " + lines[j]
        return b"\n".join(lines)
    separator = random.choice((b" ", b" ", b":", b"\n"))
    words = data.split(separator)
    i = random.randrange(len(words))
    match random.randrange(5):
        case 0:
            words.insert(i, words[random.randrange(len(words))])
        case 1:
            del words[i]
        case 2:
            words[i] = mutate_bytes(words[i], random)
        case _:
            words[i] = random.choice(WORDS if random.random() < 0.3 else NUMBERS).encode()
    return separator.join(words)


def entries_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return file.getvalue()


def mutate_archive(data: bytes, random: Random) -> bytes:
    """Change an entry of a zip archive, which entries there are, or the archive itself."""
    if random.random() < 0.05:
        return mutate_bytes(data, random)
    try:
        entries = entries_of(data)
    except Exception:  # the archive itself has been changed already
        return mutate_bytes(data, random)
    if not entries:
        return data
    name = random.choice(list(entries))
    match random.randrange(20):
        case 0:
            del entries[name]
        case 1:
            other = random.choice(list(entries))
            entries[name], entries[other] = entries[other], entries[name]
        case 2:
            entries[random.choice(("x.npy", "format.npy", "X.npy", "../y.npy", "", "é.npy", name.upper()))] = (
                entries.pop(name)
            )
        case 3:
            entries[name] = mutate_bytes(entries[name], random)
        case _:
            kind = mutate_array if entries[name][:6] == b"\x93NUMPY" else mutate_json
            entries[name] = kind(entries[name], random)
    return archive_of(entries, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def mutate_array(content: bytes, random: Random) -> bytes:
    """Change the header of an .npy array or its values."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:
        return mutate_bytes(content, random)
    if random.random() < 0.25:
        return _other_header(content, array, random)
    with np.errstate(all="ignore"):
        try:
            array = _other_values(array, random)
        except Exception:  # there is no such value, type or shape; text may hold what is no character
            return mutate_bytes(content, random)
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _other_header(content: bytes, array: np.ndarray, random: Random) -> bytes:
    length = struct.unpack("<H", content[8:10])[0]
    try:
        header = ast.literal_eval(content[10 : 10 + length].decode("latin1"))
    except (ValueError, SyntaxError):
        return mutate_bytes(content, random)
    match random.randrange(4):
        case 0:
            header["descr"] = random.choice(DTYPES)
        case 1:
            header["fortran_order"] = random.choice((True, False, 1, "yes"))
        case 2:
            shape = list(header["shape"]) or [1]
            shape[random.randrange(len(shape))] = random.choice(INTEGERS)
            header["shape"] = tuple(shape)
        case _:
            header["shape"] = random.choice(
                ((), (0,), (1,), (0, 0), (2, 3), (-1,), (1 << 62, 8), (array.size, 1), (1, array.size))
            )
    text = repr(header) if random.random() < 0.95 else "(" * 300
    text = text.encode("latin1", "replace")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return content[:8] + struct.pack("<H", len(text)) + text + content[10 + length :]


def _other_values(array: np.ndarray, random: Random) -> np.ndarray:
    match random.randrange(8):
        case 0:
            return array.astype(random.choice(DTYPES[:-3]))
        case 1:
            return array.reshape(random.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1))))
        case 2:
            flat = array.ravel()
            return flat[: random.randrange(len(flat) + 1)]
        case 3:
            return np.concatenate([array, array])
        case 4 if array.ndim:
            return array[::-1]
    if array.size == 0:
        return np.zeros(random.choice((1, 2, 1000)), array.dtype)
    array = array.copy()
    places = random.sample(range(array.size), min(array.size, random.choice((1, 1, 2, 8))))
    for place in places:
        kind = array.dtype.kind
        old = array.flat[place]
        if kind == "f":
            array.flat[place] = random.choice((*FLOATS, float(old) * 2, -float(old), np.nextafter(old, np.inf)))
        elif kind in "iu":
            limits = np.iinfo(array.dtype)
            value = random.choice((*INTEGERS, int(old) + 1, int(old) - 1, -int(old), limits.max, limits.min))
            array.flat[place] = min(max(value, limits.min), limits.max)
        elif kind == "b":
            array.flat[place] = not old
        elif kind == "U":
            array.flat[place] = mutate_json(str(old).encode(), random).decode("utf-8", "replace")
            if array.ndim == 0:  # grows with its text
                return np.array(mutate_json(str(old).encode(), random).decode("utf-8", "replace"))
    return array


def mutate_json(content: bytes, random: Random) -> bytes:
    """Change a field of JSON, or the text of what is no JSON."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return mutate_text(content, random)
    if not isinstance(value, dict) or not value or random.random() < 0.1:
        return random.choice((b"[" * 5000, b"null", b"{}", b"[]", b"1e999", b'"\\ud800"', b"9" * 5000, content * 2))
    key = random.choice(list(value))
    match random.randrange(4):
        case 0:
            del value[key]
        case 1:
            value[random.choice(list(value))] = value[key]
        case _:
            value[key] = random.choice(
                (None, True, -1, 0, 1, 1e308, float("nan"), 2**64, 10**30, "", "x", [], [1], ["a", "b"], {}, "\ud800")
            )
    return json.dumps(value).encode()
