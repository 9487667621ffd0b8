"""A search for the best C that ends when no C of the range can be much better, with a proof."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ..problem.statement import counted
from ..training.request import logger
from .error_curve import Ended, ErrorCurve, Floats, percent
from .held_out import HeldOut
from .moving_ball import Place, place, radius_between
from .objective import TWO_U, Objective, OutOfTime, Point, Vector, combined, require_range

T = TypeVar("T")

SHARE_OF_SEARCH = 0.9  # of the time there is; the rest is for the final fit
FIRST_STEP = math.sqrt(10.0)  # between the first fits
# Between two fits the combination of both is measured at so many places less one, and proven in between. (Adult,
# tolerance 0.01: with 2, 4, 8 and 16 pieces the radius is 2.2, 1.24, 1.06 and 1.02 times that at their ends, and it
# takes 86, 66, 60 and 57 values of C, in 6.3, 6.1, 7.7 and 13.7 s.)
PIECES = 8
NEAR = 4.0  # Newton's method begins between two fits if they are no farther apart, else at the lower one, sooner done
FINEST = 1 + 1e-7  # two fits closer than this differ by rounding


@dataclass
class Span:
    """The range between two neighbouring fits: pieces with bounds, or nothing known yet."""

    low: float
    high: float
    edges: Floats = field(init=False)
    lower: Floats = field(init=False)
    upper: Floats = field(init=False)
    measured: bool = False

    def __post_init__(self) -> None:
        self.edges, self.lower, self.upper = np.array([self.low, self.high]), np.zeros(1), np.ones(1)


class Search:
    """A search for the C with the smallest cross-validation error, with a proof for the whole range.

    Parameters
    ----------
    folds : sequence of HeldOut
        What each fold trains on, and the rows that it is judged by.
    low, high : float
        The range of C.
    tolerance : float
        By how much the error of a C may be smaller than the chosen one's.
    max_fits : int
        The most values of C to train at.
    deadline : float
        On the clock of time.perf_counter.
    n_jobs : int
        How many folds to train at once; the result does not depend on it.
    """

    def __init__(
        self,
        folds: Sequence[HeldOut],
        low: float,
        high: float,
        tolerance: float,
        max_fits: int | None = None,
        deadline: float = math.inf,
        n_jobs: int = 1,
    ) -> None:
        require_range(low, high)
        self.folds = folds
        self.tolerance = tolerance
        self.max_fits = math.inf if max_fits is None else max_fits
        self.deadline = deadline
        self.n_jobs = n_jobs
        self.total = sum(fold.total for fold in folds)
        if not self.total > 0:
            raise ValueError("no row with a weight is held out: there is nothing to judge a C by")
        exact = all(fold.whole for fold in folds) and self.total < 2**53
        n_rows = sum(fold.n_rows for fold in folds)
        self.rounding = 0.0 if exact else (n_rows + 8) * TWO_U  # of a quotient of two sums, half of it each
        self.fits: dict[float, list[list[Vector]]] = {}  # by C, fold and problem
        self.errors: dict[float, tuple[float, float]] = {}
        self.spans = [Span(low, high)]

    def run(self) -> ErrorCurve:
        """Refine where the lower bound is too low, until that is nowhere, or a limit is met."""
        ended: Ended
        try:
            self._begin()
            ended = self._refine()
        except OutOfTime:
            ended = "max_fits" if len(self.fits) >= self.max_fits else "max_time"
        except KeyboardInterrupt:
            if not self.fits:
                raise
            ended = "interrupted"
        return self.curve(ended)

    @property
    def best(self) -> tuple[float, float]:
        """The smallest upper bound at a fit, and the smallest C that has it."""
        return min((upper, C) for C, (_, upper) in self.errors.items())

    def share_proven(self) -> float:
        """Return for how much of the range, on a logarithmic scale, the tolerance is proven."""
        enough, low, high = self.best[0] - self.tolerance, self.spans[0].low, self.spans[-1].high
        proven = sum(float(np.diff(np.log(span.edges))[span.lower >= enough].sum()) for span in self.spans)
        return proven / math.log(high / low)

    def in_order(self) -> list[list[list[Vector]]]:
        """Return the weights of all fits, by C in increasing order, by fold and by problem."""
        return [self.fits[C] for C in sorted(self.fits)]

    def curve(self, ended: Ended) -> ErrorCurve:
        """Return what is proven so far."""
        error, C = self.best
        Cs = np.array(sorted(self.fits))
        return ErrorCurve(
            edges=np.concatenate([self.spans[0].edges[:1], *(span.edges[1:] for span in self.spans)]),
            lower=np.concatenate([span.lower for span in self.spans]),
            upper=np.concatenate([span.upper for span in self.spans]),
            Cs=Cs,
            errors=np.array([self.errors[C] for C in Cs.tolist()]),
            C=C,
            error=error,
            tolerance=self.tolerance,
            ended=ended,
        )

    def _begin(self) -> None:
        """Train a few values from end to end of the range, as many as are allowed, in half of the time.

        The other half is to measure what lies between them. Upwards is the quickest order (3,000 sparse rows and
        features: 2.4 s, coarse first 4.2 s), but time may run out on the way.
        """
        low, high, now = self.spans[0].low, self.spans[0].high, time.perf_counter()
        halfway = now + (self.deadline - now) / 2
        n_steps = int(max(1, min(math.ceil(math.log(high / low) / math.log(FIRST_STEP)), self.max_fits - 1)))
        for step in range(n_steps + 1) if self.deadline == math.inf else coarse_first(n_steps):
            if len(self.fits) >= 2 and time.perf_counter() > halfway:
                return
            C = {0: low, n_steps: high}.get(step) or written_shortly(low * (high / low) ** (step / n_steps), low, high)
            self._train(C)
            if low < C < high:
                self._split(next(span for span in self.spans if span.low < C < span.high), C)

    def _refine(self) -> Ended:
        while True:
            error, best = self.best
            logger.info(
                "%s of C trained; C = %.4g has an error of at most %s; proven for %.1f %% of the range",
                *(counted(len(self.fits), "value"), best, percent(error, up=True), 100 * self.share_proven()),
            )
            if error - min(float(span.lower.min()) for span in self.spans) <= self.tolerance:
                return "tolerance"
            if self._over():
                raise OutOfTime
            last = len(self.fits) >= self.max_fits  # then what can still be measured comes first
            span = min(self.spans, key=lambda span: (last and span.measured, float(span.lower.min())))
            if not span.measured:
                self._measure(span)
            elif span.high < FINEST * span.low:
                return "rounding"
            else:
                C = float(span.edges[PIECES // 2])
                self._train(C)
                self._split(span, C)

    def _split(self, span: Span, C: float) -> None:
        """Make two spans of one; what is known of its pieces stays known."""
        parts = Span(span.low, C), Span(C, span.high)
        if span.measured:
            middle = int(np.searchsorted(span.edges, C))
            for part, pieces in zip(parts, (slice(None, middle), slice(middle, None)), strict=True):
                part.edges = np.unique(np.append(span.edges[pieces], C))
                part.lower, part.upper = span.lower[pieces], span.upper[pieces]
        place = self.spans.index(span)
        self.spans[place : place + 1] = parts

    def _over(self) -> bool:
        """Whether there is no time left; the first C is trained in any case."""
        return bool(self.fits) and time.perf_counter() > self.deadline

    def _train(self, C: float) -> None:
        """Train all folds at C, from a combination of the neighbouring fits, and bound the error there."""
        if self._over() or len(self.fits) >= self.max_fits:
            raise OutOfTime
        below = max((known for known in self.fits if known < C), default=None)
        above = min((known for known in self.fits if known > C), default=None)

        def train(f: int, k: int) -> Vector:
            objective = self.folds[f].objectives[k]
            if below is None:
                return objective.first(C, ended=self._over)
            start = self.fits[below][f][k]
            if above is not None and above <= NEAR * below:
                start = combined(C, objective.point(start), objective.point(self.fits[above][f][k]))
            return objective.lowest(C, start, ended=self._over)

        fits = self._for_each_problem(train)
        wrong, open_ = 0.0, 0.0
        for fold, found in zip(self.folds, fits, strict=True):
            places = [place(C, one.point(w)) for one, w in zip(fold.objectives, found, strict=True)]
            settled = fold.settle([[at] for at in places], [np.array([at.radius]) for at in places])
            wrong, open_ = wrong + float(settled[0][0]), open_ + float(settled[1][0])
        lower, upper = self._bounds(np.array(wrong), np.array(open_))
        self.fits[C], self.errors[C] = fits, (float(lower), float(upper))

    def _measure(self, span: Span) -> None:
        """Bound the error between two fits, piece by piece, from combinations of both."""
        edges = np.geomspace(span.low, span.high, PIECES + 1)
        edges[[0, -1]] = span.low, span.high

        def settle(f: int) -> tuple[Floats, Floats]:
            fold, low, high = self.folds[f], self.fits[span.low][f], self.fits[span.high][f]
            lines, radii = [], []
            for objective, w_low, w_high in zip(fold.objectives, low, high, strict=True):
                line = list(_places(objective, edges, objective.point(w_low), objective.point(w_high)))
                lines.append(line)
                between = (radius_between(objective, a, b) for a, b in pairwise(line))
                radii.append(np.fromiter(between, dtype=np.float64))
            return fold.settle(lines, radii)

        found = self._map(settle, range(len(self.folds)))
        wrong, open_ = (sum(parts, np.zeros(PIECES)) for parts in zip(*found, strict=True))
        span.edges, (span.lower, span.upper) = edges, self._bounds(wrong, open_)
        span.measured = True

    def _bounds(self, wrong: Floats, open_: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest error, from the weights of the rows that are wrong and that are open.

        Without weights, and with whole ones, sums are exact and these are the doubles next to exact fractions of one
        total: any two compare as the fractions do. Other weights have sums that are rounded.
        """
        lower, upper = wrong / self.total, (wrong + open_) / self.total
        return lower * (1 - self.rounding), np.minimum(1.0, upper * (1 + self.rounding))

    def _for_each_problem(self, train: Callable[[int, int], Vector]) -> list[list[Vector]]:
        keys = [(f, k) for f, fold in enumerate(self.folds) for k in range(len(fold.objectives))]
        found = iter(self._map(lambda key: train(*key), keys))
        return [[next(found) for _ in fold.objectives] for fold in self.folds]

    def _map(self, function: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
        if self.n_jobs <= 1:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(self.n_jobs, len(items)), thread_name_prefix="dynmargin") as pool:
            return list(pool.map(function, items))


def coarse_first(n_steps: int) -> list[int]:
    """Return the numbers from 0 to n_steps: both ends, then the middle, then those of both halves, and so on."""
    order, open_ = [0, n_steps], [(0, n_steps)]
    for low, high in open_:  # which grows
        middle = (low + high) // 2
        if low < middle:
            order.append(middle)
            open_ += [(low, middle), (middle, high)]
    return order


def written_shortly(C: float, low: float, high: float) -> float:
    """Return about the same C in as few digits as still divide the range well."""
    for digits in range(4, 17):
        short = float(f"{C:.{digits}g}")
        if low < short < high and abs(math.log(short / C)) < 0.1 * math.log(high / low):
            return short
    return C


def _places(objective: Objective, Cs: Floats, low: Point, high: Point) -> Iterator[Place]:
    """Yield the places along the way from one fit to another."""
    for C in Cs[:-1].tolist():
        yield place(C, low if Cs[0] == C else objective.point(combined(C, low, high)))
    yield place(float(Cs[-1]), high)
