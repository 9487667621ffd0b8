"""
Larger than memory
==================

A file of rows that is read block by block, while memory stays where it is.
``partial_fit`` learns from each block and forgets it.
``certify`` says what is proven by then.
"""

# %%
# 200,000 rows of 50 features in a file. Here it is 40 MB, to keep the example short; the code is the same for a file
# that is larger than memory.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from dynmargin import MaxMarginClassifier, PDMClassifier

ROWS, FEATURES, BLOCK = 200_000, 50, 10_000
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.npy"
random = np.random.default_rng(0)
plane = random.normal(size=FEATURES)
rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(ROWS, FEATURES))
labels = np.empty(ROWS, dtype=bool)
for begin in range(0, ROWS, BLOCK):
    rows[begin : begin + BLOCK] = random.normal(size=(BLOCK, FEATURES))
    labels[begin : begin + BLOCK] = rows[begin : begin + BLOCK] @ plane + random.normal(size=BLOCK) > 0
rows.flush()
print(f"{path.stat().st_size / 1e6:.0f} MB on disk")

# %%
# A memory map is read where it is touched. The first time each block is scored before it is learned, so the accuracy is
# honest. After each pass over the file, one more pass proves both bounds.
# The counts take 16 bytes for each row that was ever added; ``keep_counts=False`` does without them, and proves less.
rows = np.load(path, mmap_mode="r")
stream = PDMClassifier()
accuracies, gaps = [], []
for sweep in range(4):
    for begin in range(0, ROWS, BLOCK):
        X, y = rows[begin : begin + BLOCK], labels[begin : begin + BLOCK]
        if sweep == 0 and begin:
            accuracies.append(stream.score(X, y))
        stream.partial_fit(X, y, classes=[False, True])
    certificate = stream.certify(rows, labels)
    gaps.append(certificate.gap)
    print(f"pass {sweep + 1}: {certificate}; {certificate.verify(rows, labels).verdict}")

# %%
# The model is better than what is proven about it: rows that come one by one make good weights soon, good counts late.
# This file does fit into memory, so the best margin can be computed for comparison.
best = MaxMarginClassifier(epsilon=1e-6).fit(rows, labels).certificate_
print(f"after four passes the margin is {certificate.margin / best.upper_bound:.3%} of the best possible")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(np.arange(1, len(accuracies) + 1) * BLOCK / 1000, accuracies, "o-", color="#0072b2", markersize=4)
left.set(
    xlabel="thousands of rows seen",
    ylabel="accuracy on the next block",
    title="The first block is nearly enough",
    ylim=(0.9, 1),
)
right.plot([1, 2, 3, 4], gaps, "s-", color="#d55e00")
right.set(xlabel="passes over the file", ylabel="proven gap", title="What is proven about it", xticks=[1, 2, 3, 4])
right.set_ylim(0, None)
plt.show()
folder.cleanup()
