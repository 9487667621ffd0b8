"""The options of LIBLINEAR's train and predict: those that we have, and what to use instead of the others."""

import argparse

from ..algorithms.registry import NAMES
from .options import notice

SAME = {1: None, 2: None, 3: "hinge"}  # solver types whose problem is ours, and the loss they stand for

LOGISTIC = "logistic regression, which has another loss; -s 2 has the squared hinge, and its --scores rank rows too"
SPARSE = "regularised by the sum of |w|, which is another problem; -s 2 regularises by the sum of w²"
REGRESSION = "a regression; dynmargin trains classifiers only"
INSTEAD = {
    0: LOGISTIC,
    4: "Crammer and Singer's; use --multi-class joint, the same margin with squared slacks",
    5: SPARSE,
    6: SPARSE,
    7: LOGISTIC,
    11: REGRESSION,
    12: REGRESSION,
    13: REGRESSION,
    21: "for one class only; a classifier needs two or more",
}


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of LIBLINEAR's train that are spelled differently here."""
    add = parser.add_argument_group("as in LIBLINEAR").add_argument
    add("-s", type=int, metavar="TYPE", dest="solver_type", help="1 and 2: the squared hinge; 3: --loss hinge")
    add("-R", action="store_true", dest="free_bias", help="do not regularise the intercept: --algorithm decomposition")
    add("-e", metavar="TOLERANCE", dest="tolerance", help="ignored: the certificate decides; see --epsilon")
    add("-p", metavar="EPSILON", dest="tube", help=argparse.SUPPRESS)
    add("-n", metavar="NU", dest="nu", help=argparse.SUPPRESS)


def apply_training_options(arguments: argparse.Namespace) -> None:
    """Put LIBLINEAR's options into our own words; refuse those that ask for another problem."""
    if arguments.tolerance is not None:
        notice(f"-e {arguments.tolerance} is ignored: the certificate decides when to stop; --epsilon says how close")
    if arguments.tube is not None:
        raise ValueError(f"-p is for {REGRESSION}")
    if arguments.nu is not None:
        raise ValueError(f"-n is for models {INSTEAD[21]}")
    kind = arguments.solver_type
    if kind is not None and kind not in SAME:
        raise ValueError(f"-s {kind} is {INSTEAD[kind]}" if kind in INSTEAD else f"LIBLINEAR has no -s {kind}")
    if kind is not None:
        loss = SAME[kind] or "squared_hinge"
        if arguments.loss not in (None, loss):
            raise ValueError(f"-s {kind} and --loss {arguments.loss} contradict each other")
        arguments.loss = loss
    if arguments.free_bias and arguments.algorithm not in ("auto", "decomposition"):
        raise ValueError(f"-R needs --algorithm decomposition, not {arguments.algorithm}")
    if arguments.free_bias:
        arguments.algorithm = "decomposition"
    if NAMES[arguments.algorithm][0].free_bias and arguments.bias != 1:  # LIBLINEAR wants -B 1 beside -R
        asks = "-R" if arguments.free_bias else f"--algorithm {arguments.algorithm}"
        given = f"{asks} and -B {arguments.bias:g} contradict each other"
        raise ValueError(f"{given}: {asks} asks for a free intercept; leave -B out")


def add_prediction_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option of LIBLINEAR's predict that is different here."""
    parser.add_argument(
        "-b", choices=("0", "1"), dest="probabilities", help="as in LIBLINEAR; 1, for probabilities, is refused"
    )


def require_no_probabilities(arguments: argparse.Namespace) -> None:
    """Say what to do instead of asking for probabilities."""
    if arguments.probabilities == "1":
        raise ValueError(
            "-b 1: a margin gives no probabilities; --scores writes the scores after the labels, and "
            "CalibratedClassifierCV of scikit-learn turns the scores of a classifier into probabilities"
        )
