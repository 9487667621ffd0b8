"""A table: every column on every problem, cell by cell."""

from dataclasses import dataclass, field
from datetime import date
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from .cells import Cells, Key, Result
from .columns import COLUMNS, Column, Measured
from .problems import Problem
from .worker import OverLimit, Worker, WorkerError


@dataclass(frozen=True)
class Order:
    """What is asked for."""

    table: int
    problems: list[Problem]
    columns: list[Column]
    epsilon: float
    seeds: int
    limit: float | None  # seconds a cell
    data: Path

    def keys(self, problem: Problem) -> list[Key]:
        """List the cells of a problem; what PFM needs comes before it."""
        return [
            Key(self.table, problem.name, column.name, self.epsilon, seed)
            for column in self.columns
            for seed in range(self.seeds)
        ]


@dataclass
class Table:
    """What has come of it so far."""

    order: Order
    results: dict[Key, Result] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)  # problem -> why it could not be run

    @property
    def ran(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.results)


class Watcher(Protocol):
    """Who wants to know what is going on."""

    def begin(self, what: str, left: int) -> None:
        """Know what was begun, and how many cells are left after it."""

    def tick(self, seconds: float) -> None:
        """Know that it is still going on."""

    def end(self, outcome: str) -> None:
        """Know that it is over."""


def columns_of(table: int, names: list[str] | None) -> list[Column]:
    """Choose columns; those whose margins PFM needs come with it."""
    wanted = [column for column in COLUMNS.values() if column.table == table]
    if names is None:
        return wanted
    known = {column.name: column for column in wanted}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"table {table} has no column {unknown[0]!r}; it has {', '.join(known)}")
    needed = {*names, *(known[name].beta_of for name in names)}
    return [column for column in wanted if column.name in needed]


def installed(column: Column) -> bool:
    """Whether the column can be computed here."""
    return not column.module or find_spec(column.module) is not None


def run_table(table: Table, cells: Cells, resume: bool, watcher: Watcher) -> None:
    """Compute what is not there yet; the table fills as it goes, so that an interrupted one can be shown."""
    order = table.order
    to_do: dict[str, list[Key]] = {}
    for problem in order.problems:
        keys = [key for key in order.keys(problem) if installed(COLUMNS[key.column])]
        if not resume:
            for key in keys:
                cells.forget(key)
        found = {key: result for key in keys if (result := cells.read(key)) and result.stands(order.limit)}
        table.results |= found
        to_do[problem.name] = [key for key in keys if key not in found]
    left = sum(len(to_do[problem.name]) for problem in order.problems if problem.find(order.data) is not None)
    for problem in order.problems:
        if problem.find(order.data) is None:
            table.trouble[problem.name] = f"data not here: {problem.wanted} from {problem.source}"
            continue
        _run_problem(problem, to_do[problem.name], table, cells, watcher, left)
        left -= len(to_do[problem.name])


def _run_problem(problem: Problem, keys: list[Key], table: Table, cells: Cells, watcher: Watcher, left: int) -> None:
    """Compute cells of a problem one after the other, with another worker after one that had to be ended."""
    worker: Worker | None = None
    try:
        for key in keys:
            left -= 1
            column = COLUMNS[key.column]
            beta = None
            if column.beta_of:
                source = table.results.get(key._replace(column=column.beta_of))
                if source is None or source.margin is None:
                    continue  # the table says why
                beta = source.margin
            if worker is None:
                watcher.begin(f"{problem.title}: loading", left + 1)
                worker = Worker(problem, table.order.data, watcher.tick)
                try:
                    worker.loaded()
                except WorkerError as error:
                    table.trouble[problem.name] = str(error)
                    watcher.end(str(error))
                    return
                watcher.end("loaded")
            watcher.begin(f"{problem.title}, {column.title}, seed {key.seed}", left)
            result, usable = _compute(worker, key, beta, table.order.limit)
            if not usable:
                worker.end()
                worker = None
            cells.write(key, result)
            table.results[key] = result
            watcher.end(describe(result))
    finally:
        if worker is not None:
            worker.end()


def _compute(worker: Worker, key: Key, beta: float | None, limit: float | None) -> tuple[Result, bool]:
    """Compute a cell; also tells whether the worker may go on."""
    about = partial(Result, limit=limit, version=version("dynmargin"), day=date.today().isoformat())
    try:
        measured: Measured = worker.compute(
            key.column, key.epsilon, key.seed, beta, float("inf") if limit is None else limit
        )
    except OverLimit:
        return about("over limit"), False
    except WorkerError as error:
        return about("failed", message=str(error)), worker.process.is_alive()
    return about("done", **measured._asdict()), True


def describe(result: Result) -> str:
    """Put a result in a few words."""
    if result.state == "over limit":
        return f"> {result.limit:g} s"
    if result.state == "failed":
        return f"failed: {result.message}"
    return f"{result.ended}, margin {1e4 * (result.margin or 0):.4g}e-4, {result.seconds:.2f} s"
