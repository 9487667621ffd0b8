"""Arguments that make sense."""

import math


def ratio_of(R: float, gamma_d: float, epsilon: float = 1.0) -> float:
    """Return R / gamma_d, for arguments that make sense."""
    if not 0 < gamma_d <= R < math.inf:
        raise ValueError(f"0 < gamma_d <= R is needed, got gamma_d={gamma_d} and R={R}")
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must be in (0, 1], got {epsilon}")
    return R / gamma_d
