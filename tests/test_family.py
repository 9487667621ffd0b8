"""Every member of the family: its certificate is true, its theory holds, and it can be controlled like PDM."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import ctrl_c_at
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import separable_problems, soft_problems

from dynmargin import (
    ALMAClassifier,
    BinaryProblem,
    CRAMMAClassifier,
    MarginPerceptronClassifier,
    MargitronClassifier,
    MICRAClassifier,
    PDMClassifier,
    PerceptronClassifier,
    PFMClassifier,
    ROMMAClassifier,
    _core,
)
from dynmargin.algorithms.perceptrons import bootstrapped_rule, margitron_rule, start
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.theory import (
    alma_update_bound,
    margitron_threshold,
    margitron_update_bound,
    perceptron_update_bound,
    romma_update_bound,
)
from dynmargin.training.request import Request

FAMILY = [
    PerceptronClassifier(),
    MarginPerceptronClassifier(),
    MargitronClassifier(),
    MargitronClassifier(growth="norm"),
    ROMMAClassifier(),
    ROMMAClassifier(aggressive=False),
    ALMAClassifier(),
    CRAMMAClassifier(),
    MICRAClassifier(),
]
ACCURATE = [MargitronClassifier(), MargitronClassifier(growth="norm"), ROMMAClassifier()]  # to any epsilon

family = pytest.mark.parametrize("classifier", FAMILY, ids=str)
accurate = pytest.mark.parametrize("classifier", ACCURATE, ids=str)


@family
@given(problem=soft_problems(), epsilon=st.sampled_from([0.3, 0.05, 0.01]))
@settings(max_examples=40)
def test_the_certificate_brackets_the_best_margin(classifier, problem, epsilon):
    X, sides, C, _, best = problem
    fitted = clone(classifier).set_params(C=C, epsilon=epsilon, random_state=0).fit(X, sides)
    certificate = fitted.certificate_
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)
    assert certificate.directional_margin <= best * (1 + 1e-9)
    assert certificate.verify(X, sides).verdict == "proven"
    assert fitted.stop_reason_ == ("certificate" if certificate.achieved else "own_rule")


@family
@given(problem=separable_problems())
@settings(max_examples=25)
def test_separable_rows_are_separated(classifier, problem):
    X, sides, known = problem
    fitted = clone(classifier).set_params(C=np.inf, random_state=0).fit(X, sides)
    certificate = fitted.certificate_
    assert certificate.margin > 0
    assert certificate.upper_bound >= known * (1 - 1e-9)
    assert certificate.verify(X, sides)
    assert fitted.score(X, sides) == 1
    assert fitted.stop_reason_ in ("certificate", "own_rule")


@accurate
@given(problem=st.one_of(soft_problems(), separable_problems()), epsilon=st.sampled_from([0.5, 0.1, 0.02]))
@settings(max_examples=40)
def test_the_accuracy_asked_for_is_reached(classifier, problem, epsilon):
    X, sides, C = (*problem[:2], np.inf if len(problem) == 3 else problem[2])
    for stop, reason in (("certificate", "certificate"), ("convergence", "converged")):
        fitted = clone(classifier).set_params(C=C, epsilon=epsilon, stop=stop, random_state=0).fit(X, sides)
        assert fitted.certificate_.achieved
        assert fitted.stop_reason_ == reason
    certificate = fitted.certificate_
    assert certificate.directional_margin >= (1 - epsilon) * certificate.upper_bound * (1 - 1e-9)


def converged(classifier, problem):
    """Run to convergence; return the fitted classifier, R and the best margin."""
    X, sides, C, R, best = problem
    fitted = classifier.set_params(C=C, stop="convergence", random_state=0).fit(X, sides)
    assert fitted.stop_reason_ == "converged"
    return fitted, R, best


@given(soft_problems(), st.sampled_from([0.0, 0.5, 20.0]))
@settings(max_examples=60)
def test_the_perceptrons_keep_to_their_theory(problem, b):
    fitted, R, best = converged(MarginPerceptronClassifier(b=b) if b else PerceptronClassifier(), problem)
    assert fitted.n_updates_ <= perceptron_update_bound(R, best, b * R**2)
    assert fitted.certificate_.directional_margin > (best / (2 + 1 / b) if b else 0)


@given(soft_problems(), st.sampled_from([0.5, 0.1, 0.02]))
@settings(max_examples=60)
def test_romma_keeps_to_its_theory(problem, delta):
    fitted, R, best = converged(ROMMAClassifier(delta), problem)
    assert fitted.n_updates_ <= romma_update_bound(R, best, delta)
    assert fitted.certificate_.directional_margin >= (1 - delta) * best


@given(soft_problems(), st.sampled_from([0.9, 0.5, 0.2]))
@settings(max_examples=60)
def test_alma_keeps_to_its_theory(problem, alpha):
    fitted, R, best = converged(ALMAClassifier(alpha=alpha), problem)
    assert fitted.n_updates_ <= alma_update_bound(R, best, alpha)
    assert fitted.certificate_.directional_margin >= (1 - alpha) * best


@given(soft_problems(), st.sampled_from([CRAMMAClassifier(), MICRAClassifier()]), st.sampled_from([0.5, 2.0]))
@settings(max_examples=60)
def test_cramma_and_micra_converge_above_their_threshold(problem, classifier, threshold):
    fitted, R, best = converged(clone(classifier).set_params(threshold=threshold), problem)
    t = fitted.n_updates_
    assert fitted.certificate_.directional_margin > threshold * R / t**0.5 * (1 - 1e-9)
    assert t > (threshold * R / best) ** 2  # not before the threshold has fallen below the best margin


@pytest.mark.parametrize("growth", ["updates", "norm"])
@given(problem=soft_problems(), epsilon=st.sampled_from([0.8, 0.5, 0.2]), slack=st.sampled_from([1.0, 1.05]))
@settings(max_examples=60)
def test_the_margitron_keeps_to_its_theory(growth, problem, epsilon, slack):
    """With a bound on the best margin, right or a little too large."""
    bound = min(slack * problem[4], problem[3])
    fitted, R, best = converged(MargitronClassifier(epsilon, growth=growth, gamma_bound=bound), problem)
    b = margitron_threshold(R, bound, epsilon, growth)
    assert fitted.n_updates_ <= margitron_update_bound(R, best, b, epsilon, growth)
    if growth == "norm" or epsilon >= 0.5:  # else a run that converges after very few updates may fall short
        assert fitted.certificate_.directional_margin >= (1 - epsilon) * best


@pytest.mark.parametrize("growth", ["updates", "norm"])
@given(problem=soft_problems(), epsilon=st.sampled_from([0.2, 0.05]))
@settings(max_examples=40)
def test_the_bootstrapped_margitron_keeps_to_the_theory_of_every_rule_it_takes(growth, problem, epsilon):
    X, sides, C, R, best = problem
    matrix = as_matrix(X)
    packed = PackedProblem(matrix, _core.pack(matrix), BinaryProblem(1, C, C, 1.0), sides)
    request = Request(epsilon, stop="convergence")
    trainer = start(packed, margitron_rule(0.0, 1.0, growth), request)
    accuracy, chosen = 1.0, []
    bound = perceptron_update_bound(R, best)
    while True:
        while trainer.advance(1.0) is not _core.Event.converged:
            pass
        assert trainer.updates <= bound
        found = bootstrapped_rule(trainer, packed.R, request, growth, accuracy)
        if found is None:
            break
        accuracy, rule = found
        chosen.append(rule)
        bound = margitron_update_bound(R, best, rule.b, accuracy_of(rule), growth)
        trainer.set_rule(rule)
    assert len(chosen) < 40
    assert trainer.check().directional_margin >= (1 - epsilon) * best


def accuracy_of(rule):
    return 1 - rule.power if isinstance(rule, _core.MargitronUpdates) else 2 * (1 - rule.power) / (2 - rule.power)


def test_a_bad_bound_still_gives_a_margin(breast_cancer):
    """A bound far too large would take forever: the margitron is stopped, and its certificate is as true as ever."""
    X, y = breast_cancer
    with pytest.warns(ConvergenceWarning, match="max_updates"):
        fitted = MargitronClassifier(1e-6, gamma_bound=1e9, max_updates=10_000, random_state=0).fit(X, y)
    assert fitted.certificate_.verify(X, y)


@pytest.mark.parametrize(
    "classifier",
    [
        PerceptronClassifier(),
        MarginPerceptronClassifier(b=1.0),
        MargitronClassifier(gamma_bound=0.05),
        ROMMAClassifier(aggressive=False),
        ALMAClassifier(alpha=0.9),
        CRAMMAClassifier(threshold=0.1),
        MICRAClassifier(threshold=0.1),
        PFMClassifier(beta=0.05),
    ],
    ids=str,
)
def test_ending_by_its_own_rule_is_no_reason_to_warn(breast_cancer, classifier):
    X, y = breast_cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = classifier.set_params(epsilon=1e-3, random_state=0).fit(X, y)
    assert fitted.stop_reason_ == "own_rule"
    assert not fitted.certificate_.achieved
    assert fitted.certificate_.verify(X, y)


@family
def test_limits_are_kept(breast_cancer, classifier):
    X, y = breast_cancer
    for updates in (1, 17, 200):
        with pytest.warns(ConvergenceWarning, match="max_updates is reached"):
            fitted = clone(classifier).set_params(epsilon=1e-9, max_updates=updates, random_state=0).fit(X, y)
        assert fitted.n_updates_ == updates
        assert fitted.stop_reason_ == "max_updates"
        assert fitted.certificate_.verify(X, y)
    with pytest.warns(ConvergenceWarning, match="max_time is reached"):
        fitted = clone(classifier).set_params(epsilon=1e-9, max_time=1e-9, random_state=0).fit(X, y)
    assert fitted.stop_reason_ == "max_time"
    assert fitted.certificate_.verify(X, y)


@family
def test_ctrl_c_leaves_a_usable_model(digits, classifier, monkeypatch):
    X, y = digits
    monkeypatch.setattr("dynmargin.training.run.last_interrupt", -np.inf)
    with ctrl_c_at(1), pytest.warns(ConvergenceWarning, match="interrupted"):
        fitted = clone(classifier).set_params(epsilon=1e-9, random_state=0, verbose=1).fit(X, y % 2)
    assert fitted.stop_reason_ == "interrupted"
    assert fitted.certificate_.verify(X, y % 2)


@family
def test_the_same_seed_gives_the_same_result_in_any_container(breast_cancer, classifier):
    X, y = breast_cancer
    one, two = (
        clone(classifier).set_params(random_state=3).fit(rows, y).certificate_ for rows in (X, sp.csr_matrix(X))
    )
    other = clone(classifier).set_params(random_state=4).fit(X, y).certificate_
    assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(one.counts.toarray(), two.counts.toarray())
    assert not np.array_equal(one.counts.toarray(), other.counts.toarray())


@family
def test_many_classes_weights_and_history(digits, classifier, rng):
    X, y = digits
    X, y = X[y < 4], y[y < 4]
    weight = rng.integers(0, 3, len(y))
    fitted = clone(classifier).set_params(class_weight="balanced", random_state=0).fit(X, y, sample_weight=weight)
    assert len(fitted.certificates_) == 4
    assert all(certificate.verify(X, y, sample_weight=weight) for certificate in fitted.certificates_)
    assert fitted.score(X, y, sample_weight=weight) > 0.98
    assert (weight[fitted.support_] > 0).all()
    last = [check for check in fitted.history_ if check.problem == 3][-1]
    assert last.gap == fitted.certificates_[3].gap
    assert np.all(np.diff([check.upper_bound > 0 for check in fitted.history_]) == 0)
    assert fitted.n_updates_ == sum(
        max(check.updates for check in fitted.history_ if check.problem == index) for index in range(4)
    )


@accurate
def test_the_solution_is_that_of_pdm(breast_cancer, classifier):
    X, y = breast_cancer
    ours = clone(classifier).set_params(epsilon=1e-3, random_state=0).fit(X, y)
    pdm = PDMClassifier(1e-3, random_state=0).fit(X, y)
    assert np.linalg.norm(ours.coef_ - pdm.coef_) < 0.05 * np.linalg.norm(pdm.coef_)
    product = ours.dual_coef_ @ X[ours.support_]
    assert np.linalg.norm(product - ours.coef_) < 0.1 * np.linalg.norm(ours.coef_)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [1.0]], [0, 1]),  # opposite patterns: they cancel
        ([[0.0], [1.0], [-1.0]], [0, 1, 0]),  # without an intercept, a pattern of length zero
    ],
)
@family
def test_what_cannot_be_separated_is_reported(X, y, classifier):
    classifier = clone(classifier).set_params(C=np.inf, fit_intercept=False, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no margin above|hardly move"):
        fitted = classifier.fit(X, y)
    assert fitted.stop_reason_ == "inseparable" or isinstance(classifier, CRAMMAClassifier | MICRAClassifier)
    assert not fitted.certificate_.achieved


@family
def test_convergence_is_not_waited_for_where_there_is_none(rng, classifier):
    """Hard margin, classes that overlap, and a floor so low that the upper bound does not reach it soon."""
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    classifier = clone(classifier).set_params(C=np.inf, stop="convergence", margin_floor=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no margin above|hardly move"):
        fitted = classifier.fit(X, y)
    assert fitted.stop_reason_ in ("inseparable", "stalled")
    assert fitted.certificate_.verify(X, y)


@pytest.mark.parametrize(
    ("classifier", "name"),
    [
        (MarginPerceptronClassifier(b=0.0), "b"),
        (MargitronClassifier(growth="time"), "growth"),
        (MargitronClassifier(gamma_bound=-1.0), "gamma_bound"),
        (ROMMAClassifier(aggressive="yes"), "aggressive"),
        (ALMAClassifier(alpha=0.0), "alpha"),
        (CRAMMAClassifier(rate=0.0), "rate"),
        (MICRAClassifier(zeta=1.0), "zeta"),
        (PerceptronClassifier(epsilon=0.0), "epsilon"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(breast_cancer, classifier, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        classifier.fit(*breast_cancer)
