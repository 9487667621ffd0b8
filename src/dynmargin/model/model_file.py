"""Models in one .npz file that never runs code when it is loaded and is never half-written.

Format 1, every entry a plain array: ``format`` and ``version``; ``classes``, ``coef``, ``intercept``, ``bias``; one per
certificate: ``margin``, ``upper_bound``, ``directional_margin``, ``epsilon``, ``C_positive``, ``C_negative``, ``rho``,
``loss``, ``free_bias``, ``data_digest``, ``rows_digest`` (blind to the order of the rows), ``witness_digest``; the
counts of all certificates one after the other: ``count_rows``, ``count_values``, ``count_starts``, over ``n_rows``
rows of data; ``parameters`` as JSON; perhaps ``feature_names`` and ``first_index``. A reader ignores entries it does
not know.

Format 2 is for joint margins alone: there is one certificate for all rows of weights, ``class_costs`` has the price of
slacks for each class and takes the place of ``C_positive`` and ``C_negative``, and ``count_rows`` holds
``row * n_classes + wrong class``.
"""

import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..certificate.certificate import Certificate, certificate_type
from ..certificate.counts import SparseCounts
from ..data.atomic import atomic_write
from ..problem.problems import BinaryProblem, JointProblem, Loss, Problem

FORMAT, VERSION, JOINT_VERSION = "dynmargin model", 1, 2

Arrays = Mapping[str, NDArray[Any]]

_NUMBERS = ("margin", "upper_bound", "directional_margin", "epsilon")
_COSTS = ("C_positive", "C_negative")
_DIGESTS = ("data_digest", "rows_digest", "witness_digest")


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or comes from a newer version."""


def write(
    path: str | os.PathLike[str],
    *,
    classes: NDArray[Any],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    bias: float,
    certificates: Sequence[Certificate],
    feature_names: NDArray[np.str_] | None,
    first_index: int | None,
    parameters: Mapping[str, Any],
) -> None:
    """Write a model; "-" is standard output."""
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes):
        classes = classes.astype(np.str_)
    if classes.dtype.kind not in "fiubU":
        raise ValueError(f"labels of type {classes.dtype} cannot be stored; use numbers or text")
    problems = [certificate.problem for certificate in certificates]
    counts = [certificate.counts for certificate in certificates]
    joint = any(problem.joint for problem in problems)

    def column(owners: Sequence[Any], name: str, dtype: Any = np.float64) -> NDArray[Any]:
        return np.array([getattr(owner, name) for owner in owners], dtype=dtype)

    arrays: dict[str, Any] = {
        "format": FORMAT,
        "version": JOINT_VERSION if joint else VERSION,
        "classes": classes,
        "coef": coef,
        "intercept": intercept,
        "bias": bias,
        **{name: column(certificates, name) for name in _NUMBERS},
        **{name: column(certificates, name, np.uint64) for name in _DIGESTS},
        **{name: column(problems, name) for name in ("rho", *(() if joint else _COSTS))},
        "loss": column(problems, "loss", np.str_),
        "free_bias": column(problems, "free_bias", np.bool_),
        "count_rows": np.concatenate([np.empty(0, np.int64), *(c.indices for c in counts)]),
        "count_values": np.concatenate([np.empty(0, np.int64), *(c.data for c in counts)]),
        "count_starts": np.cumsum([0, *(c.nnz for c in counts)], dtype=np.int64),
        "n_rows": counts[0].shape[0] if counts else 0,
        "parameters": json.dumps(dict(parameters), default=str),
    }
    if joint:
        arrays["class_costs"] = column(problems, "costs")[0]
    if feature_names is not None:
        arrays["feature_names"] = feature_names.astype(np.str_)
    if first_index is not None:
        arrays["first_index"] = first_index
    with atomic_write(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def parse(content: NDArray[np.uint8], name: str) -> dict[str, Any]:
    """Return the fields of the model in the bytes of a file; `name` is for messages."""
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
        return _fields(arrays, joint=version == JOINT_VERSION)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise ModelFileError(f"{name} is damaged: {error}") from error


def _fields(arrays: Arrays, joint: bool) -> dict[str, Any]:
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
    return {
        "classes": classes,
        "coef": coef,
        "intercept": intercept,
        "bias": float(arrays["bias"]),
        "certificates": _certificates(arrays, classes, coef, intercept, joint) if len(arrays["margin"]) else (),
        "feature_names": names,
        "first_index": None if first_index is None else int(first_index),
        "parameters": parameters,
    }


def _certificates(
    arrays: Arrays, classes: NDArray[Any], coef: NDArray[np.float64], intercept: NDArray[np.float64], joint: bool
) -> tuple[Certificate, ...]:
    n = len(arrays["margin"])
    if joint:
        _require(n == 1 and len(coef) == len(classes), "there is not one certificate for all classes")
    else:
        _require(n == len(coef), "the number of certificates is not that of the rows of weights")
    for names, dtype, what in (
        ((*_NUMBERS, "rho", *(() if joint else _COSTS)), np.float64, "one double"),
        (_DIGESTS, np.uint64, "one digest"),
        (("free_bias",), np.bool_, "true or false"),
    ):
        for name in names:
            fits = arrays[name].shape == (n,) and arrays[name].dtype == dtype
            _require(fits, f"{name} is not {what} per certificate")
    losses = arrays["loss"]
    _require(losses.shape == (n,) and set(losses.tolist()) <= set(get_args(Loss)), "loss is none that is known")
    rows, values, starts = arrays["count_rows"], arrays["count_values"], arrays["count_starts"]
    _require(
        all(array.dtype == np.int64 and array.ndim == 1 for array in (rows, values, starts)), "counts are not int64"
    )
    _require(len(rows) == len(values) and len(starts) == n + 1, "the counts do not fit each other")
    _require(
        bool(starts[0] == 0 and starts[-1] == len(rows) and (np.diff(starts) >= 0).all()), "count_starts are wrong"
    )
    problems = _problems(arrays, classes, joint)
    certificates = []
    for i, problem in enumerate(problems):
        part, n_rows = slice(int(starts[i]), int(starts[i + 1])), int(arrays["n_rows"])
        numbers: dict[str, Any] = {name: float(arrays[name][i]) for name in _NUMBERS}
        numbers |= {name: int(arrays[name][i]) for name in _DIGESTS}
        certificates.append(
            certificate_type(problem)(
                **numbers,
                weights=coef if joint else coef[i],
                intercept=intercept if joint else float(intercept[i]),
                counts=SparseCounts(rows[part], values[part], problem.counts_shape(n_rows)),
                problem=problem,
            )
        )
    return tuple(certificates)


def _problems(arrays: Arrays, classes: NDArray[Any], joint: bool) -> list[Problem]:
    if joint:
        costs = arrays["class_costs"]
        _require(costs.shape == classes.shape and costs.dtype == np.float64, "class_costs is not one double per class")
        return [JointProblem(tuple(classes.tolist()), tuple(costs.tolist()), float(arrays["rho"][0]))]
    n = len(arrays["margin"])
    return [
        BinaryProblem(
            classes[1] if n == 1 else classes[i],
            **{name: float(arrays[name][i]) for name in (*_COSTS, "rho")},
            loss=arrays["loss"][i].item(),
            free_bias=bool(arrays["free_bias"][i]),
            negative=classes[0] if n == 1 else None,
        )
        for i in range(n)
    ]


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
