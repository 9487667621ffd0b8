"""A table, or another piece of work: every column on every problem, cell by cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from ..progress.table import TableProgress
from .cells import Cells, Key, Result
from .columns import COLUMNS, Column, Runnable
from .problems import Problem
from .worker import OverLimit, Worker, WorkerError


@dataclass(frozen=True)
class Order:
    """What is asked for."""

    work: str  # "table1", "table2" or what else its cells are called
    problems: list[Problem]
    columns: Sequence[Runnable]
    epsilon: float
    seeds: int
    limit: float | None  # seconds per cell
    data: Path

    def keys(self, problem: Problem, columns: Sequence[Runnable]) -> list[Key]:
        """List the cells of a problem in some columns, one per seed."""
        cells = ((column.name, seed) for column in columns for seed in range(self.seeds))
        return [Key(self.work, problem.name, name, self.epsilon, seed) for name, seed in cells]


@dataclass
class Table:
    """What has been computed so far."""

    order: Order
    results: dict[Key, Result] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)  # problem -> why it could not be run


def columns_of(work: str, names: list[str] | None) -> list[Column]:
    """Choose columns; those whose margins PFM needs come with it, and before it."""
    known = {column.name: column for column in COLUMNS.values() if column.work == work}
    if names is None:
        return list(known.values())
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{work} has no column {unknown[0]!r}; it has {', '.join(known)}")
    needed = {*names, *(known[name].beta_of for name in names)}
    return [column for name, column in known.items() if name in needed]


def installed(column: Runnable) -> bool:
    """Whether the column can be computed here."""
    return not getattr(column, "solver", 0) or find_spec("liblinear") is not None


def run_table(table: Table, cells: Cells, resume: bool, progress: TableProgress) -> None:
    """Compute what is missing; the table fills as it goes, so that an interrupted one can be shown."""
    run_tables([(table, resume)], cells, progress)


def run_tables(work: list[tuple[Table, bool]], cells: Cells, progress: TableProgress) -> None:
    """Compute what is missing of several tables on the same problems, each of which is loaded once."""
    to_do = [(table, _missing(table, cells, resume)) for table, resume in work]
    left = sum(len(keys) for _, missing in to_do for keys in missing.values())
    for problem in work[0][0].order.problems:
        keys = [(table, key) for table, missing in to_do for key in missing.get(problem.name, [])]
        _run_problem(problem, keys, cells, progress, left)
        left -= len(keys)


def _missing(table: Table, cells: Cells, resume: bool) -> dict[str, list[Key]]:
    """Read the cells that exist; return those to compute, by problem."""
    order = table.order
    to_do: dict[str, list[Key]] = {}
    for problem in order.problems:
        keys = order.keys(problem, [column for column in order.columns if installed(column)])
        if not resume:
            for key in keys:
                cells.forget(key)
        table.results |= {key: found for key in keys if (found := cells.read(key)) and found.stands(order.limit)}
        if problem.find(order.data) is None:
            table.trouble[problem.name] = f"data not here: {problem.wanted} from {problem.source}"
        else:
            to_do[problem.name] = [key for key in keys if key not in table.results]
    return to_do


def _run_problem(
    problem: Problem, keys: list[tuple[Table, Key]], cells: Cells, progress: TableProgress, left: int
) -> None:
    """Compute cells of a problem one after the other, with a new worker after one that had to be ended."""
    worker: Worker | None = None
    try:
        for table, key in keys:
            left -= 1
            column = next(column for column in table.order.columns if column.name == key.column)
            beta = None
            if column.beta_of:
                source = table.results.get(key._replace(column=column.beta_of))
                beta = source.margin if source else None
                if beta is None:
                    continue  # the table says why
            if worker is None:
                progress.begin(f"{problem.title}: loading", left + 1)
                worker = Worker(problem, table.order.data, progress.tick)
                try:
                    worker.loaded()
                except WorkerError as error:
                    table.trouble[problem.name] = str(error)
                    progress.end(str(error))
                    return
                progress.end("loaded")
            progress.begin(f"{problem.title}, {column.title}, seed {key.seed}", left)
            result = _compute(worker, column, key, beta, table.order.limit)
            if result.state == "over limit" or not worker.process.is_alive():
                worker.end()
                worker = None
            cells.write(key, result)
            table.results[key] = result
            progress.end(describe(result))
    finally:
        if worker is not None:
            worker.end()


def _compute(worker: Worker, column: Runnable, key: Key, beta: float | None, limit: float | None) -> Result:
    outcome = partial(Result, limit=limit, version=version("dynmargin"), day=date.today().isoformat())
    try:
        measured = worker.compute(limit, column, key.epsilon, key.seed, beta)
    except OverLimit:
        return outcome("over limit")
    except WorkerError as error:
        return outcome("failed", message=str(error))
    return outcome("done", **measured._asdict())


def describe(result: Result) -> str:
    """Describe a result in a few words."""
    if result.state == "over limit":
        return f"not finished in {result.limit:g} s"
    if result.state == "failed":
        return f"failed: {result.message}"
    return f"{result.ended}, margin {1e4 * (result.margin or 0):.4g}e-4, {result.seconds:.2f} s"
