"""Where the exact optimum is for every C between two: in a ball around a point that moves along a line.

P_C is strongly convex with modulus 1, so its optimum w* satisfies ``(w - w*).g >= ‖w - w*‖²`` for any w with gradient
g. That is a ball around ``w - g/2`` with radius ``‖g‖/2``. (It is the ball of the certificate's two witnesses when the
dual weights are ``C c_k max(0, m_k)``, those of the weights themselves.)

Between two points a and b, take ``w = (1-t) w_a + t w_b`` for ``1/C = (1-t)/C_a + t/C_b``. Then

    g = (1-s) g_a + s g_b  -  C t (1-t) (1/C_b - 1/C_a) (w_b - w_a)  +  C sum_k c_k h_k y_k,      s = t C / C_b

where ``h_k = (1-t) max(0, m_ak) + t max(0, m_bk) - max(0, (1-t) m_ak + t m_bk)`` is nothing unless the row crosses the
margin on the way, and then at most ``|m_ak m_bk| / (|m_ak| + |m_bk|)``, for any t. Everything else is bounded by its
values at the ends.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .objective import TWO_U, Objective, Point, Vector, length


class Place(NamedTuple):
    """A point as a witness of where the optimum at a C is: within the radius of the centre."""

    C: float
    point: Point
    gradient: Vector
    centre: Vector
    radius: float
    rounding: float


def place(C: float, point: Point) -> Place:
    """Find the ball that contains the optimum at a C."""
    gradient, error = point.gradient(C)
    centre = point.w - gradient / 2
    rounding = error + 2 * TWO_U * (length(point.w) + length(gradient))
    return Place(C, point, gradient, centre, length(gradient) / 2 + rounding, rounding)


def radius_between(objective: Objective, a: Place, b: Place) -> float:
    """Bound how far the optimum at any C from a's to b's is from the line between their centres.

    At C it is that far, at most, from ``(1-t) centre_a + t centre_b`` with t as above.
    """
    step = 1 / a.C - 1 / b.C
    along = b.C * step * length(b.point.w - a.point.w) / 4
    rows, missing = bend(a.point.shortfalls, b.point.shortfalls)
    crossing = b.C * float((objective.leverages[rows] * missing).sum())
    unequal = (b.C / a.C - 1) * length(b.gradient - a.gradient) / 8  # |s - t| is at most a quarter of C_b/C_a - 1
    rounding = 2 * (b.C / a.C) * (a.rounding + b.rounding) + b.C * (a.point.error + b.point.error)
    found = max(a.radius, b.radius) + along + crossing + unequal + rounding
    return found * (1 + (len(a.point.shortfalls) + 32) * TWO_U)


def bend(m_a: Vector, m_b: Vector) -> tuple[NDArray[np.intp], Vector]:
    """Return the rows that cross the margin, and by how much ``max(0, m)`` may be below its chord."""
    crossing = np.flatnonzero((m_a < 0) != (m_b < 0))
    one, other = np.abs(m_a[crossing]), np.abs(m_b[crossing])
    return crossing, one * (other / np.maximum(one + other, np.finfo(np.float64).tiny))
