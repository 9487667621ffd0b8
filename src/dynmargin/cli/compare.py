"""dynmargin compare: several algorithms, and other libraries, side by side on the same file.

for example:
  dynmargin compare a9a.xz
  dynmargin compare a9a.xz --algorithms pdm,newton --peers sgd --plot a9a.png

A quarter of the rows is held out for test_accuracy. What a peer reaches is proven by dynmargin. --max-time is for each
of our algorithms; peers cannot be stopped. It needs scikit-learn, and matplotlib for the picture.
exit codes: 0 done, 3 failed
"""

import argparse
import shutil
from contextlib import nullcontext
from typing import Any

from ..algorithms.registry import NAMES
from . import documents
from .options import DATA_HELP, DONE, FITTING, LABEL, READING, Names, read_data

OPTIONS = (FITTING, READING, LABEL, documents.JSON)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add = parser.add_argument
    add(
        "--algorithms",
        type=Names(lambda: NAMES),
        metavar="NAMES",
        help="those of dynmargin, separated by commas (default: a few, and a few peers)",
    )
    add(
        "--peers", type=Names(peers), metavar="NAMES", help="other libraries: liblinear-dcd, liblinear-newton, sgd, ..."
    )
    add(
        "--csv",
        metavar="FILE",
        help="also write the table to this file, with all digits; - prints it instead of the text",
    )
    add("--plot", metavar="PNG", help="draw the proven gap against time")
    add("-q", "--quiet", action="store_true", help="print nothing but the table")
    parser.set_defaults(run=run)


def peers() -> list[str]:
    """Return the names of other libraries."""
    from ..comparison.peers import PEERS

    return list(PEERS)


def run(arguments: argparse.Namespace) -> int:
    """Read the data, compare, print the table, write what was asked for."""
    from ..comparison.compare import compare
    from ..comparison.peers import fitting_inside
    from ..comparison.rendering import as_csv, as_text
    from ..data.atomic import atomic_write, require_other_file, require_writable
    from ..data.dataset import Csr
    from ..data.several import files_of
    from ..training.phases import enter
    from .followed import Followed
    from .signals import dying_of_ctrl_c

    documents.require_separate(arguments, arguments.csv, "--csv")
    if arguments.csv and arguments.csv == arguments.plot:
        raise ValueError(
            f"--csv and --plot would both be written to {arguments.csv}; name another file for one of them"
        )
    for out in filter(None, (arguments.csv, arguments.plot)):
        require_writable(out)
        require_other_file(out, *files_of(arguments.data))
    dataset = read_data(arguments, labelled=True)
    _, y = dataset.labelled()
    dataset.require_finite()
    figure = new_figure() if arguments.plot else None
    followed = nullcontext() if arguments.quiet else Followed(arguments.epsilon)
    with followed, fitting_inside(dying_of_ctrl_c):  # nothing is being written yet
        table = compare(
            dataset.X.to_scipy() if isinstance(dataset.X, Csr) else dataset.X,
            y,
            chosen(arguments.algorithms, arguments.peers, arguments.C),
            C=arguments.C,
            epsilon=arguments.epsilon,
            max_time=arguments.max_time,
            random_state=arguments.seed,
            plot=figure and figure.subplots(),
        )
    enter(None)
    records = table if isinstance(table, list) else table.astype(object).where(table.notna(), None).to_dict("records")
    if arguments.json:
        documents.show("compare", data=arguments.data, C=arguments.C, epsilon=arguments.epsilon, algorithms=records)
    elif arguments.csv != "-":
        print(as_text(records, shutil.get_terminal_size().columns))
    if arguments.csv:
        with atomic_write(arguments.csv) as file:
            file.write(as_csv(records).encode())
    if figure is not None:
        with atomic_write(arguments.plot) as file:
            figure.savefig(file, format="png", dpi=150, bbox_inches="tight")
    return DONE


def chosen(algorithms: list[str] | None, peers: list[str] | None, C: float) -> list[str] | None:
    """Return the names to compare: those given, with our usual ones if only peers are; None if nothing is given."""
    from ..comparison.compare import usual
    from ..comparison.peers import PEERS

    for name in peers or []:
        if name not in PEERS:
            raise ValueError(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
    if algorithms is None and peers is not None:
        algorithms = [name for name in usual(C) if name not in PEERS]
    return None if algorithms is None else [*algorithms, *(peers or [])]


def new_figure() -> Any:
    """Return a figure that needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("--plot needs matplotlib: pip install matplotlib") from None
    return Figure(figsize=(7, 4.5))
