"""The pictures show what is proven."""

import matplotlib
import numpy as np
import pytest
from estimators import CLASSIFIERS, sklearn_version
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dynmargin import (
    Certificate,
    ConvergenceDisplay,
    DCDClassifier,
    DecompositionSVMClassifier,
    MarginDisplay,
    PDMClassifier,
)
from dynmargin.classifiers.documentation import ADDRESS
from dynmargin.displays.style import beside

matplotlib.use("agg")

from matplotlib import pyplot

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def separable():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3)) + 5 * np.repeat([[1.0], [-1.0]], 30, axis=0)
    return X, np.repeat([1, 0], 30)


@quiet
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_both_displays_draw_every_estimator(classifier, breast_cancer):
    X, y = breast_cancer
    fitted = clone(classifier).fit(X, y)
    convergence = ConvergenceDisplay.from_estimator(fitted)
    history = fitted.history_
    # What was proven once stays proven, whatever a later check says.
    lowest = [min(check.upper_bound for check in history[: i + 1]) for i in range(len(history))]
    highest = [max(check.margin for check in history[: i + 1]) for i in range(len(history))]
    assert list(convergence.bound_line_.get_ydata()) == lowest
    assert list(convergence.line_.get_ydata()) == highest
    assert list(convergence.line_.get_xdata()) == [check.time for check in fitted.history_]
    margins = MarginDisplay.from_estimator(fitted, X, y)
    assert set(margins.margin_line_.get_xdata()) == {fitted.certificate_.margin}
    assert set(margins.bound_line_.get_xdata()) == {fitted.certificate_.upper_bound}
    assert sum(bar.get_height() for bar in margins.ax_.patches) == len(y)


@pytest.mark.parametrize(
    "classifier",
    [
        PDMClassifier(C=np.inf),
        PDMClassifier(C=np.inf, intercept_scaling=3.0),
        PDMClassifier(C=np.inf, fit_intercept=False),
        DecompositionSVMClassifier(C=np.inf),
    ],
    ids=str,
)
def test_the_smallest_hard_margin_is_the_certified_one(separable, classifier):
    X, y = separable
    display = MarginDisplay.from_estimator(classifier.fit(X, y), X, y)
    assert display.margins.min() == pytest.approx(display.certificate.margin, rel=1e-9)


@pytest.mark.parametrize(
    "classifier", [PDMClassifier(), DCDClassifier(loss="hinge"), DecompositionSVMClassifier()], ids=str
)
def test_rows_left_of_the_certified_margin_lean_on_slacks(breast_cancer, classifier):
    X, y = breast_cancer
    fitted = classifier.fit(X, y)
    display = MarginDisplay.from_estimator(fitted, X, y)
    signed = np.where(y == 1, 1, -1) * fitted.decision_function(X)
    sure = np.abs(signed - 1) > 1e-9
    assert np.array_equal((display.margins < display.certificate.margin)[sure], (signed < 1)[sure])
    assert np.array_equal(display.margins < 0, fitted.predict(X) != y)


def test_one_class_of_many(digits):
    X, y = digits
    fitted = PDMClassifier(random_state=0).fit(X, y)
    worst = ConvergenceDisplay.from_estimator(fitted)
    assert 1 - worst.history[-1].margin / worst.history[-1].upper_bound == pytest.approx(fitted.certificate_.gap)
    seven = ConvergenceDisplay.from_estimator(fitted, label=7)
    assert {check.problem for check in seven.history} == {7}
    assert "class 7" in seven.ax_.get_title()
    margins = MarginDisplay.from_estimator(fitted, X, y, label=7)
    assert margins.certificate is fitted.certificates_[7]
    with pytest.raises(ValueError, match="label=11 is not one of the classes"):
        ConvergenceDisplay.from_estimator(fitted, label=11)


def test_pipelines_and_axes_of_ones_own(breast_cancer):
    X, y = breast_cancer
    pipeline = make_pipeline(StandardScaler(), PDMClassifier(random_state=0)).fit(X * 7, y)
    figure, (left, right) = pyplot.subplots(1, 2)
    convergence = ConvergenceDisplay.from_estimator(pipeline, ax=left, against="passes")
    margins = MarginDisplay.from_estimator(pipeline, X * 7, y, ax=right, bins=10)
    assert convergence.ax_ is left
    assert margins.ax_ is right
    assert convergence.figure_ is margins.figure_ is figure
    assert len(right.patches) == 10
    alone = MarginDisplay.from_estimator(pipeline[-1], pipeline[0].transform(X * 7), y)
    assert np.array_equal(alone.margins, margins.margins)
    assert convergence.plot().ax_ is not left  # and again, on a figure of its own
    with pytest.raises(ValueError, match="against must be"):
        convergence.plot(against="updates")


def test_there_is_nothing_to_draw_before_a_fit(breast_cancer):
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(PDMClassifier())
    with pytest.raises(NotFittedError):
        MarginDisplay.from_estimator(PDMClassifier(), *breast_cancer)


def test_what_cannot_be_drawn_of_rows_that_passed_by_is_said_in_words(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier().partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match=r"partial_fit.*call fit"):
        ConvergenceDisplay.from_estimator(classifier)
    with pytest.raises(ValueError, match=r"partial_fit.*call certify\(X, y\)"):
        MarginDisplay.from_estimator(classifier, X, y)
    classifier.certify(X, y)
    margins = MarginDisplay.from_estimator(classifier, X, y)
    assert set(margins.margin_line_.get_xdata()) == {classifier.certificate_.margin}
    with pytest.raises(ValueError, match=r"certify.*call fit"):  # it proves bounds, but there were no checks
        ConvergenceDisplay.from_estimator(classifier)


@pytest.mark.skipif(sklearn_version < (1, 7), reason="scikit-learn shows its own picture of an estimator alone")
def test_a_notebook_shows_the_certificate(breast_cancer, digits):
    X, y = breast_cancer
    classifier = PDMClassifier(random_state=0)
    assert "Certificate" not in classifier._repr_html_()
    shown = classifier.fit(X, y)._repr_mimebundle_()["text/html"]
    certificate: Certificate = classifier.certificate_
    assert certificate._repr_html_() in classifier._repr_html_()
    assert "<caption>Certificate</caption>" in shown
    assert certificate._repr_html_() in shown
    for text in (f"{certificate.margin:.6g}", f"{certificate.upper_bound:.6g}", f"{certificate.gap:.3g}", "yes"):
        assert f"<td>{text}</td>" in certificate._repr_html_()
    many = PDMClassifier(random_state=0).fit(digits[0], digits[1])
    assert many._repr_html_().count("<td>yes</td>") == 10
    hinge = DCDClassifier(loss="hinge").fit(X, y).certificate_
    assert f"<td>{hinge.primal:.6g}</td>" in hinge._repr_html_()


@pytest.mark.skipif(sklearn_version < (1, 7), reason="scikit-learn shows its own picture of an estimator alone")
def test_a_notebook_shows_the_certificate_in_a_pipeline_and_where_to_read_on(breast_cancer):
    pipeline = make_pipeline(StandardScaler(), PDMClassifier(random_state=0))
    assert "Certificate" not in pipeline._repr_html_()
    shown = pipeline.fit(*breast_cancer)._repr_html_()
    assert shown.count(pipeline[-1].certificate_._repr_html_()) == 1
    for page in (shown, pipeline[-1]._repr_html_()):
        assert f'href="{ADDRESS}api/dynmargin.PDMClassifier.html"' in page
    assert pipeline[-1]._repr_html_().count("<caption>Certificate</caption>") == 1


def test_labels_are_text_in_a_notebook(breast_cancer):
    X, y = breast_cancer
    certificate = PDMClassifier(random_state=0).fit(X, np.array(["a", "<script>"])[y]).certificate_
    assert "<script>" not in certificate._repr_html_()


def test_a_label_that_has_no_room_beside_its_line_is_led_to():
    """A long name between two lines: further away it covers none of them."""
    ax = pyplot.figure(figsize=(7, 4)).subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    walls = [ax.plot([x, x], [0, 10])[0] for x in (4.0, 6.0)]
    (short,) = ax.plot([4.9, 5.1], [5, 5])
    (text,) = beside(ax, [(short, "a name that is too long")], avoid=walls)
    box = text.get_window_extent(ax.figure.canvas.get_renderer()).padded(1)
    points = np.concatenate([np.column_stack([np.full(1000, x), np.linspace(0, 10, 1000)]) for x in (4.0, 6.0)])
    assert not any(box.contains(*point) for point in ax.transData.transform(points))
    assert sum(one.arrow_patch is not None for one in ax.texts) == 1
