"""`partial_fit` is PDM presented each row once; its upper bound is true for all rows seen, in whatever blocks."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from estimators import sklearn_version
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.online import OnlineRun
from reference.optimum import best_soft_margin
from reference.patterns import extended_patterns

import dynmargin
from dynmargin import Certificate, OnlineCertificate, PDMClassifier, _core
from dynmargin.problem.matrix import as_matrix


@st.composite
def integer_streams(draw):
    """Small integers and dyadic fractions: float64 is exact, there is nothing to tolerate."""
    m, d = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.integers(-3, 4, size=(m, d)).astype(float)
    sides = random.choice([-1, 1], size=m).astype(np.int8)
    rho, delta = draw(st.sampled_from([0.0, 1.0, 2.0])), draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    weight = draw(st.sampled_from([None, random.choice([0.25, 1.0, 4.0], size=m)]))
    return X, sides, rho, delta, weight, draw(st.sampled_from([1 / 16, 1 / 4, 1 / 2, 1.0])), draw(st.integers(0, m))


def core_problem(sides, rho, delta, weight):
    C = np.inf if delta == 0 else 1 / (2 * delta**2)
    return _core.Problem(sides, rho, C, C, weight)


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sp.csr_array])
@given(integer_streams())
@settings(max_examples=200)
def test_the_core_makes_the_updates_of_the_reference(container, stream):
    X, sides, rho, delta, weight, eps, cut = stream
    state = _core.OnlineState(X.shape[1], rho, True)
    for part in (slice(0, cut), slice(cut, None)):
        rows = as_matrix(container(X[part]))
        part_weight = None if weight is None else weight[part]
        state.present(rows, core_problem(sides[part], rho, delta, part_weight), part_weight, eps)
    repeats = np.ones(len(X)) if weight is None else weight
    Y = extended_patterns(X, sides, rho, delta / np.sqrt(repeats))
    reference = OnlineRun(Y.shape[1])
    reference.present(Y, repeats, eps)

    assert state.updates == reference.t
    assert state.norm2 == reference.a @ reference.a
    assert np.array_equal(state.weights(), reference.a[: X.shape[1]])
    assert state.rows_seen == len(X)
    keys, counts = state.counted()
    all_keys = core_problem(sides, rho, delta, weight).row_keys(_core.dense(X))
    assert [(int(key), int(n)) for key, n in zip(keys, counts, strict=True)] == [
        (int(all_keys[k]), n) for k, n in reference.updates
    ]
    # The model is the average of the states, at some length.
    average = np.mean([a[: X.shape[1] + 1] for a in reference.states], axis=0)
    model = state.model()
    assert model @ average == pytest.approx(np.linalg.norm(model) * np.linalg.norm(average), abs=1e-12)
    value, error = state.upper_bound()
    if reference.t:
        assert abs(value - np.linalg.norm(reference.a) / reference.t) <= error


@st.composite
def blocks(draw, classes=2):
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    m, d = draw(st.integers(2, 60)), draw(st.integers(1, 5))
    X = random.normal(size=(m, d)) * 10.0 ** random.integers(-2, 3)
    y = random.integers(0, classes, size=m)
    weight = draw(st.sampled_from([None, random.exponential(size=m)]))
    cuts = sorted(draw(st.lists(st.integers(0, m), max_size=4)))
    parts = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, m], strict=True) if b > a]
    return X, y, weight, parts


def present(classifier, X, y, weight, parts, classes=(0, 1)):
    for part in parts:
        classifier.partial_fit(X[part], y[part], classes, None if weight is None else weight[part])
    return classifier


@given(blocks(), st.sampled_from([0.1, 1.0, 100.0]), st.booleans())
@settings(max_examples=150)
def test_the_upper_bound_is_never_below_the_best_margin_of_all_rows_seen(problem, C, keep_counts):
    X, y, weight, parts = problem
    classifier = PDMClassifier(C=C, keep_counts=keep_counts)
    sides, penalty = np.where(y == 1, 1, -1), 2 * C * (np.ones(len(y)) if weight is None else weight)
    for part in parts:
        present(classifier, X, y, weight, [part])
        seen = slice(0, part.stop)
        best = best_soft_margin(X[seen], sides[seen], 1.0, penalty[seen])
        assert classifier.certificate_.upper_bound >= best * (1 - 1e-9)
        assert classifier.certificate_.rows_seen == part.stop
        assert not classifier.certificate_.achieved
    proven = classifier.certify(X, y, weight)
    assert proven.margin <= best * (1 + 1e-9)
    assert proven.upper_bound >= best * (1 - 1e-9)
    assert proven.verify(X, y, weight)
    assert np.array_equal(proven.weights, classifier.coef_[0])


@given(blocks(classes=3), st.integers(0, 2**31))
@settings(max_examples=60)
def test_blocks_do_not_matter(problem, seed):
    X, y, weight, parts = problem
    one = present(PDMClassifier(), X, y, weight, [slice(None)], [0, 1, 2])
    many = present(PDMClassifier(), X, y, weight, parts, [0, 1, 2])
    sparse = present(PDMClassifier(), sp.csr_matrix(X), y, weight, parts, [0, 1, 2])
    for other in (many, sparse):
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.intercept_, other.intercept_)
        assert one.certificate_.upper_bound == other.certificate_.upper_bound
        assert one.n_updates_ == other.n_updates_


def test_many_updates_do_not_move_the_bound_below_the_truth(rng):
    """Sums that cancel: the running bound, its error added, is not below the one from exact integers."""
    X = rng.integers(-1000, 1001, size=(20_000, 3)) * 0.1
    y = rng.integers(0, 2, size=len(X))
    classifier = PDMClassifier(C=np.inf, fit_intercept=False).partial_fit(X, y, [0, 1])
    problem = classifier.certificate_.problem
    core = problem.to_core(problem.sides(y, None))
    rows, counts = classifier._streams[0].counts_of(core.row_keys(_core.dense(X)))
    exact, error = core.bound_of_counts(_core.dense(X), rows, counts)
    assert counts.sum() == classifier.n_updates_ > 5_000
    assert classifier.certificate_.upper_bound >= exact - error
    assert classifier.certificate_.upper_bound == pytest.approx(exact, abs=1e-6)


def test_duplicate_columns_stand_for_their_sum():
    values, columns, starts = np.array([1.0, 2.0, -3.0, 1.0]), np.array([0, 0, 1, 0]), np.array([0, 2, 4])
    stored, summed = sp.csr_matrix((values, columns, starts), shape=(2, 2)), np.array([[3.0, 0.0], [1.0, -3.0]])
    one = PDMClassifier().partial_fit(stored, [0, 1], [0, 1])
    two = PDMClassifier().partial_fit(summed, [0, 1], [0, 1])
    assert np.array_equal(one.coef_, two.coef_)


def test_certify_with_the_rows_that_are_still_there(breast_cancer, rng):
    X, y = breast_cancer
    classifier = present(PDMClassifier(), X, y, None, [slice(0, 300), slice(300, None)])
    order = rng.permutation(len(X))
    everything = classifier.certify(X[order], y[order])
    assert everything.verify(X[order], y[order])
    kept = order[:200]
    part = classifier.certify(X[kept], y[kept])
    assert part.verify(X[kept], y[kept])
    assert part.counts.shape == (200,)
    best = best_soft_margin(X[kept], np.where(y[kept] == 1, 1, -1), 1.0, 2.0)
    assert part.margin <= best <= part.upper_bound


def test_certify_finds_the_counts_of_the_stream(breast_cancer):
    X, y = breast_cancer
    twice = present(PDMClassifier(C=np.inf), X, y, None, [slice(None), slice(None)])
    assert twice.certify(X, y).counts.sum() == twice.n_updates_  # which prove more than the slacks
    without = present(PDMClassifier(C=np.inf, keep_counts=False), X, y, None, [slice(None)])
    assert np.isfinite(without.certificate_.upper_bound)
    assert np.isfinite(without.certify(X, y).upper_bound)  # from the slacks of the rows that are there
    assert without.certificate_.verify(X, y)


def test_certify_after_a_fit_is_about_the_rows_given(breast_cancer):
    X, y = breast_cancer
    for warm_start in (False, True):
        classifier = PDMClassifier(warm_start=warm_start, random_state=0).fit(X[:400], y[:400])
        coef, stop_reason = classifier.coef_[0], classifier.stop_reason_
        certificate = classifier.certify(X, y)
        assert certificate.verify(X, y)
        assert coef @ certificate.weights == pytest.approx(np.linalg.norm(coef) * np.linalg.norm(certificate.weights))
        assert classifier.stop_reason_ == stop_reason


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_after_certify_the_support_is_about_the_certified_rows(digits, rng, n_classes, begin):
    X, y = digits
    X, y = X[y < n_classes], y[y < n_classes]
    classifier = PDMClassifier(random_state=0)
    classifier = classifier.fit(X[100:], y[100:]) if begin == "fit" else classifier.partial_fit(X, y, range(n_classes))
    weight = rng.integers(0, 3, size=100)
    classifier.certify(X[:100], y[:100], sample_weight=weight)
    certificates = classifier.certificates_
    counted = [certificate.counts.toarray() for certificate in certificates]
    assert np.array_equal(classifier.support_, np.flatnonzero(np.any(counted, axis=0)))
    assert (weight[classifier.support_] > 0).all()
    assert classifier.dual_coef_.shape == (len(certificates), len(classifier.support_))
    for certificate, counts, dual in zip(certificates, counted, classifier.dual_coef_, strict=True):
        signed = np.where(y[:100] == certificate.problem.positive, 1, -1) * counts
        scale = 1 / (certificate.upper_bound**2 * counts.sum())
        np.testing.assert_allclose(dual, scale * signed[classifier.support_], rtol=1e-12)


@pytest.mark.skipif(sklearn_version < (1, 7), reason="scikit-learn shows its own picture of an estimator alone")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_passed_by_are_shown_in_a_notebook(digits, n_classes):
    X, y = digits
    X, y = X[y < n_classes], y[y < n_classes]
    classifier = PDMClassifier().partial_fit(X, y, range(n_classes))
    shown = classifier._repr_html_()
    assert shown.count("<td>none before certify(X, y)</td>") == len(classifier.certificates_)
    for certificate in classifier.certificates_:
        assert f"<td>{certificate.problem.positive}</td><td>{certificate.upper_bound:.6g}</td>" in shown
    assert f"<th>no classifier of the {len(X)} rows seen has more than</th>" in classifier.certificate_._repr_html_()
    classifier.certify(X, y)
    assert "none before certify" not in classifier._repr_html_()


def test_the_certificate_of_a_stream_cannot_be_verified_and_says_what_to_call(breast_cancer):
    X, y = breast_cancer
    verification = PDMClassifier().partial_fit(X, y, [0, 1]).certificate_.verify(X, y)
    assert not verification
    assert verification.verdict == "not proven"
    assert "certify(X, y)" in verification.detail


def test_dropped_counts_change_nothing_but_memory(breast_cancer):
    X, y = breast_cancer
    kept, dropped = (present(PDMClassifier(keep_counts=keep), X, y, None, [slice(None)]) for keep in (True, False))
    assert np.array_equal(kept.coef_, dropped.coef_)
    assert kept.certificate_.upper_bound == dropped.certificate_.upper_bound
    assert len(kept._streams[0].state.counted()[0]) > 0
    assert len(dropped._streams[0].state.counted()[0]) == 0
    assert dropped.certify(X, y).verify(X, y)


def test_the_certificate_says_what_it_is_about(breast_cancer):
    X, y = breast_cancer
    classifier = present(PDMClassifier(), X, y, None, [slice(0, 500), slice(500, None)])
    certificate = classifier.certificate_
    assert isinstance(certificate, OnlineCertificate)
    assert "the 569 rows seen" in str(certificate)
    assert "only for the 69 rows of the last call" in str(certificate)
    last = _core.dense(X[500:])
    core = certificate.problem.to_core(certificate.problem.sides(y[500:], None))
    margin, _ = core.margin_of_weights(last, certificate.weights, certificate.intercept)
    assert margin * (1 - 1e-9) <= certificate.margin <= margin
    assert classifier.stop_reason_ == "online"
    assert not hasattr(classifier, "support_")
    assert isinstance(classifier.certify(X, y), Certificate)
    assert isinstance(classifier.certificate_, Certificate)


def test_a_fit_goes_on_with_rows_that_pass_by(digits):
    X, y = digits
    classifier = PDMClassifier(warm_start=True, random_state=0).fit(X[:1000], y[:1000])
    fitted, updates = classifier.coef_, classifier.n_updates_
    classifier.partial_fit(X[1000:1001], y[1000:1001])
    assert classifier.n_samples_seen_ == 1001
    assert 0 <= classifier.n_updates_ - updates <= 10
    for before, after in zip(fitted, classifier.coef_, strict=True):  # one row in a thousand turns the weights a little
        assert before @ after > 0.99 * np.linalg.norm(before) * np.linalg.norm(after)
    classifier.partial_fit(X[1001:], y[1001:])
    assert classifier.score(X, y) > 0.9
    for certificate in classifier.certificates_:
        best = best_soft_margin(X, np.where(y == certificate.problem.positive, 1, -1), 1.0, 2.0)
        assert certificate.upper_bound >= best * (1 - 1e-9)


def test_after_a_fit_that_kept_nothing_it_starts_afresh_and_says_so(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier(random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="starts afresh"):
        classifier.partial_fit(X[:300], y[:300])
    assert classifier.n_samples_seen_ == 300
    assert np.array_equal(classifier.coef_, PDMClassifier().partial_fit(X[:300], y[:300], [0, 1]).coef_)
    updates = classifier.n_updates_
    classifier.partial_fit(X[300:], y[300:])
    assert classifier.n_samples_seen_ == 569
    assert classifier.n_updates_ >= updates


def test_weights_and_class_weights_let_a_row_count_more(rng):
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    plain = PDMClassifier().partial_fit(X, y, [0, 1])
    weighted = PDMClassifier().partial_fit(X, y, [0, 1], sample_weight=np.where(y == 1, 10, 1))
    by_class = PDMClassifier(class_weight={1: 10, 0: 1}).partial_fit(X, y, [0, 1])
    assert (weighted.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()
    assert weighted.n_updates_ > plain.n_updates_
    assert np.array_equal(weighted.coef_, by_class.coef_)
    none = PDMClassifier().partial_fit(X, y, [0, 1], sample_weight=np.where(y == 1, 0, 1))
    only = PDMClassifier().partial_fit(X[y == 0], y[y == 0], [0, 1])
    assert np.array_equal(none.coef_, only.coef_)


def test_without_slacks_an_integer_weight_is_a_row_that_comes_again(rng):
    X, y, weight = rng.normal(size=(300, 3)), rng.integers(0, 2, size=300), rng.integers(0, 5, size=300)
    weighted = PDMClassifier(C=np.inf).partial_fit(X, y, [0, 1], sample_weight=weight)
    repeated = PDMClassifier(C=np.inf).partial_fit(np.repeat(X, weight, axis=0), np.repeat(y, weight), [0, 1])
    assert weighted.n_updates_ == repeated.n_updates_
    weights = [other._streams[0].state.weights() for other in (weighted, repeated)]
    np.testing.assert_allclose(*weights, atol=1e-9)
    assert weighted.certificate_.upper_bound == pytest.approx(repeated.certificate_.upper_bound, rel=1e-9)


def test_copies_go_on_alike(breast_cancer, tmp_path):
    X, y = breast_cancer
    classifier = PDMClassifier().partial_fit(X[:300], y[:300], [0, 1])
    copies = [copy.deepcopy(classifier), pickle.loads(pickle.dumps(classifier))]
    classifier.partial_fit(X[300:], y[300:])
    for other in copies:
        assert other.n_samples_seen_ == 300
        other.partial_fit(X[300:], y[300:])
        assert np.array_equal(other.coef_, classifier.coef_)
        assert other.certificate_.upper_bound == classifier.certificate_.upper_bound
    classifier.partial_fit(X[:1], y[:1]).save(tmp_path / "model.npz")  # no certificate that a file could hold
    loaded = dynmargin.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.predict(X), classifier.predict(X))
    assert loaded.certificate is None


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("classes must be passed", lambda X, y: PDMClassifier().partial_fit(X, y)),
        ("there is only one class", lambda X, y: PDMClassifier().partial_fit(X, y, [1])),
        ("not in classes: \\[0\\]", lambda X, y: PDMClassifier().partial_fit(X, y, [1, 2])),
        ("balanced", lambda X, y: PDMClassifier(class_weight="balanced").partial_fit(X, y, [0, 1])),
        ("is not the same", lambda X, y: PDMClassifier().partial_fit(X, y, [0, 1]).partial_fit(X, y, [0, 2])),
        ("must stay", lambda X, y: PDMClassifier().partial_fit(X, y, [0, 1]).set_params(C=2.0).partial_fit(X, y)),
        (
            r"row 0 \(counting from 0\) add up to more than 1e100",
            lambda X, y: PDMClassifier().partial_fit(X * 1e99, y, [0, 1]),
        ),
        ("not in classes", lambda X, y: PDMClassifier().partial_fit(X, y, [0, 1]).certify(X, y + 1)),
        ("keep_counts=True", lambda X, y: PDMClassifier(warm_start=True, keep_counts=False).fit(X, y)),
    ],
)
def test_bad_calls_are_refused(breast_cancer, message, call):
    with pytest.raises(ValueError, match=message):
        call(*breast_cancer)


def test_a_first_call_that_was_refused_leaves_nothing_behind(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier()
    with pytest.raises(ValueError, match="not in classes"):
        classifier.partial_fit(X, y, [1, 2])
    classifier.partial_fit(X, y, [0, 1])
    assert np.array_equal(classifier.coef_, PDMClassifier().partial_fit(X, y, [0, 1]).coef_)


def test_a_block_is_taken_as_a_whole_or_not_at_all(breast_cancer):
    X, y = breast_cancer
    classifier, expected = (PDMClassifier().partial_fit(X[:100], y[:100], [0, 1]) for _ in range(2))
    bad = X[100:].copy()
    bad[-1, 0] = 1e150
    with pytest.raises(ValueError, match="row 468"):
        classifier.partial_fit(bad, y[100:])
    for other in (classifier, expected):
        other.partial_fit(X[100:], y[100:])
    assert np.array_equal(classifier.coef_, expected.coef_)


def test_in_rivers_adapter(breast_cancer):
    compat = pytest.importorskip("river.compat")
    X, y = breast_cancer
    model = compat.convert_sklearn_to_river(PDMClassifier(), classes=[0, 1])
    right = 0
    for x, label in zip(X, y, strict=True):
        row = dict(enumerate(x))
        right += model.predict_one(row) == label
        model.learn_one(row, label)
    assert right > 0.93 * len(X)
    alone = PDMClassifier().partial_fit(X, y, [0, 1])
    np.testing.assert_array_equal(model.estimator.coef_, alone.coef_)


def test_in_dasks_incremental(breast_cancer):
    wrappers, array = pytest.importorskip("dask_ml.wrappers"), pytest.importorskip("dask.array")
    X, y = breast_cancer
    incremental = wrappers.Incremental(PDMClassifier(), shuffle_blocks=False)
    incremental.fit(array.from_array(X, chunks=(100, -1)), array.from_array(y, chunks=100), classes=[0, 1])
    alone = PDMClassifier().partial_fit(X, y, [0, 1])
    assert np.array_equal(incremental.estimator_.coef_, alone.coef_)
    assert incremental.estimator_.certify(X, y).verify(X, y)
