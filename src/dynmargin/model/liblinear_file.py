"""LIBLINEAR's text models.

A header (``solver_type``, ``nr_class``, ``label``, ``nr_feature``, ``bias``), then ``w`` and one line per feature, the
constant feature last if ``bias`` is not negative: its weight times ``bias`` is the intercept. With two classes there is
one column of weights, and a positive score means the *first* label; ours means the second.
"""

import numpy as np
from numpy.typing import NDArray

from ..data.libsvm import label_text
from .linear_model import LinearModel
from .model_file import LIBLINEAR, ModelFileError

SOLVER = "L2R_L2LOSS_SVC_DUAL"  # the problem that ours solve
JOINT = "MCSVM_CS"  # Crammer and Singer's; has a column per class even for two
NOT_CLASSIFIERS = ("SVR", "ONECLASS")


def is_model(content: NDArray[np.uint8]) -> bool:
    """Tell a model of LIBLINEAR by its first word."""
    return content[: len(LIBLINEAR)].tobytes() == LIBLINEAR


def format_model(model: LinearModel) -> str:
    """Write a model so that LIBLINEAR reads the same doubles back."""
    joint = any(certificate.problem.joint for certificate in model.certificates)
    model = model.unscaled()
    labels, W = model.classes, model.coef
    if not (labels.dtype.kind in "fiub" and (labels == labels.astype(np.int32)).all()):
        raise ValueError("LIBLINEAR's labels are whole numbers; these are not")
    if len(W) == 1:
        labels = labels[::-1]
    bias = model.bias if model.bias > 0 else float(model.intercept.any())  # a free intercept has no constant feature
    if bias > 0:
        W = np.column_stack([W, model.intercept / bias])
    joint |= len(W) == len(labels) == 2
    header = [
        f"solver_type {JOINT if joint else SOLVER}",
        f"nr_class {len(labels)}",
        f"label {' '.join(label_text(label) for label in labels)}",
        f"nr_feature {model.n_features}",
        f"bias {bias if bias > 0 else -1:.17g}",
        "w",
    ]
    # LIBLINEAR itself ends every line of weights with a space.
    return "\n".join([*header, *(" ".join(f"{value:.17g}" for value in row) + " " for row in W.T.tolist()), ""])


def parse(content: NDArray[np.uint8], name: str) -> LinearModel:
    """Read a model that LIBLINEAR has written; it has no certificate."""
    try:
        head, _, body = content.tobytes().decode("ascii").partition("\nw\n")
        header = dict(line.strip().partition(" ")[::2] for line in head.splitlines())
        solver = header["solver_type"]
        if solver.endswith(NOT_CLASSIFIERS) or any(word in solver for word in NOT_CLASSIFIERS):
            raise ModelFileError(f"{name}: {solver} is not a classifier")
        n_classes, n_features, bias = int(header["nr_class"]), int(header["nr_feature"]), float(header["bias"])
        classes = np.array([float(int(label)) for label in header["label"].split()])
        if not (np.abs(classes) <= 2**31).all() or len(set(classes.tolist())) < len(classes):
            raise ValueError("its labels are not distinct 32-bit whole numbers")
        if not np.isfinite(bias):
            raise ValueError("its bias is not finite")
        n_columns = 1 if n_classes == 2 and solver != JOINT else n_classes
        n_rows = n_features + (bias >= 0)
        weights = np.array([float(word) for word in body.split()])
        if len(classes) != n_classes or n_classes < 2 or n_features < 0:
            raise ValueError(f"labels: {len(classes)}, classes: {n_classes}, features: {n_features}")
        if len(weights) != n_rows * n_columns:
            raise ValueError(f"{n_rows} x {n_columns} weights are needed, there are {len(weights)}")
        W = weights.reshape(n_rows, n_columns).T
        with np.errstate(over="ignore"):
            intercept = W[:, -1] * bias if bias >= 0 else np.zeros(n_columns)
        if not (np.isfinite(weights).all() and np.isfinite(intercept).all()):
            raise ValueError("a weight is not finite")
    except ModelFileError:
        raise
    except KeyError as error:
        raise ModelFileError(f"{name} is not a complete model of LIBLINEAR: it has no {error.args[0]}") from error
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{name} is not a complete model of LIBLINEAR: {error}") from error
    if n_columns == 1:
        classes = classes[::-1]
    coef = np.ascontiguousarray(W[:, :n_features])
    return LinearModel(classes, coef, intercept, max(0.0, bias), first_index=1, parameters={"solver_type": solver})
