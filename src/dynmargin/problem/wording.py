"""What parameters and algorithms are called where a message is read: in Python, or at a shell.

Messages of the core are the same for both, but for these names. The command line speaks SHELL while it runs; everything
else is PYTHON.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Wording:
    """How one front names things.

    Attributes
    ----------
    names : dict
        Of parameters, where they differ from those in Python; empty text for one that does not exist.
    between : str
        What is written between a parameter and its value.
    text : callable
        Writes a value that is text, in quotes or not.
    newton, pdm : str
        How to ask for Newton's method, and for PDM.
    scaling : str
        How to scale the features, as an imperative; empty where they are scaled already.
    scalers : str
        What does that, where there is something to name.
    splitting : str
        What to do where a fold lacks a class.
    first_row : int
        The number of the first row: rows of arrays are counted from 0, rows of files from 1, as lines are.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    between: str = "="
    text: Callable[[str], str] = repr
    newton: str = "NewtonClassifier"
    pdm: str = "PDMClassifier"
    scaling: str = "scale the features"
    scalers: str = " (StandardScaler, or MaxAbsScaler for sparse data)"
    splitting: str = "use fewer folds, or a splitter that stratifies"
    first_row: int = 0

    def name(self, parameter: str) -> str:
        """Return what a parameter is called."""
        return self.names.get(parameter, parameter)

    def has(self, parameter: str) -> bool:
        """Whether the parameter can be set at all."""
        return bool(self.name(parameter))

    def setting(self, parameter: str, value: object) -> str:
        """Write a parameter with its value."""
        return f"{self.name(parameter)}{self.between}{value}"


def any_of(advice: list[str]) -> str:
    """Write several things that one may do; those that are empty do not apply."""
    *others, last = filter(None, advice)
    return ", ".join([*others, f"or {last}"]) if others else last


PYTHON = Wording()
SHELL = Wording(
    {
        "C": "-c",
        "algorithm": "--algorithm",
        "beta": "",
        "epsilon": "--epsilon",
        "intercept_scaling": "-B",
        "loss": "--loss",
        "margin_floor": "",
        "max_fits": "--max-fits",
        "max_time": "--max-time",
        "max_updates": "the largest number of updates",
        "sample_weight": "--weights",
    },
    between=" ",
    text=str,
    newton="--algorithm newton",
    pdm="--algorithm pdm",
    scaling="scale the features with --scale standard",
    scalers="",
    splitting="use fewer folds",
    first_row=1,
)

_current = PYTHON  # of the whole process, so that threads speak the language of whoever started them


def wording() -> Wording:
    """Return the names that messages are to use now."""
    return _current


@contextmanager
def speaking(front: Wording) -> Iterator[None]:
    """Use these names in all messages, until the end of the context."""
    global _current
    before, _current = _current, front
    try:
        yield
    finally:
        _current = before
