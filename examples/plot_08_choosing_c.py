"""
Choosing C
==========

Everybody tries a few values of C and takes the best.
Is there a better one between two of them?
A list of values cannot tell; a proof can.
"""

# %%
# The breast cancer data, and every C from 0.001 to 1,000.
# The search trains where it has to, until no C of the range can have a cross-validation error that is lower than the
# chosen one's by more than the tolerance.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from dynmargin import CPathDisplay, ErrorCurveDisplay, MaxMarginClassifierCV, c_path

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
search = MaxMarginClassifierCV(tolerance=0.01, C_range=(1e-3, 1e3), cv=5, random_state=0).fit(X, y)
print(search.curve_)

# %%
# The true error of every C is between the two lines. Where it cannot be the lowest, they may stay far apart.
ErrorCurveDisplay.from_estimator(search)
plt.show()

# %%
# Bounds of the error at any C, also where nothing was trained, and the certificate of the final fit on all rows.
assert search.curve_ is not None  # there is one where a tolerance was asked for
low, high = search.curve_.at(1.2345)
print(f"at C = 1.2345 the error is between {100 * low:.2f} % and {100 * high:.2f} %")
print(search.certificate_)

# %%
# How do weights and margin depend on C? ``c_path`` has a model for *every* C, each with a certificate.
path = c_path(X, y, C_low=1e-3, C_high=1e3, epsilon=0.01)
print(path)
model = path.at(0.7654321)
print(model.certificate, "-", model.verify(X, y, C=0.7654321).verdict)
CPathDisplay.from_path(path, X, y)
plt.show()
