"""How estimators declare parameters: once, with type, default and constraint, and a paragraph in the docstring.

A parameter is an annotated class attribute, ``C: float = parameter(default=1.0, within=[...])``. The constructor and
scikit-learn's validation follow from it. Type checkers and editors see through it (PEP 681), and a class inherits the
parameters of its bases with their documentation: an estimator has just those groups of them that mean something to it.
Mypy refuses an unknown parameter only where stubs of scikit-learn are installed: to it, the constructor of a class with
a base of no type takes anything. A base of our own under TYPE_CHECKING would not be scikit-learn's BaseEstimator.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar, cast, dataclass_transform

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from ..algorithms.registry import ALGORITHMS, Option, Range
from ..problem.problems import Loss
from ..training.request import Stop
from ..training.schedule import Schedule

POSITIVE = Interval(Real, 0, None, closed="neither")
Method = TypeVar("Method", bound=Callable[..., Any])


def parameter(*, default: Any, within: list[Any], kw_only: bool = True) -> Any:
    """Declare a parameter; `within` holds constraints in scikit-learn's terms."""
    return field(default=default, kw_only=kw_only, metadata={"within": within})


def words(*allowed: str) -> StrOptions:
    """Allow one of several words."""
    return StrOptions(set(allowed))


def option(algorithm: str, name: str) -> Any:
    """Declare a parameter that the registry knows as an option of an algorithm."""
    declared = ALGORITHMS[algorithm].options[name]
    return parameter(default=declared.default, within=_constraints(declared))


def _constraints(declared: Option) -> list[Any]:
    found: list[Any] = ["boolean"]
    if isinstance(declared.within, Range):
        low, high, closed = declared.within
        found = [Interval(Real, low, high, closed=closed)]
    elif isinstance(declared.within, tuple):
        found = [words(*declared.within)]
    return found + ["array-like"] * declared.per_class + [None] * declared.or_none


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
class Parametrised:
    """Base of classes whose parameters are annotated attributes.

    Each class documents the parameters and fitted attributes that it adds or changes; those of its bases are added.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _sections: ClassVar[dict[str, str]] = {}  # of its own documentation, by title

    def __init_subclass__(cls, **options: Any) -> None:
        parts = re.split(r"^(Parameters|Attributes|Examples)\n-+\n", inspect.cleandoc(cls.__doc__ or ""), flags=re.M)
        cls._sections = {"": parts[0].rstrip(), **dict(zip(parts[1::2], parts[2::2], strict=True))}
        # What ends with an underscore is a fitted attribute, not a parameter.
        cls.__annotations__ = {n: kind for n, kind in inspect.get_annotations(cls).items() if not n.endswith("_")}
        dataclass(eq=False, repr=False, kw_only=True)(cls)
        cls._parameter_constraints = {
            one.name: one.metadata.get("within", "no_validation") for one in fields(cast(Any, cls))
        }
        cls.__doc__ = _documented(cls)
        super().__init_subclass__(**options)

    def _validate_params(self) -> None:
        """Let scikit-learn check the parameters that are not at their defaults; all of them would take 0.15 ms."""
        given = ((one, getattr(self, one.name)) for one in fields(cast(Any, self)))
        changed = {one.name: value for one, value in given if value is not one.default}
        validate_parameter_constraints(self._parameter_constraints, changed, caller_name=type(self).__name__)


def validated(method: Method) -> Method:
    """Check the parameters before a fit, as scikit-learn does; the type of the method is kept."""
    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(method))


def _documented(cls: type[Parametrised]) -> str:
    """Complete the documentation of a class by that of its bases."""
    sections = [base.__dict__["_sections"] for base in cls.__mro__ if "_sections" in base.__dict__]

    def entries(title: str, found: list[dict[str, str]]) -> dict[str, str]:
        blocks = [
            block.rstrip() for section in found for block in re.split(r"^(?=\w)", section.get(title, ""), flags=re.M)
        ]
        return {block.split(" ", 1)[0]: block for block in blocks if block}

    texts = entries("Parameters", sections[::-1])  # what a class says of a parameter goes before what its bases say
    first = [name for name in ("epsilon", "C") if name in texts]
    parameters = [texts[name] for name in dict.fromkeys([*first, *entries("Parameters", sections)])]
    attributes = entries("Attributes", sections[::-1]).values()
    text = [sections[0][""], "", "Parameters", "----------", *parameters, "", "Attributes", "----------", *attributes]
    if "Examples" in sections[0]:
        text += ["", "Examples", "--------", sections[0]["Examples"]]
    return "\n".join(text) + "\n"


class Cost(Parametrised):
    """The price of slacks.

    Parameters
    ----------
    C : float in (0, inf], default=1.0
        The price of a squared slack (of a slack, for the hinge); ``float("inf")`` for the hard margin.
    """

    C: float = parameter(default=1.0, within=[Interval(Real, 0, float("inf"), closed="right")])


class Intercept(Parametrised):
    """A regularised intercept, as in LinearSVC.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float in (0, inf), default=1.0
        The value of that feature: the paper's rho. A larger one regularises the intercept less.
    """

    fit_intercept: bool = parameter(default=True, within=["boolean"])
    intercept_scaling: float = parameter(default=1.0, within=[POSITIVE])


class Losses(Parametrised):
    """The choice between the 2-norm and the 1-norm soft margin.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The 2-norm or the 1-norm soft margin, as in LinearSVC. With the hinge the certificate is about the duality
        gap of that problem: ``dual >= (1 - epsilon)² primal``.
    """

    loss: Loss = parameter(default="squared_hinge", within=[words("squared_hinge", "hinge")])


class MarginFloor(Parametrised):
    """When to give up on a hard margin.

    Parameters
    ----------
    margin_floor : float in [0, inf), default=0.0001
        With ``C=inf``: give up when no margin above this fraction of the longest pattern can exist.
    """

    margin_floor: float = parameter(default=1e-4, within=[Interval(Real, 0, None, closed="left")])


class OwnRule(Parametrised):
    """An algorithm that has a rule of its own to stop by, and counts updates.

    Parameters
    ----------
    stop : {"certificate", "convergence"}, default="certificate"
        Stop as soon as the gap is proven, or when the algorithm's own rule is satisfied: for the perceptrons, as in
        the paper, when a full pass finds no pattern misclassified.
    max_updates : int or None, default=None
        The number of updates, per class, after which to stop with what has been reached.
    """

    stop: Stop = parameter(default="certificate", within=[words("certificate", "convergence")])
    max_updates: int | None = parameter(default=None, within=[Interval(Integral, 1, None, closed="left"), None])


class SettledShare(Parametrised):
    """How many predictions are to be settled.

    Parameters
    ----------
    settle : float in (0, 1], default=0.999
        With ``stop="predictions"``: the share of the rows whose predictions must be settled.
    """

    settle: float = parameter(default=0.999, within=[Interval(Real, 0, 1, closed="right")])


class StopBySettledRows(SettledShare):
    """Training until predictions are settled, for algorithms that have no rule of their own to stop by.

    Parameters
    ----------
    stop : {"certificate", "predictions"}, default="certificate"
        Stop as soon as ``epsilon`` is proven, or when the predictions of a share ``settle`` of the rows are settled,
        whatever gap that takes: no more training changes them. The rows are the training rows, or those of
        ``fit(X, y, settle_on=Z)``.
    """

    stop: Stop = parameter(default="certificate", within=[words("certificate", "predictions")])


class OwnRuleOrSettledRows(SettledShare, OwnRule):
    """Training until predictions are settled, for algorithms that also have a rule of their own.

    Parameters
    ----------
    stop : {"certificate", "convergence", "predictions"}, default="certificate"
        Stop as soon as ``epsilon`` is proven, or when the algorithm's own rule is satisfied (for PDM, as in the paper,
        when a full pass finds no pattern misclassified), or when the predictions of a share ``settle`` of the rows are
        settled, whatever gap that takes: no more training changes them. The rows are the training rows, or those of
        ``fit(X, y, settle_on=Z)``.
    """

    stop: Stop = parameter(default="certificate", within=[words("certificate", "convergence", "predictions")])


class Order(Parametrised):
    """The order in which patterns are presented.

    Parameters
    ----------
    schedule : {"fast", "paper"} or Schedule, default="fast"
        The order in which patterns are presented: ours, the paper's, or one of your own.
    """

    schedule: Literal["fast", "paper"] | Schedule = parameter(default="fast", within=[words("fast", "paper"), Schedule])
