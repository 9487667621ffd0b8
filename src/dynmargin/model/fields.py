"""What the entries of a model file must be to form a model; checked before it is written and after it was read."""

import json
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..certificate.ball import Ball
from ..certificate.certificate import Certificate
from ..certificate.certify import certificate_type
from ..certificate.counts import SparseCounts
from ..problem.problems import BinaryProblem, JointProblem, Loss, Problem, require_one_kind
from .history import from_arrays
from .scaling import KINDS, Scaling

NUMBERS = ("margin", "upper_bound", "directional_margin", "epsilon")
COSTS = ("C_positive", "C_negative")
DIGESTS = ("data_digest", "rows_digest", "witness_digest")
COUNTS = ("count_rows", "count_values", "count_starts")
BALL = ("ball/centre", "ball/intercept", "ball/radius", "ball/settled_share")  # an optional section
SCALING = ("scaling/kind", "scaling/shift", "scaling/divisor")  # a section that a model needs if it has one
LARGEST_TOTAL = 2**53  # of the counts of a certificate; the core refuses more

Arrays = Mapping[str, NDArray[Any]]


def fields_of(arrays: Arrays, joint: bool) -> dict[str, Any]:
    """Check that everything fits together, when reading and before writing; return the fields of a model."""
    coef, intercept, classes = arrays["coef"], arrays["intercept"], arrays["classes"]
    require(coef.ndim == 2 and coef.dtype == np.float64, "coef is not a table of doubles")
    coef = np.ascontiguousarray(coef)  # one that was stored by columns is as good
    require(intercept.shape == (len(coef),) and intercept.dtype == np.float64, "intercept does not fit coef")
    require(
        classes.ndim == 1 and classes.dtype.kind in "fiubU" and classes.dtype != np.longdouble, "classes are not labels"
    )
    labels = classes.tolist()
    require(len(classes) >= 2 and len(coef) in (1 if len(classes) == 2 else 0, len(classes)), "classes do not fit coef")
    require(len(set(labels)) == len(labels), "two classes are the same")
    require(classes.dtype.kind != "f" or bool(np.isfinite(classes).all()), "a class is not a finite number")
    require(bool(np.isfinite(coef).all() and np.isfinite(intercept).all()), "the weights are not finite")
    names = arrays.get("feature_names")
    require(
        names is None or (names.dtype.kind == "U" and names.shape == coef.shape[1:]),
        "feature_names do not fit: there must be one for each feature",
    )
    require(names is None or len(set(names.tolist())) == len(names), "two features have the same name")
    for text in (classes, names):
        if text is not None and text.dtype.kind == "U":
            "".join(text.tolist()).encode()  # refuses invalid Unicode
    bias, first_index, parameters = scalar(arrays, "bias", "fiu"), None, json_object(arrays, "parameters")
    require(0 <= bias < np.inf, "bias is not a number that a constant feature can have")
    if "first_index" in arrays:
        first_index = scalar(arrays, "first_index", "iu")
        require(first_index in (0, 1), "first_index is neither 0 nor 1")
    require(isinstance(parameters.get("label"), str | None), "the label among the parameters is not a name")
    require(arrays["margin"].ndim == 1, "margin is not one double per certificate")
    return {
        "classes": classes,
        "coef": coef,
        "intercept": intercept,
        "bias": float(bias),
        "certificates": _certificates(arrays, labels, coef, intercept, joint) if len(arrays["margin"]) else (),
        "feature_names": names,
        "first_index": first_index,
        "parameters": parameters,
        "scaling": _scaling(arrays, coef),
        "history": from_arrays(arrays, max(1, len(arrays["margin"]))),
    }


def _scaling(arrays: Arrays, coef: NDArray[np.float64]) -> Scaling | None:
    """Return how rows are scaled before they are multiplied by the weights, None if they are not."""
    if not any(name in arrays for name in SCALING):
        return None
    kind, shift, divisor = scalar(arrays, "scaling/kind", "U"), arrays["scaling/shift"], arrays["scaling/divisor"]
    require(kind in KINDS, f"there is no scaling {kind!r}")
    fits = shift.shape == divisor.shape == coef.shape[1:] and shift.dtype == divisor.dtype == np.float64
    require(fits, "the scaling does not fit: there must be one shift and one divisor for each feature")
    sound = np.isfinite(shift).all() and np.isfinite(divisor).all() and (divisor > 0).all()
    require(bool(sound), "the scaling is not finite, or does not divide by positive numbers")
    return Scaling(kind, np.ascontiguousarray(shift), np.ascontiguousarray(divisor))


def _certificates(
    arrays: Arrays, classes: list[Any], coef: NDArray[np.float64], intercept: NDArray[np.float64], joint: bool
) -> tuple[Certificate, ...]:
    n = len(arrays["margin"])
    if joint:
        require(n == 1 and len(coef) == len(classes), "there is not one certificate for all classes")
    else:
        require(n == len(coef), "the number of certificates is not that of the rows of weights")
    for names, dtype, what in (
        ((*NUMBERS, "rho", *(() if joint else COSTS)), np.float64, "one double"),
        (DIGESTS, np.uint64, "one digest"),
        (("free_bias",), np.bool_, "true or false"),
    ):
        for name in names:
            fits = arrays[name].shape == (n,) and arrays[name].dtype == dtype
            require(fits, f"{name} is not {what} per certificate")
    for name in ("margin", "upper_bound", "epsilon"):
        require(not np.isnan(arrays[name]).any(), f"{name} is not a number")
    problems = _problems(arrays, classes, joint)
    n_rows, starts = scalar(arrays, "n_rows", "iu"), arrays["count_starts"]
    require(0 <= n_rows * len(classes) < 2**63, f"there cannot be {n_rows} rows")
    for name in COUNTS:
        require(arrays[name].dtype == np.int64 and arrays[name].ndim == 1, "counts are not int64")
    rows, values = arrays["count_rows"], arrays["count_values"]
    require(len(rows) == len(values) and len(starts) == n + 1, "the counts do not fit each other")
    require(
        bool(starts[0] == 0 and starts[-1] == len(rows) and (starts[:-1] <= starts[1:]).all()), "count_starts are wrong"
    )
    balls, shares = _balls(arrays, coef, n, joint)
    certificates = []
    for i, problem in enumerate(problems):
        part = slice(int(starts[i]), int(starts[i + 1]))
        counts = SparseCounts(rows[part], values[part], problem.counts_shape(n_rows))
        _require_counts(counts)
        numbers: dict[str, Any] = {name: float(arrays[name][i]) for name in NUMBERS}
        numbers |= {name: int(arrays[name][i]) for name in DIGESTS}
        certificates.append(
            certificate_type(problem)(
                **numbers,
                weights=coef if joint else coef[i],
                intercept=intercept if joint else float(intercept[i]),
                counts=counts,
                problem=problem,
                ball=balls[i],
                settled_share=shares[i],
            )
        )
    return tuple(certificates)


def _balls(
    arrays: Arrays, coef: NDArray[np.float64], n: int, joint: bool
) -> tuple[list[Ball | None], list[float | None]]:
    """Return the ball of each certificate and its share of settled rows, None where there is none."""
    if "ball/radius" not in arrays:
        return [None] * n, [None] * n
    centre, intercept, radius, shares = (arrays[name] for name in BALL)
    fits = centre.shape == coef.shape and intercept.shape == (len(coef),) and radius.shape == shares.shape == (n,)
    require(fits and all(arrays[name].dtype == np.float64 for name in BALL), "the balls do not fit the weights")
    require(bool(np.isfinite(centre).all() and np.isfinite(intercept).all()), "the centre of a ball is not finite")
    require(bool((radius >= 0).all()), "the radius of a ball is not a length")
    require(bool(((shares >= 0) & (shares <= 1) | np.isnan(shares)).all()), "settled_share is not between 0 and 1")
    centre = np.ascontiguousarray(centre)
    balls = [
        Ball(centre if joint else centre[i], intercept if joint else float(intercept[i]), float(radius[i]))
        for i in range(n)
    ]
    return (
        [ball if ball.radius < np.inf else None for ball in balls],
        [None if np.isnan(share) else float(share) for share in shares],
    )


def _problems(arrays: Arrays, classes: list[Any], joint: bool) -> list[Problem]:
    n, labels, problems = len(arrays["margin"]), tuple(classes), list[Problem]()
    losses = arrays["loss"]
    require(losses.shape == (n,) and set(losses.tolist()) <= set(get_args(Loss)), "unknown loss")
    if joint:
        costs = arrays["class_costs"]
        require(losses[0] == JointProblem.loss and not arrays["free_bias"][0], "a joint margin has squared slacks only")
        require(costs.shape == (len(classes),) and costs.dtype == np.float64, "class_costs do not fit the classes")
        problems.append(JointProblem(labels, tuple(costs.tolist()), float(arrays["rho"][0])))
    else:
        problems += [
            BinaryProblem(
                classes[1] if n == 1 else classes[i],
                **{name: float(arrays[name][i]) for name in (*COSTS, "rho")},
                loss=losses[i].item(),
                free_bias=bool(arrays["free_bias"][i]),
                classes=labels,
            )
            for i in range(n)
        ]
    for problem in problems:
        problem.to_core(np.array([1], dtype=np.int8))  # refuses impossible prices and augmentations
    require_one_kind(problems)
    return problems


def _require_counts(counts: SparseCounts) -> None:
    """Refuse impossible counts."""
    places, values, size = counts.indices, counts.data, int(np.prod(counts.shape, dtype=object))
    in_order = bool((places[1:] > places[:-1]).all()) and (len(places) == 0 or 0 <= places[0] <= places[-1] < size)
    require(in_order, "the rows of the counts are out of order or out of range")
    bounded = bool(((values >= 0) & (values <= LARGEST_TOTAL)).all()) and values.sum(dtype=np.float64) <= LARGEST_TOTAL
    require(bounded, "the counts are negative, or too many")


def scalar(arrays: Arrays, name: str, kinds: str) -> Any:
    """Return an entry that is a single value of one of these kinds."""
    array = arrays[name]
    require(
        array.shape == () and array.dtype.kind in kinds and array.dtype != np.longdouble,
        f"{name} is not a single value of its type",
    )
    return array.item()


def json_object(arrays: Arrays, name: str) -> dict[str, Any]:
    """Read a JSON object; one that is nested too deeply is not ours."""
    try:
        found = json.loads(scalar(arrays, name, "U"))
    except RecursionError:
        found = None
    require(isinstance(found, dict), f"{name} are not a JSON object")
    return dict(found)


def require(holds: bool, otherwise: str) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise ValueError(otherwise)
