"""Every published bound is true in real arithmetic, and a certificate that was tampered with is found out."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from forgery import reforged
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.exact import dot, fractions
from reference.optimum import best_soft_margin
from strategies import separable_problems

from dynmargin import (
    DCDClassifier,
    DecompositionSVMClassifier,
    NewtonClassifier,
    PDMClassifier,
    PFMClassifier,
    SparseCounts,
    _core,
)
from dynmargin.certificate import certificate as certificates
from dynmargin.certificate.weights import certify_weights
from dynmargin.problem.matrix import as_matrix

finite = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-3)


@st.composite
def data(draw, elements=finite, max_rows=8):
    m, d = draw(st.integers(2, max_rows)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(elements, min_size=d, max_size=d), min_size=m, max_size=m)))
    sides = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=m, max_size=m)), np.int8)
    assume(len(set(sides)) == 2)
    return X, sides


PROVEN_FROM = pytest.mark.parametrize("proven_from", [lambda matrix: matrix, _core.pack], ids=["matrix", "packed rows"])


@PROVEN_FROM
@given(data(), st.data(), st.sampled_from([0.1, 1.0, 7.3, np.inf]), st.sampled_from([0.0, 1.0, 0.3]))
@settings(max_examples=200)
def test_margin_of_weights_encloses_the_exact_one(proven_from, problem, more, C, rho):
    X, sides = problem
    w = np.array(
        more.draw(
            st.lists(st.floats(-10, 10).filter(lambda x: abs(x) > 1e-6), min_size=X.shape[1], max_size=X.shape[1])
        )
    )
    b = more.draw(st.floats(-10, 10).filter(lambda x: abs(x) > 1e-6)) if rho else 0.0
    value, error = _core.Problem(sides, rho, C, C).margin_of_weights(proven_from(_core.dense(X)), w, b)
    norm2 = dot(fractions(w), fractions(w)) + ((Fraction(b) / Fraction(rho)) ** 2 if rho else 0)
    scores = [int(side) * (dot(fractions(w), fractions(x)) + Fraction(b)) for side, x in zip(sides, X, strict=True)]
    low, high = Fraction(value - error), Fraction(value + error)
    if np.isinf(C):
        assert low * abs(low) * norm2 <= min(scores) * abs(min(scores)) <= high * abs(high) * norm2
    else:
        F = norm2 + 2 * Fraction(C) * sum(max(Fraction(0), 1 - s) ** 2 for s in scores)
        assert low**2 * F <= 1 <= high**2 * F
    assert error <= 1e-9 * (1 + abs(value)) * (1 + float(max(abs(s) for s in scores)))


@pytest.mark.parametrize("proven_from", ["matrix", "packed rows", "packed rows, far from the margin"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data(), st.data(), st.sampled_from([0.1, 1.0, 7.3, np.inf]), st.sampled_from([0.0, 1.0, 0.3]))
@settings(max_examples=200)
def test_bound_of_counts_encloses_the_exact_one(dtype, proven_from, problem, more, C, rho):
    X, sides = problem[0].astype(dtype), problem[1]
    counts = np.array(more.draw(st.lists(st.integers(0, 2**49), min_size=len(X), max_size=len(X))))
    assume(counts.any())
    support = np.flatnonzero(counts)
    matrix, core = _core.dense(X), _core.Problem(sides, rho, C, C)
    value, error = core.bound_of_counts(matrix, support, counts[support])
    if proven_from != "matrix":
        far_from = value / 2 if "far" in proven_from else 0.0
        value, error = core.bound_of_counts(_core.pack(matrix), support, counts[support], far_from)
    signed = [int(n) * int(side) for n, side in zip(counts, sides, strict=True)]
    dense = [sum((n * Fraction(float(x)) for n, x in zip(signed, column, strict=True)), Fraction(0)) for column in X.T]
    norm2 = dot(dense, dense) + (sum(signed) * Fraction(rho)) ** 2
    norm2 += 0 if np.isinf(C) else sum(n * n for n in signed) / (2 * Fraction(C))
    t = int(counts.sum())
    assert max(Fraction(0), Fraction(value - error)) ** 2 * t * t <= norm2 <= Fraction(value + error) ** 2 * t * t
    assert error <= 1e-9 * max(1.0, value) + 1e-24 * float(np.abs(X).max())


def test_a_bound_is_proven_as_exactly_as_its_distance_from_the_margin_requires(rng):
    """Sums in the working precision are enough for a gap of 1 %; their error would be most of a gap of 1e-13."""
    X, counts = rng.normal(size=(500, 20)), rng.integers(1, 2**40, 500)
    core, rows = _core.Problem(np.where(X[:, 0] > 0, 1, -1).astype(np.int8), 1.0, 1.0, 1.0), _core.pack(_core.dense(X))
    exact = core.bound_of_counts(rows, np.arange(500), counts)
    close = core.bound_of_counts(rows, np.arange(500), counts, exact[0] * (1 - 1e-13))
    far = core.bound_of_counts(rows, np.arange(500), counts, exact[0] * (1 - 1e-2))
    assert close == exact
    assert exact[1] < far[1] < 1e-7 * exact[0]
    assert abs(far[0] - exact[0]) <= far[1] + exact[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_products_lose_is_not_lost(dtype):
    """Long products that cancel but for one row: the error is far below what a double keeps of each of them."""
    X = np.array([[0.1], [0.1]], dtype)
    counts = np.array([2**51 - 1, 2**51 - 2])
    problem = _core.Problem(np.array([1, -1], np.int8), 0.0, np.inf, np.inf)
    value, error = problem.bound_of_counts(_core.dense(X), np.arange(2), counts)
    exact, t = Fraction(float(X[0, 0])), int(counts.sum())
    assert Fraction(value - error) * t <= exact <= Fraction(value + error) * t
    assert error * t < 1e-9


def test_cancellation_does_not_spoil_the_upper_bound():
    """Two almost opposite patterns, huge counts: what is left is small, and still right to nine digits."""
    X = np.array([[1.0, 1e-7], [1.0, -1e-7], [0.1, 0.3]])
    sides = np.array([1, -1, 1], np.int8)
    counts = np.array([2**50, 2**50, 1])
    value, error = _core.Problem(sides, 0.0, np.inf, np.inf).bound_of_counts(_core.dense(X), np.arange(3), counts)
    assert value == pytest.approx(1e-7, rel=1e-9)
    assert error < 1e-9 * value


@given(st.integers(0, 2**31))
@settings(max_examples=100)
def test_scores_that_cancel_are_enclosed(seed):
    """Rows almost orthogonal to the weights: the scores are mostly rounding error, and the bound knows."""
    random = np.random.default_rng(seed)
    w = random.normal(size=40) * 1e3
    X = random.normal(size=(4, 40)) * 1e3
    X -= np.outer(X @ w / (w @ w), w)
    sides = np.array([1, -1, 1, -1], np.int8)
    value, error = _core.Problem(sides, 0.0, np.inf, np.inf).margin_of_weights(_core.dense(X), w, 0.0)
    scores = [int(side) * dot(fractions(w), fractions(x)) for side, x in zip(sides, X, strict=True)]
    norm = Fraction(float(np.linalg.norm(w)))
    exact = min(scores) / norm
    assert abs(Fraction(value) - exact) <= Fraction(error)
    assert error > abs(value) * 1e-12  # a relative bound would not be enough


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=100)
def test_sums_that_cancel_are_enclosed(seed, repeated):
    """The last row takes back what the others add, products are not exact, a row may repeat its column many times."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 2**40, size=30)
    values = random.normal(size=30)
    values[-1] = -sum(int(n) * Fraction(float(v)) for n, v in zip(counts[:-1], values, strict=False)) / int(counts[-1])
    if repeated:
        parts = [v * random.dirichlet(np.ones(50)) for v in values]
        matrix = sp.csr_matrix((np.concatenate(parts), np.zeros(1500, np.int32), np.arange(31) * 50), shape=(30, 1))
    else:
        parts, matrix = [[v] for v in values], sp.csr_matrix(values[:, None])
    problem = _core.Problem(np.ones(30, np.int8), 0.0, np.inf, np.inf)
    value, error = problem.bound_of_counts(as_matrix(matrix), np.arange(30), counts)
    terms = [int(n) * sum(fractions(part)) for n, part in zip(counts, parts, strict=True)]
    exact, gross = abs(sum(terms)), sum(abs(term) for term in terms)
    t = int(counts.sum())
    assert abs(Fraction(value) - exact / t) <= Fraction(error)
    assert error <= 1e-26 * float(gross / t) * 1500**2 + 1e-14 * value + 1e-120


@given(st.integers(0, 2**31), st.sampled_from([np.float32, np.float64]), st.sampled_from([0.0, 1e-2, 1.0]))
@settings(max_examples=30)
def test_a_proof_of_any_gap_encloses_the_exact_bounds(seed, dtype, epsilon):
    """With a large epsilon sums may be plain; they are of many rows, which all but cancel."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 400)), int(rng.integers(1, 4))
    X = (rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, (n, d))).astype(dtype)
    sides, counts = rng.choice(np.array([-1, 1], np.int8), n), rng.integers(1, 2**40, n)
    w, b, rho, C = rng.normal(size=d), float(rng.normal()), 1.0, 0.7
    core = _core.Problem(sides, rho, C, C)
    (margin, margin_error), (bound, bound_error), *_ = core.prove(
        _core.pack(_core.dense(X)), w, b, np.arange(n), counts, False, epsilon
    )
    rows = [[Fraction(float(x)) for x in row] for row in X]
    exact_w, signs = [Fraction(float(c)) for c in w], [int(side) for side in sides]
    slacks = [
        max(Fraction(0), 1 - side * (dot(exact_w, row) + Fraction(b))) for side, row in zip(signs, rows, strict=True)
    ]
    F = dot(exact_w, exact_w) + (Fraction(b) / Fraction(rho)) ** 2 + 2 * Fraction(C) * dot(slacks, slacks)
    assert max(Fraction(0), Fraction(margin - margin_error)) ** 2 * F <= 1 <= Fraction(margin + margin_error) ** 2 * F
    signed = [int(count) * side for count, side in zip(counts, signs, strict=True)]
    a = [dot(signed, [row[j] for row in rows]) for j in range(d)]
    norm2, t = dot(a, a) + sum(signed) ** 2 + dot(signed, signed) / (2 * Fraction(C)), int(counts.sum())
    assert (
        max(Fraction(0), Fraction(bound - bound_error)) ** 2 * t * t
        <= norm2
        <= Fraction(bound + bound_error) ** 2 * t * t
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    data(elements=st.floats(-3, 3), max_rows=12),
    st.sampled_from([0.05, 1.0, 20.0]),
    st.sampled_from([0.3, 0.05, 0.01]),
    st.sampled_from([PDMClassifier(), PDMClassifier(eta=8), PDMClassifier(schedule="paper"), PFMClassifier()]),
)
@settings(max_examples=150)
def test_the_certificate_brackets_the_best_margin(problem, C, epsilon, classifier):
    X, sides = problem
    classifier.set_params(C=C, epsilon=epsilon, random_state=0).fit(X, sides)
    certificate = classifier.certificate_
    best = best_soft_margin(X, sides, 1.0, 2 * C)
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)
    assert not certificate.directional_margin > best * (1 + 1e-9)
    only_updates = isinstance(classifier, PFMClassifier) or classifier.eta or classifier.schedule == "paper"
    assert np.isfinite(certificate.directional_margin) or not only_updates  # else better counts than the last are kept
    assert certificate.verify(X, sides).verdict == "proven"
    assert certificate.achieved == (certificate.gap <= epsilon)
    assert certificate.achieved or classifier.stop_reason_ != "certificate"
    assert (certificate.dual / certificate.primal) ** 0.5 == pytest.approx(1 - certificate.gap)


@given(separable_problems(), st.sampled_from([0.1, 0.01]))
@settings(max_examples=60)
def test_the_hard_margin_is_bracketed_too(problem, epsilon):
    X, sides, known = problem
    classifier = PDMClassifier(epsilon, C=np.inf, random_state=0).fit(X, sides)
    certificate = classifier.certificate_
    assert certificate.achieved
    assert certificate.upper_bound >= known
    assert certificate.margin >= (1 - epsilon) * known
    assert certificate.verify(X, sides)
    decision = sides * classifier.decision_function(X)
    assert decision.min() == pytest.approx(1, rel=1e-9)  # the canonical scale


@pytest.fixture(scope="module")
def trained(breast_cancer):
    X, y = breast_cancer
    return X, y, PDMClassifier(random_state=0).fit(X, y).certificate_


def test_a_true_certificate_is_proven_in_any_container(trained):
    X, y, certificate = trained
    for same in (X, np.asfortranarray(X), sp.csr_matrix(X), sp.csr_array(X), sp.csc_array(X), X.tolist()):
        assert certificate.verify(same, y).verdict == "proven"
    assert certificate.verify(X, y.tolist())
    assert certificate.verify(X, y[:, None], sample_weight=1.0)


def test_a_bound_moved_by_a_millionth_is_not_proven(trained):
    X, y, certificate = trained
    for changed in (
        replace(certificate, upper_bound=certificate.upper_bound * (1 - 1e-6)),
        replace(certificate, margin=certificate.margin * (1 + 1e-6)),
    ):
        verification = changed.verify(X, y)
        assert verification.verdict == "not proven"
        assert not verification
    weaker = replace(certificate, upper_bound=certificate.upper_bound * 1.1, margin=certificate.margin * 0.9)
    assert weaker.verify(X, y).verdict == "proven"


def test_changed_witnesses_are_altered(trained):
    X, y, certificate = trained
    counts = certificate.counts
    more = SparseCounts(counts.indices, counts.data + 1, counts.shape)
    assert replace(certificate, counts=more).verify(X, y).verdict == "altered"
    assert replace(certificate, weights=certificate.weights * 1.001).verify(X, y).verdict == "altered"
    assert replace(certificate, intercept=certificate.intercept + 1e-9).verify(X, y).verdict == "altered"


def test_a_changed_problem_is_altered_or_not_proven(trained):
    X, y, certificate = trained
    for changes in ({"rho": 0.0}, {"C_positive": -1.0}, {"C_negative": np.nan}, {"rho": np.inf}, {"C_positive": 2.0}):
        changed = replace(certificate.problem, **changes)
        assert replace(certificate, problem=changed).verify(X, y).verdict == "altered"
        assert reforged(certificate, problem=changed).verify(X, y).verdict == "not proven"


def test_forged_counts_are_not_proven(trained):
    X, y, certificate = trained
    counts = certificate.counts
    split = SparseCounts(np.repeat(counts.indices, 10), np.repeat(counts.data, 10), counts.shape)
    negative = SparseCounts(counts.indices, counts.data * np.where(np.arange(counts.nnz) == 0, -1, 1), counts.shape)
    nowhere = SparseCounts(counts.indices + len(X), counts.data, counts.shape)
    for forged in (split, negative, nowhere, SparseCounts(counts.indices[::-1], counts.data, counts.shape)):
        lower = reforged(certificate, counts=forged, upper_bound=certificate.margin / 2)
        assert lower.verify(X, y).verdict == "not proven"


def test_not_a_number_proves_nothing(trained):
    X, y, certificate = trained
    for C in (1.0, np.inf):
        problem = _core.Problem(np.where(y == 1, 1, -1).astype(np.int8), 1.0, C, C)
        broken = X.copy()
        broken[7, 3] = np.nan
        assert problem.margin_of_weights(_core.dense(broken), certificate.weights, 0.1) == (-np.inf, 0)
    hidden = reforged(certificate, weights=np.where(np.arange(X.shape[1]) == 0, np.nan, certificate.weights))
    assert hidden.verify(X, y).verdict == "not proven"


def test_an_intercept_without_augmentation_proves_nothing():
    X, sides = np.array([[1.0], [3.0]]), np.array([-1, 1], np.int8)
    for C in (1.0, np.inf):
        margin, _ = _core.Problem(sides, 0.0, C, C).margin_of_weights(_core.dense(X), np.array([1.0]), -2.0)
        assert margin == -np.inf


@given(st.integers(0, 2**31))
@settings(max_examples=100)
def test_products_that_underflow_are_accounted_for(seed):
    random = np.random.default_rng(seed)
    X, w = random.normal(size=(3, 4)) * 1e-200, random.normal(size=4) * 1e-118
    sides = np.array([1, 1, -1], np.int8)
    value, error = _core.Problem(sides, 0.0, np.inf, np.inf).margin_of_weights(_core.dense(X), w, 0.0)
    scores = [int(side) * dot(fractions(w), fractions(x)) for side, x in zip(sides, X, strict=True)]
    norm2, low = dot(fractions(w), fractions(w)), Fraction(value) - Fraction(error)
    assert low * abs(low) * norm2 <= min(scores) * abs(min(scores))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_soft_margin_is_never_negative(breast_cancer):
    X, y = breast_cancer
    certificate = PDMClassifier(C=1e30, max_updates=1000, random_state=0).fit(X, y).certificate_
    assert certificate.margin >= 0
    assert certificate.verify(X, y)


def test_other_data_is_recognised(trained):
    X, y, certificate = trained
    changed = X.copy()
    changed[3, 4] += 1e-12
    for other in ((changed, y), (X, 1 - y), (X[:-1], y[:-1]), (X[:, :-1], y), (np.nan * X, y)):
        assert certificate.verify(*other).verdict == "other data"
    assert certificate.verify(X, y, sample_weight=np.full(len(y), 2.0)).verdict == "other data"
    assert certificate.verify(X, y, sample_weight=np.ones(len(y))).verdict == "proven"
    reordered = certificate.verify(X[::-1], y[::-1])
    assert reordered.verdict == "other data"
    assert "another order" in reordered.detail


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_label_that_is_no_class_is_other_data(n_classes, digits):
    X, y = digits[0][:300], digits[1][:300] % n_classes
    weight = np.where(np.arange(300) % 10 == 0, 0.0, 1.0)
    negative = np.flatnonzero(y == 0)
    for certificate in PDMClassifier(random_state=0).fit(X, y).certificates_:
        unknown = y.copy()
        unknown[negative[0]] = 99  # is on the same side, for all but one certificate
        found = certificate.verify(X, unknown)
        assert found.verdict == "other data"
        known = ", ".join(map(str, range(n_classes)))
        assert (
            found.detail
            == f"row {negative[0]} (counting from 0) has the label 99, which is not one of the classes {known}"
        )
        assert certificate.verify(X, np.where(y == 0, np.nan, y)).verdict == "other data"
    for certificate in PDMClassifier(random_state=0).fit(X, y, weight).certificates_:
        left_out = np.where(weight == 0, 99, y)
        assert certificate.verify(X, left_out, weight)
        assert certificate.verify(X, left_out).verdict == "other data"


def test_the_classes_are_part_of_what_is_checked(digits):
    X, y = digits[0][:300], digits[1][:300] % 3
    for certificate in PDMClassifier(random_state=0).fit(X, y).certificates_:
        more = replace(certificate.problem, classes=(0, 1, 2, 3))
        assert replace(certificate, problem=more).verify(X, y).verdict == "altered"
        forged = reforged(certificate, problem=more)  # is true, and says what it is about
        assert "classes 0, 1, 2, 3" in forged.verify(X, y).problem
        assert forged.verify(X, y, classes=[0, 1, 2]).verdict == "other problem"


def test_a_verdict_says_which_problem_it_is_about(breast_cancer):
    X, y = breast_cancer
    weight = np.ones(len(y))
    for classifier, expected in (
        (PDMClassifier(), "classes 0, 1; squared hinge, C = 1, an intercept with scaling 1"),
        (
            PDMClassifier(class_weight={0: 3.0}, C=0.1, fit_intercept=False),
            f"classes 0, 1; squared hinge, C = 0.1 for class 1, {0.1 * 3} for class 0, no intercept",
        ),
        (DCDClassifier(0.1, loss="hinge", C=1e-3), "classes 0, 1; hinge, C = 0.001, an intercept with scaling 1"),
        (DecompositionSVMClassifier(0.1), "classes 0, 1; squared hinge, C = 1, a free intercept"),
    ):
        certificate = classifier.fit(X, y).certificate_
        size = f"; {len(y)} rows, {X.shape[1]} features"
        found = certificate.verify(X, y)
        assert found.problem == f"{expected}{size}, without sample weights"
        assert str(found) == f"proven: {found.detail} ({found.problem})"
        assert certificate.verify(X, y, weight).problem == f"{expected}{size}, with sample weights"
        assert replace(certificate, margin=2 * certificate.margin).verify(X, y).problem == found.problem
        assert certificate.verify(X[1:], y[1:]).problem == ""


def test_what_is_expected_of_the_problem_is_checked(breast_cancer):
    X, y = breast_cancer
    certificate = PDMClassifier(C=0.5).fit(X, y).certificate_
    assert certificate.verify(X, y, C=0.5, classes=[1, 0], loss="squared_hinge", intercept_scaling=1)
    assert certificate.verify(X, y, C=np.float32(0.5), classes=np.array([0.0, 1.0]))
    for expected, detail in (
        ({"C": 1}, "C = 0.5, not C = 1 for every row"),
        ({"classes": [0, 1, 2]}, "the classes are 0, 1, not 0, 1, 2"),
        ({"classes": ["0", "1"]}, "the classes are 0, 1, not 0, 1"),
        ({"loss": "hinge"}, "the loss is squared_hinge, not hinge"),
        (
            {"intercept_scaling": 0.5},
            "it has an intercept with scaling 1, but an intercept with scaling 0.5 was asked for",
        ),
        ({"intercept_scaling": 0}, "it has an intercept with scaling 1, but no intercept was asked for"),
        (
            {"intercept_scaling": np.nan},
            "it has an intercept with scaling 1, but an intercept with scaling nan was asked for",
        ),
    ):
        found = certificate.verify(X, y, **expected)
        assert (found.verdict, found.detail, bool(found)) == ("other problem", detail, False)
    without = PDMClassifier(C=0.5, fit_intercept=False).fit(X, y).certificate_
    assert without.verify(X, y, intercept_scaling=0)
    assert without.verify(X, y, intercept_scaling=-1)
    assert (
        without.verify(X, y, intercept_scaling=1).detail
        == "it has no intercept, but an intercept with scaling 1 was asked for"
    )
    free = DecompositionSVMClassifier(0.1).fit(X, y).certificate_
    for scaling, other in ((0, "no intercept"), (1, "an intercept with scaling 1")):
        found = free.verify(X, y, intercept_scaling=scaling)
        assert (found.verdict, found.detail) == ("other problem", f"it has a free intercept, but {other} was asked for")
    weighted = PDMClassifier(C=0.5, class_weight={1: 2.0}).fit(X, y).certificate_
    found = weighted.verify(X, y, C=0.5)
    assert found.detail == "C = 1 for class 1, 0.5 for class 0, not C = 0.5 for every row"
    hard = PDMClassifier(0.1, C=np.inf).fit(X[:20], y[:20]).certificate_
    assert hard.verify(X[:20], y[:20], C=np.inf, loss="hinge")  # without slacks both losses are the same


def test_bounds_that_are_not_finite_prove_nothing(trained, monkeypatch):
    X, y, certificate = trained
    for name, value in (("margin", -np.inf), ("upper_bound", np.inf), ("margin", np.nan), ("upper_bound", np.nan)):
        found = replace(certificate, **{name: value}).verify(X, y)
        assert found.verdict == "not proven"
        assert f"{value} says nothing" in found.detail
    for margin, upper_bound in (
        (np.inf, certificate.upper_bound),
        (np.nan, certificate.upper_bound),
        (certificate.margin, -np.inf),
        (certificate.margin, -1.0),
        (certificate.margin, np.nan),
        (np.inf, -np.inf),
        (certificate.margin, certificate.margin / 2),  # which would contradict each other
    ):
        with monkeypatch.context() as patched:
            patched.setattr(certificates, "prove", lambda *_, found=(margin, upper_bound, None), **__: found)
            assert replace(certificate, ball=None).verify(X, y).verdict == "not proven"
    assert replace(certificate, margin=np.inf).gap == np.inf
    assert replace(certificate, margin=np.nan).gap == np.inf
    assert replace(certificate, upper_bound=np.nan).gap == np.inf
    assert not replace(certificate, margin=np.inf).achieved


def test_objectives_of_tiny_and_huge_margins(trained):
    certificate = trained[2]
    for margin in (1e-150, 1e-160, 1e-163, 1e-200, 5e-324, 1e200):
        tiny = replace(certificate, margin=margin, upper_bound=margin)
        exact = 1 / (2 * Fraction(margin) ** 2)
        largest = Fraction(np.finfo(float).max)
        assert Fraction(tiny.dual) <= min(exact * (1 + Fraction(1, 10**15)), largest)
        assert tiny.primal == np.inf if exact > largest else tiny.primal == pytest.approx(float(exact), rel=1e-15)


def test_counts_are_sparse_integers(trained):
    X, _, certificate = trained
    counts = certificate.counts
    assert counts.data.dtype == np.int64
    assert counts.toarray().sum() == counts.sum() == counts.data.sum()
    assert counts.shape == (len(X),)
    assert counts.nnz == np.count_nonzero(counts.toarray()) < len(X)


def test_the_text_says_what_is_proven(trained):
    certificate = trained[2]
    assert "achieves epsilon=0.01" in str(certificate)
    assert f"{certificate.margin:.6g}" in repr(certificate)


def test_an_optimum_of_zero_weights_is_certified():
    """The same rows on both sides: the best weights are none, and that is proven like any other optimum."""
    X = np.array([[1.0], [1.0], [-2.0], [-2.0]])
    classifier = PDMClassifier(random_state=0).fit(X, [0, 1, 0, 1])
    assert classifier.certificate_.achieved
    assert classifier.certificate_.verify(X, [0, 1, 0, 1])
    assert np.abs(classifier.coef_).max() < 0.1


def test_weights_of_zero_are_called_zero(breast_cancer):
    X, y = breast_cancer
    certificate = PDMClassifier(C=1e-12).fit(X, y).certificate_
    nothing = certify_weights(as_matrix(X), y, certificate.problem, np.zeros(30), 0.0, np.zeros(len(y)), epsilon=0.01)
    found = nothing.verify(X, y)
    assert found
    assert "all weights are zero: every row gets the same label, and no weights are better than none" in found.detail
    problem = replace(certificate.problem, C_positive=1.0, C_negative=1.0)
    poor = certify_weights(as_matrix(X), y, problem, np.zeros(30), 0.0, np.zeros(len(y)), epsilon=0.01)
    assert poor.verify(X, y).detail.endswith("all weights are zero: every row gets the same label")


def test_where_only_rounding_is_left_of_the_gap_sums_are_as_exact_as_epsilon_asks(breast_cancer):
    X, y = breast_cancer
    found = NewtonClassifier(1e-12).fit(X, y).certificate_
    assert found.gap < 1e-12
    core, rows = _core.Problem(np.where(y == 1, 1, -1).astype(np.int8), 1.0, 1.0, 1.0), _core.pack(_core.dense(X))
    witnesses = found.weights, found.intercept, found.counts.indices, found.counts.data
    exact, plain = (core.prove(rows, *witnesses, False, epsilon) for epsilon in (1e-12, 0.01))
    for (_, exact_error), (value, error) in zip(exact[:2], plain[:2], strict=True):
        assert exact_error < error <= 1e-9 * 0.01 * value


def test_labels_of_another_kind_are_called_that(trained):
    X, y, certificate = trained
    found = certificate.verify(X, y.astype(str))
    assert found.verdict == "other data"
    assert "one is text, the other a number" in found.detail
