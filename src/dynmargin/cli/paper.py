"""dynmargin paper: the paper's tables beside ours, and figures.

for example:
  dynmargin paper table1 --sets adult,web,covertype
  dynmargin paper table2 --sets adult,web --time-limit 300
  dynmargin paper table2 --resume                     # continue where a run was ended
  dynmargin paper figures --sets adult

Every cell that is finished is kept in OUT/cells; the table is printed and written to OUT as CSV, Markdown and LaTeX.
Data are searched for in --data-dir, DYNMARGIN_DATA, ../shared/data, the user's cache folder; dynmargin data lists them.
exit codes: 0 done, 1 a cell failed, 3 no set could be run, 130 interrupted
"""

import argparse
from pathlib import Path
from typing import Any

from .options import DONE, FAILED, INTERRUPTED, NOT_PROVEN, accuracy, at_least_one, names, positive

OUT = "paper-results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the tables and of the figures."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--sets", type=names, help="names, separated by commas (default: the nine sets and newsgroups)")
    common.add_argument("--time-limit", type=positive, default=600.0, help="seconds per run (default 600)")
    common.add_argument("--data-dir", help="the folder with the data")
    common.add_argument("--out", default=OUT, help=f"the folder for the results (default {OUT})")
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="action")
    shared: dict[str, Any] = {"epilog": parser.epilog, "parents": [common]}
    for n, algorithms in ((1, "PDM, PFM, PDM-succ"), (2, "ROMMA, SVM-light, DCD-L1, DCD-L2, MPU")):
        table = actions.add_parser(f"table{n}", help=f"Table {n}: {algorithms}", **shared)
        table.add_argument("--columns", type=names, help="names, separated by commas (default: all)")
        table.add_argument("--seeds", type=at_least_one, default=1, help="runs per cell; medians are shown (default 1)")
        table.add_argument("--epsilon", type=accuracy, default=0.01, help="default 0.01, the paper's")
        table.add_argument("--resume", action="store_true", help="keep the cells that exist already")
        table.set_defaults(run=run_table, number=n)
    summary = "bounds against passes, updates against epsilon, Table 1 as bars"
    actions.add_parser("figures", help=summary, **shared).set_defaults(run=run_figures)


def problems_of(names: list[str] | None) -> list[Any]:
    """Look problems up by their names."""
    from ..paper.problems import PAPER, PROBLEMS

    if names is None:  # the generated stand-in is always available: only if asked for
        return [*PAPER, PROBLEMS["newsgroups"]]
    if unknown := [name for name in names if name not in PROBLEMS]:
        raise ValueError(f"there is no set {unknown[0]!r}; there are {', '.join(PROBLEMS)}")
    return [PROBLEMS[name] for name in dict.fromkeys(names)]


def run_table(arguments: argparse.Namespace) -> int:
    """Compute, print and write a table."""
    from ..data.atomic import atomic_write
    from ..paper import tables
    from ..paper.cells import Cells
    from ..paper.problems import data_folder
    from ..paper.rendering import FILES, as_text
    from ..progress.table import TableProgress

    order = tables.Order(
        table=arguments.number,
        problems=problems_of(arguments.sets),
        columns=tables.columns_of(arguments.number, arguments.columns),
        epsilon=arguments.epsilon,
        seeds=arguments.seeds,
        limit=arguments.time_limit,
        data=data_folder(arguments.data_dir),
    )
    out = Path(arguments.out)
    table, interrupted = tables.Table(order), False
    try:
        tables.run_table(table, Cells(out / "cells"), arguments.resume, TableProgress())
    except KeyboardInterrupt:
        interrupted = True
    print(as_text(table), end="")
    paths = {out / f"table{order.table}{suffix}": render for suffix, render in FILES.items()}
    for path, render in paths.items():
        with atomic_write(path) as file:
            file.write(render(table).encode())
    print(f"written to {', '.join(map(str, paths))}")
    if interrupted:
        return INTERRUPTED
    if not table.results:
        return FAILED
    return NOT_PROVEN if any(result.state == "failed" for result in table.results.values()) else DONE


def run_figures(arguments: argparse.Namespace) -> int:
    """Draw what can be drawn."""
    from ..paper.figures import draw_all
    from ..paper.problems import data_folder

    out, folder = Path(arguments.out), data_folder(arguments.data_dir)
    out.mkdir(parents=True, exist_ok=True)
    drawn = 0
    for path in draw_all(problems_of(arguments.sets), folder, out, arguments.time_limit):
        print(path, flush=True)
        drawn += 1
    if not drawn:
        raise ValueError(f"nothing could be drawn: {folder} holds none of the sets, and {out} no cells of Table 1")
    return DONE
