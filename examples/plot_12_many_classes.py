"""
Many classes: each against the rest, or all at once
===================================================

Ten digits can be told apart by ten classifiers, each with a certificate of its own, or by one joint classifier with one
certificate for the whole model.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dynmargin import PDMClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, stratify=y, random_state=0)
rest = PDMClassifier(epsilon=0.01, random_state=0).fit(X, y)
joint = PDMClassifier(epsilon=0.01, multi_class="joint", random_state=0).fit(X, y)

# %%
# Each against the rest: one statement per class, about that class alone.
for certificate in rest.certificates_[:3]:
    print(certificate)
print(f"accuracy {rest.score(X_test, y_test):.4f}")

# %%
# All at once: the margin is the amount by which the right class outscores every other one.
print(joint.certificate_)
print(f"accuracy {joint.score(X_test, y_test):.4f};", joint.certificate_.verify(X, y).verdict)


# %%
# By how much does the right class win? Below zero a test row is predicted wrongly.
# Scores are divided by the length of all weights, so that both are in the same units.
def lead(classifier):
    scores = classifier.decision_function(X_test) / np.linalg.norm(classifier.coef_)
    own = scores[np.arange(len(y_test)), y_test]
    scores[np.arange(len(y_test)), y_test] = -np.inf
    return own - scores.max(axis=1)


figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
edges = np.linspace(-0.3, 0.6, 46).tolist()
for classifier, name, colour, style in (
    (rest, "each against the rest", "#d55e00", "--"),
    (joint, "all at once", "#0072b2", "-"),
):
    ax.hist(lead(classifier), bins=edges, histtype="step", linewidth=1.8, color=colour, linestyle=style, label=name)
ax.axvline(0, color="black", linewidth=1)
ax.set(
    xlabel="lead of the right class over the best wrong one",
    ylabel="test rows",
    title="How clearly the right digit wins",
)
ax.legend(frameon=False)
plt.show()
