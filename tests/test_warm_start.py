"""A warm start goes on from the counts whose rows are still there; what is proven is proven from the present data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.optimum import best_soft_margin

from dynmargin import PDMClassifier, Schedule, _core
from dynmargin.algorithms.pdm import to_core
from dynmargin.certificate.counts import find_counts


@pytest.mark.parametrize("eta", [None, 8])
def test_a_smaller_epsilon_goes_on_from_the_state(breast_cancer, eta):
    X, y = breast_cancer
    warm = PDMClassifier(0.05, eta=eta, warm_start=True, random_state=0).fit(X, y)
    before = warm.certificate_.counts.toarray()
    warm.set_params(epsilon=0.005).fit(X, y)
    assert (warm.certificate_.counts.toarray() >= before).all()  # PDM only ever adds
    assert warm.certificate_.achieved
    assert warm.certificate_.verify(X, y)
    cold = PDMClassifier(0.005, eta=eta, random_state=0).fit(X, y)
    assert warm.certificate_.margin <= cold.certificate_.upper_bound
    assert cold.certificate_.margin <= warm.certificate_.upper_bound


def test_more_rows_go_on_from_the_state_wherever_they_stand(digits, rng):
    X, y = digits
    warm = PDMClassifier(warm_start=True, random_state=0).fit(X[:1200], y[:1200])
    before = [certificate.counts.toarray() for certificate in warm.certificates_]
    order = rng.permutation(len(X))
    warm.fit(X[order], y[order])
    place = np.argsort(order)[:1200]  # where the old rows stand now
    for certificate, counts in zip(warm.certificates_, before, strict=True):
        assert (certificate.counts.toarray()[place] >= counts).all()
        assert certificate.achieved
        assert certificate.verify(X[order], y[order])


def test_a_fit_goes_on_from_rows_that_passed_by(breast_cancer):
    X, y = breast_cancer
    warm = PDMClassifier(warm_start=True, random_state=0).partial_fit(X, y, [0, 1])
    online = warm.n_updates_
    warm.set_params(max_updates=10)
    with pytest.warns(match="max_updates is reached"):
        warm.fit(X, y)
    assert warm.n_updates_ == online + 10
    warm.set_params(max_updates=None).fit(X, y)
    assert warm.certificate_.achieved
    assert warm.certificate_.verify(X, y)


@st.composite
def changes(draw):
    """Data, and the same with rows changed, relabelled, dropped and added, under another C."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.normal(size=(draw(st.integers(4, 40)), draw(st.integers(1, 4))))
    y = np.append([0, 1], random.integers(0, 2, size=len(X) - 2))
    X2, y2 = X.copy(), y.copy()
    X2[random.random(len(X)) < 0.2] += 1
    flipped = np.flatnonzero(random.random(len(X)) < 0.2)
    y2[flipped[flipped > 1]] ^= 1
    kept = np.append([0, 1], 2 + np.flatnonzero(random.random(len(X) - 2) < 0.8))
    X2 = np.vstack([X2[kept], random.normal(size=(5, X.shape[1]))])
    y2 = np.append(y2[kept], random.integers(0, 2, size=5))
    return X, y, X2, y2, draw(st.sampled_from([0.1, 1.0, 10.0]))


@given(changes())
@settings(max_examples=80)
def test_whatever_it_begins_with_the_certificate_is_about_the_present_data(change):
    X, y, X2, y2, C = change
    warm = PDMClassifier(0.05, warm_start=True, random_state=0).fit(X, y)
    certificate = warm.set_params(C=C).fit(X2, y2).certificate_
    assert certificate.verify(X2, y2)
    best = best_soft_margin(X2, np.where(y2 == 1, 1, -1), 1.0, 2 * C)
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)
    assert certificate.achieved


def test_without_warm_start_a_second_fit_begins_anew(breast_cancer):
    X, y = breast_cancer
    twice = PDMClassifier(random_state=0).fit(X, y).fit(X, y)
    once = PDMClassifier(random_state=0).fit(X, y)
    assert np.array_equal(twice.coef_, once.coef_)
    assert twice.n_updates_ == once.n_updates_


def test_new_classes_begin_anew_beside_the_old_ones(digits):
    X, y = digits
    two, five = y < 2, y < 5
    warm = PDMClassifier(warm_start=True, random_state=0).fit(X[two], y[two])
    warm.fit(X[five], y[five])
    assert len(warm.certificates_) == 5
    assert all(certificate.achieved and certificate.verify(X[five], y[five]) for certificate in warm.certificates_)


def test_the_core_refuses_counts_of_no_row():
    problem = _core.Problem(np.array([1, 0, -1], np.int8), 1.0, 1.0, 1.0)
    rows = _core.pack(_core.dense(np.eye(3)))
    trainer = _core.Trainer(rows, problem, _core.DynamicMargin(0.1), to_core(Schedule()), 0.1, 0)
    for row, count in ((3, 1), (-1, 1), (1, 1), (0, -1), (0, 2**53 + 1)):
        with pytest.raises(ValueError, match="count"):
            trainer.start_from(np.array([row]), np.array([count]))
    trainer.start_from(np.array([0, 2]), np.array([3, 4]))
    # a = 3 [1, 0, 0, 1] - 4 [0, 0, 1, 1], and Delta² = 1/2
    assert trainer.updates == 7
    assert trainer.norm2 == 3**2 + 4**2 + (3 - 4) ** 2 + (3**2 + 4**2) / 2


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.tuples(st.integers(0, 7), st.integers(1, 9)), max_size=12))
def test_counts_find_their_rows(keys, known):
    rows, counts = find_counts(
        np.array(keys, np.uint64), np.array([k for k, _ in known], np.uint64), np.array([n for _, n in known], np.int64)
    )
    assert (np.diff(rows) > 0).all()
    for key in range(8):
        found = sum(n for row, n in zip(rows, counts, strict=True) if keys[row] == key)
        assert found == (sum(n for k, n in known if k == key) if key in keys else 0)
    turns = [k for k, _ in known]
    for key in set(keys):  # equal rows share theirs in turn: none is left out while another has two
        assert sum(keys[row] == key for row in rows) == min(keys.count(key), turns.count(key))
