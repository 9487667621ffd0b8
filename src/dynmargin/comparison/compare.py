"""Any algorithms side by side on the same data: what each has proven, how long it took, how well it predicts."""

import math
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array, check_consistent_length, check_X_y, column_or_1d

from ..algorithms.registry import NAMES
from ..certificate.certificate import Certificate
from ..certificate.weights import certify_weights
from ..classifiers.watch import visible_log
from ..model.linear_model import labels_of, scores_of
from ..problem.matrix import as_matrix
from ..problem.problems import BinaryProblem, Problem, as_labels, label_text, require_two_classes
from ..problem.wording import wording
from ..training import phases
from ..training.request import logger
from ..training.result import Check
from . import rendering
from .peers import PEERS, Peer, around_fit

USUAL = ("pdm", "pdm-succ", "romma", "mpu", "dcd", "newton", "liblinear-dcd", "liblinear-newton")
SOFT_ONLY = tuple(name for name, (algorithm, _) in NAMES.items() if algorithm.soft_only)


def make(name: str, **parameters: Any) -> Any:
    """Make one of our estimators by its short name."""
    algorithm, settings = NAMES[name]
    home = import_module(f"..classifiers.{algorithm.family}", __package__)
    return getattr(home, algorithm.estimator)(**settings, **parameters)


def usual(C: float) -> list[str]:
    """Return the names to compare where none are given."""
    return [name for name in USUAL if np.isfinite(C) or name not in SOFT_ONLY]


def compare(
    X: Any,
    y: Any,
    algorithms: Iterable[str] | str | None = None,
    *,
    C: float = 1.0,
    epsilon: float = 0.01,
    test_size: float = 0.25,
    X_test: Any = None,
    y_test: Any = None,
    max_time: float | None = None,
    random_state: Any = None,
    plot: Any = None,
    verbose: int = 0,
) -> Any:
    """Train several algorithms on the same rows and tabulate what each has reached, ours and those of other libraries.

    All minimise LinearSVC's objective with the squared hinge, the same ``C`` and a regularised intercept; those with
    "hinge" in their name minimise it with the hinge, and "decomposition" leaves the intercept free. Ours stop when a
    gap of ``epsilon`` is proven. A peer gets ``epsilon`` as its tolerance, whatever that means to it, and its own
    default number of iterations. Then we prove what its weights are worth:

    - *margin*: that of the weights at the scale that is best for them ("slack repair"), with every rounding error
      accounted for, as in our own certificates;
    - *upper bound*: the smallest that is proven, either by the slacks of the weights taken as dual weights or by any
      other algorithm of the table for the same problem. So a peer's gap may benefit from the other rows; each of our
      own rows rests on its own certificate.

    With more than two classes each is trained against the rest, by peers too. The gap of a row is then the largest of
    any class, updates and seconds are those of all, and passes the most of any. Margin and upper bound are those of the
    same class in every row, which ``class`` names: the one with the smallest upper bound, the hardest to separate.

    Parameters
    ----------
    X, y : array or sparse matrix of shape (n_samples, n_features), array of shape (n_samples,)
        The rows and their labels.
    algorithms : list of str, optional
        Ours: "pdm", "pdm-succ", "pfm", "newton", "dcd", "dcd-hinge", "mpu", "mpu-hinge", "decomposition", "romma",
        "romma-plain", "alma", "cramma", "micra", "perceptron", "margin-perceptron", "margitron", "margitron-norm",
        "auto". Peers: "liblinear-dcd" and "liblinear-newton" (LinearSVC, dual and primal), "sgd" (SGDClassifier, whose
        intercept is not regularised), and when installed "liblinear" (package liblinear-official) and "cyanure". None
        takes a few of both.
    C : float, default=1.0
        The price of a slack; ``float("inf")`` for the hard margin, where peers get 1e6.
    epsilon : float in (0, 1], default=0.01
        The gap to prove.
    test_size : float or int, default=0.25
        The fraction, or number, of rows held out, each class in proportion; the rest is trained on.
    X_test, y_test : optional
        Rows and labels to hold out instead; then all of ``X`` is trained on.
    max_time : float, optional
        Seconds for each of our algorithms. Peers cannot be stopped by the clock.
    random_state : int, RandomState or None, default=None
        Seeds the split and every algorithm.
    plot : matplotlib axes, optional
        Draw the certified gap against time there: one line per algorithm, a single point per peer.
    verbose : int, default=0
        Whether to show the log of the logger "dynmargin".

    Returns
    -------
    pandas.DataFrame, or list of dict without pandas
        One row per algorithm, in the order asked for: ``algorithm``, ``problem``, ``gap`` (certified), ``margin``,
        ``upper_bound``, ``achieved`` (whether the gap is at most epsilon), ``updates`` and ``passes`` (missing where a
        peer does not report them), ``seconds``, ``train_accuracy``, ``test_accuracy``, ``stop_reason`` (of peers
        "tolerance" or "max_iter"). Only margins of the same ``problem`` can be compared: "squared hinge", "hinge",
        "hard margin", or one of these with "free intercept". With more than two classes also ``class``, the one that
        ``margin`` and ``upper_bound`` are about.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> import dynmargin
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> table = dynmargin.compare(X, y, ["pdm", "newton", "liblinear-dcd"], random_state=0)
    >>> print(table[["algorithm", "achieved"]].to_string(index=False))
        algorithm  achieved
              pdm      True
           newton      True
    liblinear-dcd      True
    """
    names = _names(algorithms, C)
    peers = {name: _peer(name) for name in names if name in PEERS}
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must be above 0 and at most 1, got {epsilon!r}")
    if not C > 0:
        raise ValueError(f"C must be positive, got {C!r}")
    X, X_test, y, y_test = _split(X, y, X_test, y_test, test_size, random_state)
    classes = np.unique(y)
    require_two_classes(classes)
    contest = Contest(X, y, classes, float(C), float(epsilon), max_time, random_state)
    entries: list[Entry] = []
    with visible_log(verbose):
        for place, name in enumerate(names, 1):
            logger.info("compare: %s, %d of %d", name, place, len(names))
            phases.enter(f"{name}, {place} of {len(names)}")
            with convergence_warnings_logged(name):
                entry = contest.run_peer(name, peers[name]) if name in peers else contest.run_ours(name)
            ended = f", {entry.stop_reason}" if entry.stop_reason else ""  # which not every peer tells
            told = {"compared": f"{name}, {place} of {len(names)}: {entry.seconds:.2f} s{ended}"}
            logger.info("compare: %s took %.2f s, stop reason %s", name, entry.seconds, entry.stop_reason, extra=told)
            entries.append(entry)
    bounds: dict[Problem, float] = {}  # the smallest that is proven for each problem, whoever proved it
    for certificate in (certificate for entry in entries for certificate in entry.certificates):
        bounds[certificate.problem] = min(certificate.upper_bound, bounds.get(certificate.problem, math.inf))
    shown = _hardest_class(entries[0], bounds)
    verdicts = [entry.verdict(bounds, shown) for entry in entries]
    if plot is not None:
        curves = [(e.name, e.curve or [(e.seconds, v.gap)]) for e, v in zip(entries, verdicts, strict=True)]
        rendering.plot(curves, epsilon, plot)
    records = [
        {
            "algorithm": entry.name,
            "problem": _describe(verdict.problem),
            "gap": verdict.gap,
            **({} if len(classes) == 2 else {"class": shown}),
            "margin": verdict.margin,
            "upper_bound": verdict.upper_bound,
            "achieved": bool(verdict.gap <= epsilon),
            "updates": entry.updates,
            "passes": entry.passes,
            "seconds": entry.seconds,
            "train_accuracy": entry.accuracy(X, y, classes),
            "test_accuracy": entry.accuracy(X_test, y_test, classes),
            "stop_reason": entry.stop_reason,
        }
        for entry, verdict in zip(entries, verdicts, strict=True)
    ]
    if find_spec("pandas") is None:
        return records
    import pandas

    return pandas.DataFrame(records).astype({"updates": "Int64", "passes": "Int64"})


@contextmanager
def convergence_warnings_logged(name: str) -> Iterator[None]:
    """Log warnings of convergence instead of issuing them: the table shows what was reached. Others are issued."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield
    for one in caught:
        if issubclass(one.category, ConvergenceWarning):
            logger.info("compare: %s: %s", name, one.message, extra={"compared": f"{name}: {one.message}"})
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


class Verdict(NamedTuple):
    """What is proven about an entry: the largest gap of all classes, and the bounds of one of them."""

    gap: float
    margin: float
    upper_bound: float
    problem: Problem


@dataclass(frozen=True)
class Entry:
    """What an algorithm has left behind."""

    name: str
    seconds: float
    certificates: list[Certificate]  # one per class, or a single one for two classes
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    updates: int | None
    passes: int | None
    stop_reason: str | None
    curve: list[tuple[float, float]]  # seconds and gap; empty for a peer

    def verdict(self, bounds: dict[Problem, float], shown: Any) -> Verdict:
        """Return the largest gap of all classes, and the bounds of the class `shown`.

        A peer is measured by `bounds`, what the whole table has proven.
        """
        gaps, upper_bounds = [], []
        for certificate in self.certificates:
            upper_bound = bounds[certificate.problem] if self.name in PEERS else certificate.upper_bound
            gaps.append(1 - certificate.margin / upper_bound if upper_bound > 0 else math.inf)
            upper_bounds.append(upper_bound)
        place = [certificate.problem.positive for certificate in self.certificates].index(shown)
        certificate = self.certificates[place]
        return Verdict(max(gaps), certificate.margin, upper_bounds[place], certificate.problem)

    def accuracy(self, X: Any, y: NDArray[Any], classes: NDArray[Any]) -> float:
        """Return the fraction of rows whose label is predicted."""
        return float(np.mean(labels_of(scores_of(X, self.coef, self.intercept), classes) == y))


@dataclass(frozen=True)
class Contest:
    """The data that all are trained on, and what they are asked for."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    C: float
    epsilon: float
    max_time: float | None
    random_state: Any

    def run_ours(self, name: str) -> Entry:
        """Train one of our estimators."""
        parameters = {"epsilon": self.epsilon, "C": self.C, "random_state": self.random_state}
        classifier = make(name, **parameters, max_time=self.max_time)
        start = time.perf_counter()
        classifier.fit(self.X, self.y)
        return Entry(
            name,
            time.perf_counter() - start,
            classifier.certificates_,
            classifier.coef_,
            classifier.intercept_,
            classifier.n_updates_,
            classifier.n_iter_,
            classifier.stop_reason_,
            _curve(classifier.history_, len(classifier.certificates_)),
        )

    def run_peer(self, name: str, peer: Peer) -> Entry:
        """Train another library, each class against the rest in turn, and prove what its weights are worth."""
        peer.prepare(self.X, self.C)
        solutions, certificates, seconds, matrix = [], [], 0.0, as_matrix(self.X)
        labels = as_labels(self.classes)
        for label in self.classes[1:] if len(self.classes) == 2 else self.classes:
            problem = BinaryProblem(label, self.C, self.C, 1.0, classes=labels)  # as our estimators state it
            sides = problem.sides(self.y, None)
            start = time.perf_counter()
            with around_fit():
                solution = peer.fit(sides, self.epsilon, self.random_state)
            seconds += time.perf_counter() - start
            scores = np.asarray(self.X @ solution.weights).ravel() + solution.intercept
            model = (solution.weights, solution.intercept, scores)
            certificates.append(certify_weights(matrix, self.y, problem, *model, epsilon=self.epsilon))
            solutions.append(solution)
        passes = [solution.passes for solution in solutions if solution.passes is not None]
        reasons = {solution.stop_reason for solution in solutions}
        return Entry(
            name,
            seconds,
            certificates,
            np.array([solution.weights for solution in solutions]),
            np.array([solution.intercept for solution in solutions]),
            updates=None,
            passes=max(passes, default=None),
            stop_reason="max_iter" if "max_iter" in reasons else reasons.pop(),
            curve=[],
        )


def _hardest_class(entry: Entry, bounds: dict[Problem, float]) -> Any:
    """Return the class with the smallest upper bound, of the problems that an entry has solved."""
    return min((one.problem for one in entry.certificates), key=lambda problem: bounds[problem]).positive


def _names(algorithms: Iterable[str] | str | None, C: float) -> list[str]:
    if algorithms is None:
        return usual(C)
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    for name in names:
        if name not in NAMES and name not in PEERS:
            raise ValueError(f"no algorithm is called {name!r}; there are {', '.join([*NAMES, *PEERS])}")
        if name in SOFT_ONLY and np.isinf(C):
            raise ValueError(f"{name!r} needs a finite {wording().name('C')}; leave it out for the hard margin")
    if not names:
        raise ValueError("algorithms is empty; name one or more, or leave it out for the usual ones")
    return names


def _peer(name: str) -> Peer:
    peer = PEERS[name]()
    if not peer.available():
        raise ModuleNotFoundError(f"{name!r} needs the package {peer.package}: pip install {peer.package}")
    return peer


def _split(X: Any, y: Any, X_test: Any, y_test: Any, test_size: float, random_state: Any) -> Any:
    """Return rows to train on, rows held out, and the labels of both."""
    as_rows = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "accept_large_sparse": True}
    X, y = check_X_y(X, y, **as_rows)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together")
    if X_test is None:
        _require_enough_rows(y, test_size)
        return train_test_split(X, y, test_size=test_size, stratify=y, random_state=random_state)
    X_test, y_test = check_array(X_test, **as_rows), column_or_1d(y_test)
    check_consistent_length(X_test, y_test)
    if X_test.shape[1] != X.shape[1]:
        raise ValueError(f"X_test has {X_test.shape[1]} features, X has {X.shape[1]}")
    return X, X_test, y, y_test


def _require_enough_rows(y: NDArray[Any], test_size: float) -> None:
    """Refuse rows of which some cannot be held out so that every class is on both sides."""
    classes, rows = np.unique(y, return_counts=True)
    require_two_classes(classes)
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be a fraction of the rows, between 0 and 1; got {test_size!r}")
    held_out = math.ceil(test_size * len(y))
    why = ""
    if rows.min() < 2:
        why = f"class {label_text(classes[rows.argmin()])} has only one row"
    elif min(held_out, len(y) - held_out) < len(classes):
        why = f"{held_out} of {len(y)} rows are held out, and there are {len(classes)} classes"
    if why:
        raise ValueError(
            f"there are too few rows: some are held out for test_accuracy, with every class on both sides, but {why}"
        )


def _curve(history: list[Check], n_problems: int) -> list[tuple[float, float]]:
    """Return time and the worst gap of all classes, from the moment when each has been checked."""
    gaps: dict[int, float] = {}
    curve = []
    for check in history:
        gaps[check.problem] = check.gap
        if len(gaps) == n_problems:
            curve.append((check.time, max(gaps.values())))
    return curve


def _describe(problem: Problem) -> str:
    kind = "hard margin" if problem.hard_margin else problem.loss.replace("_", " ")
    return kind + (", free intercept" if problem.free_bias else "")
