"""The share of rows whose predictions are settled, in words."""

import math


def percent(share: float) -> str:
    """Write a share, rounded down: 100 % means all."""
    if share == 1:
        return "100 %"
    digits = 1 if share < 0.999 else 3
    # 0.29 * 1000 is a little less than 290; what is that close is meant.
    parts = math.floor(round(share * 100 * 10**digits, 6))
    return f"{min(parts, 100 * 10**digits - 1) / 10**digits:.{digits}f} %"


def settled_text(share: float) -> str:
    """Say how many training rows are settled."""
    return f"{percent(share)} of the training rows are provably predicted as by the exact optimum"
