"""Any algorithms side by side on the same data: what each has proven, how long it took, how well it predicts."""

import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array, check_consistent_length, check_X_y, column_or_1d

from .certificate import Certificate
from .classifiers.table import ESTIMATORS, make
from .classifiers.watching import visible_log
from .displays.comparison import plot_comparison
from .foreign_weights import certify_weights
from .outcome import Check
from .peers import PEERS, Peer
from .problem import BinaryProblem
from .training import logger

USUAL = ("pdm", "pdm-succ", "romma", "mpu", "dcd", "newton", "liblinear-dcd", "liblinear-newton")
SOFT_ONLY = ("newton",)


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
    default number of iterations; then we prove what its weights are worth:

    - *margin*: that of the weights at the scale that is best for them ("slack repair"), with every rounding error
      accounted for, as in our own certificates;
    - *upper bound*: the smallest that is proven, either by the slacks of the weights taken as dual weights or by any
      other algorithm of the table for the same problem. So a peer's gap may profit from its neighbours; our own rows
      stand each on their own certificate.

    With more than two classes each is trained against the rest, by peers too; a row shows the class with the largest
    gap, the updates and seconds of all, and the most passes of any.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their labels.
    algorithms : list of str, optional
        Ours: "alma", "cramma", "dcd", "dcd-hinge", "decomposition", "margin-perceptron", "margitron", "margitron-norm",
        "max-margin", "micra", "mpu", "mpu-hinge", "newton", "pdm", "pdm-succ", "perceptron", "pfm", "romma",
        "romma-plain". Peers:
        "liblinear-dcd" and "liblinear-newton" (LinearSVC, dual and primal), "sgd" (SGDClassifier, whose intercept is
        not regularised), and when installed "liblinear" (package liblinear-official) and "cyanure". None takes a few
        of both.
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
        Draw the certified gap against time there, one line an algorithm, a peer a single point.
    verbose : int, default=0
        Let the log of the logger "dynmargin" be seen.

    Returns
    -------
    pandas.DataFrame, or list of dict without pandas
        A row an algorithm, in the order asked for: ``algorithm``, ``problem``, ``gap`` (certified), ``margin``,
        ``upper_bound``, ``achieved`` (whether the gap is at most epsilon), ``updates`` and ``passes`` (missing where a
        peer does not tell), ``seconds``, ``train_accuracy``, ``test_accuracy``, ``stop_reason`` (of peers "tolerance"
        or "max_iter"). Only margins of the same ``problem`` can be compared: "squared hinge", "hinge", "hard margin",
        or one of these with "free intercept".

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
    contest = _contest(X, y, X_test, y_test, test_size, C, epsilon, max_time, random_state)
    entries: list[Entry] = []
    with visible_log(verbose), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says what was reached, and why no more
        for place, name in enumerate(names, 1):
            logger.info("compare: %s, %d of %d", name, place, len(names))
            entry = contest.run_peer(name, peers[name]) if name in peers else contest.run_ours(name)
            logger.info("compare: %s took %.2f s, stop reason %s", name, entry.seconds, entry.stop_reason)
            entries.append(entry)
    bounds = _best_bounds(entries)
    verdicts = [entry.verdict(bounds) for entry in entries]
    if plot is not None:
        curves = [(e.name, e.curve or [(e.seconds, v.gap)]) for e, v in zip(entries, verdicts, strict=True)]
        plot_comparison(curves, epsilon, plot)
    return _table([contest.record(entry, verdict) for entry, verdict in zip(entries, verdicts, strict=True)])


@dataclass(frozen=True)
class Verdict:
    """What is proven about an entry: its worst class."""

    margin: float
    upper_bound: float
    gap: float
    problem: BinaryProblem


@dataclass(frozen=True)
class Entry:
    """What an algorithm has left behind."""

    name: str
    ours: bool
    certificates: list[Certificate]  # one a class, or a single one for two classes
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    updates: int | None
    passes: int | None
    seconds: float
    stop_reason: str | None
    curve: list[tuple[float, float]]  # seconds and gap; empty for a peer

    def verdict(self, bounds: dict[BinaryProblem, float]) -> Verdict:
        """Take the class with the largest gap; `bounds` are what the whole table has proven, which is for peers."""
        verdicts = []
        for certificate in self.certificates:
            upper_bound = certificate.upper_bound if self.ours else bounds[certificate.problem]
            gap = 1 - certificate.margin / upper_bound if upper_bound > 0 else math.inf
            verdicts.append(Verdict(certificate.margin, upper_bound, gap, certificate.problem))
        return max(verdicts, key=lambda verdict: verdict.gap)


@dataclass(frozen=True)
class Contest:
    """The data that all are trained on, and what they are asked for."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    classes: NDArray[Any]
    C: float
    epsilon: float
    max_time: float | None
    random_state: Any

    def run_ours(self, name: str) -> Entry:
        """Train an estimator of ours."""
        parameters = {"epsilon": self.epsilon, "C": self.C, "random_state": self.random_state}
        classifier = make(name, **parameters, max_time=self.max_time)
        start = time.perf_counter()
        classifier.fit(self.X, self.y)
        return Entry(
            name=name,
            ours=True,
            seconds=time.perf_counter() - start,
            certificates=classifier.certificates_,
            coef=classifier.coef_,
            intercept=classifier.intercept_,
            updates=classifier.n_updates_,
            passes=classifier.n_iter_,
            stop_reason=classifier.stop_reason_,
            curve=_curve(classifier.history_, len(classifier.certificates_)),
        )

    def run_peer(self, name: str, peer: Peer) -> Entry:
        """Train another library, one class against the rest after the other, and prove what its weights are worth."""
        peer.prepare(self.X, self.C)
        labels = self.classes[1:] if len(self.classes) == 2 else self.classes
        solutions, certificates, seconds = [], [], 0.0
        for label in labels:
            problem = BinaryProblem(label, self.C, self.C, 1.0)
            sides = problem.sides(self.y, None)
            start = time.perf_counter()
            solution = peer.fit(sides, self.epsilon, self.random_state)
            seconds += time.perf_counter() - start
            solutions.append(solution)
            certificates.append(
                certify_weights(self.X, self.y, problem, solution.weights, solution.intercept, epsilon=self.epsilon)
            )
        passes = [solution.passes for solution in solutions if solution.passes is not None]
        reasons = {solution.stop_reason for solution in solutions}
        return Entry(
            name=name,
            ours=False,
            seconds=seconds,
            certificates=certificates,
            coef=np.array([solution.weights for solution in solutions]),
            intercept=np.array([solution.intercept for solution in solutions]),
            updates=None,
            passes=max(passes, default=None),
            stop_reason="max_iter" if "max_iter" in reasons else reasons.pop(),
            curve=[],
        )

    def record(self, entry: Entry, verdict: Verdict) -> dict[str, Any]:
        """Write an entry as a row of the table."""
        return {
            "algorithm": entry.name,
            "problem": _describe(verdict.problem),
            "gap": verdict.gap,
            "margin": verdict.margin,
            "upper_bound": verdict.upper_bound,
            "achieved": bool(verdict.gap <= self.epsilon),
            "updates": entry.updates,
            "passes": entry.passes,
            "seconds": entry.seconds,
            "train_accuracy": self._accuracy(entry, self.X, self.y),
            "test_accuracy": self._accuracy(entry, self.X_test, self.y_test),
            "stop_reason": entry.stop_reason,
        }

    def _accuracy(self, entry: Entry, X: Any, y: NDArray[Any]) -> float:
        scores = np.asarray(X @ entry.coef.T) + entry.intercept
        places = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.mean(self.classes[places] == y))


def _names(algorithms: Iterable[str] | str | None, C: float) -> list[str]:
    if algorithms is None:
        return [name for name in USUAL if np.isfinite(C) or name not in SOFT_ONLY]
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    for name in names:
        if name not in ESTIMATORS and name not in PEERS:
            raise ValueError(f"no algorithm is called {name!r}; there are {', '.join([*ESTIMATORS, *PEERS])}")
        if name in SOFT_ONLY and np.isinf(C):
            raise ValueError(f"{name!r} needs a finite C; leave it out for the hard margin")
    if not names:
        raise ValueError("algorithms is empty; name one or more, or leave it out for the usual ones")
    return names


def _peer(name: str) -> Peer:
    peer = PEERS[name]()
    if not peer.available():
        raise ModuleNotFoundError(f"{name!r} needs the package {peer.package}: pip install {peer.package}")
    return peer


def _contest(
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    test_size: float,
    C: float,
    epsilon: float,
    max_time: float | None,
    random_state: Any,
) -> Contest:
    as_rows = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "accept_large_sparse": True}
    X, y = check_X_y(X, y, **as_rows)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test are given together, or neither is")
    if X_test is None:
        X, X_test, y, y_test = train_test_split(X, y, test_size=test_size, stratify=y, random_state=random_state)
    else:
        X_test, y_test = check_array(X_test, **as_rows), column_or_1d(y_test)
        check_consistent_length(X_test, y_test)
        if X_test.shape[1] != X.shape[1]:
            raise ValueError(f"X_test has {X_test.shape[1]} features, X has {X.shape[1]}")
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"the labels hold 1 class only ({classes[0]}); a classifier needs two or more")
    return Contest(X, y, X_test, y_test, classes, float(C), float(epsilon), max_time, random_state)


def _best_bounds(entries: list[Entry]) -> dict[BinaryProblem, float]:
    """Find the smallest upper bound that is proven for each problem, whoever proved it."""
    bounds: dict[BinaryProblem, float] = {}
    for certificate in (certificate for entry in entries for certificate in entry.certificates):
        bounds[certificate.problem] = min(certificate.upper_bound, bounds.get(certificate.problem, math.inf))
    return bounds


def _curve(history: list[Check], n_problems: int) -> list[tuple[float, float]]:
    """Time and the worst gap of all classes, from the moment when each has been looked at."""
    gaps: dict[int, float] = {}
    curve = []
    for check in history:
        gaps[check.problem] = check.gap
        if len(gaps) == n_problems:
            curve.append((check.time, max(gaps.values())))
    return curve


def _describe(problem: BinaryProblem) -> str:
    kind = "hard margin" if np.isinf(problem.C_positive) else problem.loss.replace("_", " ")
    return kind + (", free intercept" if problem.free_bias else "")


def _table(records: list[dict[str, Any]]) -> Any:
    if find_spec("pandas") is None:
        return records
    import pandas

    return pandas.DataFrame(records).astype({"updates": "Int64", "passes": "Int64"})
