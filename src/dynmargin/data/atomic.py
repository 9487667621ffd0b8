"""Files and folders that are written as a whole or not at all."""

import errno
import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

STDOUT = "-"


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write to a temporary name in the same folder, flush it to the disk, and rename it; "-" is standard output.

    Whatever happens on the way, `path` holds the new contents or what it held before.
    """
    if os.fspath(path) == STDOUT:
        buffer = io.BytesIO()
        yield buffer
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()
        return
    require_writable(path)
    target = _target(path)
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
        buffer = io.BytesIO()  # archives that are written to a pipe piece by piece have other bytes
        yield buffer
        with _named(path), target.open("wb") as file:
            file.write(buffer.getvalue())
        return
    temporary = _other_name(target)
    try:
        with _named(path), temporary.open("xb") as file:
            with suppress(OSError):  # there is none yet, or the file system has no modes
                shutil.copymode(target, temporary)  # before there is anything to read in it
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name what could not be written: a full disk names no file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a new folder under a temporary name, flush its files to the disk, and rename it."""
    require_writable(path)
    target = _target(path)
    temporary = _other_name(target)
    try:
        with _named(path):
            temporary.mkdir()
            yield temporary
            for file in temporary.iterdir():
                _flush(file)
        _flush_folder(temporary)
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _flush_folder(target.parent)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before an hour of training rather than after it."""
    if os.fspath(path) == STDOUT:
        return
    target = _target(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
    if target.exists() and not target.is_file():
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "this folder is not writable", str(target.parent))


def require_other_file(path: str | os.PathLike[str], *inputs: str | os.PathLike[str] | None) -> None:
    """Refuse to overwrite a file that is read, under whatever name, or one in a folder that is read."""
    if os.fspath(path) == STDOUT or not os.path.isfile(path):  # a terminal may be both
        return
    places = (path, os.path.dirname(os.path.realpath(path)))
    for source in inputs:
        if source is None or os.fspath(source) == STDOUT or not os.path.exists(source):
            continue
        if any(os.path.samefile(place, source) for place in places):
            raise ValueError(f"{os.fspath(path)}: the output is the input; name another file")


def _target(path: str | os.PathLike[str]) -> Path:
    """Return what is written: what a link points to, not the link."""
    if not os.path.islink(path):
        return Path(path)
    real = os.path.realpath(path)
    # What /dev/fd/63 points to may be a pipe, which has no path of its own.
    return Path(path if os.path.exists(path) and not os.path.exists(real) else real)


def _other_name(target: Path) -> Path:
    """Return a name in the same folder that is not taken."""
    return target.with_name(f".{target.name}.{os.urandom(8).hex()}")


def _flush_folder(folder: Path) -> None:
    """Make the new name survive a crash, where a folder can be flushed; the file has its name already."""
    if os.name == "posix":
        with suppress(OSError):
            _flush(folder)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
