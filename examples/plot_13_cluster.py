"""
A cluster on a laptop
=====================

The same code trains on one machine and on a hundred.
The rows stay with the workers; what travels are sums, and the certificate is proven from what every part holds.
Here the cluster is two workers of this machine.
"""

# %%
# 60,000 rows in eight parts, made by the workers themselves. On a real cluster they would be read where they are, with
# ``dask.array`` or ``dask.dataframe``.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from dynmargin import MaxMarginClassifier
from dynmargin.dask import DaskMaxMarginClassifier

random = da.random.default_rng(0)
plane = np.random.default_rng(0).normal(size=40)
rows = random.normal(size=(60_000, 40)).rechunk((7500, 40))
labels = rows @ plane + random.normal(scale=3, size=60_000).rechunk(7500) > 0

# %%
# Training takes a few rounds; in each, every part is asked for its sums once.
with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"):
    classifier = DaskMaxMarginClassifier(epsilon=0.001).fit(rows, labels)
    verdict = classifier.certificate_.verify(rows, labels).verdict
    scores = classifier.decision_function(rows).compute()
    X, y = rows.compute(), labels.compute()
print(classifier.algorithm_)
print(classifier.certificate_)
print("checked on the cluster:", verdict)

# %%
# What was proven on the cluster holds on one machine, and the model is the one that a machine alone would find.
alone = MaxMarginClassifier(epsilon=0.001, random_state=0).fit(X, y)
print("alone:", alone.certificate_)
same = np.mean((scores > 0) == (alone.decision_function(X) > 0))
print(f"the same prediction for {100 * same:.2f} % of the rows")

# %%
# The two bounds, round after round.
history = classifier.history_
passes = [check.passes for check in history]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(passes, [check.upper_bound for check in history], "o-", color="#d55e00", label="no classifier has more")
ax.plot(passes, [check.margin for check in history], "s-", color="#0072b2", label="this classifier has it")
ax.set(xlabel="passes over all parts", ylabel="margin", ylim=(0, None), xticks=passes)
ax.set_title("The bounds meet after a few rounds")
ax.legend(frameon=False)
plt.show()
