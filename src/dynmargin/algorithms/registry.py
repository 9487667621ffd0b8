"""Every algorithm, declared once: its name, its options, its estimator, and what it can do.

Estimators, `compare`, the command line, the public names, the tables in the docs and the lists in the tests are derived
from this table. It loads nothing: a family is imported when one of its algorithms is used.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple


class Range(NamedTuple):
    """Real numbers between two ends."""

    low: float
    high: float | None = None  # None for no end
    closed: str = "neither"  # "left", "right", "both" or "neither"


class Option(NamedTuple):
    """A parameter that an algorithm has to itself.

    Attributes
    ----------
    default : object
        Its value unless another one is given.
    within : Range, tuple of str or type
        What it may be: a number, one of several words, or a bool.
    or_none : bool
        Whether it may be None.
    per_class : bool
        Whether it may be an array of one value per class.
    """

    default: Any
    within: Range | tuple[str, ...] | type[bool]
    or_none: bool = False
    per_class: bool = False


class Algorithm(NamedTuple):
    """What there is to know about an algorithm before it runs.

    Attributes
    ----------
    name : str
        For the command line and `compare`.
    title : str
        What it is, in a few words.
    family : str
        The module of `algorithms` that trains it, in a function called ``train_`` and its name, and the module of
        `classifiers` that has its estimator.
    estimator : str
        The name of its estimator.
    options : dict
        Its own parameters; what they mean is said by the estimator.
    variants : dict
        Other names for it with some options set.
    losses : tuple of str
        The losses that it knows.
    soft_only : bool
        Whether it needs a finite C.
    joint : bool
        Whether it can train all classes at once.
    online : bool
        Whether its estimator has `partial_fit`.
    free_bias : bool
        Whether its intercept is not regularised.
    steady : bool
        Whether its gap falls as a power of time, so that the time it takes can be projected.
    """

    name: str
    title: str
    family: str
    estimator: str
    options: Mapping[str, Option] = {}
    variants: Mapping[str, Mapping[str, Any]] = {}
    losses: tuple[str, ...] = ("squared_hinge",)
    soft_only: bool = False
    joint: bool = False
    online: bool = False
    free_bias: bool = False
    steady: bool = True

    def load(self) -> Callable[..., Any]:
        """Import the function that trains it: from a packed problem, a request and its options to a result."""
        module = import_module(f".{self.family}", __package__)
        train: Callable[..., Any] = getattr(module, f"train_{self.name.replace('-', '_')}")
        return train


POSITIVE = Range(0)
BOTH = ("squared_hinge", "hinge")
THRESHOLD = Option(3.0, POSITIVE)
POWER = Option(0.5, POSITIVE)

ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "pdm",
            "perceptron with dynamic margin",
            "pdm",
            "PDMClassifier",
            {"eta": Option(None, Range(1), or_none=True)},
            {"pdm-succ": {"eta": 8.0}},  # as in the paper
            joint=True,
            online=True,
        ),
        Algorithm(
            "pfm",
            "perceptron with fixed margin",
            "pdm",
            "PFMClassifier",
            {"beta": Option(None, POSITIVE, or_none=True, per_class=True)},
        ),
        Algorithm("newton", "Newton's method", "newton", "NewtonClassifier", soft_only=True),
        Algorithm(
            "dcd",
            "dual coordinate descent",
            "dual",
            "DCDClassifier",
            variants={"dcd-hinge": {"loss": "hinge"}},
            losses=BOTH,
        ),
        Algorithm(
            "mpu",
            "margin perceptron with unlearning",
            "dual",
            "MPUClassifier",
            {"dead_zone": Option(3.0, Range(1))},
            {"mpu-hinge": {"loss": "hinge"}},
            losses=BOTH,
        ),
        # Its gap falls slowly, and then fast: 8,000 rows of Adult take 5 s; after 0.7 s a power of time promises 500 s.
        Algorithm(
            "decomposition", "decomposition SVM", "dual", "DecompositionSVMClassifier", free_bias=True, steady=False
        ),
        Algorithm(
            "romma",
            "relaxed online maximum margin algorithm",
            "rescaling",
            "ROMMAClassifier",
            {"aggressive": Option(True, bool)},
            {"romma-plain": {"aggressive": False}},
        ),
        Algorithm(
            "alma",
            "approximate large margin algorithm",
            "rescaling",
            "ALMAClassifier",
            {"alpha": Option(0.5, Range(0, 1, "right"))},
        ),
        Algorithm(
            "cramma",
            "constant rate approximate maximum margin algorithm",
            "rescaling",
            "CRAMMAClassifier",
            {
                "threshold": THRESHOLD,
                "power": POWER,
                "rate": Option(0.003, POSITIVE),
            },
        ),
        Algorithm(
            "micra",
            "mistake-controlled rule algorithm",
            "rescaling",
            "MICRAClassifier",
            {
                "threshold": THRESHOLD,
                "power": POWER,
                "rate": Option(1.0, POSITIVE),
                "zeta": Option(0.5, Range(0, 1, "left")),
            },
        ),
        Algorithm("perceptron", "classical perceptron", "perceptrons", "PerceptronClassifier"),
        Algorithm(
            "margin-perceptron",
            "perceptron with margin",
            "perceptrons",
            "MarginPerceptronClassifier",
            {"b": Option(20.0, POSITIVE)},
        ),
        Algorithm(
            "margitron",
            "perceptron with a growing threshold",
            "perceptrons",
            "MargitronClassifier",
            {
                "growth": Option("updates", ("updates", "norm")),
                "gamma_bound": Option(None, POSITIVE, or_none=True),
            },
            {"margitron-norm": {"growth": "norm"}},
        ),
        Algorithm(
            "auto",
            "the algorithm that suits the data",
            "front_door",
            "MaxMarginClassifier",
            losses=BOTH,
            joint=True,
        ),
    )
}

# Every name that an algorithm goes by: the algorithm, and what is set for it.
NAMES: dict[str, tuple[Algorithm, Mapping[str, Any]]] = {
    name: (algorithm, settings)
    for algorithm in ALGORITHMS.values()
    for name, settings in {algorithm.name: {}, **algorithm.variants}.items()
}


def find(name: str) -> tuple[Algorithm, Callable[..., Any]]:
    """Look an algorithm up by name: what it is, and its training function with all options set."""
    algorithm, settings = NAMES[name]
    options = {option: settings.get(option, declared.default) for option, declared in algorithm.options.items()}
    return algorithm, partial(algorithm.load(), **options)
