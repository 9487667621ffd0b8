"""The columns of the paper's tables: which algorithm runs, how, and which margin is shown."""

import math
import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..training.schedule import PAPER
from .own_state import own_state
from .problems import Problem
from .readers import Rows, Sides

IN_ORDER = replace(PAPER, shuffle_first=False)
HUGE_C = 1e10  # stands for an infinite C in LIBLINEAR: far above the largest dual weight, 1 / gamma_d² at most
NO_SCHEDULE = ("dcd", "dcd-hinge", "decomposition")  # they choose their rows in a way of their own
LIBLINEAR_LIMIT = {  # what its solvers do after 300 passes
    1: "went over to Newton's method after 300 passes",
    3: "gave up after 300 passes, its own limit",
}


class Task(NamedTuple):
    """What a cell is computed from."""

    X: Rows
    y: Sides
    problem: Problem
    epsilon: float
    seed: int
    beta: float | None  # for PFM


class Measured(NamedTuple):
    """The result of a run: the margin, updates (None where there is no such thing), CPU seconds of training."""

    margin: float
    updates: int | None
    seconds: float
    ended: str  # why it stopped
    verdict: str  # on its certificate
    geometric: float | None = None  # the margin without the augmented coordinate
    error: float | None = None  # the part of the training rows on the wrong side
    proven: float | None = None  # the certificate's margin, slacks repaired: hardly below gamma_d
    curve: list[tuple[int, float, float]] | None = None  # t, gamma'_d and the upper bound, where they are recorded


class Runnable(Protocol):
    """What fills a cell."""

    @property
    def name(self) -> str:
        """Its name in files and on the command line."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def beta_of(self) -> str:
        """The name of the one whose margin it takes for its beta; empty if it needs none."""

    def run(self, task: Task) -> Measured:
        """Compute the cell."""


@dataclass(frozen=True)
class Column:
    """An algorithm in a table: one of ours, run to convergence as in the paper, or a solver of LIBLINEAR.

    With `extended` it runs on rows that have the extension as real columns, where the soft margin is a hard one: so the
    1-norm algorithms solve the paper's problem too.
    """

    work: str  # the table
    name: str  # on the command line; a program beside ours has the paper's name and "-liblinear"
    title: str
    algorithm: str = ""  # its name in our registry
    solver: int = 0  # LIBLINEAR's -s, for what is not ours
    extended: bool = False
    beta_of: str = ""  # the column whose margin PFM takes for its beta
    in_order: bool = False  # the first full pass presents the rows as they stand in the file

    @property
    def paper(self) -> str:
        """The name of the paper's own column."""
        return self.name.removesuffix("-liblinear").removesuffix("-in-order")

    def run(self, task: Task) -> Measured:
        """Compute a cell."""
        X, C = (extended(task), math.inf) if self.extended else (task.X, task.problem.C)
        if self.solver:
            return run_liblinear(self.solver, task, X, C)
        options: dict[str, Any] = {"C": C, "stop": "convergence"}
        if self.algorithm not in NO_SCHEDULE:
            options["schedule"] = IN_ORDER if self.in_order else "paper"
        return run_ours(self.algorithm, task, X, options)


COLUMNS = {
    column.name: column
    for column in (
        Column("table1", "pdm", "PDM", "pdm"),
        Column("table1", "pdm-in-order", "PDM, first pass in file order", "pdm", in_order=True),
        Column("table1", "pfm", "PFM (PDM's margin)", "pfm", beta_of="pdm"),
        Column("table1", "pdm-succ", "PDM-succ", "pdm-succ"),
        Column("table1", "pfm-succ", "PFM (PDM-succ's margin)", "pfm", beta_of="pdm-succ"),
        Column("table2", "romma", "ROMMA", "romma"),
        Column("table2", "svm", "SVM-light: our decomposition", "decomposition"),
        Column("table2", "dcd-l1", "DCD-L1: ours", "dcd-hinge", extended=True),
        Column("table2", "dcd-l1-liblinear", "DCD-L1: LIBLINEAR", solver=3, extended=True),
        Column("table2", "dcd-l2", "DCD-L2: ours", "dcd"),
        Column("table2", "dcd-l2-liblinear", "DCD-L2: LIBLINEAR", solver=1),
        Column("table2", "mpu", "MPU", "mpu"),
    )
}


def extended(task: Task) -> Rows:
    """Return the rows with the extension as real columns: Delta in a column of its own for each row."""
    from scipy.sparse import csr_matrix, hstack, identity

    own = identity(task.X.shape[0], dtype=task.X.dtype, format="csr") * task.X.dtype.type(task.problem.delta)
    return csr_matrix(hstack([task.X, own]))


def run_ours(algorithm: str, task: Task, X: Rows, options: dict[str, Any]) -> Measured:
    """Train one of our classifiers and verify its certificate.

    An option that the algorithm does not have is an error: without it the run would be another one.
    """
    from ..comparison.compare import make

    options = {**options, "epsilon": task.epsilon, "random_state": task.seed}
    if task.beta is not None:
        options["beta"] = task.beta
    classifier = make(algorithm).set_params(**options)
    start = time.process_time()
    classifier.fit(X, task.y)
    seconds = time.process_time() - start
    certificate = classifier.certificate_
    margin, verdict = float(certificate.directional_margin), certificate.verify(X, task.y).verdict
    if certificate.problem.free_bias:  # b is not in the counts, whose signed sum is 0: only the classifier has it
        geometric, error = margin, float(np.mean(classifier.predict(X) != task.y))
    else:
        rho = options.get("intercept_scaling", 1.0)
        state = own_state(task.X, task.y, certificate.counts.toarray(), rho, task.problem.delta)
        geometric, error = state.geometric(margin), state.error
    updates, ended, proven = int(classifier.n_updates_), classifier.stop_reason_, float(certificate.margin)
    return Measured(margin, updates, seconds, ended, verdict, geometric, error, proven)


def run_liblinear(solver: int, task: Task, X: Rows, C: float) -> Measured:
    """Train real LIBLINEAR; the margin is that of its weights with the best slacks, since its dual weights are lost.

    The conversion of the rows is not timed.
    """
    from ..comparison.peers import Liblinear
    from ..problem.matrix import as_matrix
    from ..problem.problems import BinaryProblem

    peer = Liblinear(solver=solver, hard_margin_C=HUGE_C)
    peer.prepare(X, C)
    rows = peer.convert(task.y)
    start = time.process_time()
    trained = peer.train(rows, task.epsilon)
    seconds = time.process_time() - start
    problem = BinaryProblem(1, C, C, 1.0)
    core_problem = problem.to_core(problem.sides(task.y, None))
    margin, _ = core_problem.margin_of_weights(as_matrix(X), trained.weights, trained.intercept)
    return Measured(margin, None, seconds, LIBLINEAR_LIMIT[solver] if peer.limit_met else "converged", "")
