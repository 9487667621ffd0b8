"""
Watching the bounds meet
========================

While a model is trained, two numbers move towards each other: the margin that it has, and a bound that no classifier
can beat.
The best possible margin is always between them.
Training ends when they are close enough.
"""

# %%
# Is a handwritten digit even or odd? The perceptron with dynamic margin (PDM) is asked for a margin within 0.01 % of
# the best. Rows are presented as in the paper.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from dynmargin import ConvergenceDisplay, PDMClassifier

X, y = load_digits(return_X_y=True)
classifier = PDMClassifier(epsilon=1e-4, schedule="paper", random_state=0).fit(X / 16, y % 2)
ConvergenceDisplay.from_estimator(classifier, against="passes")
plt.show()

# %%
# The history has every check: time, passes, updates and the two bounds.
print(classifier.history_frame()[["passes", "updates", "margin", "upper_bound"]].tail().to_string(index=False))

# %%
# The distance between them, the *gap*, on a scale of powers of ten. By default PDM also improves its best weights by
# Newton's steps where these cost little, and needs far fewer passes.
default = PDMClassifier(epsilon=1e-4, random_state=0).fit(X / 16, y % 2)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for fitted, name, colour in (
    (default, "the default schedule", "#0072b2"),
    (classifier, "the paper's schedule", "#d55e00"),
):
    passes = [check.passes for check in fitted.history_]
    gaps = [check.gap for check in fitted.history_]
    ax.plot(passes, gaps, color=colour, marker="o", markersize=3, label=name)
ax.set(xscale="log", yscale="log", xlabel="passes over the data", ylabel="proven gap")
ax.set_title("The gap falls until it is small enough")
ax.grid(alpha=0.3)
ax.legend(frameon=False)
plt.show()

# %%
# What is left at the end is a certificate that anyone who has the data can check.
print(classifier.certificate_)
print(classifier.certificate_.verify(X / 16, y % 2))
