"""dynmargin verify: prove a model's certificate again from the data."""

import argparse
import math
from typing import Any

from .exit_codes import DONE, NOT_PROVEN, OTHER_DATA
from .reading import DATA_HELP, add_data_options, add_weights_option, read_for_model, read_weights

EPILOG = """example:
  dynmargin verify a9a.npz a9a.xz

Both bounds are computed anew: the margin from the weights, the upper bound from the counts. Nothing in the model file
is trusted.
exit codes: 0 proven, 1 not proven, 2 not the data it was trained on (or its rows in another order), 3 failed"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("verify", help="prove a model's certificate again from the data", epilog=EPILOG)
    parser.add_argument("model", metavar="MODEL", help="what train wrote; - for standard input")
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add_weights_option(parser)
    add_data_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read both, prove, say what came of it."""
    from ..data.dataset import Csr
    from ..model_file import load

    if arguments.data == arguments.model == "-":
        raise ValueError("only one of DATA and MODEL can be standard input")
    model = load(arguments.model)
    dataset = read_for_model(arguments, model)
    if dataset.y is None:
        raise ValueError("the data have no labels; name their column by --label")
    X = dataset.X
    if isinstance(X, Csr) and X.shape[1] < model.n_features:  # the last features may have no value
        X = X.with_columns(model.n_features)
    found = model.verify(X, dataset.y, read_weights(arguments.weights, X.shape[0]))
    if found and len(model.certificates) > 1:
        print(f"all {len(model.certificates)} classes are proven; of the one with the largest gap:")
    print(found)
    gap = model.certificate.gap if model.certificate else math.inf
    if found and model.certificate and gap < 1:  # else nothing is separated
        print(f"so at most {gap:.3%} is missing to the best margin; {model.certificate.epsilon:.3%} was asked for")
    return {"proven": DONE, "other data": OTHER_DATA}.get(found.verdict, NOT_PROVEN)
