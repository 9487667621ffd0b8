"""
Imbalanced classes
==================

Three rows in a hundred are positive.
A classifier that never says "positive" is right 97 % of the time, and useless.
``class_weight`` makes mistakes on the rare class more expensive; the certificate is then about that problem.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay
from sklearn.model_selection import train_test_split

from dynmargin import MaxMarginClassifier

X, y = make_classification(20_000, 30, n_informative=6, weights=[0.97], flip_y=0.01, class_sep=0.8, random_state=3)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)

plain = MaxMarginClassifier(random_state=0).fit(X, y)
balanced = MaxMarginClassifier(class_weight="balanced", random_state=0).fit(X, y)

# %%
# The weights are a part of the problem, and a verdict names the problem.
for classifier in (plain, balanced):
    print(classifier.certificate_.verify(X, y).problem)

# %%
# Without weights most of the rare class is missed. With them most of it is found, at the price of false alarms.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, classifier, title in ((axes[0], plain, "All rows alike"), (axes[1], balanced, 'class_weight="balanced"')):
    ConfusionMatrixDisplay.from_estimator(
        classifier, X_test, y_test, normalize="true", values_format=".0%", cmap="Blues", colorbar=False, ax=ax
    )
    ax.set_title(title)
plt.show()

# %%
# Weights decide where the threshold lies. They do not improve the order of the scores; here it even suffers a little.
# Without weights, and with a threshold of your own for ``decision_function``, there are fewer false alarms.
figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for classifier, name, colour in ((plain, "all rows alike", "#0072b2"), (balanced, "balanced", "#d55e00")):
    PrecisionRecallDisplay.from_estimator(classifier, X_test, y_test, ax=ax, name=name, curve_kwargs={"color": colour})
ax.set_title("For every threshold")
plt.show()
