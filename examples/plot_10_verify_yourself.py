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
# ============================ ======================================= ==========================================
# what it says                 its witness                             how to check it
# ============================ ======================================= ==========================================
# ``margin``: it has this one  the weights, ``coef_``, ``intercept_``  LinearSVC's objective P: margin² = 1 / (2P)
# ``upper_bound``: nobody has  the integer counts, one per row         add the rows as often as they count: the
# more                                                                 length of the sum, over the sum of counts
# ============================ ======================================= ==========================================
#
# The twenty lines. Each row is x with the label +1 or -1; C and the constant feature for the intercept are both 1.
rows = [[Fraction(float(value)) for value in row] + [Fraction(1)] for row in X]  # the last 1 is for the intercept
signs = [1 if label == 1 else -1 for label in y]
weights = [Fraction(float(value)) for value in (*classifier.coef_[0], classifier.intercept_[0])]
counts = [int(count) for count in certificate.counts.toarray()]
C = 1


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


# The margin: what do these weights cost, in LinearSVC's objective?
slacks = [max(Fraction(0), 1 - sign * dot(weights, row)) for row, sign in zip(rows, signs, strict=True)]
objective = dot(weights, weights) / 2 + C * dot(slacks, slacks)
print("margin proven:     ", Fraction(certificate.margin) ** 2 * 2 * objective <= 1)

# The upper bound: rows with a count, added up. Each row also has a coordinate of its own, with the square 1 / (2C).
total = [sum(n * s * row[j] for n, s, row in zip(counts, signs, rows, strict=True) if n) for j in range(len(weights))]
length2 = dot(total, total) + Fraction(dot(counts, counts), 2 * C)
print("upper bound proven:", length2 <= (Fraction(certificate.upper_bound) * sum(counts)) ** 2)

# %%
# Why is it a bound? The best direction u has at least the best margin γ on every row, so u times the sum is at least γ
# times the number of rows added. No direction gets more out of a sum than its length. Hence γ ≤ length / number.
#
# Any counts prove *some* bound. Good counts prove a good one: here are those of the 40 rows with the most.
print("the bound if every row counts once:", end=" ")
once = [sum(s * row[j] for s, row in zip(signs, rows, strict=True)) for j in range(len(weights))]
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
