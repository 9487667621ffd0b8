"""dynmargin compare: several algorithms, and other libraries, side by side on the same file."""

import argparse
import math
from typing import TYPE_CHECKING, Any

from .exit_codes import DONE
from .reading import DATA_HELP, add_data_options, notice
from .train import accuracy, positive

if TYPE_CHECKING:
    from ..data.dataset import Dataset

EPILOG = """examples:
  dynmargin compare a9a.xz
  dynmargin compare a9a.xz --algorithms pdm,romma,newton --peers liblinear-dcd,sgd --csv a9a.csv --plot a9a.png

A quarter of the rows is held out for test_accuracy. What a peer has reached is proven by us.
It needs scikit-learn, and matplotlib for the picture.
exit codes: 0 done, 3 failed"""

FORMATS = {  # others: 4 digits
    "updates": "d",
    "passes": "d",
    "seconds": ".3f",
    "gap": ".4f",
    "train_accuracy": ".4f",
    "test_accuracy": ".4f",
}


def names(text: str) -> list[str]:
    """Parse names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("compare", help="compare algorithms and other libraries on a file", epilog=EPILOG)
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add = parser.add_argument
    add("--algorithms", type=names, metavar="NAMES", help="ours, with commas; default: a few of ours and of the peers")
    add("--peers", type=names, metavar="NAMES", help="other libraries: liblinear-dcd, liblinear-newton, sgd, ...")
    add("-c", type=positive, default=1.0, metavar="C", dest="C", help="price of a squared slack (default 1), or inf")
    add("--epsilon", type=accuracy, default=0.01, help="the gap to prove (default 0.01)")
    add("--max-time", type=positive, metavar="SECONDS", help="for each of ours; peers cannot be stopped")
    add("--seed", type=int, default=0, help="of the split and of every algorithm (default 0)")
    add("--csv", metavar="FILE", help="write the table there too, all digits; - for standard output, instead")
    add("--plot", metavar="PNG", help="draw the proven gap against time")
    add_data_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, compare, print, write."""
    from ..comparison import compare
    from ..data.formats import read_dataset
    from ..fitting import classes_of
    from ..whole_file import require_other_file, require_writable, whole_file

    for out in filter(None, (arguments.csv, arguments.plot)):
        require_writable(out)
        require_other_file(out, arguments.data)
    dataset = read_dataset(arguments.data, arguments.format, label=arguments.label)
    for message in dataset.notices:
        notice(message)
    classes_of(dataset)
    figure, axes = axes_of_a_picture() if arguments.plot else (None, None)
    table = compare(
        rows_of(dataset),
        dataset.y,
        chosen(arguments.algorithms, arguments.peers, arguments.C),
        C=arguments.C,
        epsilon=arguments.epsilon,
        max_time=arguments.max_time,
        random_state=arguments.seed,
        plot=axes,
    )
    records = table if isinstance(table, list) else table.astype(object).where(table.notna(), None).to_dict("records")
    if arguments.csv != "-":
        print("\n".join(aligned(records)))
    if arguments.csv:
        with whole_file(arguments.csv) as file:
            file.write(as_csv(records).encode())
    if figure is not None:
        with whole_file(arguments.plot) as file:
            figure.savefig(file, format="png", dpi=150, bbox_inches="tight")
    return DONE


def chosen(algorithms: list[str] | None, peers: list[str] | None, C: float) -> list[str] | None:
    """Say what to compare: what is named; the usual ones of ours if only peers are, and of both if nothing is."""
    from ..comparison import SOFT_ONLY, USUAL
    from ..peers import PEERS

    for name in peers or []:
        if name not in PEERS:
            raise ValueError(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
    if algorithms is None and peers is not None:
        left_out = {*PEERS, *(SOFT_ONLY if math.isinf(C) else ())}
        algorithms = [name for name in USUAL if name not in left_out]
    return None if algorithms is None else [*algorithms, *(peers or [])]


def rows_of(dataset: "Dataset") -> Any:
    """Give the rows as scikit-learn knows them."""
    from scipy.sparse import csr_matrix

    from ..data.dataset import Csr

    X = dataset.X
    return csr_matrix((X.data, X.indices, X.indptr), shape=X.shape) if isinstance(X, Csr) else X


def axes_of_a_picture() -> tuple[Any, Any]:
    """Make axes that need no screen."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("--plot needs another package: pip install dynmargin[plots]") from None
    figure = Figure(figsize=(7, 4.5))
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def aligned(records: list[dict[str, Any]]) -> list[str]:
    """Write the table as plain text; the problem is left out where it is the same for all."""
    one_problem = len({record["problem"] for record in records}) == 1
    titles = [title for title in records[0] if not (one_problem and title == "problem")]
    cells = [titles, *([cell(title, record[title]) for title in titles] for record in records)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    texts = {"algorithm", "problem", "stop_reason"}
    return [
        "  ".join(
            text.ljust(width) if title in texts else text.rjust(width)
            for title, text, width in zip(titles, row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]


def cell(title: str, value: Any) -> str:
    """Write one value; what a peer does not tell is a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else format(value, FORMATS.get(title, ".4g"))


def as_csv(records: list[dict[str, Any]]) -> str:
    """Write the table with all its digits; what a peer does not tell is left empty."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, records[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
