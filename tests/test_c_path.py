"""A path with no holes: at every C of the range the gap is proven, by a certificate that anyone can check."""

from fractions import Fraction

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import every_c

import dynmargin
from dynmargin import CPathDisplay, MaxMarginClassifier, _core, c_path
from dynmargin.path import c_path as c_path_module
from dynmargin.path.objective import Objective, combined
from dynmargin.path.witnesses import witnesses
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import BinaryProblem

matplotlib.use("agg")


@st.composite
def weighted_problems(draw):
    """Rows, sides, prices of both classes, weights of rows, and the augmentation; some rows are left out."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.normal(size=(draw(st.integers(4, 40)), draw(st.integers(1, 5)))) * 10.0 ** draw(st.integers(-1, 1))
    sides = np.where(X[:, 0] + X.std() * random.normal(size=len(X)) > 0, 1, -1)
    weight = random.choice([0.0, 0.5, 1.0, 2.0], len(X)) if draw(st.booleans()) else None
    kept = np.ones(len(X), bool) if weight is None else weight > 0
    assume(len(set(sides[kept])) == 2)
    prices = draw(st.sampled_from([(1.0, 1.0), (0.3, 2.0)]))
    return X, sides, prices, weight, draw(st.sampled_from([0.0, 1.0, 3.0]))


def stated(X, sides, prices, weight, rho):
    """The problem as the package has it, and as the reference does."""
    problem = BinaryProblem(1, *prices, rho, classes=(-1, 1))
    matrix = as_matrix(X)
    objective = Objective(matrix, _core.pack(matrix), problem, sides, weight)
    kept = np.ones(len(X), bool) if weight is None else weight > 0
    Y = (sides[:, None] * np.column_stack([X, np.full(len(X), rho)]))[kept]
    c = 2 * np.where(sides > 0, *prices)[kept] * (1 if weight is None else weight[kept])
    return objective, Y, c, kept


@settings(max_examples=60)
@given(weighted_problems(), st.integers(0, 2**31))
def test_the_pull_is_that_of_exact_arithmetic_up_to_its_error(drawn, seed):
    objective, Y, c, kept = stated(*drawn)
    w = np.random.default_rng(seed).normal(size=Y.shape[1]) * (drawn[-1] > 0 or np.append(np.ones(Y.shape[1] - 1), 0))
    found = objective.point(w)
    rows = [[Fraction(value) for value in row] for row in Y.tolist()]
    exact_w = [Fraction(value) for value in w.tolist()]
    short = [1 - sum(a * b for a, b in zip(row, exact_w, strict=True)) for row in rows]
    pulls = [
        sum(Fraction(price) * max(m, 0) * row[j] for price, m, row in zip(c.tolist(), short, rows, strict=True))
        for j in range(len(w))
    ]
    off = np.array([float(a - Fraction(b)) for a, b in zip(pulls, found.pull.tolist(), strict=True)])
    shifts = np.array([float(a - Fraction(b)) for a, b in zip(short, found.shortfalls[kept].tolist(), strict=True)])
    weighted = np.sum(c * np.abs(shifts) * np.linalg.norm(Y, axis=1))
    assert np.linalg.norm(off) + weighted <= found.error < 1e-9 * (1 + np.abs(found.pull).max())
    assert not found.shortfalls[~kept].any()
    np.testing.assert_allclose(objective.leverages[kept], c * np.linalg.norm(Y, axis=1), rtol=1e-6)
    assert (objective.leverages[kept] >= c * np.linalg.norm(Y, axis=1)).all()


@settings(max_examples=60)
@given(weighted_problems(), st.floats(-2, 2), st.floats(-2, 2))
def test_the_lowest_point_is_that_of_the_reference(drawn, log_C, log_other):
    objective, Y, c, _ = stated(*drawn)
    C, other = 10**log_C, 10**log_other
    w = objective.first(C)
    expected = every_c.objective(Y, c, C, every_c.optimum(Y, c, C))
    np.testing.assert_allclose(every_c.objective(Y, c, C, w), expected, rtol=1e-9)
    again = objective.first(other)
    both = combined(C, objective.point(w), objective.point(again))
    np.testing.assert_allclose(both, every_c.combination(Y, c, C, w, again), rtol=1e-6, atol=1e-9)


@settings(max_examples=100)
@given(weighted_problems(), st.floats(-2, 2), st.sampled_from([1e-4, 0.01, 0.3]), st.floats(0, 1), st.floats(0, 0.3))
def test_witnesses_hold_in_the_range_that_they_claim(drawn, log_C, epsilon, share, noise):
    """The closed form is the gap that the reference computes at that C, and it ends where the gap reaches epsilon."""
    objective, Y, c, kept = stated(*drawn)
    C = 10**log_C
    w = objective.first(C) * (1 + noise * epsilon)
    found = witnesses(objective, C, w)
    counts = found.counts.toarray()[kept].astype(float)
    held = found.range(epsilon)
    if held is None:
        assert every_c.gap(Y, c, C, w, counts) > epsilon * 0.999
        return
    low, high = held
    inside = low * (high / low) ** share
    assert found.gap(inside) <= epsilon
    rounding = 1e-9 + 2 * found.rounding * max(inside / C, C / inside)
    assert -1e-12 <= found.gap(inside) - every_c.gap(Y, c, inside, w, counts) <= rounding < 1e-4
    for end in (low / 1.001, high * 1.001):
        if C / 1e5 < end < C * 1e5:
            assert every_c.gap(Y, c, end, w, counts) > epsilon * (1 - 1e-6)


@settings(max_examples=25)
@given(weighted_problems(), st.sampled_from([1e-3, 0.01, 0.1]), st.integers(0, 2**31))
def test_every_c_of_a_path_has_a_certificate(drawn, epsilon, seed):
    X, sides, prices, weight, rho = drawn
    options = {"fit_intercept": rho > 0, "intercept_scaling": rho or 1.0, "class_weight": {1: prices[0], -1: prices[1]}}
    path = c_path(X, sides, 0.01, 100.0, epsilon, sample_weight=weight, **options)
    Cs = [0.01, 100.0, *path.Cs[:3], *(10 ** np.random.default_rng(seed).uniform(-2, 2, 10))]
    for C in Cs:
        model = path.at(C)
        assert model.certificate.achieved
        assert model.certificate.gap <= epsilon
        assert model.certificate.epsilon == epsilon
        assert model.certificate.problem.C_positive == C * prices[0]
        assert model.verify(X, sides, weight)
        margin, upper_bound = path.bounds(C)[0]
        assert margin <= model.certificate.margin <= model.certificate.upper_bound
        assert model.certificate.upper_bound <= upper_bound * (1 + 1e-4 * epsilon)  # it may be made a quicker way
        coef, intercept = path.weights(C)
        assert np.array_equal(coef, model.coef)
        assert np.array_equal(intercept, model.intercept)
        assert np.array_equal(path.predict(X, C), model.predict(X))


def test_a_path_of_several_classes_sparse_rows_and_unused_columns(digits):
    X, y = digits
    few = y < 3
    X, y = np.hstack([X[few], np.zeros((few.sum(), 3))]), np.array(["a", "b", "c"])[y[few]]
    path = c_path(sp.csr_matrix(X), y, 0.01, 10.0, 0.02)
    assert len(path.bounds(1.0)) == 3
    for C in (0.01, 0.037, 2.2, 10.0):
        model = path.at(C)
        assert len(model.certificates) == 3
        assert all(certificate.gap <= 0.02 for certificate in model.certificates)
        assert model.verify(X, y, C=C)
        exact = MaxMarginClassifier(1e-9, C=C).fit(X, y)
        assert np.mean(model.predict(X) != exact.predict(X)) < 0.02
        assert np.array_equal(path.predict(sp.csr_matrix(X), C), model.predict(X))
        assert max(one.gap for one in model.certificates) <= path.gap(C) <= 0.02


def test_repeated_columns_and_data_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    repeated = sp.csr_matrix((np.array([1.0, 2.0, 1.0, -1.0]), ([0, 0, 1, 2], [0, 0, 1, 0])), shape=(3, 2))
    X, y = repeated.toarray(), [1, 0, 0]
    twice = sp.csr_matrix(([1.0, 2.0, 1.0, -1.0], [0, 0, 1, 0], [0, 2, 3, 4]), shape=(3, 2))
    assert not twice.has_canonical_format
    model = c_path(twice, y).at(1.0)
    assert model.verify(X, y)
    assert model.verify(twice, y)
    frame = pandas.DataFrame(X, columns=["u", "v"])
    named = c_path(frame, y, 1.0, 1.0)
    assert named.Cs.tolist() == [1.0]
    named.at(1.0).save(tmp_path / "model.npz")
    assert dynmargin.load(tmp_path / "model.npz").feature_names.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C_low": 0.0}, "must be positive"),
        ({"C_low": 2.0, "C_high": 1.0}, "in order"),
        ({"C_high": np.inf}, "finite"),
        ({"C_high": np.nan}, "finite"),
        ({"C_low": 1e-200, "C_high": 1e200}, "beyond what double precision"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"class_weight": {0: -1.0}}, "class_weight must be positive"),
        ({"epsilon": 1e-17}, "no gap below"),
    ],
)
def test_what_cannot_be_done_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        c_path([[0.0, 1.0], [1.0, 0.0], [0.5, 0.4]], [0, 1, 1], **options)


def test_a_path_of_too_many_pieces_is_refused(monkeypatch, breast_cancer):
    monkeypatch.setattr(c_path_module, "MOST_PIECES", 10)
    with pytest.raises(ValueError, match="more than 10 pieces"):
        c_path(*breast_cancer, epsilon=1e-6)


def test_pieces_that_are_combinations_count_too(monkeypatch, breast_cancer):
    cover = c_path(*breast_cancer, 1.0, 2.0, 0.001)._covers[0]
    assert len(cover.fits) == 2 < len(cover.pieces)
    monkeypatch.setattr(c_path_module, "MOST_PIECES", len(cover.pieces))
    c_path(*breast_cancer, 1.0, 2.0, 0.001)
    for limit in range(2, len(cover.pieces)):
        monkeypatch.setattr(c_path_module, "MOST_PIECES", limit)
        with pytest.raises(ValueError, match=f"more than {limit} pieces"):
            c_path(*breast_cancer, 1.0, 2.0, 0.001)


@settings(max_examples=20)
@given(weighted_problems(), st.sampled_from([1e-3, 0.01, 0.1]))
def test_there_is_no_hole_between_pieces(drawn, epsilon):
    objective, *_ = stated(*drawn)
    reached = 0.01
    for piece in c_path_module.Cover(objective, 0.01, 100.0, epsilon).pieces:
        assert piece.low <= reached
        reached = max(reached, piece.high)
    assert reached >= 100.0


def test_a_path_of_one_c_is_said_in_the_singular():
    path = c_path([[0.0, 1.0], [1.0, 0.0]], [0, 1], 1.0, 1.0)
    assert repr(path).endswith("; 1 fit, 1 piece>")


def test_outside_the_range_nothing_is_said(breast_cancer):
    path = c_path(*breast_cancer, 0.1, 1.0)
    assert "0.1 to 1" in repr(path)
    for C in (0.0999, 1.0001, np.nan):
        with pytest.raises(ValueError, match="outside the path"):
            path.at(C)


def test_the_display_shows_the_path(breast_cancer, digits):
    from matplotlib import pyplot

    X, y = breast_cancer
    path = c_path(X, y, 0.01, 10.0)
    display = CPathDisplay.from_path(path, X, y, n_points=20)
    assert list(display.axes_) == ["weights", "margin", "gap", "errors"]
    assert (display.gaps <= path.epsilon).all()
    assert len(display.Cs) >= 20
    C = display.Cs[7]
    assert display.errors[7] == np.mean(path.at(C).predict(X) != y)
    assert list(CPathDisplay.from_path(path).axes_) == ["weights", "margin", "gap"]
    _, ax = pyplot.subplots()
    assert CPathDisplay.from_path(path, show=["gap"], ax=ax).axes_ == {"gap": ax}
    few = digits[1] < 3
    assert display.axes_["weights"].get_title() == "Weights"
    several = CPathDisplay.from_path(c_path(digits[0][few], digits[1][few], 0.1, 1.0), label=2, n_points=5)
    assert several.name == "class 2 against the rest"
    assert several.axes_["weights"].get_title().startswith("The 30 largest weights, class 2")
    pyplot.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": 7}, "not one of the classes"),
        ({"X": [[1.0, 2.0]]}, "X and y are both needed"),
        ({"show": ["errors"]}, "no errors to show"),
        ({"show": ["gamma"]}, "show takes"),
        ({"ax": []}, "axes are needed"),
    ],
)
def test_the_display_refuses_what_it_cannot_draw(options, message):
    path = c_path([[0.0, 1.0], [1.0, 0.0]], [0, 1], 1.0, 2.0)
    with pytest.raises(ValueError, match=message):
        CPathDisplay.from_path(path, **options)
