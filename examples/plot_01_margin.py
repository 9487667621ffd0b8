"""
The margin in two dimensions
============================

A line that separates two classes can lie in many places.
The one with the largest *margin* is as far from the nearest points as possible.
Only the points at the margin matter for where it lies: they are the *support patterns*.
Their integer counts are the proof that no line has a larger margin.
"""

# %%
# Two groups of points that a line can separate, and two with a few points on the wrong side.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from dynmargin import MaxMarginClassifier

X, y = make_blobs(80, centers=[(-2, -1.2), (2, 1.2)], cluster_std=0.9, random_state=4)
mixed, side = make_blobs(80, centers=[(-1.2, -0.7), (1.2, 0.7)], cluster_std=1.1, random_state=2)

# %%
# ``C=inf`` asks for the hard margin: no point may be closer to the line than the margin.
# A finite ``C`` is the price of a squared slack: points may be closer, or on the wrong side, at that price.
hard = MaxMarginClassifier(epsilon=1e-6, C=np.inf, random_state=0).fit(X, y)
soft = MaxMarginClassifier(epsilon=1e-6, C=0.1, random_state=0).fit(mixed, side)
print("hard:", hard.certificate_)
print("soft:", soft.certificate_)


# %%
# The lines show where the score is 0 (the decision boundary) and where it is -1 and 1.
# The larger a support pattern is drawn, the larger its count.
def draw(ax, classifier, X, y, title):
    for label, colour, marker in ((0, "#0072b2", "o"), (1, "#d55e00", "s")):
        ax.scatter(*X[y == label].T, s=18, color=colour, marker=marker, alpha=0.6)
    weight = np.abs(classifier.dual_coef_[0]) / np.abs(classifier.dual_coef_[0]).max()
    ax.scatter(*X[classifier.support_].T, s=50 + 150 * weight, facecolor="none", edgecolor="black")
    across, up = np.meshgrid(np.linspace(-5, 5, 200), np.linspace(-4.5, 4.5, 200))
    scores = classifier.decision_function(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
    ax.contour(across, up, scores, levels=[-1, 0, 1], colors="black", linestyles=["--", "-", "--"], linewidths=1.2)
    ax.set(title=title, xlabel="first feature", ylabel="second feature", aspect="equal")


figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
draw(axes[0], hard, X, y, f"Hard margin: {len(hard.support_)} support patterns decide")
draw(axes[1], soft, mixed, side, f"Soft margin: {len(soft.support_)} rows use a slack")
plt.show()

# %%
# Take the other points away, and the line stays where it is.
few = MaxMarginClassifier(epsilon=1e-6, C=np.inf, random_state=0).fit(X[hard.support_], y[hard.support_])
print("the weights move by", f"{np.abs(few.coef_ - hard.coef_).max():.1e}")
