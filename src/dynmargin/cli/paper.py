"""dynmargin paper: the paper's tables beside ours, its curves, and what its parameters are worth.

for example:
  dynmargin paper table1 --sets adult,web,covertype --seeds 5
  dynmargin paper table2 --sets adult,web --time-limit 300
  dynmargin paper table2 --resume                 # continue where a run ended
  dynmargin paper figures --sets adult
  dynmargin paper sensitivity --sets adult,web
  dynmargin paper all --sets adult,web --resume   # all of these

Every cell that is finished is kept in OUT/cells; tables are printed and written to OUT as CSV, Markdown and LaTeX.
Data are searched for in --data-dir, DYNMARGIN_DATA or the user's cache folder; dynmargin data lists them.
exit codes: 0 done, 1 a cell failed, 3 no set could be run, 130 interrupted
"""

import argparse
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .options import DONE, FAILED, INTERRUPTED, NOT_PROVEN, Names, accuracy, at_least_one, positive

OUT = "paper-results"
PAPER_EPSILON = 0.01


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the tables and of the pictures."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--sets", type=Names(sets), metavar="NAMES", help="separated by commas (default: the nine sets and newsgroups)"
    )
    common.add_argument("--time-limit", type=positive, default=600.0, metavar="SECONDS", help="per run (default 600)")
    common.add_argument("--resume", action="store_true", help="keep the cells that exist already")
    common.add_argument("--data-dir", metavar="FOLDER", help="where the data are")
    common.add_argument("--out", default=OUT, metavar="FOLDER", help=f"where to put the results (default {OUT})")
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="action")

    def add(name: str, summary: str, run: Callable[[argparse.Namespace], int], seeds: int = 0) -> Any:
        action = actions.add_parser(name, help=summary, epilog=parser.epilog, parents=[common])
        if seeds:
            text = f"runs per cell; medians and ranges are shown (default {seeds})"
            action.add_argument("--seeds", type=at_least_one, default=seeds, metavar="N", help=text)
        action.set_defaults(run=run)
        return action

    for work, algorithms in (("table1", "PDM, PFM, PDM-succ"), ("table2", "ROMMA, SVM-light, DCD-L1, DCD-L2, MPU")):
        table = add(work, f"Table {work[-1]}: {algorithms}", run_table, seeds=1)
        known = Names(partial(columns_of, work))
        table.add_argument("--columns", type=known, metavar="NAMES", help="separated by commas (default: all)")
        table.add_argument(
            "--epsilon", type=accuracy, default=PAPER_EPSILON, help="the gap to prove (default 0.01, the paper's)"
        )
    add("figures", "the paper's curves, updates against epsilon, Table 1 as bars", run_figures)
    add("sensitivity", "one parameter or device of PDM varied at a time", run_sensitivity, seeds=1)
    add("all", "all of these", run_all, seeds=3)


def sets() -> list[str]:
    """Return the names of the problems."""
    from ..paper.problems import PROBLEMS

    return list(PROBLEMS)


def columns_of(work: str) -> list[str]:
    """Return the names of the columns of a table."""
    from ..paper.columns import COLUMNS

    return [name for name, column in COLUMNS.items() if column.work == work]


def problems_of(names: list[str] | None) -> list[Any]:
    """Look problems up by their names."""
    from ..paper.problems import PAPER, PROBLEMS

    if names is None:  # what is generated is always available: only if asked for
        return [*PAPER, PROBLEMS["newsgroups"]]
    if unknown := [name for name in names if name not in PROBLEMS]:
        raise ValueError(f"there is no set {unknown[0]!r}; there are {', '.join(PROBLEMS)}")
    return [PROBLEMS[name] for name in dict.fromkeys(names)]


def compute(arguments: argparse.Namespace, work: str, columns: Any, epsilon: float) -> tuple[Any, bool]:
    """Compute the cells of a piece of work; return what there is, and whether Ctrl-C ended it."""
    from ..paper import tables
    from ..paper.cells import Cells
    from ..paper.problems import data_folder
    from ..progress.table import TableProgress

    problems, folder = problems_of(arguments.sets), data_folder(arguments.data_dir)
    order = tables.Order(work, problems, columns, epsilon, arguments.seeds, arguments.time_limit, folder)
    table, interrupted = tables.Table(order), False
    try:
        tables.run_table(table, Cells(Path(arguments.out) / "cells"), arguments.resume, TableProgress())
    except KeyboardInterrupt:
        interrupted = True
    return table, interrupted


def write(table: Any, files: dict[str, Callable[[Any], str]], out: Path) -> None:
    """Write a table in all its forms."""
    from ..data.atomic import atomic_write

    paths = {out / f"{table.order.work}{suffix}": render for suffix, render in files.items()}
    for path, render in paths.items():
        with atomic_write(path) as file:
            file.write(render(table).encode())
    print(f"written to {', '.join(map(str, paths))}", flush=True)


def code_of(table: Any, interrupted: bool) -> int:
    """Return the exit code for what was computed."""
    if interrupted:
        return INTERRUPTED
    if not table.results:
        return FAILED
    return NOT_PROVEN if any(result.state == "failed" for result in table.results.values()) else DONE


def run_table(arguments: argparse.Namespace) -> int:
    """Compute, print and write a table."""
    from ..paper.rendering import FILES, as_text
    from ..paper.tables import columns_of

    columns = columns_of(arguments.action, arguments.columns)
    table, interrupted = compute(arguments, arguments.action, columns, arguments.epsilon)
    print(as_text(table, shutil.get_terminal_size().columns), end="")
    write(table, FILES, Path(arguments.out))
    return code_of(table, interrupted)


def run_figures(arguments: argparse.Namespace) -> int:
    """Compute what the pictures need, and draw what can be drawn."""
    from ..paper.figures import draw_all, require_matplotlib
    from ..paper.problems import data_folder
    from ..progress.table import TableProgress

    require_matplotlib()
    out, folder = Path(arguments.out), data_folder(arguments.data_dir)
    problems, drawn = problems_of(arguments.sets), 0
    try:
        for path in draw_all(problems, folder, out, arguments.time_limit, arguments.resume, TableProgress()):
            print(path, flush=True)
            drawn += 1
    except KeyboardInterrupt:
        return INTERRUPTED
    if not drawn:
        raise ValueError(f"nothing could be drawn: {folder} holds none of the sets, and {out} no cells of Table 1")
    return DONE


def run_sensitivity(arguments: argparse.Namespace) -> int:
    """Vary one thing at a time; write the table and the picture."""
    from ..paper import sensitivity
    from ..paper.figures import require_matplotlib, save

    require_matplotlib()
    table, interrupted = compute(arguments, sensitivity.WORK, sensitivity.VARIATIONS, PAPER_EPSILON)
    write(table, {".csv": sensitivity.as_csv, ".md": sensitivity.as_markdown}, Path(arguments.out))
    if table.results:
        print(save(sensitivity.draw_sensitivity(table), Path(arguments.out) / "sensitivity.png"), flush=True)
    return code_of(table, interrupted)


def run_all(arguments: argparse.Namespace) -> int:
    """Compute and draw everything; go on after what failed, stop after Ctrl-C."""
    problems_of(arguments.sets)  # a wrong name would be one in every part
    worst = DONE
    for action, run in (
        *(("table1", run_table), ("table2", run_table)),
        *(("figures", run_figures), ("sensitivity", run_sensitivity)),
    ):
        part = {**vars(arguments), "action": action, "columns": None, "epsilon": PAPER_EPSILON}
        if action == "sensitivity":
            part["seeds"] = 1
        try:
            code = run(argparse.Namespace(**part))
        except (ValueError, ImportError) as error:
            print(f"dynmargin paper {action}: {error}", file=sys.stderr, flush=True)
            code = FAILED
        if code == INTERRUPTED:
            return code
        worst = max(worst, code)
    return worst
