"""dynmargin demo: train PDM as in the paper, prove the result, compare it with LinearSVC, draw the bounds.

for example:
  dynmargin demo bounds.png

exit codes: 0 done, 3 failed
"""

import argparse
import time
from pathlib import Path
from typing import Any

from .options import DONE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "picture",
        metavar="PNG",
        nargs="?",
        default="convergence.png",
        help="the picture to write (default: convergence.png)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show everything on the breast cancer data that scikit-learn ships."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    from ..classifiers.pdm import PDMClassifier
    from ..data.atomic import require_writable
    from ..problem.statement import in_percent, work_text

    require_writable(arguments.picture)
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    print(f"Breast cancer: {X.shape[0]} rows, {X.shape[1]} features, standardised.\n")

    start = time.perf_counter()
    # The default schedule is done in two passes, too few to see anything.
    ours = PDMClassifier(epsilon=0.001, C=1.0, schedule="paper", random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    certificate, epsilon = ours.certificate_, ours.epsilon
    work = f"{seconds * 1000:.0f} ms, {work_text(ours.n_iter_, ours.n_updates_)}"
    print(f"PDMClassifier(epsilon={epsilon}, schedule='paper'): {work}")
    print(f"  margin                       {certificate.margin:.6f}   proven by its weights")
    print(f"  no classifier has more than  {certificate.upper_bound:.6f}   proven by its {len(ours.support_)} counts")
    within = f"the margin is within {in_percent(certificate.gap, 3)} of the best possible"
    print(f"  {within}; {in_percent(epsilon, 1)} was asked for")
    print(f"  verified from the data: {certificate.verify(X, y).verdict}\n")

    theirs = LinearSVC(C=1.0, tol=1e-8, max_iter=1_000_000, dual=True, random_state=0).fit(X, y)
    agreement = np.mean(ours.predict(X) == theirs.predict(X))
    distance = np.linalg.norm(ours.coef_ - theirs.coef_) / np.linalg.norm(theirs.coef_)
    print("LinearSVC(tol=1e-8), the same problem:")
    same = f"same prediction on {in_percent(agreement, 1)} of the rows"
    print(f"  {same}; the weights differ by {in_percent(distance, 1)} of their length")
    print(f"  training accuracy {in_percent(theirs.score(X, y), 2)}, ours {in_percent(ours.score(X, y), 2)}\n")
    draw(ours, arguments.picture)
    return DONE


def draw(classifier: Any, picture: str) -> None:
    """Draw the bounds against passes, if matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        print("For a picture of the bounds: pip install matplotlib")
        return
    from ..data.atomic import atomic_write
    from ..displays.convergence import ConvergenceDisplay

    matplotlib.use("agg")
    figure = ConvergenceDisplay.from_estimator(classifier, against="passes").figure_
    with atomic_write(picture) as file:
        figure.savefig(file, format=Path(picture).suffix[1:] or "png", dpi=150)
    print(f"The bounds against passes are drawn in {picture}")
