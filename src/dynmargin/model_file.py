"""Models in one .npz file that never runs code when it is loaded and is never half-written.

Format 1, every entry a plain array: ``format`` and ``version``; ``classes``, ``coef``, ``intercept``, ``bias``; one a
certificate: ``margin``, ``upper_bound``, ``directional_margin``, ``epsilon``, ``C_positive``, ``C_negative``, ``rho``,
``loss``, ``free_bias``, ``data_digest``, ``rows_digest`` (blind to the order of the rows), ``witness_digest``; the
counts of all certificates one after the other: ``count_rows``, ``count_values``, ``count_starts``, over ``n_rows``
rows of data; ``parameters`` as JSON; perhaps ``feature_names`` and ``first_index``. A reader ignores entries it does
not know.

Format 2 is for joint margins alone: there is one certificate for all rows of weights, ``class_costs`` has the price of
slacks of each class and takes the place of ``C_positive`` and ``C_negative``, and ``count_rows`` holds
``row * n_classes + wrong class``.
"""

import io
import json
import os
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from .certificate import Certificate, SparseCounts
from .data.archives import contents, name_of
from .data.dataset import DataError
from .joint.certificate import JointCertificate
from .joint.problem import JointProblem
from .model import LinearModel
from .problem import BinaryProblem, Loss
from .whole_file import whole_file

FORMAT, VERSION, JOINT_VERSION = "dynmargin model", 1, 2

Arrays = Mapping[str, NDArray[Any]]

_NUMBERS = ("margin", "upper_bound", "directional_margin", "epsilon")
_COSTS = ("C_positive", "C_negative")
_DIGESTS = ("data_digest", "rows_digest", "witness_digest")


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or comes from a newer version."""


def save(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write a model; "-" is standard output."""
    classes = model.classes
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes):
        classes = classes.astype(np.str_)
    if classes.dtype.kind not in "fiubU":
        raise ValueError(f"labels of type {classes.dtype} cannot be stored; use numbers or text")
    certificates = model.certificates
    joint = model.certificate if isinstance(model.certificate, JointCertificate) else None
    counts = [certificate.counts for certificate in certificates]
    arrays: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION if joint is None else JOINT_VERSION,
        "classes": classes,
        "coef": model.coef,
        "intercept": model.intercept,
        "bias": model.bias,
        **{name: np.array([getattr(c, name) for c in certificates], dtype=np.float64) for name in _NUMBERS},
        "rho": np.array([c.problem.rho for c in certificates], dtype=np.float64),
        "loss": np.array([c.problem.loss for c in certificates], dtype=np.str_),
        "free_bias": np.array([c.problem.free_bias for c in certificates], dtype=np.bool_),
        **{name: np.array([getattr(c, name) for c in certificates], dtype=np.uint64) for name in _DIGESTS},
        "count_rows": np.concatenate([np.empty(0, np.int64), *(c.indices for c in counts)]),
        "count_values": np.concatenate([np.empty(0, np.int64), *(c.data for c in counts)]),
        "count_starts": np.cumsum([0, *(c.nnz for c in counts)], dtype=np.int64),
        "n_rows": counts[0].shape[0] if counts else 0,
        "parameters": json.dumps(dict(model.parameters), default=str),
    }
    if joint is None:
        for name in _COSTS:
            arrays[name] = np.array([getattr(c.problem, name) for c in certificates], dtype=np.float64)
    else:
        arrays["class_costs"] = np.array(joint.problem.costs, dtype=np.float64)
    if model.feature_names is not None:
        arrays["feature_names"] = model.feature_names.astype(np.str_)
    if model.first_index is not None:
        arrays["first_index"] = model.first_index
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(path: str | os.PathLike[str]) -> LinearModel:
    """Load a model that a classifier's `save` or ``dynmargin train`` has written.

    Parameters
    ----------
    path : path
        The file; it is data only and cannot run code.

    Returns
    -------
    LinearModel
        It predicts and can be verified; scikit-learn is not needed for that.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer version.
    """
    try:
        content = contents(path)
    except DataError as error:
        raise ModelFileError(str(error)) from error
    return parse(content, name_of(path))


def parse(content: NDArray[np.uint8], name: str) -> LinearModel:
    """Make a model of the bytes of a file; `name` is for messages."""
    try:
        with np.load(io.BytesIO(content.data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        known = arrays["format"].item() == FORMAT
        version = int(arrays["version"])
    except Exception as error:  # zip, zlib and npy each have their own
        raise ModelFileError(f"{name} is not a dynmargin model, or it is damaged") from error
    if not known:
        raise ModelFileError(f"{name} is not a dynmargin model")
    if version > JOINT_VERSION:
        raise ModelFileError(
            f"{name} was written by a newer dynmargin (format {version}; this one reads up to {JOINT_VERSION}): "
            "upgrade it"
        )
    try:
        return _model(arrays, joint=version == JOINT_VERSION)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise ModelFileError(f"{name} is damaged: {error}") from error


def _model(arrays: Arrays, joint: bool) -> LinearModel:
    coef, intercept, classes = arrays["coef"], arrays["intercept"], arrays["classes"]
    _require(coef.ndim == 2 and coef.dtype == np.float64, "coef is not a table of doubles")
    _require(intercept.shape == (len(coef),) and intercept.dtype == np.float64, "intercept does not fit coef")
    _require(classes.ndim == 1 and classes.dtype.kind in "fiubU", "classes are not labels")
    _require(
        len(classes) >= 2 and len(coef) in (1 if len(classes) == 2 else 0, len(classes)), "classes do not fit coef"
    )
    _require(bool(np.isfinite(coef).all() and np.isfinite(intercept).all()), "the weights are not finite")
    names = arrays.get("feature_names")
    _require(names is None or (names.dtype.kind == "U" and names.shape == coef.shape[1:]), "feature_names do not fit")
    first_index = arrays.get("first_index")
    parameters = json.loads(arrays["parameters"].item())
    _require(isinstance(parameters, dict), "parameters are not a JSON object")
    return LinearModel(
        classes,
        coef,
        intercept,
        bias=float(arrays["bias"]),
        certificates=_certificates(arrays, classes, coef, intercept, joint),
        feature_names=names,
        first_index=None if first_index is None else int(first_index),
        parameters=parameters,
    )


def _certificates(
    arrays: Arrays, classes: NDArray[Any], coef: NDArray[np.float64], intercept: NDArray[np.float64], joint: bool
) -> tuple[Certificate, ...]:
    n = len(arrays["margin"])
    if n == 0:
        return ()
    if joint:
        _require(n == 1 and len(coef) == len(classes), "there is not one certificate for all classes")
    else:
        _require(n == len(coef), "there is not one certificate a row of weights")
    for name in (*_NUMBERS, "rho", *(() if joint else _COSTS)):
        _require(
            arrays[name].shape == (n,) and arrays[name].dtype == np.float64, f"{name} is not one double a certificate"
        )
    for name in _DIGESTS:
        _require(
            arrays[name].shape == (n,) and arrays[name].dtype == np.uint64, f"{name} is not one digest a certificate"
        )
    losses, free_bias = arrays["loss"], arrays["free_bias"]
    _require(losses.shape == (n,) and set(losses.tolist()) <= set(get_args(Loss)), "loss is not one that there is")
    _require(free_bias.shape == (n,) and free_bias.dtype == np.bool_, "free_bias is not one truth a certificate")
    rows, values, starts = arrays["count_rows"], arrays["count_values"], arrays["count_starts"]
    _require(
        all(array.dtype == np.int64 and array.ndim == 1 for array in (rows, values, starts)), "counts are not int64"
    )
    _require(len(rows) == len(values) and len(starts) == n + 1, "the counts do not fit each other")
    _require(
        bool(starts[0] == 0 and starts[-1] == len(rows) and (np.diff(starts) >= 0).all()), "count_starts are wrong"
    )
    n_rows, positives = int(arrays["n_rows"]), classes[1:] if n == 1 else classes
    certificates: list[Certificate] = []
    for i in range(n):
        part = slice(int(starts[i]), int(starts[i + 1]))
        numbers: dict[str, Any] = {name: float(arrays[name][i]) for name in _NUMBERS}
        digests: dict[str, Any] = {name: int(arrays[name][i]) for name in _DIGESTS}
        if joint:
            certificates.append(_joint_certificate(arrays, classes, coef, intercept, {**numbers, **digests}))
            continue
        costs: dict[str, Any] = {name: float(arrays[name][i]) for name in (*_COSTS, "rho")}
        counts = SparseCounts(rows[part], values[part], (n_rows,))
        problem = BinaryProblem(positives[i], **costs, loss=losses[i].item(), free_bias=bool(free_bias[i]))
        certificates.append(
            Certificate(
                weights=coef[i], intercept=float(intercept[i]), counts=counts, problem=problem, **numbers, **digests
            )
        )
    return tuple(certificates)


def _joint_certificate(
    arrays: Arrays,
    classes: NDArray[Any],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    numbers: dict[str, Any],
) -> JointCertificate:
    costs = arrays["class_costs"]
    _require(costs.shape == classes.shape and costs.dtype == np.float64, "class_costs is not one double a class")
    problem = JointProblem(tuple(classes.tolist()), tuple(costs.tolist()), float(arrays["rho"][0]))
    counts = SparseCounts(arrays["count_rows"], arrays["count_values"], problem.counts_shape(int(arrays["n_rows"])))
    return JointCertificate(weights=coef, intercept=intercept, counts=counts, problem=problem, **numbers)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
