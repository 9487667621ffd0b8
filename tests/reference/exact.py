"""Sums without rounding, to judge published bounds by."""

from fractions import Fraction


def fractions(values):
    return [Fraction(float(v)) for v in values]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
