"""``dynmargin train --search-C``: C chosen by cross-validation, with a proof for the whole range."""

import argparse
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from .options import notice, number, positive, require_folds, several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .. import _core
    from ..path.error_curve import ErrorCurve
    from ..problem.problems import Problem, Weights
    from ..training.request import Request

DEFAULT_FOLDS = 5
TOLERANCE, RANGE = 0.005, (1e-3, 1e3)

fraction = number(float, lambda value: 0 < value < 1, "not between 0 and 1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search."""
    add = parser.add_argument
    add(
        "-C",
        "--search-C",
        action="store_true",
        help="choose C by cross-validation (-v K folds, default 5), with a proof",
    )
    add("--tolerance", type=fraction, default=TOLERANCE, metavar="ERROR", dest="search_tolerance", help=TOLERANCE_HELP)
    add("--C-range", type=positive, nargs=2, default=RANGE, metavar=("LOW", "HIGH"), help=RANGE_HELP)
    add("--max-fits", type=several, metavar="N", help="with --search-C: train at no more than N values of C, 2 or more")


TOLERANCE_HELP = "with --search-C: no C may have a cross-validation error lower by more than this (default 0.005)"
RANGE_HELP = "with --search-C: the range to search (default 0.001 to 1000)"


def require_unused(arguments: argparse.Namespace) -> None:
    """Refuse options of a search where there is none."""
    given = {
        "--tolerance": arguments.search_tolerance != TOLERANCE,
        "--C-range": tuple(arguments.C_range) != RANGE,
        "--max-fits": arguments.max_fits is not None,
    }
    if unused := [option for option, differs in given.items() if differs]:
        raise ValueError(f"{unused[0]} needs --search-C")


def require_searchable(arguments: argparse.Namespace) -> None:
    """Refuse what a search cannot answer, before anything is read."""
    low, high = arguments.C_range
    if not low < high < float("inf"):
        raise ValueError(f"--C-range needs two finite numbers, the smaller one first, got {low:g} and {high:g}")
    if arguments.C != 1.0:
        raise ValueError("-c and --search-C cannot be combined; --C-range LOW HIGH says where to search")
    if arguments.multi_class == "joint":
        raise ValueError("--search-C trains each class against the rest; it has no proof for --multi-class joint")
    if arguments.loss == "hinge":
        raise ValueError("--search-C has a proof for squared slacks only, not for --loss hinge")
    if arguments.algorithm == "decomposition":
        raise ValueError("--search-C has a proof for a regularised intercept only, not for --algorithm decomposition")


def search(
    asked: argparse.Namespace,
    request: "Request",
    packed: "tuple[_core.Matrix, _core.PackedRows]",
    data: "tuple[Any, NDArray[Any], Weights | None]",
    classes: "NDArray[Any]",
    state_problems: "Callable[[NDArray[Any]], list[Problem]]",
) -> "ErrorCurve":
    """Search the range; report what is proven so far, unless the command is to be quiet."""
    from ..path.held_out import hold_out
    from ..path.search import SHARE_OF_SEARCH, Search
    from ..training.folds import Fold, stratified_folds
    from .followed import Searched

    _, y, weights = data
    low, high = asked.C_range
    n_folds = asked.validate or DEFAULT_FOLDS
    require_folds(n_folds, len(y))
    places = stratified_folds(y, classes, n_folds, request.seed)
    folds = [(Fold.of(i, places != i, y, weights), (places == i).nonzero()[0]) for i in range(n_folds)]
    judged = hold_out(*packed, data, folds, lambda fold: state_problems(fold.classes))
    deadline = float("inf") if request.max_time is None else request.started + SHARE_OF_SEARCH * request.max_time
    with nullcontext() if asked.quiet else Searched():
        curve = Search(judged, low, high, asked.search_tolerance, asked.max_fits, deadline, request.n_jobs).run()
    if curve.ended != "tolerance":
        notice(str(curve))
    return curve
