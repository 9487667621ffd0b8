"""Algorithms side by side: every row is true, ours and peers', and the table says what happened."""

import logging
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import ctrl_c_at
from matplotlib.figure import Figure
from reference.optimum import best_soft_margin
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC
from strategies import separable_problems, soft_problems
from test_imports import modules_after

from dynmargin import BinaryProblem, compare
from dynmargin.algorithms.registry import NAMES
from dynmargin.certificate import weights as weights_module
from dynmargin.comparison.compare import make
from dynmargin.comparison.peers import PEERS, Cyanure
from dynmargin.comparison.rendering import as_text
from dynmargin.problem.matrix import as_matrix

INSTALLED = [name for name, peer in PEERS.items() if peer().available()]
COLUMNS = [
    *("algorithm", "problem", "gap", "margin", "upper_bound", "achieved", "updates", "passes", "seconds"),
    *("train_accuracy", "test_accuracy", "stop_reason"),
]

PROBLEMS = {"dcd-hinge": "hinge", "mpu-hinge": "hinge", "decomposition": "squared hinge, free intercept"}


def certify_weights(X, y, problem, w, b, epsilon):
    """Prove what weights are worth on rows in any container."""
    return weights_module.certify_weights(as_matrix(X), y, problem, w, b, np.asarray(X @ w) + b, epsilon=epsilon)


def by_name(table):
    return {row["algorithm"]: row for row in table.to_dict("records")}


@given(soft_problems(), st.integers(0, 2**31), st.floats(-3, 3), st.booleans())
@settings(max_examples=150)
def test_any_weights_get_a_true_certificate(problem, seed, size, sparse):
    X, sides, C, _, best = problem
    random = np.random.default_rng(seed)
    w, b = random.normal(size=X.shape[1]) * 10.0**size, random.normal() * 10.0**size
    rows = sp.csr_matrix(X) if sparse else X
    certificate = certify_weights(rows, sides, BinaryProblem(1, C, C, 1.0), w, b, epsilon=0.01)
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)
    assert certificate.verify(rows, sides)


@given(separable_problems(), st.integers(0, 2**31))
@settings(max_examples=100)
def test_any_weights_get_a_true_certificate_of_the_hard_margin(problem, seed):
    X, sides, known = problem
    random = np.random.default_rng(seed)
    w, b = random.normal(size=X.shape[1]), random.normal()
    certificate = certify_weights(X, sides, BinaryProblem(1, np.inf, np.inf, 1.0), w, b, epsilon=0.01)
    assert certificate.margin == pytest.approx((sides * (X @ w + b)).min() / np.linalg.norm([*w, b]), rel=1e-9)
    assert certificate.upper_bound >= known * (1 - 1e-9)
    found = certificate.verify(X, sides).verdict
    assert found == ("proven" if np.isfinite(certificate.upper_bound) else "not proven")  # weights without any slack


@given(soft_problems())
@settings(max_examples=50)
def test_good_weights_get_a_good_certificate(problem):
    """The slacks of the optimum are its dual weights."""
    X, sides, C, _, best = problem
    peer = LinearSVC(C=C, dual=False, tol=1e-12, max_iter=10**5).fit(X, sides)
    certificate = certify_weights(
        X, sides, BinaryProblem(1, C, C, 1.0), 7 * peer.coef_[0], 7 * peer.intercept_[0], epsilon=1e-4
    )
    assert certificate.margin == pytest.approx(best, rel=1e-6)
    assert certificate.upper_bound == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("other", [{"loss": "hinge"}, {"rho": 0.0, "free_bias": True}])
def test_other_problems_have_no_such_certificate(other):
    problem = replace(BinaryProblem(1, 1.0, 1.0, 1.0), **other)
    with pytest.raises(ValueError, match="squared hinge with a regularised intercept only"):
        certify_weights(np.eye(2), np.array([0, 1]), problem, np.ones(2), 0.0, epsilon=0.1)


@given(soft_problems(), st.sampled_from([0.3, 0.01]))
@settings(max_examples=40)
def test_every_row_brackets_the_best_margin(problem, epsilon):
    X, sides, C, _, best = problem
    names = ["pdm", "mpu", "margin-perceptron", "newton", "dcd-hinge", "decomposition", *INSTALLED]
    for row in by_name(compare(X, sides, names, C=C, epsilon=epsilon, X_test=X, y_test=sides, random_state=0)).values():
        if row["problem"] == "squared hinge":  # the bounds of another problem prove nothing about this one
            assert row["margin"] <= best * (1 + 1e-9)
            assert row["upper_bound"] >= best * (1 - 1e-9)
        assert row["gap"] == pytest.approx(1 - row["margin"] / row["upper_bound"])
        assert row["achieved"] == (row["gap"] <= epsilon)


@given(separable_problems())
@settings(max_examples=25)
def test_every_row_brackets_the_best_hard_margin(problem):
    """A margin that is known to exist is below every upper bound, and every margin is below every upper bound."""
    X, sides, known = problem
    names = ["pdm", "dcd", *INSTALLED]
    table = compare(X, sides, names, C=np.inf, epsilon=0.05, X_test=X, y_test=sides, random_state=0)
    assert set(table["problem"]) == {"hard margin"}
    assert table["upper_bound"].min() >= known * (1 - 1e-9)
    assert table["margin"].max() <= table["upper_bound"].min()
    assert (table["train_accuracy"][table["margin"] > 0] == 1).all()


@pytest.mark.parametrize("name", [name for name in INSTALLED if name != "sgd"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_peer_solves_our_problem(breast_cancer, name, sparse):
    """To a tight tolerance its weights are the best there are: same C, same intercept, sides not swapped."""
    X, y = breast_cancer
    peer = PEERS[name]()
    peer.max_iter = 10**5
    for C in (0.01, 3.0):
        peer.prepare(sp.csr_matrix(X) if sparse else X, C)
        for sides in (2 * y - 1, 1 - 2 * y):
            solution = peer.fit(sides, 1e-6)
            problem = BinaryProblem(1, C, C, 1.0)
            certificate = certify_weights(X, sides, problem, solution.weights, solution.intercept, epsilon=1e-3)
            assert certificate.achieved
            assert solution.stop_reason in ("tolerance", None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_stochastic_descent_has_our_c(rng):
    """It only comes close; with half or twice the C it comes less close. The intercept of these rows is zero."""
    X = rng.normal(size=(300, 4))
    sides = np.where(X[:, 0] + rng.normal(size=300) > 0, 1, -1)
    X, sides = np.vstack([X, -X]), np.concatenate([sides, -sides])
    peer = PEERS["sgd"]()
    peer.prepare(X, 0.01)
    solution = peer.fit(sides, 1e-9)

    def gap(C):
        problem = BinaryProblem(1, C, C, 1.0)
        best = make("newton", epsilon=1e-6, C=C).fit(X, sides).certificate_.upper_bound
        scores, norm2 = sides * (X @ solution.weights), solution.weights @ solution.weights
        unscaled = 1 / np.sqrt(norm2 + 2 * C * (np.maximum(0, 1 - scores) ** 2).sum())
        proven = certify_weights(X, sides, problem, solution.weights, solution.intercept, epsilon=0.1).margin
        assert proven >= unscaled * (1 - 1e-3)
        return 1 - unscaled / best

    assert gap(0.01) < 0.2 * min(gap(0.005), gap(0.02))


def test_our_rows_are_what_the_estimators_say(breast_cancer):
    X, y = breast_cancer
    names = [name for name in NAMES if name not in ("alma", "cramma", "micra")]
    rows = by_name(compare(X, y, names, C=0.5, epsilon=0.02, test_size=0.3, random_state=3))
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=3)
    for name in names:
        classifier = make(name, C=0.5, epsilon=0.02, random_state=3).fit(X, y)
        certificate, row = classifier.certificate_, rows[name]
        assert (row["margin"], row["upper_bound"]) == (certificate.margin, certificate.upper_bound)
        assert (row["gap"], row["achieved"]) == (certificate.gap, certificate.achieved)
        assert (row["updates"], row["passes"]) == (classifier.n_updates_, classifier.n_iter_)
        assert (row["train_accuracy"], row["test_accuracy"]) == (
            classifier.score(X, y),
            classifier.score(X_test, y_test),
        )
        assert row["stop_reason"] == classifier.stop_reason_
        assert row["problem"] == PROBLEMS.get(name, "squared hinge")
        assert row["seconds"] > 0


def test_a_peers_accuracy_is_its_own(digits):
    X, y = digits
    row = by_name(compare(X, y, "liblinear-newton", random_state=0, epsilon=1e-4))["liblinear-newton"]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    peer = LinearSVC(dual=False).fit(X, y)
    assert row["train_accuracy"] == pytest.approx(peer.score(X, y), abs=2e-3)
    assert row["test_accuracy"] == pytest.approx(peer.score(X_test, y_test), abs=5e-3)


def test_many_classes_show_the_largest_gap_and_the_bounds_of_one_class(digits):
    X, y = digits
    X, y = X[y < 4], y[y < 4]
    labels = np.array(["a", "b", "c", "d"])[y]
    bests = [best_soft_margin(X, np.where(y == k, 1, -1), 1.0, 2.0) for k in range(4)]
    names = ["dcd", "newton", "liblinear-newton"]
    rows = by_name(compare(X, labels, names, epsilon=0.05, X_test=X, y_test=labels, random_state=0))
    hardest = int(np.argmin(bests))
    for row in rows.values():
        assert row["class"] == "abcd"[hardest]
        assert row["margin"] <= bests[hardest] * (1 + 1e-9)
        assert row["upper_bound"] >= bests[hardest] * (1 - 1e-9)
        assert row["gap"] >= 1 - row["margin"] / row["upper_bound"] - 1e-12
    peer = LinearSVC(dual=False, tol=0.05, random_state=0).fit(X, labels)
    gaps = []
    for k, best in enumerate(bests):
        problem = BinaryProblem("abcd"[k], 1.0, 1.0, 1.0)
        margin = certify_weights(X, labels, problem, peer.coef_[k], peer.intercept_[k], epsilon=0.05).margin
        gaps.append(1 - margin / best)
    assert rows["liblinear-newton"]["gap"] >= max(gaps) * (1 - 1e-9)
    assert rows["liblinear-newton"]["gap"] == pytest.approx(max(gaps), abs=0.05)


def test_bounds_in_a_table_are_those_of_one_class_which_it_names(digits):
    """Rows of different classes could not be compared; here the largest gaps are those of different classes."""
    X, y = digits
    kept = y < 5
    found = compare(X[kept], y[kept], ["pdm", "dcd", "newton", "dcd-hinge"], epsilon=0.1, random_state=0)
    squared = found[found["problem"] == "squared hinge"]
    assert found["class"].nunique() == 1
    assert squared["margin"].max() <= squared["upper_bound"].min()
    text = as_text(found.to_dict("records"), 60)
    assert f"margin and upper_bound: class {found['class'][0]} against the rest" in text
    assert "class" not in text.splitlines()[0].split()


def test_a_peer_is_measured_by_the_best_bound_of_the_table(breast_cancer):
    X, y = breast_cancer
    alone = by_name(compare(X, y, ["liblinear-newton"], random_state=0))["liblinear-newton"]
    beside = by_name(compare(X, y, ["liblinear-newton", "newton", "dcd-hinge"], random_state=0))
    assert beside["liblinear-newton"]["margin"] == alone["margin"]
    assert beside["liblinear-newton"]["upper_bound"] == beside["newton"]["upper_bound"] < alone["upper_bound"]
    assert beside["newton"]["margin"] <= alone["upper_bound"]


def test_the_table_is_tidy_with_and_without_pandas(breast_cancer, monkeypatch):
    X, y = breast_cancer
    names = ["dcd", "liblinear-dcd"]
    table = compare(X, y, names, random_state=0)
    assert list(table.columns) == COLUMNS
    assert list(table["algorithm"]) == names
    assert table["updates"].isna().tolist() == [False, True]
    monkeypatch.setattr("dynmargin.comparison.compare.find_spec", lambda name: None)
    records = compare(X, y, names, random_state=0)
    assert [list(record) for record in records] == [COLUMNS, COLUMNS]
    assert records[1]["updates"] is None
    for column in ("gap", "margin", "upper_bound", "achieved", "passes", "test_accuracy", "stop_reason"):
        assert [record[column] for record in records] == table[column].tolist()


def test_the_split_keeps_the_proportions_of_the_classes(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], [36, 4])
    assert compare(X, y, "perceptron", test_size=0.25, random_state=0)["test_accuracy"][0] in np.arange(11) / 10
    with pytest.raises(ValueError, match=r"too few rows: .* but class 1 has only one row"):
        compare(X, np.repeat([0, 1], [39, 1]), "perceptron")


def test_the_usual_algorithms_suit_the_margin(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.sign(X[:, 0])
    soft, hard = compare(X, y, random_state=0), compare(X, y, C=np.inf, random_state=0)
    assert set(soft["algorithm"]) - set(hard["algorithm"]) == {"newton"}
    assert soft["achieved"][~soft["algorithm"].isin(PEERS)].all()
    assert hard["achieved"][~hard["algorithm"].isin(PEERS)].all()


def test_limits_end_in_a_row_and_not_in_a_warning(breast_cancer, capsys, caplog):
    X, y = breast_cancer
    with warnings.catch_warnings(), caplog.at_level(logging.INFO, "dynmargin"):
        warnings.simplefilter("error")
        rows = by_name(compare(X * 1e3, y, ["pdm", "liblinear-dcd"], epsilon=1e-9, max_time=1e-6, random_state=0))
    assert (rows["pdm"]["stop_reason"], rows["pdm"]["achieved"]) == ("max_time", False)
    assert (rows["liblinear-dcd"]["stop_reason"], rows["liblinear-dcd"]["passes"]) == ("max_iter", 1000)
    assert "compare: pdm, 1 of 2" in caplog.text
    assert "compare: liblinear-dcd took" in caplog.text
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_ends_one_algorithm_and_twice_ends_all(breast_cancer, monkeypatch):
    X, y = breast_cancer
    names = ["pdm", "dcd", "liblinear-dcd"]
    monkeypatch.setattr("dynmargin.training.run.last_interrupt", -np.inf)
    with ctrl_c_at(2):  # at PDM's first check
        rows = by_name(compare(X, y, names, epsilon=1e-3, random_state=0, verbose=1))
    assert [rows[name]["stop_reason"] for name in names] == ["interrupted", "certificate", "tolerance"]
    assert not rows["pdm"]["achieved"]
    monkeypatch.setattr("dynmargin.training.run.last_interrupt", -np.inf)
    with ctrl_c_at(2, 6), pytest.raises(KeyboardInterrupt):  # and at DCD's
        compare(X, y, names, epsilon=1e-3, random_state=0, verbose=1)


def test_the_gaps_are_drawn_against_time(digits):
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    ax = Figure().subplots()
    rows = by_name(compare(X, y, ["pdm", "dcd", "sgd"], epsilon=0.02, random_state=0, plot=ax))
    lines = {line.get_label(): line for line in ax.lines}
    assert set(lines) == {"pdm", "dcd", "sgd", "epsilon=0.02"}
    for name, row in rows.items():
        times, gaps = lines[name].get_data()
        assert gaps[-1] == pytest.approx(row["gap"])
        assert (np.diff(times) >= 0).all()
        assert times[-1] <= row["seconds"]
    assert len(lines["sgd"].get_xdata()) == 1 < len(lines["pdm"].get_xdata())
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_unsorted_rows_stay_as_they_are(breast_cancer):
    X, y = breast_cancer
    names = ["pdm", *(name for name in INSTALLED if name != "sgd")]  # sgd treats sparse rows differently
    order = np.arange(X.shape[1])[::-1]
    backward = sp.csr_matrix((X[:, order].ravel(), np.tile(order, len(X)), np.arange(len(X) + 1) * X.shape[1]))
    backward.indices, backward.indptr = backward.indices.astype(np.int64), backward.indptr.astype(np.int64)
    backward.has_sorted_indices = False
    values, columns = backward.data.copy(), backward.indices.copy()
    table = compare(backward, y, names, X_test=X, y_test=y, random_state=0)
    assert np.array_equal(backward.data, values)
    assert np.array_equal(backward.indices, columns)
    assert table["margin"].tolist() == pytest.approx(
        compare(X, y, names, X_test=X, y_test=y, random_state=0)["margin"].tolist(), rel=1e-2
    )


def test_a_library_that_is_not_installed_is_named(breast_cancer, monkeypatch):
    X, y = breast_cancer
    monkeypatch.setattr(Cyanure, "module", "no_such_module")
    with pytest.raises(ModuleNotFoundError, match="pip install cyanure"):
        compare(X, y, ["pdm", "cyanure"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithms": ["pdm", "svm"]}, "no algorithm is called 'svm'; there are pdm, pdm-succ"),
        ({"algorithms": []}, "empty"),
        ({"algorithms": ["newton"], "C": np.inf}, "'newton' needs a finite C"),
        ({"algorithms": ["sgd"], "C": -1.0}, "C must be positive"),
        ({"algorithms": ["sgd"], "epsilon": 0.0}, "epsilon must be above 0"),
        ({"X_test": [[0.0, 0.0]]}, "given together"),
        ({"X_test": [[0.0]], "y_test": [0]}, "X_test has 1 features, X has 2"),
        ({"X_test": [[0.0, 0.0]], "y_test": [0, 1]}, "inconsistent numbers of samples"),
        ({"y": np.zeros(20)}, "there is only one class"),
        ({"y": np.zeros(19)}, "inconsistent numbers of samples"),
        ({"X": np.full((20, 2), np.nan)}, "NaN"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_compared_is_refused(rng, arguments, message):
    data = {"X": rng.normal(size=(20, 2)), "y": np.arange(20) % 2}
    with pytest.raises(ValueError, match=message):
        compare(**{**data, **arguments})


def test_every_name_is_documented():
    for name in (*NAMES, *PEERS):
        assert f'"{name}"' in compare.__doc__


def test_peers_and_pictures_are_loaded_when_asked_for():
    loaded = modules_after("import dynmargin; dynmargin.compare")
    assert loaded.isdisjoint({"matplotlib", "cyanure", "liblinear"})
