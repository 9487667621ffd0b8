"""Certificates of trained classifiers, with the witnesses that training left."""

import logging
import math
import warnings

import numpy as np

from dynmargin import (
    DCDClassifier,
    DecompositionSVMClassifier,
    MPUClassifier,
    NewtonClassifier,
    PDMClassifier,
    ROMMAClassifier,
)

from .cases import Case, Draw
from .check import check_certificate
from .exact import truth_of


def check_trained(seed):
    """Fit a classifier to small data and check each of its certificates."""
    logging.getLogger("dynmargin").setLevel(logging.ERROR)
    draw = Draw(seed)
    classifier = draw_classifier(draw)
    kind = f"trained {type(classifier).__name__}"
    K = draw.one_of(2, 2, 3)
    m, d = int(draw.random.integers(2 * K, 15)), int(draw.random.integers(1, 5))
    y = np.arange(m) % K
    X = (draw.random.normal(size=(m, d)) + y[:, None]) * draw.power(-3, 3) * 10.0 ** draw.random.uniform(-1, 1, size=d)
    if draw.chance(0.3):
        X = np.rint(X * 4) / 4  # ties, rows of zeros
    X = X.astype(np.float32) if draw.chance(0.3) else X
    weight = draw.random.exponential(size=m) + 0.01 if draw.chance(0.3) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            classifier.fit(X, y, sample_weight=weight)
        except ValueError:
            return "trained: refused", []  # patterns of no length
    failures = []
    for certificate in classifier.certificates_:
        witnesses = certificate.weights, certificate.intercept, certificate.counts
        case = Case(kind, X, y, weight, certificate.problem, *witnesses, True)
        failures += check_certificate(certificate, case, truth_of(case), draw.random)
    return kind, failures


def draw_classifier(draw):
    make, options = draw.one_of(
        (PDMClassifier, {}),
        (PDMClassifier, {"multi_class": "joint"}),
        (DCDClassifier, {"loss": "hinge"}),
        (DCDClassifier, {}),
        (MPUClassifier, {"loss": "hinge"}),
        (DecompositionSVMClassifier, {}),
        (ROMMAClassifier, {}),
        (NewtonClassifier, {}),
    )
    if make is not NewtonClassifier:
        options["max_updates"] = 10_000
    if make not in (DecompositionSVMClassifier,):
        options["fit_intercept"] = draw.chance(0.7)
        options["intercept_scaling"] = draw.one_of(1.0, 0.3, 10.0)
    C = draw.one_of(1.0, draw.power(-2, 2), math.inf)
    if math.isinf(C) and make is NewtonClassifier:
        C = 1.0
    return make(draw.one_of(0.3, 0.01), C=C, class_weight=draw.one_of(None, "balanced"), random_state=0, **options)
