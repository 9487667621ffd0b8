"""From a model file back to a fitted classifier of its own kind."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ..algorithms.registry import ALGORITHMS, NAMES
from ..model.linear_model import LinearModel
from ..problem.problems import label_text

SEARCH = "MaxMarginClassifierCV"
LOCAL = {"DaskMaxMarginClassifier": "MaxMarginClassifier"}  # what replaces a classifier that needs a cluster


def restored(model: LinearModel) -> Any:
    """Return the classifier that a model was saved from, or one that asks for the same problem, fitted."""
    if model.certificate is None:
        raise ValueError(
            "the model has no certificate: it was trained elsewhere, and none of our classifiers could have trained it"
        )
    name, parameters = _kind(model)
    family = next((one.family for one in ALGORITHMS.values() if one.estimator == name), "cv")
    kind = getattr(import_module(f".{family}", __package__), name)
    classifier = kind()
    for parameter, value in parameters.items():
        if parameter in classifier.get_params():
            _set(classifier, parameter, value)
    classifier.classes_ = model.classes
    classifier.coef_, classifier.intercept_ = model.coef, model.intercept
    classifier.certificates_, classifier.certificate_ = list(model.certificates), model.certificate
    classifier.stop_reason_ = str(model.parameters.get("stop_reason", "certificate"))
    classifier.history_, classifier.n_features_in_ = list(model.history), model.n_features
    classifier.support_ = np.unique(np.concatenate([one.counts.rows for one in model.certificates]))
    if model.feature_names is not None:
        classifier.feature_names_in_ = model.feature_names.astype(object)
    if model.scaling is None:
        return classifier
    return make_pipeline(_scaler(model), classifier)


def _kind(model: LinearModel) -> tuple[str, dict[str, Any]]:
    """Return the name of the estimator, and its parameters as far as they are stored."""
    stored, problem = model.parameters, model.certificates[0].problem
    known = {one.estimator for one in ALGORITHMS.values()} | {SEARCH}
    estimator = str(stored.get("estimator"))
    if (estimator := LOCAL.get(estimator, estimator)) in known:
        return estimator, {**stored, "class_weight": _class_weight(stored.get("class_weight"), model)}
    # Of dynmargin train: "newton: as asked", or what the front door has chosen.
    algorithm, _, why = str(stored.get("algorithm", "")).partition(": ")
    chosen = why == "as asked" or problem.joint  # the front door's estimator has no joint margin; PDM's has
    found, settings = NAMES[algorithm if chosen and algorithm in NAMES else "auto"]
    return found.estimator, {
        **settings,
        "epsilon": model.certificates[0].epsilon,
        "C": stored.get("C", 1.0),
        "loss": problem.loss,
        "fit_intercept": problem.free_bias or problem.rho > 0,
        "intercept_scaling": problem.rho if problem.rho > 0 else 1.0,
        "multi_class": "joint" if problem.joint else "ovr",
        "class_weight": _class_weight(stored.get("class_weights"), model),
        "random_state": stored.get("seed"),
    }


def _class_weight(stored: Any, model: LinearModel) -> Any:
    """Return class weights with the labels as they were; in a file they are text."""
    if not isinstance(stored, Mapping):
        return stored
    labels = {form: label for label in model.classes.tolist() for form in (label_text(label), str(label))}
    return {labels[text]: weight for text, weight in stored.items() if text in labels} or None


def _set(classifier: Any, parameter: str, value: Any) -> None:
    """Set a parameter, unless it is one that a file cannot hold, as a generator of random numbers."""
    before = classifier.get_params()[parameter]
    try:
        classifier.set_params(**{parameter: value})._validate_params()
    except (TypeError, ValueError):
        classifier.set_params(**{parameter: before})


def _scaler(model: LinearModel) -> Any:
    """Return scikit-learn's scaler with the model's numbers."""
    scaling: Any = model.scaling
    if scaling.kind == "maxabs":
        scaler: Any = MaxAbsScaler()
        scaler.max_abs_ = scaling.divisor
    else:
        centred = bool(scaling.shift.any())
        scaler = StandardScaler(with_mean=centred)
        scaler.mean_, scaler.var_ = scaling.shift if centred else None, scaling.divisor**2
    scaler.scale_, scaler.n_features_in_ = scaling.divisor, model.n_features
    scaler.n_samples_seen_ = 0  # not known, and not needed but by fit, which sets it anew
    if model.feature_names is not None:
        scaler.feature_names_in_ = model.feature_names.astype(object)
    return scaler
