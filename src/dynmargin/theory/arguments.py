"""Arguments that make sense, and arrays of them."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Elementwise(Protocol):
    """A function of numbers that takes arrays too."""

    @overload
    def __call__(self, *args: float | str, **kwargs: float | str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> NDArray[np.float64]: ...


def elementwise(function: Callable[..., float]) -> Elementwise:
    """Let a function of numbers take arrays, which are broadcast; of numbers alone it is what it was."""
    of_arrays = np.vectorize(function, otypes=[np.float64])

    @wraps(function)
    def of_any(*args: Any, **kwargs: Any) -> Any:
        if all(np.ndim(value) == 0 for value in (*args, *kwargs.values())):
            return function(*args, **kwargs)
        return of_arrays(*args, **kwargs)

    return of_any


def ratio_of(R: float, gamma_d: float, epsilon: float = 1.0) -> float:
    """Return R / gamma_d, for arguments that make sense."""
    if not 0 < gamma_d <= R < math.inf:
        raise ValueError(f"0 < gamma_d <= R is needed, got gamma_d={gamma_d} and R={R}")
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must be in (0, 1], got {epsilon}")
    return R / gamma_d
