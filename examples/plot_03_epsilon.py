"""
What epsilon costs, and what it buys
====================================

``epsilon`` is the only accuracy there is to set: how far from the best possible margin the result may be.
A smaller one takes longer.
What does one get for it?
"""

# %%
# The same problem for one value of epsilon after the other.
# A prediction is *settled* when it is proven that no further training changes it.
import time

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from dynmargin import NewtonClassifier, PDMClassifier

X, y = make_classification(12_000, 40, n_informative=15, flip_y=0.05, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=2000, random_state=0)
exact = NewtonClassifier(epsilon=1e-12).fit(X, y)

rows = []
for epsilon in (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8):
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        classifier = PDMClassifier(epsilon=epsilon, random_state=0).fit(X, y)
        seconds.append(time.perf_counter() - begin)
    same = (classifier.predict(X_test) == exact.predict(X_test)).mean()
    settled = classifier.settled(X_test).mean()
    rows.append((epsilon, min(seconds), classifier.score(X_test, y_test), same, settled))
    print(f"epsilon {epsilon:<6g} {1000 * min(seconds):5.0f} ms  test accuracy {rows[-1][2]:.4f}", end="  ")
    print(f"as the exact optimum {100 * same:6.2f} %  proven to be {100 * settled:6.2f} %")

# %%
# Test accuracy is there long before the last digit of the margin is. For predictions the default, 0.01, is enough.
# A smaller epsilon buys *certainty*: the predictions are those of the exact optimum, and that is proven.
epsilons, times, accuracy, same, settled = zip(*rows, strict=True)
figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(7, 6), layout="constrained")
top.plot(epsilons, [1000 * seconds for seconds in times], "o-", color="0.3")
top.set(xscale="log", ylabel="training, milliseconds", ylim=(0, None), title="What it costs")
for values, name, colour, marker in (
    (same, "same prediction as the exact optimum", "#0072b2", "o"),
    (settled, "proven to be the same", "#009e73", "s"),
    (accuracy, "test accuracy", "#d55e00", "^"),
):
    bottom.plot(epsilons, values, marker=marker, color=colour, label=name)
bottom.set(xlabel="epsilon (smaller to the right)", ylabel="share of the test rows", ylim=(-0.05, 1.08))
bottom.set_title("What it buys")
bottom.legend(loc="center left", frameon=False)
bottom.invert_xaxis()
plt.show()
