"""Draw the pictures of margins.md and problem.md anew: python docs/pictures.py."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull
from sklearn.datasets import load_digits, make_blobs

from dynmargin import MaxMarginClassifier, PDMClassifier, Schedule

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#00795a", "0.55"  # told apart by the colour-blind, and in grey
plt.rcParams.update(
    {"font.size": 12, "svg.hashsalt": "dynmargin", "axes.spines.top": False, "axes.spines.right": False}
)


def save(figure, name):
    """Write an SVG that is the same whenever it is drawn."""
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def frame(ax, X):
    """Show the points and a little around them, without ticks."""
    low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])


def lines():
    """Draw many lines that separate the classes, and the one with the largest margin."""
    X, y = make_blobs(40, centers=[(-2, -1), (2, 1)], cluster_std=0.8, random_state=4)
    best = MaxMarginClassifier(1e-6, C=np.inf, random_state=0).fit(X, y)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    across = np.array([-6.0, 6.0])
    random = np.random.default_rng(1)
    shown = 0
    while shown < 9:
        w = best.coef_[0] + random.normal(scale=0.5 * np.linalg.norm(best.coef_[0]), size=2)
        b = best.intercept_[0] + random.normal(scale=0.6)
        if ((X @ w + b > 0) == y).all():
            axes[0].plot(across, -(across * w[0] + b) / w[1], color=GREY, linewidth=1)
            shown += 1
    axes[0].set_title("Many lines separate the two classes")
    (w,), (b,) = best.coef_, best.intercept_
    for level, style in ((-1, "--"), (0, "-"), (1, "--")):
        axes[1].plot(across, -(across * w[0] + b - level) / w[1], color="black", linestyle=style, linewidth=1.2)
    up, down = (-(across * w[0] + b - level) / w[1] for level in (-1, 1))
    axes[1].fill_between(across, up, down, color="0.9")
    axes[1].scatter(*X[best.support_].T, s=140, facecolor="none", edgecolor="black")
    axes[1].set_title("One has the widest street around it")
    for ax in axes:
        ax.scatter(*X[y == 0].T, color=BLUE, marker="o", s=28, zorder=3)
        ax.scatter(*X[y == 1].T, color=ORANGE, marker="s", s=28, zorder=3)
        frame(ax, X)
    save(figure, "explain-lines")


def hull():
    """Draw the best margin as the distance from the origin to the hull of the patterns."""
    patterns = np.array([(0.9, 2.6), (2.8, 1.0), (3.3, 3.4), (4.5, 2.2), (1.7, 3.8), (4.1, 1.1), (3.2, 2.0)])
    corners = patterns[ConvexHull(patterns).vertices]
    p, q = patterns[:2]  # the nearest point of the hull lies on the edge between these two
    nearest = p + (p @ (p - q)) / ((p - q) @ (p - q)) * (q - p)
    guess = 0.5 * patterns[0] + 0.2 * patterns[1] + 0.3 * patterns[4]
    figure, ax = plt.subplots(figsize=(6.5, 5.2), layout="constrained")
    ax.fill(*corners.T, color="0.92", zorder=0)
    ax.scatter(*patterns.T, color="black", s=26, zorder=3)
    ax.scatter(0, 0, color="black", marker="+", s=120)
    ax.annotate("origin", (0, 0), xytext=(8, -16), textcoords="offset points")
    ax.annotate("all averages of the rows", (3.0, 2.75), ha="center", color="0.35")
    for end, colour, words, place, side in (
        (nearest, GREEN, "the best margin:\nthe nearest average", (1.25, 0.45), "left"),
        (guess, ORANGE, "upper bound:\nany average", (0.5, 1.55), "right"),
    ):
        ax.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2})
        ax.scatter(*end, color=colour, s=40, zorder=4)
        ax.annotate(words, place, ha=side, color=colour)
    ax.set(xlim=(-1.3, 4.8), ylim=(-0.5, 4.3), aspect="equal", xticks=[], yticks=[])
    ax.set_title("No average of the rows is nearer than the best margin")
    save(figure, "explain-hull")


def meeting():
    """Draw the two bounds on real data."""
    X, y = load_digits(return_X_y=True)
    history = PDMClassifier(1e-4, schedule=Schedule(polish=False), random_state=0).fit(X / 16, y % 2).history_
    passes = [check.passes for check in history]
    low, high = [check.margin for check in history], [check.upper_bound for check in history]
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    ax.fill_between(passes, low, high, color="0.9")
    ax.plot(passes, high, color=ORANGE, linewidth=2)
    ax.plot(passes, low, color=BLUE, linewidth=2)
    ax.annotate(
        "no classifier has more", (passes[1], high[1]), xytext=(18, 22), textcoords="offset points", color=ORANGE
    )
    ax.annotate("this classifier has it", (passes[1], low[1]), xytext=(40, -20), textcoords="offset points", color=BLUE)
    arrow = {"arrowstyle": "->", "color": "0.35"}
    ax.annotate("the best margin is in here", (1.3, 0.07), xytext=(4, 0.1), color="0.35", arrowprops=arrow)
    ax.set(xlabel="passes over the data", ylabel="margin", ylim=(0, None), xlim=(1, passes[-1]), xticks=[1, 5, 10])
    ax.set_title("Digits, even or odd: the two bounds meet")
    save(figure, "explain-meeting")


if __name__ == "__main__":
    lines()
    hull()
    meeting()
