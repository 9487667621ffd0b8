"""
PDM, PDM-succ and the family, side by side
==========================================

The package has the perceptron with dynamic margin (PDM), its successive runs (PDM-succ), and the algorithms that the
paper compares with or builds on.
All have the same kind of certificate, so they can be compared by what is *proven*.
"""

# %%
# ``compare`` trains them on the same rows and tabulates what each has reached.
# LIBLINEAR and SGD prove nothing themselves; what their weights are worth is computed for them.
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

import dynmargin

X, y = make_classification(6000, 30, n_informative=12, flip_y=0.05, random_state=1)
names = ["pdm", "pdm-succ", "margin-perceptron", "romma", "mpu", "dcd", "newton", "liblinear-dcd", "sgd"]
table = dynmargin.compare(X, y, names, C=1.0, epsilon=0.01, random_state=0)
columns = ["algorithm", "gap", "updates", "passes", "seconds", "test_accuracy", "stop_reason"]
print(table[columns].round(4).to_string(index=False))

# %%
# Newton's method makes a few expensive steps, a perceptron many cheap updates.
# MPU counts every unit that it adds or takes back.
shown = table.sort_values("gap", ascending=False)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for done, colour, marker in ((True, "#0072b2", "o"), (False, "#d55e00", "D")):
    those = shown["achieved"] == done
    left.plot(shown["gap"].where(those), shown["algorithm"], marker, color=colour)
    right.plot(1000 * shown["seconds"].where(those), shown["algorithm"], marker, color=colour)
left.axvline(0.01, color="black", linestyle="--", linewidth=1)
left.set(xscale="log", xlabel="proven gap (dashed: what was asked for)", title="Diamonds did not reach 1 %")
right.set(xscale="log", xlabel="milliseconds, one run", title="What it took")
for ax in (left, right):
    ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# PDM and PDM-succ as the paper runs them: with its schedule, until a full pass finds nothing to add.
# Successive runs need fewer updates and more passes, for a margin that is a little lower.
for name, eta in (("PDM", None), ("PDM-succ", 8)):
    classifier = dynmargin.PDMClassifier(0.05, C=0.1, eta=eta, schedule="paper", stop="convergence", random_state=0)
    certificate = classifier.fit(X, y).certificate_
    print(f"{name:8} {classifier.n_updates_:8} updates {classifier.n_iter_:4} passes", end="  ")
    print(f"directional margin {certificate.directional_margin:.6f}")

# %%
# The gap of three perceptrons, check after check.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, classifier, colour in (
    ("PDM", dynmargin.PDMClassifier(0.001, C=0.1, random_state=0), "#0072b2"),
    ("PDM-succ", dynmargin.PDMClassifier(0.001, C=0.1, eta=8, random_state=0), "#d55e00"),
    ("margin perceptron", dynmargin.MarginPerceptronClassifier(0.001, C=0.1, b=200, random_state=0), "#009e73"),
):
    history = classifier.fit(X, y).history_
    ax.plot([check.passes for check in history], [check.gap for check in history], ".-", color=colour, label=name)
ax.set(xscale="log", yscale="log", xlabel="passes over the data", ylabel="proven gap", title="To a gap of 0.1 %")
ax.legend(frameon=False)
plt.show()
