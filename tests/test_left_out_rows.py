"""A row of weight zero is left out: the fit is that on the other rows alone.

Bit for bit, if both are packed in the same layout (dense or sparse, few columns); otherwise up to the order of sums.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from estimators import CLASSIFIERS
from sklearn.base import clone

from dynmargin import DCDClassifier, MaxMarginClassifier, MPUClassifier, PDMClassifier


def tall():
    random = np.random.default_rng(0)
    X = random.integers(-16, 17, (5000, 20)).astype(float)
    return X, (X @ random.integers(-8, 9, 20) + random.integers(-300, 301, 5000) > 0).astype(int)


def nearly_square():
    """More rows than columns, but not among those that take part."""
    random = np.random.default_rng(1)
    X = random.integers(-16, 17, (100, 90)).astype(float)
    return X, (X @ random.integers(-8, 9, 90) > 0).astype(int)


def text():
    random = np.random.default_rng(2)
    X = sp.random(800, 3000, 0.01, format="csr", random_state=2, data_rvs=lambda n: random.integers(1, 9, n) / 8.0)
    return X, (X @ random.integers(-8, 9, 3000) > 0).astype(int)


def three_classes():
    X, _ = nearly_square()
    return X, np.arange(100) % 3


def assert_same_fit(classifier, X, y):
    """Leave out some rows, by their weight and by taking them away."""
    weight = (np.arange(len(y)) % (3 if len(y) == 5000 else 7) > 0).astype(float)
    kept = np.flatnonzero(weight)
    with_zeros = classifier.fit(X, y, sample_weight=weight)
    found = [with_zeros.coef_, with_zeros.intercept_, with_zeros.support_, with_zeros.dual_coef_]
    history = [check[1:] for check in with_zeros.history_]
    alone = classifier.fit(X[kept], y[kept])
    assert history == [check[1:] for check in alone.history_]
    for ours, theirs in zip(
        found, [alone.coef_, alone.intercept_, kept[alone.support_], alone.dual_coef_], strict=True
    ):
        assert np.array_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("problem", [tall, nearly_square, text], ids=lambda problem: problem.__name__)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda classifier: type(classifier).__name__)
def test_every_algorithm_leaves_them_out(classifier, problem):
    if "max_updates" in classifier.get_params():
        classifier = clone(classifier).set_params(max_updates=20_000)
    assert_same_fit(classifier, *problem())


@pytest.mark.parametrize("problem", [tall, nearly_square, text], ids=lambda problem: problem.__name__)
@pytest.mark.parametrize(
    "classifier",
    [
        PDMClassifier(random_state=0),
        PDMClassifier(1e-4, random_state=0),
        PDMClassifier(C=100, random_state=0),
        PDMClassifier(schedule="paper", random_state=0),
        PDMClassifier(eta=8, random_state=0),
        DCDClassifier(loss="hinge", random_state=0),
        MPUClassifier(schedule="paper", random_state=0),
        MaxMarginClassifier(1e-6, random_state=0),
    ],
    ids=str,
)
def test_to_the_certificate(classifier, problem):
    assert_same_fit(classifier, *problem())


def test_a_joint_margin_leaves_them_out():
    assert_same_fit(PDMClassifier(0.05, multi_class="joint", random_state=0), *three_classes())
