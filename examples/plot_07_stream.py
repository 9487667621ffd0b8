"""
A stream that drifts
====================

``partial_fit`` sees each row once and keeps none.
Even so the upper bound is true for all rows seen: no classifier whatsoever has a larger margin on them.
When the world changes, that bound falls, because no single classifier fits both the old and the new rows.
"""

# %%
# 40,000 rows in blocks of 500. Halfway, the plane between the two classes turns.
import matplotlib.pyplot as plt
import numpy as np

from dynmargin import PDMClassifier

random = np.random.default_rng(0)
before, after = random.normal(size=(2, 20))
BLOCK, BLOCKS = 500, 80


def block(number):
    X = random.normal(size=(BLOCK, 20))
    plane = before if number < BLOCKS // 2 else after
    return X, X @ plane + random.normal(scale=0.5, size=BLOCK) > 0


# %%
# Each block is first predicted, then learned. One learner never forgets.
# The other looks at what is proven: if no classifier can have even 70 % of the margin that was possible for the rows of
# its first ten blocks, the rows have changed, and it starts afresh.
forever, watchful = PDMClassifier(), PDMClassifier()
accuracies, bounds, restarts, age, first = [], [], [], 0, 0.0
for number in range(BLOCKS):
    X, y = block(number)
    if number:
        accuracies.append([forever.score(X, y), watchful.score(X, y)])
    forever.partial_fit(X, y, classes=[False, True])
    watchful.partial_fit(X, y, classes=[False, True])
    age += 1
    # Slacks make the best margin fall like 1 / sqrt(rows), so that is taken out.
    bound = watchful.certificate_.upper_bound * np.sqrt(age * BLOCK)
    bounds.append([forever.certificate_.upper_bound * np.sqrt((number + 1) * BLOCK), bound])
    first = bound if age == 10 else first
    if age > 10 and bound < 0.7 * first:
        restarts.append(number)
        watchful, age, first = PDMClassifier().partial_fit(X, y, classes=[False, True]), 1, 0.0
print("the change is at block", BLOCKS // 2, "and is noticed at", restarts)

# %%
figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(8, 6), layout="constrained")
for column, name, colour in ((0, "never forgets", "#d55e00"), (1, "starts afresh", "#0072b2")):
    top.plot(range(1, BLOCKS), [pair[column] for pair in accuracies], color=colour, label=name)
    bottom.plot([pair[column] for pair in bounds], color=colour, label=name)
for ax in (top, bottom):
    ax.axvline(BLOCKS // 2, color="black", linestyle="--", linewidth=1)
top.set(ylabel="accuracy on the next block", title="Dashed: the plane turns")
top.legend(frameon=False, loc="lower left")
bottom.set(xlabel="blocks of 500 rows", ylabel="upper bound times √rows", title="The proven bound falls with it")
plt.show()

# %%
# What is proven about the rows since the restart; ``certify(X, y)`` would add what rows that are still there can prove.
print(watchful.certificate_)
