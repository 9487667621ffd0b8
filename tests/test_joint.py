"""``multi_class="joint"``: one margin, one problem and one certificate for all classes."""

import json

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from estimators import sklearn_version
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from interrupts import assert_usable, ctrl_c_at
from reference.joint import joint_patterns
from reference.optimum import best_joint_margin
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import dynmargin
from dynmargin import (
    CheckCallback,
    ConvergenceDisplay,
    JointCertificate,
    MarginDisplay,
    PDMClassifier,
    _core,
    load,
    read_libsvm,
)
from dynmargin.cli.main import main
from dynmargin.model import liblinear_file
from dynmargin.problem.matrix import as_matrix


def joint(epsilon=0.01, **parameters):
    return PDMClassifier(epsilon, multi_class="joint", random_state=0, **parameters)


@st.composite
def small(draw):
    K, m, d = draw(st.integers(3, 5)), draw(st.integers(3, 10)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(st.floats(-3, 3), min_size=d, max_size=d), min_size=m, max_size=m)))
    y = np.array(draw(st.lists(st.integers(0, K - 1), min_size=m, max_size=m)))
    assume(len(set(y)) >= 3)
    return X, np.unique(y, return_inverse=True)[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    small(),
    st.sampled_from([0.05, 1.0, 20.0]),
    st.sampled_from([0.3, 0.05, 0.01]),
    st.sampled_from([{}, {"eta": 8.0}, {"schedule": "paper"}, {"fit_intercept": False}, {"stop": "convergence"}]),
    st.booleans(),
)
@settings(max_examples=150)
def test_the_certificate_brackets_the_best_joint_margin(problem, C, epsilon, parameters, weighted):
    X, y = problem
    K = y.max() + 1
    weight = np.linspace(0.5, 2, len(y)) if weighted else np.ones(len(y))
    classifier = joint(epsilon, C=C, **parameters).fit(X, y, sample_weight=weight)
    certificate = classifier.certificate_
    rho = float(classifier.fit_intercept)
    best = best_joint_margin(joint_patterns(X, y, K, rho, 1 / np.sqrt(2 * C * weight)))
    assert certificate.margin <= best * (1 + 1e-8)
    assert certificate.upper_bound >= best * (1 - 1e-8)
    assert certificate.directional_margin <= best * (1 + 1e-8)
    assert certificate.verify(X, y, sample_weight=weight).verdict == "proven"
    assert certificate.achieved or classifier.stop_reason_ not in ("certificate", "converged")
    if classifier.stop_reason_ == "converged":  # PDM's own promise
        assert certificate.directional_margin >= (1 - epsilon) * certificate.upper_bound * (1 - 1e-9)


@given(st.integers(0, 2**31), st.integers(3, 6), st.sampled_from([0.1, 0.01]))
@settings(max_examples=40)
def test_the_hard_margin_is_bracketed_too(seed, K, epsilon):
    """Separable by construction, with a known lower bound of the best margin."""
    random = np.random.default_rng(seed)
    W = random.normal(size=(K, 3))
    W /= np.linalg.norm(W)
    X = random.normal(size=(40, 2))
    scores = np.column_stack([X, np.ones(40)]) @ W.T
    ordered = np.sort(scores, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 0.1
    X, y = X[clear], scores[clear].argmax(axis=1)
    assume(len(set(y)) >= 3)
    known = (ordered[clear, -1] - ordered[clear, -2]).min()
    classifier = joint(epsilon, C=np.inf).fit(X, y)
    certificate = classifier.certificate_
    assert certificate.achieved
    assert certificate.upper_bound >= known
    assert certificate.margin >= (1 - epsilon) * known
    assert certificate.verify(X, y)
    decision = classifier.decision_function(X)
    margins = certificate.problem.margins(decision, y)
    assert margins.min() == pytest.approx(1, rel=1e-9)  # the canonical scale
    assert (classifier.predict(X) == y).all()


def test_what_cannot_be_separated_is_reported(rng):
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    with pytest.warns(ConvergenceWarning, match="not separable"):
        classifier = joint(C=np.inf, margin_floor=0.01).fit(X, y)
    assert classifier.stop_reason_ == "inseparable"
    assert classifier.certificate_.verify(X, y)


def joint_margin(X, certificate, y, coef, intercept):
    """What weights from elsewhere are worth as joint weights, at the scale that is best for them."""
    problem = certificate.problem
    sides = problem.sides(y, None)
    margins = problem.margins(np.asarray(X @ coef.T) + intercept, y)
    norm2 = (coef**2).sum() + (intercept**2).sum() / problem.rho**2
    scale = _core.best_scale(margins, 2 * np.array(problem.costs)[sides - 1], norm2)
    return problem.to_core(sides).margin_of_weights(as_matrix(X), coef * scale, intercept * scale)[0]


def compare_with_linear_svc(X, y, C, tolerance, **options):
    """No LinearSVC has a joint margin above the bound, ours is nearly the best, and predicts as well as both modes."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    ours = joint(C=C).fit(X, y)
    certificate = ours.certificate_
    assert certificate.achieved
    assert certificate.verify(X, y)
    assert joint_margin(X, certificate, y, ours.coef_, ours.intercept_) >= certificate.margin
    for mode in ("ovr", "crammer_singer"):
        theirs = LinearSVC(C=C, multi_class=mode, random_state=0, **options).fit(X, y)
        margin = joint_margin(X, certificate, y, theirs.coef_, theirs.intercept_)
        assert margin <= certificate.upper_bound
        assert certificate.margin >= (1 - certificate.epsilon) * margin
        assert abs(ours.score(X_test, y_test) - theirs.score(X_test, y_test)) <= tolerance


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_digits_beside_linear_svc(digits, C):
    compare_with_linear_svc(*digits, C, 0.015, max_iter=100_000)


@pytest.mark.filterwarnings("ignore:Liblinear failed")
def test_news20_beside_linear_svc(data_dir):
    X, y = read_libsvm(data_dir / "news20" / "news20.xz")
    X = normalize(X)[::4]
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LinearSVC refuses others
    compare_with_linear_svc(X, y[::4], 1.0, 0.02)


def test_all_classes_have_one_certificate(jointly_trained):
    X, y, classifier = jointly_trained
    certificate = classifier.certificate_
    assert isinstance(certificate, JointCertificate)
    assert classifier.certificates_ == [certificate]
    assert classifier.coef_.shape == (10, 64)
    assert classifier.intercept_.shape == (10,)
    assert classifier.decision_function(X).shape == (len(X), 10)
    assert (classifier.predict(X) == classifier.decision_function(X).argmax(axis=1)).all()
    assert str(certificate).startswith("joint margin ")
    assert "joint margin" in certificate.verify(X, y).detail
    assert certificate.achieved
    assert certificate.primal == pytest.approx(objective(classifier, X, y), rel=1e-9)
    counts = certificate.counts.toarray()
    assert counts.shape == (len(X), 10)
    assert not counts[np.arange(len(X)), y].any()  # no row counts against its own class
    assert np.array_equal(certificate.counts.rows, np.flatnonzero(counts.any(axis=1)))
    assert np.array_equal(certificate.counts.rows, classifier.support_)


def objective(classifier, X, y):
    margins = classifier.certificate_.problem.margins(classifier.decision_function(X), y)
    norm2 = (classifier.coef_**2).sum() + (classifier.intercept_**2).sum()
    return norm2 / 2 + classifier.C * (np.maximum(0, 1 - margins) ** 2).sum()


def test_dual_coefficients_make_the_weights(digits):
    X, y = digits
    classifier = joint(1e-3, C=0.1).fit(X, y)
    made = classifier.dual_coef_ @ X[classifier.support_]
    assert np.abs(made - classifier.coef_).max() < 0.1 * np.abs(classifier.coef_).max()
    np.testing.assert_allclose(classifier.dual_coef_.sum(axis=0), 0, atol=1e-9)  # what one class gains others lose


def test_two_classes_are_the_ordinary_problem(breast_cancer):
    ours, plain = joint().fit(*breast_cancer), PDMClassifier(random_state=0).fit(*breast_cancer)
    assert np.array_equal(ours.coef_, plain.coef_)
    assert not isinstance(ours.certificate_, JointCertificate)


def test_containers_threads_and_slices_do_not_matter(jointly_trained, monkeypatch):
    X, y, classifier = jointly_trained
    assert np.array_equal(joint().fit(sp.csr_array(X), y).coef_, classifier.coef_)
    assert np.array_equal(joint(n_jobs=2).fit(np.asfortranarray(X), y).coef_, classifier.coef_)
    assert np.array_equal(joint(max_time=1e6).fit(X.astype(np.float32), y).coef_, classifier.coef_)
    monkeypatch.setattr("dynmargin.training.run.SLICE_SECONDS", 0.0)
    assert np.array_equal(joint().fit(X, y).coef_, classifier.coef_)


def test_weights_are_repetitions(digits, rng):
    """The two problems are one: each certificate's bounds hold for the other."""
    X, y = digits[0][:500], digits[1][:500]
    weight = rng.integers(0, 4, 500)
    weight[:20] = 1
    repeated = np.repeat(np.arange(500), weight)
    one = joint().fit(X, y, sample_weight=weight.astype(float)).certificate_
    other = joint().fit(X[repeated], y[repeated]).certificate_
    assert one.margin <= other.upper_bound
    assert other.margin <= one.upper_bound
    left_out = joint().fit(X, y, sample_weight=(weight > 0).astype(float))
    dropped = joint().fit(X[weight > 0], y[weight > 0])
    assert left_out.certificate_.margin <= dropped.certificate_.upper_bound
    assert not left_out.certificate_.counts.toarray()[weight == 0].any()


def test_class_weights_count_for_the_rows_of_their_class(digits):
    X, y = digits[0][:500], digits[1][:500]
    by_class = joint(class_weight={3: 5.0}).fit(X, y)
    by_row = joint().fit(X, y, sample_weight=np.where(y == 3, 5.0, 1.0))
    assert np.array_equal(by_class.coef_, by_row.coef_)
    assert joint(class_weight="balanced").fit(X, y).certificate_.verify(X, y)


def test_text_labels(digits):
    X, y = digits[0][:300], np.array([f"digit {k}" for k in digits[1][:300]])
    classifier = joint().fit(X, y)
    assert classifier.certificate_.verify(X, y)
    assert classifier.certificate_.verify(X, y.astype(object))
    assert set(classifier.predict(X)) <= set(y)
    assert classifier.certificate_.verify(X, digits[1][:300]).verdict == "other data"


def test_labels_that_are_dates(digits):
    X, y = digits[0][:300], np.datetime64("2026-01-01", "ns") + digits[1][:300].astype("timedelta64[D]")
    assert joint().fit(X, y).certificate_.verify(X, y)


def test_a_label_that_is_no_class_is_other_data(digits):
    X, y = digits[0][:300], digits[1][:300]
    weight = np.where(np.arange(300) % 10 == 0, 0.0, 1.0)
    certificate = joint().fit(X, y, sample_weight=weight).certificate_
    unknown = np.where(weight == 0, 99, y)
    found = certificate.verify(X, unknown)
    assert found.verdict == "other data"
    assert (
        found.detail
        == "row 0 (counting from 0) has the label 99, which is not one of the classes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    )
    assert certificate.verify(X, unknown, sample_weight=weight)  # says itself that they are left out


def test_the_verdict_states_the_problem(digits):
    X, y = digits[0][:300], digits[1][:300] % 3
    certificate = joint(class_weight={1: 2.0}).fit(X, y).certificate_
    found = certificate.verify(X, y, classes=[0, 1, 2])
    prices = "C = 1 for class 0, 2 for class 1, 1 for class 2"
    assert found.problem == (
        f"classes 0, 1, 2 at once; squared hinge, {prices}, an intercept with scaling 1; 300 rows, 64 features, "
        "without sample weights"
    )
    assert certificate.verify(X, y, C=1.0).detail == f"{prices}, not C = 1 for every row"
    assert certificate.verify(X, y, classes=[0, 1]).verdict == "other problem"


def test_limits_interrupts_and_callbacks(digits):
    X, y = digits
    for parameters, reason in (({"max_time": 0.2}, "max_time"), ({"max_updates": 100_000}, "max_updates")):
        with pytest.warns(ConvergenceWarning, match=f"{reason} is reached.*use a smaller C, or ask"):
            classifier = joint(1e-8, **parameters).fit(X, y)
        assert classifier.stop_reason_ == reason
        assert_usable(classifier, X, y)
    assert classifier.n_updates_ == 100_000
    with ctrl_c_at(3), pytest.warns(ConvergenceWarning, match="interrupted"):
        classifier = joint(1e-8, verbose=1).fit(X, y)
    assert classifier.stop_reason_ == "interrupted"
    assert_usable(classifier, X, y)
    seen = []
    ended = joint(1e-8).set_callbacks(CheckCallback(lambda check: seen.append(check) or len(seen) == 4)).fit(X, y)
    assert ended.stop_reason_ == "callback"
    assert ended.history_[:4] == seen[:4]
    assert_usable(ended, X, y)


def test_scikit_learn_sees_the_model_of_the_moment(digits):
    callback = pytest.importorskip("sklearn.callback")
    X, y = digits
    monitor = callback.ScoringMonitor(scoring="accuracy")
    classifier = joint().set_callbacks(monitor).fit(X, y)
    assert monitor.get_logs().data
    assert classifier.certificate_.verify(X, y)


def test_what_is_not_available_is_refused_in_words(digits):
    X, y = digits[0][:300], digits[1][:300]
    with pytest.raises(ValueError, match="use multi_class='joint'"):
        PDMClassifier(multi_class="crammer_singer").fit(X, y)
    with pytest.raises(ValueError, match="'multi_class' parameter") as refused:
        PDMClassifier(multi_class="multinomial").fit(X, y)
    assert "crammer_singer" not in str(refused.value)
    with pytest.raises(ValueError, match="warm_start"):
        joint(warm_start=True).fit(X, y)
    classifier = joint().fit(X, y)
    for method in ("partial_fit", "certify"):
        assert not hasattr(classifier, method)
        with pytest.raises(AttributeError, match=method) as refused:
            getattr(classifier, method)
        assert "multi_class='joint' needs a fit" in str(refused.value.__cause__)
        assert hasattr(PDMClassifier(), method)


def test_other_tools_get_the_same_predictions(jointly_trained):
    X, _, classifier = jointly_trained
    twin = classifier.to_sklearn()
    assert twin.multi_class == "crammer_singer"
    assert np.array_equal(twin.predict(X), classifier.predict(X))
    certificate = classifier.certificate_
    model = dynmargin.LinearModel(
        classifier.classes_, classifier.coef_, classifier.intercept_, 1.0, certificates=(certificate,)
    )
    text = liblinear_file.format_model(model)
    assert text.startswith("solver_type MCSVM_CS\nnr_class 10\n")
    again = liblinear_file.parse(np.frombuffer(text.encode(), np.uint8), "model")
    assert np.array_equal(again.predict(X), classifier.predict(X))


def test_reports_and_pictures(jointly_trained):
    matplotlib.use("agg")
    X, y, classifier = jointly_trained
    frame = classifier.history_frame()
    assert set(frame["class"]) == {"all"}
    assert len(frame) == len(classifier.history_)
    if sklearn_version >= (1, 7):  # before, scikit-learn shows its own picture alone
        assert "joint margin proven" in classifier._repr_html_()
    display = MarginDisplay.from_estimator(classifier, X, y)
    assert ((display.margins > 0) == (classifier.predict(X) == y)).all()
    assert display.margin_line_.get_xdata()[0] == classifier.certificate_.margin
    assert ConvergenceDisplay.from_estimator(classifier).history == classifier.history_
    few = X[:60], y[:60]
    hard = joint(C=np.inf, margin_floor=1e-6).fit(*few)
    assert MarginDisplay.from_estimator(hard, *few).margins.min() >= hard.certificate_.margin


def test_the_command_line(jointly_trained, tmp_path, capsys):
    X, y, _ = jointly_trained
    rows, model = tmp_path / "digits.npz", tmp_path / "model.npz"
    np.savez(rows, X=X, y=y.astype(float))
    assert main(["train", str(rows), str(model), "--multi-class", "joint", "-c", "0.1", "-w3", "2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("pdm: the margin is joint; ")
    assert "\njoint margin " in said
    assert main(["verify", str(model), str(rows)]) == 0
    assert "the joint margin is at least" in capsys.readouterr().out
    assert main(["info", str(model)]) == 0
    said = capsys.readouterr().out
    assert "multi_class   joint" in said
    assert said.count("certificate\n  joint margin") == 1
    assert main(["predict", str(rows), str(model)]) == 0
    assert "Accuracy = 9" in capsys.readouterr().out
    assert load(model).certificate.problem.costs[3] == 0.2
    assert main(["convert", str(model), str(tmp_path / "model.txt")]) == 0
    assert (tmp_path / "model.txt").read_text().startswith("solver_type MCSVM_CS")
    assert main(["train", str(rows), str(model), "--multi-class", "joint", "--algorithm", "newton"]) == 3
    assert "needs --algorithm auto, pdm, or pdm-succ, not newton" in capsys.readouterr().err
    assert main(["train", str(rows), str(model), "--multi-class", "joint", "--algorithm", "pdm-succ", "-q"]) == 0
    assert main(["train", str(rows), "--multi-class", "joint", "-v", "3", "-q"]) == 0


def test_parameters_are_those_of_scikit_learn(jointly_trained):
    classifier = jointly_trained[2]
    assert clone(classifier).get_params()["multi_class"] == "joint"
    assert json.dumps(classifier.get_params(), default=str)
