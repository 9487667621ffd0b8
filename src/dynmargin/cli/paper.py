"""dynmargin paper: the paper's tables beside ours, and figures."""

import argparse
from pathlib import Path
from typing import Any

from .exit_codes import DONE, FAILED, INTERRUPTED, NOT_PROVEN

EPILOG = """examples:
  dynmargin paper table1 --sets adult,web,covertype
  dynmargin paper table2 --sets adult,web --time-limit 300
  dynmargin paper table2 --resume                     # go on where a run was ended
  dynmargin paper figures --sets adult

Every cell that is finished is kept in OUT/cells; the table is printed and written to OUT as CSV, Markdown and LaTeX.
Data are looked for in --data-dir, DYNMARGIN_DATA, ../shared/data, the user's cache folder; dynmargin data lists them.
exit codes: 0 done, 1 a cell failed, 3 no set could be run, 130 interrupted"""

OUT = "paper-results"


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("paper", help="the paper's tables beside ours, and figures", epilog=EPILOG)
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="action")
    for number, algorithms in ((1, "PDM, PFM, PDM-succ"), (2, "ROMMA, SVM-light, DCD-L1, DCD-L2, MPU")):
        table = actions.add_parser(f"table{number}", help=f"Table {number}: {algorithms}", epilog=EPILOG)
        _add_common(table)
        table.add_argument("--columns", help="names by commas; default: all")
        table.add_argument("--seeds", type=_positive(int), default=1, help="runs a cell, medians are shown; default: 1")
        table.add_argument("--epsilon", type=_positive(float), default=0.01, help="default: 0.01, the paper's")
        table.add_argument("--resume", action="store_true", help="keep the cells that are there already")
        table.set_defaults(run=run_tables, number=number)
    figures = actions.add_parser("figures", help="bounds against passes, updates against epsilon, Table 1 as bars")
    _add_common(figures)
    figures.set_defaults(run=run_figures)


def _add_common(parser: Any) -> None:
    parser.add_argument("--sets", help="names by commas; default: the nine of the paper and newsgroups")
    parser.add_argument("--time-limit", type=_positive(float), default=600.0, help="seconds a run; default: 600")
    parser.add_argument("--data-dir", help="the folder with the data")
    parser.add_argument("--out", default=OUT, help=f"the folder for what is made; default: {OUT}")


def _positive(kind: type) -> Any:
    def parse(text: str) -> Any:
        number = kind(text)
        if not 0 < number < float("inf"):
            raise ValueError
        return number

    parse.__name__ = "positive number"
    return parse


def _problems(names: str | None) -> list[Any]:
    from ..experiments.problems import PAPER, PROBLEMS

    if names is None:  # a stand-in that is generated would be there whatever the folder holds: only if asked for
        return [*PAPER, PROBLEMS["newsgroups"]]
    if unknown := [name for name in names.split(",") if name not in PROBLEMS]:
        raise ValueError(f"there is no set {unknown[0]!r}; there are {', '.join(PROBLEMS)}")
    return [PROBLEMS[name] for name in dict.fromkeys(names.split(","))]


def run_tables(arguments: argparse.Namespace) -> int:
    """Compute, print and write a table."""
    from ..experiments.cells import Cells
    from ..experiments.problems import data_folder
    from ..experiments.tables import Order, Table, columns_of, run_table
    from .table_progress import TableProgress

    order = Order(
        table=arguments.number,
        problems=_problems(arguments.sets),
        columns=columns_of(arguments.number, arguments.columns.split(",") if arguments.columns else None),
        epsilon=arguments.epsilon,
        seeds=arguments.seeds,
        limit=arguments.time_limit,
        data=data_folder(arguments.data_dir),
    )
    if order.epsilon > 1:
        raise ValueError(f"--epsilon must be at most 1, got {order.epsilon:g}")
    out = Path(arguments.out)
    table, interrupted = Table(order), False
    try:
        run_table(table, Cells(out / "cells"), arguments.resume, TableProgress())
    except KeyboardInterrupt:
        interrupted = True
    _show(table, out / f"table{arguments.number}")
    if interrupted:
        return INTERRUPTED
    if not table.ran:
        return FAILED
    return NOT_PROVEN if any(result.state == "failed" for result in table.results.values()) else DONE


def _show(table: Any, stem: Path) -> None:
    from ..experiments.rendering import FILES, as_text
    from ..whole_file import whole_file

    print(as_text(table), end="")
    for suffix, render in FILES.items():
        with whole_file(stem.with_suffix(suffix)) as file:
            file.write(render(table).encode())
    print(f"written to {', '.join(str(stem.with_suffix(suffix)) for suffix in FILES)}")


def run_figures(arguments: argparse.Namespace) -> int:
    """Draw what can be drawn."""
    from ..experiments.figures import draw_all
    from ..experiments.problems import data_folder

    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    folder = data_folder(arguments.data_dir)
    drawn = 0
    for path in draw_all(_problems(arguments.sets), folder, out, arguments.time_limit):
        print(path, flush=True)
        drawn += 1
    if not drawn:
        raise ValueError(f"nothing could be drawn: {folder} holds none of the sets, and {out} no cells of Table 1")
    return DONE
