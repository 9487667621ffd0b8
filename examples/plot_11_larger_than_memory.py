"""
Larger than memory
==================

Rows that stay on the disk: training reads them block by block, and the result has the same certificate as any other.
"""

# %%
# 400,000 rows of 40 features, written piece by piece. Here the file has 64 MB, to keep the example short; the code is
# the same for one that is larger than memory.
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dynmargin import MaxMarginClassifier, PDMClassifier, open_data
from dynmargin.cli.main import main

FEATURES, PIECE = 40, 20_000
folder = tempfile.TemporaryDirectory()
random = np.random.default_rng(0)
plane = random.normal(size=FEATURES)
names = [f"x{j}" for j in range(FEATURES)]
schema = pa.schema([*((name, pa.float32()) for name in names), ("side", pa.int8())])
with parquet.ParquetWriter(f"{folder.name}/rows.parquet", schema) as writer:
    for _ in range(20):
        rows = random.normal(size=(PIECE, FEATURES)).astype(np.float32)
        sides = (rows @ plane + random.normal(size=PIECE) > 0).astype(np.int8)
        writer.write_table(pa.table([*rows.T.copy(), sides], schema=schema))

# %%
# A folder holds the rows as training needs them. In a shell: ``dynmargin data convert rows.parquet rows.dm/ --label
# side``.
main(["data", "convert", f"{folder.name}/rows.parquet", f"{folder.name}/rows.dm/", "--label", "side"])
data = open_data(f"{folder.name}/rows.dm", memory_limit="50MB")
print(data)

# %%
# It takes the place of X and y. The certificate is about all rows, and is verified in the same way.
classifier = MaxMarginClassifier(epsilon=0.001).fit(data)
print(classifier.algorithm_)
print(classifier.certificate_)
print(classifier.certificate_.verify(data).verdict)

# %%
# To see each row only once, train on the blocks with ``partial_fit``. Each is scored before it is learned, so the
# accuracy is honest.
stream = PDMClassifier()
accuracies = []
for X, y in data:
    if hasattr(stream, "coef_"):
        accuracies.append(stream.score(X, y))
    stream.partial_fit(X, y, classes=data.classes)
print(f"accuracy on the last block, before it was learned: {accuracies[-1]:.4f}")

history = classifier.history_
passes = [check.passes for check in history]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(passes, [check.gap for check in history], "o-", color="#d55e00", markersize=4)
left.set(
    xlabel="passes over the disk",
    ylabel="proven gap",
    yscale="log",
    xticks=passes,
    title="Trained on the disk, with a proof",
)
right.plot(range(2, len(accuracies) + 2), accuracies, "s-", color="#0072b2", markersize=4)
right.set(xlabel="block", ylabel="accuracy before it is learned", title="One pass of partial_fit", ylim=(0.9, 1))
plt.show()
folder.cleanup()
