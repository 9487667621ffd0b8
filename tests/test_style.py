"""Every picture can be read at 400 and at 1,200 pixels: no two words overlap, none is cut off, ticks are few."""

import itertools

import matplotlib
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dynmargin import (
    ConvergenceDisplay,
    CPathDisplay,
    ErrorCurveDisplay,
    MarginDisplay,
    MaxMarginClassifier,
    MaxMarginClassifierCV,
    PDMClassifier,
    c_path,
)
from dynmargin.comparison.rendering import plot
from dynmargin.displays.style import FEW_TICKS, beside, few_ticks, plain

matplotlib.use("agg")

from matplotlib.figure import Figure


def axes_of(width):
    return Figure(
        figsize=(width / 100, 280 / 100 if width == 400 else 600 / 100), dpi=100, layout="constrained"
    ).subplots()


def words(ax):
    """Return all words of a picture with the boxes that they take."""
    ax.figure.draw_without_rendering()
    texts = [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    low_x, high_x = sorted(ax.get_xlim())
    low_y, high_y = sorted(ax.get_ylim())
    shown = [text for text in texts if text.get_text() and text.get_visible()]
    outside = {
        *(label for label in ax.get_xticklabels() if not low_x <= label.get_position()[0] <= high_x),
        *(label for label in ax.get_yticklabels() if not low_y <= label.get_position()[1] <= high_y),
    }
    return {text: text.get_window_extent() for text in shown if text not in outside}


def overlaps(one, other, slack=1.0):
    return (
        one.x0 + slack < other.x1
        and other.x0 + slack < one.x1
        and one.y0 + slack < other.y1
        and other.y0 + slack < one.y1
    )


def require_readable(ax):
    boxes = words(ax)
    frame = ax.figure.bbox
    for text, box in boxes.items():
        inside = frame.x0 - 3 <= box.x0 and box.x1 <= frame.x1 + 3 and frame.y0 - 3 <= box.y0 and box.y1 <= frame.y1 + 3
        assert inside, f"{text.get_text()!r} is cut off"
    for (one, first), (other, second) in itertools.combinations(boxes.items(), 2):
        assert not overlaps(first, second), f"{one.get_text()!r} is over {other.get_text()!r}"
    assert ax.title.get_text()
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@pytest.fixture(scope="module")
def drawn(breast_cancer, digits):
    """What draws each picture on axes."""
    X, y = breast_cancer
    pdm, newton = PDMClassifier(0.001, random_state=0).fit(X, y), MaxMarginClassifier(1e-6, random_state=0).fit(X, y)
    many = PDMClassifier(0.1, random_state=0).fit(*digits)
    path = c_path(X, y, 1e-3, 1e3)
    search = MaxMarginClassifierCV(tolerance=0.03, C_range=(0.01, 10.0), cv=3).fit(X, y)
    curves = [
        ("pdm", [(0.01, 0.5), (0.02, 0.1), (0.05, 0.01)]),
        ("dcd", [(0.02, 0.3), (0.03, 0.008)]),
        ("sgd", [(0.2, 0.4)]),
    ]
    found = {
        "comparison": lambda ax: plot(curves, 0.01, ax),
        "error curve": lambda ax: ErrorCurveDisplay.from_estimator(search, ax=ax),
        "margins of several classes": lambda ax: MarginDisplay.from_estimator(many, *digits, ax=ax),
    }
    for name, classifier, against in (("pdm", pdm, "time"), ("newton", newton, "passes"), ("digits", many, "time")):
        found[f"convergence of {name}"] = lambda ax, classifier=classifier, against=against: (
            ConvergenceDisplay.from_estimator(classifier, ax=ax, against=against)
        )
    found["margins"] = lambda ax: MarginDisplay.from_estimator(pdm, X, y, ax=ax)
    for panel in ("weights", "margin", "gap", "errors"):
        found[panel] = lambda ax, panel=panel: CPathDisplay.from_path(path, X, y, n_points=50, show=[panel], ax=ax)
    return found


@pytest.mark.parametrize("width", [400, 1200])
def test_every_display_is_readable(drawn, width):
    for name, draw in drawn.items():
        ax = axes_of(width)
        draw(ax)
        try:
            require_readable(ax)
        except AssertionError as error:
            raise AssertionError(f"{name}, {width} pixels: {error}") from error


@settings(max_examples=10)
@given(st.floats(1e-3, 1e8), st.floats(1.0, 1e12), st.booleans())
@example(2.0, 2.0, True)
@example(14493709.0, 2.0, True)
def test_ticks_are_few_and_apart(low, span, log):
    log = log or None
    ax = Figure(figsize=(4, 2.8), dpi=100).subplots()
    ax.plot([low, low * span], [0, 1])
    few_ticks(ax.xaxis, low, low * span, log=log)
    left, right = ax.get_xlim()
    labels = [label for label in ax.get_xticklabels() if left <= label.get_position()[0] <= right and label.get_text()]
    assert len(labels) <= max(FEW_TICKS + 2, 8)
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in labels]
    assert not any(overlaps(*pair) for pair in itertools.combinations(boxes, 2))


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_labels_beside_lines_are_apart(seed, count):
    random = np.random.default_rng(seed)
    ax = axes_of(400)
    lines = [ax.plot(np.arange(20), random.normal(size=20).cumsum())[0] for _ in range(count)]
    ax.margins(y=0.3)
    texts = beside(ax, [(line, f"line {i}") for i, line in enumerate(lines)])
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts]
    assert not any(overlaps(*pair) for pair in itertools.combinations(boxes, 2))
    frame = ax.get_window_extent()
    assert all(frame.x0 - 2 <= box.x0 and box.x1 <= frame.x1 + 4 for box in boxes)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.01, "0.01"), (30.0, "30"), (1000.0, "1,000"), (20_000.0, "20 k"), (2e6, "2 M"), (-0.5, "-0.5")],
)
def test_numbers_on_axes_are_plain(value, text):
    assert plain(value) == text
