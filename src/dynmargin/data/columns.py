"""Which columns of a table are features, which one is the label, and which are left out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..problem.statement import among_others, counted
from .dataset import DataError

LABEL = "label"  # what the label's column is called in tables that we write
MOST_NAMES = 10  # in a message


@dataclass(frozen=True)
class Asked:
    """What is asked of the columns of a table.

    Attributes
    ----------
    label : str or None
        The name of the label's column, or its number: 1 is the first, -1 the last.
    drop : sequence of str
        Names or numbers of columns that are not to be used.
    required : bool
        Whether there has to be a label.
    features : int or None
        The number of features of the model that the rows are for. Then label and columns to drop may be missing.
    names : list of str or None
        The names of its features, where it has names.
    """

    label: str | None = None
    drop: Sequence[str] = ()
    required: bool = False
    features: int | None = None
    names: Sequence[str] | None = None


@dataclass(frozen=True)
class Columns:
    """The places of columns in a table: of the label, of the features; and the names of those left out.

    `dropped` were to be left out; `ignored` are not known to the model that the rows are for.
    """

    label: int | None
    features: list[int]
    dropped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def choose(names: Sequence[str], named: bool, asked: Asked, file: str) -> Columns:
    """Choose among the columns of a table; in one that is not `named`, columns have numbers only."""
    if len(set(names)) < len(names):
        twice = next(column for column, times in Counter(names).items() if times > 1)
        raise DataError(several_called(twice), file)
    if asked.required and asked.label is None:
        how = f"use --label NAME; the columns are {listed(names)}"
        if not named:
            how = f"use --label NUMBER: 1 is the first of {len(names)}, -1 the last"
        raise DataError(f"which column is the label? {how}", file)
    if named and asked.names is not None:
        return _of_model(names, asked, file)
    label, drop = _there(names, named, asked)
    target = None if label is None else _find(names, named, label, file)
    dropped = sorted({_find(names, named, one, file) for one in drop})
    if target is not None and target in dropped:
        raise DataError(f"{label} is the label; --drop cannot leave it out", file)
    features = [j for j in range(len(names)) if j != target and j not in dropped]
    if not features:
        raise DataError("no column is left besides the label", file)
    return Columns(target, features, tuple(names[j] if named else str(j + 1) for j in dropped))


def _of_model(names: Sequence[str], asked: Asked, file: str) -> Columns:
    """Find the features of a model by their names; whatever else there is, but for the label, is ignored."""
    known = set(asked.names or ())
    target: int | None
    if asked.features is None and asked.label is not None:
        target = _find(names, True, asked.label, file)
    else:
        target = next((names.index(one) for one in (asked.label, LABEL) if one in names and one not in known), None)
    if missing := [name for name in asked.names or () if name not in names]:
        raise DataError(f"there is no column {missing[0]!r}, which the model needs", file)
    features = [j for j, name in enumerate(names) if name in known and j != target]
    dropped = {name for name in asked.drop if name in names}
    ignored = [name for j, name in enumerate(names) if name not in known and j != target and name not in dropped]
    return Columns(target, features, tuple(name for name in names if name in dropped), tuple(ignored))


def _there(names: Sequence[str], named: bool, asked: Asked) -> tuple[str | None, list[str]]:
    """Return the label and the columns to drop, as far as a table for a model has them."""
    drop, n_columns = list(asked.drop), len(names)
    if asked.features is None:
        return asked.label, drop
    if named:
        drop = [one for one in drop if one in names or _is_number(one)]
    if n_columns == asked.features:
        return None, []
    for title in (asked.label, LABEL):
        if title in names:
            return title, drop
    if not _is_number(asked.label or ""):
        return None, drop
    if drop and n_columns == asked.features + len(drop):  # numbers are those of a table with a label
        places = [_place(int(one), n_columns + 1) for one in drop]
        label = _place(int(asked.label or ""), n_columns + 1)
        return None, [str(place + 1 - (place > label)) for place in places]
    return asked.label, drop


def _place(number: int, n_columns: int) -> int:
    """Return the place of a column by its number."""
    return number - 1 if number > 0 else n_columns + number


def _find(names: Sequence[str], named: bool, column: str, file: str) -> int:
    """Find a column by its name, or else by its number: 1 is the first, -1 the last."""
    if column in names:
        return names.index(column)
    if not _is_number(column):
        known = listed(names) if named else f"{counted(len(names), 'column')} without names, numbered from 1"
        raise DataError(f"no column is called {column!r}; there are {known}", file)
    number = int(column)
    if not 1 <= abs(number) <= len(names):
        raise DataError(
            f"there is no column {number}; they are numbered from 1 to {len(names)}, or from -1 backwards", file
        )
    return _place(number, len(names))


def several_called(name: str) -> str:
    """Say what is wrong with columns of one name."""
    return f"several columns are called {name!r}; rename all but one: a model finds its columns by their names"


def _is_number(column: str) -> bool:
    try:
        int(column)
    except ValueError:
        return False
    return True


def listed(names: Sequence[str], written: Callable[[str], str] = among_others) -> str:
    """Write the names of columns; of many, the first few and the last."""
    shown = names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], names[-1]]
    texts = [written(name) for name in shown]
    return ", ".join(texts if len(names) <= MOST_NAMES else [*texts[:-1], "...", texts[-1]])
