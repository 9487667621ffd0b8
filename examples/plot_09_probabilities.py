"""
Calibrated probabilities
========================

A margin is not a probability, and there is no ``predict_proba``.
scikit-learn's ``CalibratedClassifierCV`` turns scores into probabilities.
Each of the fits that it makes has its certificate.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from dynmargin import MaxMarginClassifier

X, y = make_classification(20_000, 20, n_informative=8, flip_y=0.1, class_sep=0.7, random_state=5)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
calibrated = CalibratedClassifierCV(MaxMarginClassifier(random_state=0), cv=5).fit(X, y)
print(calibrated.predict_proba(X_test[:3]).round(3))
for part in calibrated.calibrated_classifiers_[:2]:
    print("one of the five fits below it:", part.estimator.certificate_)

# %%
# Of the rows that get a probability of 80 %, about 80 % should be positive.
# Scores squeezed into the range from 0 to 1 do not have that property.
scores = MaxMarginClassifier(random_state=0).fit(X, y).decision_function(X_test)
squeezed = (scores - scores.min()) / (scores.max() - scores.min())
chances = calibrated.predict_proba(X_test)[:, 1]

figure, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
for values, name, colour in ((squeezed, "scores, squeezed", "#d55e00"), (chances, "calibrated", "#0072b2")):
    name = f"{name} (Brier score {brier_score_loss(y_test, values):.3f})"
    CalibrationDisplay.from_predictions(y_test, values, n_bins=12, strategy="quantile", name=name, color=colour, ax=ax)
ax.set(title="Calibrated: what is said is what happens", xlabel="probability stated", ylabel="share that is positive")
plt.show()
