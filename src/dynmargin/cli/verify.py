"""dynmargin verify: prove a model's certificate again from the data.

for example:
  dynmargin verify a9a.npz a9a.xz

Both bounds are computed anew: the margin from the weights, the upper bound from the counts. Nothing in the model file
is trusted.
exit codes: 0 proven, 1 not proven, 2 not the data it was trained on (or its rows in another order), 3 failed
"""

import argparse

from .options import (
    DATA_HELP,
    DONE,
    LABEL,
    NOT_PROVEN,
    OTHER_DATA,
    READING,
    WEIGHTS,
    read_data,
    read_model,
    read_weights,
)

OPTIONS = (WEIGHTS, READING, LABEL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="what train wrote; - for standard input")
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.set_defaults(run=run)


def percent(fraction: float) -> str:
    """Write a fraction in per cent; a small one keeps two digits."""
    return f"{fraction:.3%}" if fraction >= 1e-4 else f"{100 * fraction:.2g}%"


def run(arguments: argparse.Namespace) -> int:
    """Read model and data, verify, print the verdict."""
    from ..data.dataset import Csr

    model = read_model(arguments)
    dataset = read_data(arguments, model)
    if dataset.y is None:
        raise ValueError("the data have no labels; name their column by --label")
    X = dataset.X
    if isinstance(X, Csr) and X.shape[1] < model.n_features:  # the last features may have no value
        X = X.with_columns(model.n_features)
    weights = read_weights(arguments.weights, X.shape[0]) if arguments.weights else None
    found, worst = model.verify(X, dataset.y, weights), model.certificate
    if found and len(model.certificates) > 1:
        print(f"all {len(model.certificates)} classes are proven; the one with the largest gap:")
    print(found)
    if found and worst and worst.gap < 1:  # else nothing is separated
        what, of = ("margin", "best") if worst.loss == "squared_hinge" else ("value 1 / sqrt(objective)", "largest")
        print(f"the {what} is within {percent(worst.gap)} of the {of} possible; {percent(worst.epsilon)} was asked for")
    return {"proven": DONE, "other data": OTHER_DATA}.get(found.verdict, NOT_PROVEN)
