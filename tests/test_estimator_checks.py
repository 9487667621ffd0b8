"""Every scikit-learn estimator check."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dynmargin import (
    ALMAClassifier,
    CRAMMAClassifier,
    DCDClassifier,
    DecompositionSVMClassifier,
    MarginPerceptronClassifier,
    MargitronClassifier,
    MaxMarginClassifier,
    MICRAClassifier,
    MPUClassifier,
    NewtonClassifier,
    PDMClassifier,
    PDMClassifierCV,
    PerceptronClassifier,
    PFMClassifier,
    ROMMAClassifier,
)

# These compare a weighted with a repeated fit to 1e-7, which an algorithm that stops at epsilon cannot meet;
# `test_weights.py` takes their place.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "stops at epsilon, not at 1e-7",
    "check_sample_weight_equivalence_on_sparse_data": "stops at epsilon, not at 1e-7",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        DCDClassifier(),
        DCDClassifier(stop="convergence"),
        DCDClassifier(loss="hinge"),
        DecompositionSVMClassifier(),
        MPUClassifier(),
        MPUClassifier(loss="hinge"),
        MPUClassifier(schedule="paper", stop="convergence"),
        PDMClassifier(),
        PDMClassifier(eta=8),
        PDMClassifier(schedule="paper", stop="convergence"),
        PDMClassifierCV(Cs=[0.1, 1.0], cv=3),
        PDMClassifier(keep_counts=False),
        PDMClassifier(multi_class="joint"),
        PDMClassifier(multi_class="joint", stop="convergence"),
        PFMClassifier(),
        MaxMarginClassifier(algorithm="pdm"),
        MaxMarginClassifier(epsilon=1e-9),
        NewtonClassifier(epsilon=1e-9),
        PerceptronClassifier(),
        MarginPerceptronClassifier(),
        MargitronClassifier(),
        MargitronClassifier(growth="norm"),
        ROMMAClassifier(),
        ROMMAClassifier(aggressive=False),
        ALMAClassifier(),
        CRAMMAClassifier(),
        MICRAClassifier(),
    ],
    expected_failed_checks=lambda estimator: {} if estimator.epsilon == 1e-9 else EXPECTED_FAILURES,
)
def test_estimator_check(estimator, check):
    check(estimator)
