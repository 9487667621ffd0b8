"""
Reading a certificate, and checking it in 20 lines of plain Python
==================================================================

A certificate is two numbers and two witnesses.
Nobody has to believe us: with the data, both numbers can be checked by school arithmetic.
Here that is done with fractions, so nothing is rounded.
"""

# %%
# A model to check. The data are the breast cancer data that scikit-learn ships.
from dataclasses import replace
from fractions import Fraction

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from dynmargin import PDMClassifier

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
classifier = PDMClassifier(epsilon=0.01, C=1.0, random_state=0).fit(X, y)
certificate = classifier.certificate_
print(certificate)

# %%
# It says two things:
#
# - ``margin``: this classifier has at least this margin. Its weights are the witness. They cost P in LinearSVC's
#   objective, and the margin is 1 / √(2P).
# - ``upper_bound``: no classifier has more. Integer counts, one per row, are the witness. Add up the rows, each as
#   often as it counts: the length of the sum, divided by the number of rows added, is the bound.
#
# The twenty lines. Labels are +1 and -1; C and the constant feature for the intercept are both 1.
rows = [[Fraction(float(value)) for value in row] + [Fraction(1)] for row in X]
signs = [1 if label == 1 else -1 for label in y]
patterns = [[sign * value for value in row] for sign, row in zip(signs, rows, strict=True)]
weights = [Fraction(float(w)) for w in (*classifier.coef_[0], classifier.intercept_[0])]
counts = [int(count) for count in certificate.counts.toarray()]
C = 1


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


# The margin: what do these weights cost?
slacks = [max(Fraction(0), 1 - dot(weights, pattern)) for pattern in patterns]
objective = dot(weights, weights) / 2 + C * dot(slacks, slacks)
print("margin proven:     ", Fraction(certificate.margin) ** 2 * 2 * objective <= 1)

# The upper bound. Each row also has a coordinate of its own, with the square 1 / (2C).
total = [dot(counts, column) for column in zip(*patterns, strict=True)]
length2 = dot(total, total) + Fraction(dot(counts, counts), 2 * C)
print("upper bound proven:", length2 <= (Fraction(certificate.upper_bound) * sum(counts)) ** 2)

# %%
# Why is it a bound? The best direction u has at least the best margin γ on every row, so u times the sum is at least γ
# times the number of rows added. No direction gets more out of a sum than its length. Hence γ ≤ length / number.
#
# Any counts prove *some* bound. Good counts prove a good one: here are those of the 40 rows with the most.
print("the bound if every row counts once:", end=" ")
once = [sum(column) for column in zip(*patterns, strict=True)]
print(f"{float(dot(once, once) + Fraction(len(rows), 2)) ** 0.5 / len(rows):.3f}", end=", ")
print(f"with the certificate's counts: {certificate.upper_bound:.3f}")

figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
most = sorted(range(len(counts)), key=counts.__getitem__, reverse=True)[:40]
colours = ["#d55e00" if y[row] else "#0072b2" for row in most]
ax.bar([str(row) for row in most], [counts[row] / sum(counts) for row in most], color=colours)
ax.set(xlabel="number of the row (orange: benign, blue: malignant)", ylabel="share of all counts")
ax.set_title(f"{sum(count > 0 for count in counts)} of {len(counts)} rows carry the proof")
ax.tick_params(axis="x", labelrotation=90, labelsize=8)
plt.show()

# %%
# ``verify`` does the same in a moment, with rounding accounted for. ``tools/independent_verifier.py`` does it for model
# files, with fractions as here. A claim that is a millionth too good is noticed.
print(certificate.verify(X, y).verdict)
print(replace(certificate, margin=certificate.margin * 1.000001).verify(X, y).verdict)
