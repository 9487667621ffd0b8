"""The columns of the paper's tables: what a cell says of its run is true, and it is the run that was asked for."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from dynmargin import DecompositionSVMClassifier, PDMClassifier
from dynmargin.paper.columns import COLUMNS, Task, run_ours
from dynmargin.paper.problems import Problem

ROWS = 200
SMALL = Problem("small", "Small", 0.5, (ROWS, 2), None, ())
EPSILON = 0.05


@pytest.fixture
def task():
    """Two groups on the same side of the origin: without an intercept, one of them is on the wrong side."""
    random = np.random.default_rng(0)
    y = np.repeat([1, -1], ROWS // 2)
    X = csr_matrix((random.normal(size=(ROWS, 2)) + 2 * y[:, None] + 8).round(2))
    return Task(X, y, SMALL, EPSILON, 0, None)


def test_the_training_error_with_a_free_intercept_counts_the_intercept(task):
    classifier = DecompositionSVMClassifier(epsilon=EPSILON, C=SMALL.C, stop="convergence", random_state=0)
    classifier.fit(task.X, task.y)
    w, b = classifier.coef_[0], classifier.intercept_[0]
    assert np.mean(task.y * (task.X @ w) <= 0) > 0.4
    wrong = np.mean(task.y * (task.X @ w + b) <= 0)
    assert wrong < 0.1
    assert COLUMNS["svm"].run(task).error == wrong


def test_the_training_error_is_else_that_of_the_state_itself(task):
    classifier = PDMClassifier(EPSILON, C=SMALL.C, stop="convergence", schedule="paper", random_state=0)
    counts = classifier.fit(task.X, task.y).certificate_.counts.toarray()
    signed = task.y * counts
    assert COLUMNS["pdm"].run(task).error == np.mean(task.y * (task.X @ (task.X.T @ signed) + signed.sum()) <= 0)


@pytest.mark.parametrize(
    ("algorithm", "beta", "options"),
    [("dcd", None, {"schedule": "paper"}), ("pdm", None, {"stopping": "convergence"}), ("pdm", 0.1, {})],
)
def test_an_option_that_an_algorithm_does_not_have_is_refused(algorithm, beta, options, task):
    """Left out in silence, the cell would be that of another run."""
    with pytest.raises(ValueError, match=next(iter(options), "beta")):
        run_ours(algorithm, task._replace(beta=beta), task.X, {"C": SMALL.C, **options})
