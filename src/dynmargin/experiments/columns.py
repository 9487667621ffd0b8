"""The columns of the paper's tables: which algorithm, run how, and which margin is shown."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .problems import Problem
from .readers import Rows, Sides

HUGE_C = 1e10  # stands for an infinite C in LIBLINEAR: far above the largest dual weight, 1 / gamma_d² at most
LIBLINEAR_PASSES = 300


class Task(NamedTuple):
    """What a cell is computed from."""

    X: Rows
    y: Sides
    problem: Problem
    epsilon: float
    seed: int
    beta: float | None  # for PFM


class Measured(NamedTuple):
    """What a run gave: the margin, updates (None where there is no such thing), CPU seconds of training."""

    margin: float
    updates: int | None
    seconds: float
    ended: str  # why it stopped
    verdict: str  # what became of its certificate


@dataclass(frozen=True)
class Column:
    """An algorithm in a table.

    Attributes
    ----------
    name, title : str
        For the command line and for tables.
    table : int
        In which table.
    paper : str
        The name of the paper's column beside it.
    run : function
        From a task to what was measured.
    beta_of : str
        The column whose margin PFM takes for its beta.
    module : str
        What must be installed.
    """

    name: str
    title: str
    table: int
    paper: str
    run: Callable[[Task], Measured]
    beta_of: str = ""
    module: str = ""


def fit(classifier: Any, X: Rows, y: Sides) -> Measured:
    """Train one of our classifiers and prove what it says."""
    start = time.process_time()
    classifier.fit(X, y)
    seconds = time.process_time() - start
    certificate = classifier.certificate_
    return Measured(
        float(certificate.directional_margin),
        int(classifier.n_updates_),
        seconds,
        classifier.stop_reason_,
        certificate.verify(X, y).verdict,
    )


def paper_setting(task: Task, **others: Any) -> dict[str, Any]:
    """To convergence, as in the paper."""
    return {
        "epsilon": task.epsilon,
        "C": task.problem.C,
        "stop": "convergence",
        "random_state": task.seed,
        **others,
    }


def extended(task: Task) -> Rows:
    """Rows with the extension as real columns: Delta in one of their own. The soft margin is a hard one there."""
    from scipy.sparse import csr_matrix, hstack, identity

    own = identity(task.X.shape[0], dtype=task.X.dtype, format="csr") * task.X.dtype.type(task.problem.delta)
    return csr_matrix(hstack([task.X, own]))


def run_pdm(task: Task) -> Measured:
    """PDM."""
    from ..classifiers.pdm import PDMClassifier

    return fit(PDMClassifier(**paper_setting(task, schedule="paper")), task.X, task.y)


def run_pdm_succ(task: Task) -> Measured:
    """PDM in successive runs, with the paper's step."""
    from ..classifiers.pdm import PDMClassifier

    return fit(PDMClassifier(eta=8, **paper_setting(task, schedule="paper")), task.X, task.y)


def run_pfm(task: Task) -> Measured:
    """PFM with the margin that PDM achieved."""
    from ..classifiers.pfm import PFMClassifier

    return fit(PFMClassifier(task.beta, **paper_setting(task, schedule="paper")), task.X, task.y)


def run_romma(task: Task) -> Measured:
    """Aggressive ROMMA."""
    from ..classifiers.romma import ROMMAClassifier

    return fit(ROMMAClassifier(**paper_setting(task, schedule="paper")), task.X, task.y)


def run_svm(task: Task) -> Measured:
    """Our decomposition SVM in the place of SVM-light; its margin is the geometric one."""
    from ..classifiers.decomposition import DecompositionSVMClassifier

    return fit(DecompositionSVMClassifier(**paper_setting(task)), task.X, task.y)


def run_dcd_l1(task: Task) -> Measured:
    """DCD for the 1-norm with C infinite, on extended rows."""
    from ..classifiers.dcd import DCDClassifier

    return fit(DCDClassifier(loss="hinge", **paper_setting(task, C=float("inf"))), extended(task), task.y)


def run_dcd_l2(task: Task) -> Measured:
    """DCD for the 2-norm."""
    from ..classifiers.dcd import DCDClassifier

    return fit(DCDClassifier(**paper_setting(task)), task.X, task.y)


def run_mpu(task: Task) -> Measured:
    """MPU."""
    from ..classifiers.mpu import MPUClassifier

    return fit(MPUClassifier(**paper_setting(task, schedule="paper")), task.X, task.y)


def run_liblinear_l1(task: Task) -> Measured:
    """LIBLINEAR's solver 3 on extended rows, where its weights tell the directional margin."""
    from . import liblinear

    X = extended(task).astype(np.float64)
    trained = liblinear.train(X, task.y, 3, HUGE_C, task.epsilon)
    scores = task.y * (X @ trained.weights[:-1] + trained.weights[-1])
    margin = float(scores.min() / np.linalg.norm(trained.weights))
    ended = "converged" if trained.converged else f"gave up after {LIBLINEAR_PASSES} passes, its own limit"
    return Measured(margin, None, trained.seconds, ended, "")


def run_liblinear_l2(task: Task) -> Measured:
    """LIBLINEAR's solver 1; the margin is that of its weights with the best slacks, since its dual weights are lost."""
    from .. import _core
    from ..matrix import as_matrix
    from ..problem import BinaryProblem
    from . import liblinear

    X, C = task.X.astype(np.float64), task.problem.C
    trained = liblinear.train(X, task.y, 1, C, task.epsilon)
    problem = BinaryProblem(1, C, C, 1.0)
    core_problem = problem.to_core(problem.sides(task.y, None))
    margin, _ = _core.margin_of_weights(as_matrix(X), core_problem, trained.weights[:-1], float(trained.weights[-1]))
    ended = "converged" if trained.converged else f"went over to Newton's method after {LIBLINEAR_PASSES} passes"
    return Measured(margin, None, trained.seconds, ended, "")


COLUMNS = {
    column.name: column
    for column in (
        Column("pdm", "PDM", 1, "pdm", run_pdm),
        Column("pfm", "PFM (PDM's margin)", 1, "pfm", run_pfm, beta_of="pdm"),
        Column("pdm-succ", "PDM-succ", 1, "pdm-succ", run_pdm_succ),
        Column("pfm-succ", "PFM (PDM-succ's margin)", 1, "pfm-succ", run_pfm, beta_of="pdm-succ"),
        Column("romma", "ROMMA", 2, "romma", run_romma),
        Column("svm", "SVM-light: our decomposition", 2, "svm", run_svm),
        Column("dcd-l1", "DCD-L1: ours", 2, "dcd-l1", run_dcd_l1),
        Column("dcd-l1-liblinear", "DCD-L1: LIBLINEAR", 2, "dcd-l1", run_liblinear_l1, module="liblinear"),
        Column("dcd-l2", "DCD-L2: ours", 2, "dcd-l2", run_dcd_l2),
        Column("dcd-l2-liblinear", "DCD-L2: LIBLINEAR", 2, "dcd-l2", run_liblinear_l2, module="liblinear"),
        Column("mpu", "MPU", 2, "mpu", run_mpu),
    )
}
