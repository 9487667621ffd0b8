"""Real LIBLINEAR (``pip install dynmargin[paper]``), for the DCD columns of Table 2."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Trained(NamedTuple):
    """Weights with the bias as the last one, CPU seconds, and whether the program stopped by its own rule."""

    weights: NDArray[np.float64]
    seconds: float
    converged: bool


def train(X: Any, y: NDArray[np.int64], solver: int, C: float, tolerance: float) -> Trained:
    """Train with a bias by augmentation, rho = 1; the conversion of the rows is not timed."""
    from liblinear.liblinear import PRINT_STRING_FUN, parameter, problem
    from liblinear.liblinearutil import train as run

    said: list[str] = []
    options = parameter(f"-s {solver} -c {C!r} -B 1 -e {tolerance!r}")
    options.print_func = PRINT_STRING_FUN(lambda text: said.append(text.decode()))
    rows = problem(y, X, bias=1)
    start = time.process_time()
    model = run(rows, options)
    seconds = time.process_time() - start
    sign = 1 if model.label[0] > 0 else -1
    weights = sign * np.array(model.w[: X.shape[1] + 1])
    # It gives up after 300 passes; solver 1 then goes on with another algorithm.
    return Trained(weights, seconds, "max number of iterations" not in "".join(said))
