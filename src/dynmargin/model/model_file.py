"""Models in one .npz file that never runs code when it is loaded and is never half-written.

Format 3, every entry a plain array: ``format`` and ``version``; ``needs``; ``classes``, ``coef``, ``intercept``,
``bias``; ``joint``; one per certificate: ``margin``, ``upper_bound``, ``directional_margin``, ``epsilon``,
``C_positive``, ``C_negative``, ``rho``, ``loss``, ``free_bias``, ``data_digest``, ``rows_digest`` (blind to the order
of the rows), ``witness_digest``; the counts of all certificates one after the other: ``count_rows``, ``count_values``,
``count_starts``, over ``n_rows`` rows of data; ``parameters`` as JSON; perhaps ``feature_names`` and ``first_index``;
and ``manifest``, JSON with the SHA-256 of the bytes of every other entry. The SHA-256 of the manifest is the digest of
the model.

A joint margin has one certificate for all rows of weights: ``class_costs`` has the price of slacks for each class and
takes the place of ``C_positive`` and ``C_negative``, and ``count_rows`` holds ``row * n_classes + wrong class``.

What later versions add are sections, entries called ``section/name``. A reader skips the sections that it does not
know, unless ``needs`` names them: without those the model cannot be used. Three are known. ``ball`` has where the exact
optimum is, ``ball/centre`` and ``ball/intercept`` in the shapes of ``coef`` and ``intercept``, and one ``ball/radius``
per certificate, infinite where nothing is known. ``ball/settled_share`` is the share of the training rows that are
settled, NaN where it was not computed. ``history`` has up to 100 checks of the bounds of each problem, for pictures. No
model needs these two. It needs ``scaling`` if it has it: its weights and certificates are about rows in which each
feature x is (x - ``scaling/shift``) / ``scaling/divisor``, and ``scaling/kind`` is "standard" or "maxabs".

Formats 1 and 2 (joint margins) have no ``needs``, ``joint`` and ``manifest``, and their ``witness_digest`` does not
cover the classes.
"""

import hashlib
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.certificate import Certificate
from ..certificate.witness_digest import digest_witnesses
from ..data.atomic import atomic_write
from ..data.dataset import DataError
from ..data.npz import digest_of, read_arrays, write_arrays
from ..problem.statement import labels_text
from ..training.result import Check
from .fields import BALL, COSTS, COUNTS, DIGESTS, NUMBERS, SCALING, Arrays, fields_of, json_object, require, scalar
from .history import HISTORY, as_arrays
from .scaling import Scaling

FORMAT, VERSION, JOINT_VERSION = "dynmargin model", 3, 2
SECTIONS = frozenset({"ball", "history", "scaling"})  # those that this version knows

_ENTRIES = {
    *("format", "version", "needs", "manifest", "classes", "coef", "intercept", "bias", "joint", "rho", "class_costs"),
    *("loss", "free_bias", "n_rows", "parameters", "feature_names", "first_index"),
    *(*NUMBERS, *COSTS, *DIGESTS, *COUNTS, *BALL, *HISTORY, *SCALING),
}
_MISFITS = (KeyError, ValueError, TypeError, OverflowError)  # what entries that do not fit together raise


LIBLINEAR = b"solver_type"  # how its text models begin


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or comes from a newer version; or a model that no file can hold.

    Examples
    --------
    >>> import io
    >>> from dynmargin import ModelFileError, load
    >>> try:
    ...     load(io.BytesIO(b"something else"))
    ... except ModelFileError:
    ...     print("not a model")
    not a model
    """


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
    scaling: Scaling | None = None,
    history: Sequence[Check] = (),
) -> None:
    """Write a model; "-" is standard output. What could not be read back is refused before anything is written."""
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes):
        classes = classes.astype(np.str_)
    if classes.dtype.kind not in "fiubU":
        raise ModelFileError(f"labels of type {classes.dtype} cannot be stored; use numbers or text")
    problems = [certificate.problem for certificate in certificates]
    counts = [certificate.counts for certificate in certificates]
    joint = any(problem.joint for problem in problems)

    def column(owners: Sequence[Any], name: str, dtype: Any = np.float64) -> NDArray[Any]:
        return np.array([getattr(owner, name) for owner in owners], dtype=dtype)

    entries: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "needs": np.array([] if scaling is None else ["scaling"], np.str_),
        "classes": classes,
        "coef": coef,
        "intercept": intercept,
        "bias": bias,
        "joint": joint,
        **{name: column(certificates, name) for name in NUMBERS},
        **{name: column(certificates, name, np.uint64) for name in DIGESTS},
        **{name: column(problems, name) for name in ("rho", *(() if joint else COSTS))},
        "loss": column(problems, "loss", np.str_),
        "free_bias": column(problems, "free_bias", np.bool_),
        "count_rows": _joined([c.indices for c in counts]),
        "count_values": _joined([c.data for c in counts]),
        "count_starts": np.cumsum([0, *(c.nnz for c in counts)], dtype=np.int64),
        "n_rows": counts[0].shape[0] if counts else 0,
        "parameters": json.dumps(_plain(parameters)),
    }
    if joint:
        entries["class_costs"] = column(problems, "costs")[0]
    if feature_names is not None:
        entries["feature_names"] = feature_names.astype(np.str_)
    if first_index is not None:
        entries["first_index"] = first_index
    entries |= _balls(certificates) | as_arrays(history)
    if scaling is not None:
        entries |= dict(zip(SCALING, (scaling.kind, scaling.shift, scaling.divisor), strict=True))
    arrays = {name: np.asanyarray(entry) for name, entry in entries.items()}
    try:
        fields_of(arrays, joint)
        require(len({c.shape[0] for c in counts}) <= 1, "the certificates are about different numbers of rows")
    except _MISFITS as error:
        raise ModelFileError(f"the model cannot be stored: {error}") from error
    manifest = {name: digest_of(array) for name, array in arrays.items()}
    with atomic_write(path) as file:
        write_arrays(file, {**arrays, "manifest": np.array(json.dumps(manifest))})


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return parts one after the other; a single one is not copied, there may be one count per row."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])


def _balls(certificates: Sequence[Certificate]) -> dict[str, NDArray[np.float64]]:
    """Return the section of where the optimum is, if anything is known of it."""
    if not any(certificate.ball for certificate in certificates):
        return {}
    centres = [one.weights if one.ball is None else one.ball.centre for one in certificates]
    intercepts = [one.intercept if one.ball is None else one.ball.intercept for one in certificates]
    radii = [np.inf if one.ball is None else one.ball.radius for one in certificates]
    shares = [np.nan if one.settled_share is None else one.settled_share for one in certificates]
    return dict(zip(BALL, (np.vstack(centres), np.hstack(intercepts), np.array(radii), np.array(shares)), strict=True))


def parse(content: NDArray[np.uint8], name: str) -> dict[str, Any]:
    """Return the fields of the model in the bytes of a file; `name` is for messages."""
    digests: dict[str, str] = {}
    arrays, names = _read(content, name, digests)
    try:
        version = scalar(arrays, "version", "iu")
        if version > VERSION:
            raise _newer(name, f"format {version}; this one reads up to {VERSION}")
        require(version >= 1, f"there is no format {version}")
        if version < VERSION:
            return _with_classes_in_digests(fields_of(arrays, joint=version == JOINT_VERSION))
        require(arrays["needs"].ndim == 1 and arrays["needs"].dtype.kind == "U", "needs is not a list of names")
        if unknown := sorted(set(arrays["needs"].tolist()) - SECTIONS):
            raise _newer(name, f"it needs {labels_text(unknown)}")
        manifest = json_object(arrays, "manifest")
        require("scaling" not in arrays["needs"] or SCALING[0] in arrays, "the scaling that it needs is missing")
        require(manifest.keys() == names - {"manifest"}, "its entries are not those of its manifest")
        for entry, digest in digests.items():
            require(entry == "manifest" or manifest[entry] == digest, f"{entry} is not what its manifest says")
        return fields_of(arrays, scalar(arrays, "joint", "b"))
    except ModelFileError:
        raise
    except _MISFITS as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{name} is damaged: {reason}") from error


def digest(content: NDArray[np.uint8], name: str) -> str | None:
    """Return the digest of the model in the bytes of a file that `parse` accepts; None before format 3."""
    arrays = read_arrays(content, name, "manifest".__eq__)
    return hashlib.sha256(scalar(arrays, "manifest", "U").encode()).hexdigest() if arrays else None


def _read(content: NDArray[np.uint8], name: str, digests: dict[str, str]) -> tuple[Arrays, set[str]]:
    """Return the entries that this version knows, and the names of all; the others are not even unpacked."""
    names: set[str] = set()

    def wanted(entry: str) -> bool:
        names.add(entry)
        return entry in _ENTRIES

    if content[: len(LIBLINEAR)].tobytes() == LIBLINEAR:
        words = shlex.join(["dynmargin", "convert", name, f"{name}.npz"])
        raise ModelFileError(f"{name} is a model of LIBLINEAR; convert it with {words}")
    try:
        arrays = read_arrays(content, name, wanted, digests)
        known = scalar(arrays, "format", "U") == FORMAT
    except _MISFITS as error:
        reason = f" ({error.reason})" if isinstance(error, DataError) else ""
        raise ModelFileError(f"{name} is not a dynmargin model, or it is damaged{reason}") from error
    if not known:
        raise ModelFileError(f"{name} is not a dynmargin model")
    return arrays, names


def _newer(name: str, why: str) -> ModelFileError:
    return ModelFileError(f"{name} was written by a newer dynmargin ({why}); upgrade dynmargin")


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it; what JSON does not know becomes text."""
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _with_classes_in_digests(fields: dict[str, Any]) -> dict[str, Any]:
    """Bring the digests of formats 1 and 2 up to date; one that does not fit its witnesses still does not."""
    certificates = []
    for old in fields["certificates"]:
        witnesses = old.weights, old.intercept, old.counts
        changed = old.witness_digest ^ digest_witnesses(old.problem, *witnesses, with_classes=False, format_3=True)
        certificates.append(replace(old, witness_digest=digest_witnesses(old.problem, *witnesses) ^ changed))
    return fields | {"certificates": tuple(certificates)}
