"""Cells of a table on disk, each a small file written as a whole: a run that is killed loses nothing finished."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ..data.atomic import atomic_write

State = Literal["done", "over limit", "failed"]


class Key(NamedTuple):
    """Which cell: one run of one algorithm on one problem, as a part of a table or of another piece of work."""

    work: str
    problem: str
    column: str
    epsilon: float
    seed: int

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.work}-{self.problem}-{self.column}-epsilon{self.epsilon!r}-seed{self.seed}.json"


@dataclass(frozen=True)
class Result:
    """The outcome of a cell.

    Attributes
    ----------
    state : {"done", "over limit", "failed"}
        How it ended.
    margin, updates, seconds : float, int, float or None
        What was measured, for a cell that is done; CPU seconds.
    ended, verdict : str
        Why the algorithm stopped, and the verdict on its certificate.
    geometric, error, proven : float or None
        The geometric margin, the part of the training rows on the wrong side, and the margin that was certified.
    curve : list or None
        t, the directional margin and the upper bound at some moments of the run, for the cells of pictures.
    limit : float or None
        The seconds it was allowed; None for no limit.
    message : str
        What went wrong.
    version, day : str
        Which dynmargin, and when.
    """

    state: State
    margin: float | None = None
    updates: int | None = None
    seconds: float | None = None
    ended: str = ""
    verdict: str = ""
    geometric: float | None = None
    error: float | None = None
    proven: float | None = None
    curve: list[tuple[int, float, float]] | None = None
    limit: float | None = None
    message: str = ""
    version: str = ""
    day: str = ""

    def stands(self, limit: float | None) -> bool:
        """Whether it need not be computed again: it is done, or was allowed at least this much time."""
        if self.state == "over limit":
            return limit is not None and self.limit is not None and self.limit >= limit
        return self.state == "done"


class Cells:
    """The folder with the cells."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, key: Key) -> Result | None:
        """Read a cell; None if it does not exist or is not one of ours."""
        try:
            content = json.loads((self.folder / key.file).read_text(encoding="utf-8"))
            if content.pop("key") != list(key):
                return None
            return Result(**content)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def write(self, key: Key, result: Result) -> None:
        """Write a cell: all of it, or nothing."""
        with atomic_write(self.folder / key.file) as file:
            file.write(json.dumps({"key": list(key), **asdict(result)}, indent=1).encode())

    def forget(self, key: Key) -> None:
        """Remove a cell."""
        (self.folder / key.file).unlink(missing_ok=True)
