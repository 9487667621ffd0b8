"""Dual coordinate descent in a race: by itself, and from the dual weights of Newton's method."""

import math

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...problem.packed import PackedProblem
from ...training.request import Request
from ..dual import start_dcd
from ..newton import Vector
from .entrant import MOST_VISITS, NOTHING, TINY, Entrant, require_intact
from .newton import Newton

FEWEST_PASSES = 3.0  # in a turn
# Where another is expected to take less than this, that begins. On very tall data it is times the eighth root of the
# stiffness: Newton's method is seldom slower there, and what coordinate descent finds is of little use to it. (20
# random problems of 141 begin otherwise for that: 19 take less time, 13 % less on average.)
TYPICAL_PASSES = 6.0
# Of what full passes of coordinate descent foretell, once there are two: it accelerates as fewer rows change. (Of 217
# random problems three get other turns for it: 134 ms instead of 297, 13 instead of 26, 13 instead of 12.)
ACCELERATES = 0.6
# Times the work so far: no forecast of coordinate descent is good for more, since it accelerates once its states are
# mixed. (Of 129 random problems 20 get other turns for it, and take 0.8 times the work: 1,676 rows of 444 columns a
# fifth, and none more than 1.22 times.)
FARTHEST = 5.0
# On dense rows the share of the rows that have a dual weight is looked at whenever the work has grown to about twice as
# much (a probe may end nearly a pass late). Where it has fallen below this times what it was, coordinate descent is
# about to accelerate, and the last of these numbers takes the place of FARTHEST. Newton's method takes long on such
# problems, since few rows are left to hold its steps. (35 random problems, with SETTLED below: 1.08 times the time of
# the best algorithm by itself instead of 1.28; 958 rows of 349 columns a third of the time, 1,813 of 219 columns half,
# 708 of 75 columns 1.4 times. On sparse rows as many lose by it as gain.)
DWINDLES, ABOUT_TWICE, FARTHEST_IF_DWINDLING = 0.95, 1.75, 1.0
# Where rows are dense, or features are few and fewer than rows, and the stiffness is above this, coordinate descent is
# either the fastest or hopeless. Two probes of so many passes tell: hopeless if more than this share of the rows have a
# dual weight, they do not dwindle, and the second hardly reduces the gap. Newton's method suits such problems, since
# its system stays the same; PDM, which makes such steps too, takes longer. (With probes of two passes 25 of 210 random
# problems get other turns for it and take 0.63 times the time; but 1,827 rows of 1,059 columns, which look hopeless
# after those, are done after 20 passes.)
HARD, PROBE, CROWDED, HARDLY = 100.0, 4.0, 0.15, 0.85
# With at least so many columns per row it is not hopeless if more than this share of the rows have gained or lost a
# dual weight since the first probe: which rows matter is not settled yet. (Of 46 problems that looked hopeless,
# coordinate descent is the fastest on 11, by up to ten times; that share is 0.001 to 0.004 on three of these and 0.015
# to 0.11 on the others, and above 0.01 on three of the 35. 2,244 rows of 1,964 columns: 170 ms instead of 620, 667 of
# 1,171: 38 instead of 155.)
COLUMNS_PER_ROW, SETTLED = 0.5, 0.01
# Times its work so far, what it is expected to take then: it gets another turn once all others are expected to take
# longer. On sparse rows Newton's method may be hopeless too. (734 rows of 1,313 columns: 550 ms instead of 1,400 with
# 1,000; with 80, 2,050 rows of 1,342 columns take three times as long. 1,378 sparse rows of 1,590 columns: 16 ms
# instead of 103.)
HOPELESS, HOPELESS_IF_SPARSE = 150.0, 40.0
LATE = 10.0  # times the work so far: what is expected of one whose result could not be proven
FINISH, FINISH_LONGER, CLOSE = 2.0, 6.0, 0.1  # passes of coordinate descent from Newton's; more if this gap is left


class CoordinateDescent(Entrant):
    """Dual coordinate descent: its passes are the cheapest, and tell how fast the gap falls."""

    name = "dcd"
    remembered = ("probed_gap", "probed_share", "watched_work", "watched_share", "dwindling", "foretold")
    probed_gap, probed_share = 0.0, 0.0  # the gap and the share of rows with a dual weight after the first probe
    watched_work, watched_share = 0.0, 0.0  # the work, and that share, when the share was last looked at
    dwindling = 0.0  # 1 if it had fallen then
    foretold = 0.0  # the work in all that it was expected to take when that was first to be corrected

    def __init__(self, problem: PackedProblem, request: Request) -> None:
        super().__init__(problem, request)
        many_columns = problem.rows.n_columns >= COLUMNS_PER_ROW * problem.n_rows
        size = len(problem.sides) if self.may_be_hopeless and many_columns else 0
        self.probed_rows = np.zeros(size, dtype=bool)  # those with a dual weight after the first probe

    @property
    def may_be_hopeless(self) -> bool:
        """Whether the problem is of a kind where it is either the fastest, or hopeless."""
        columns = self.problem.rows.n_columns
        few = columns <= _core.MOST_HESSIAN_COLUMNS and columns < self.problem.n_rows
        return (self.dense or few) and not self.very_tall and self.problem.stiffness > HARD

    @property
    def probed(self) -> bool:
        """Whether the first probe is over, and was remembered."""
        return self.probed_gap > 0

    @property
    def crowded(self) -> bool:
        """Whether it may be hopeless, and many rows have a dual weight."""
        return self.may_be_hopeless and self.trainer is not None and self.active_share() > CROWDED

    def remember_probe(self) -> None:
        """Remember what the first probe has found."""
        active = self._active() if self.probed_rows.size else self.probed_rows
        gap, share = max(min(self.gap, 1.0), TINY), self.active_share()
        self.probed_gap, self.probed_share, self.probed_rows = gap, share, active

    def watch(self) -> None:
        """Find out whether fewer rows have a dual weight than when it had done about half of the work."""
        if self.dense and self.work >= ABOUT_TWICE * self.watched_work:
            share = self.active_share()
            self.dwindling = float(share < DWINDLES * self.watched_share)
            self.watched_work, self.watched_share = self.work, share

    @property
    def hopeless(self) -> bool:
        """Whether it looks so by now, compared with what the first probe has found; to be read after the second."""
        if not self.probed or self.gap <= HARDLY * self.probed_gap:
            return False
        changed = int(np.count_nonzero(self._active() != self.probed_rows)) if self.probed_rows.size else 0
        return self.active_share() >= DWINDLES * self.probed_share and changed <= SETTLED * self.problem.n_rows

    def start(self, w: Vector | None) -> None:
        """Begin at zero."""
        self.trainer = start_dcd(self.problem, self.request)

    def expected(self, spent: float) -> float:
        """Return the work that it will take to close the gap, when all have spent so much already."""
        if self.trainer is None:
            longer = max(1.0, math.sqrt(math.sqrt(self.root))) if self.very_tall else 1.0
            return TYPICAL_PASSES * self.pass_work * longer
        epsilon = self.request.epsilon
        if self.gap <= epsilon:  # and yet the race goes on: what it has found cannot be proven
            return LATE * spent
        if self.hopeless:
            return (HOPELESS if self.dense else HOPELESS_IF_SPARSE) * self.work
        # What full passes tell, once there are two of them, is often far too much in the beginning. (With the smaller
        # of both forecasts 141 random problems take 2 % less time; two of them take half.)
        visits: float = self.trainer.visits_for(self.gap)
        faster = ACCELERATES if visits < math.inf else 1.0
        farthest = (FARTHEST_IF_DWINDLING if self.dwindling else FARTHEST) * self.work
        return faster * min(visits / self.problem.n_rows * self.pass_work, self.work_if_even, farthest)

    def corrected(self, forecast: float) -> float:
        """Return what is left to be done if this forecast is as wrong as the first one has turned out to be.

        Where progress is slow but steady, every forecast says that the end is near, and none comes true. (Of 379 random
        problems 28 get other turns for it and take 0.9 times the work: 4,669 rows of 89,633 columns 74 ms instead of
        136, 8,259 of 148 columns 35 instead of 51; one of them takes 2.5 times the work.) While fewer and fewer rows
        have a dual weight, the forecast is limited instead, and neither corrected nor remembered.
        """
        if self.dwindling:
            return forecast
        total = self.work + forecast
        self.foretold = self.foretold or total
        return forecast * max(1.0, total / self.foretold)

    @property
    def least(self) -> float:
        """The least work that is worth a turn."""
        return FEWEST_PASSES * self.pass_work

    def active_share(self) -> float:
        """Return the share of rows that have a dual weight: they are the ones that Newton's Hessian is summed over."""
        return max(1, int(np.count_nonzero(self._active()))) / self.problem.n_rows

    def _active(self) -> NDArray[np.bool_]:
        active: NDArray[np.bool_] = self.trainer.dual_weights() > 0
        return active

    def numbers(self) -> list[float]:
        """Return what a snapshot has to hold beside the state of the run."""
        return [*super().numbers(), *self.probed_rows.astype(float)]

    def restore(self, numbers: list[float], snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        n_others = len(numbers) - self.probed_rows.size
        require_intact(all(number in (0, 1) for number in numbers[n_others:]))
        super().restore(numbers[:n_others], snapshot)
        self.probed_rows = np.array(numbers[n_others:], dtype=bool)


class FromNewton(Entrant):
    """Coordinate descent from the dual weights of Newton's method without a Hessian, on sparse rows.

    Weights that are nearly the best have slacks, and these are dual weights, but far from the best ones: an error in
    the direction of a row is multiplied by what its slack costs. A visit corrects just that. Errors that many rows
    share are left to Newton's method, which has corrected them already. (35,591 rows of 19,337 columns: after 116
    passes a gap of 0.098, and two passes later below 0.01; Newton's method alone takes more than ten times as long.)
    """

    name = "dcd from newton"
    remembered = ("earlier_work", "earlier_updates")
    earlier_work, earlier_updates = 0.0, 0.0  # before it last began

    def start(self, w: Vector | None) -> None:
        """Begin at zero."""
        self.trainer = start_dcd(self.problem, self.request)

    def take_over(self, newton: Newton) -> None:
        """Begin at the dual weights of Newton's method, once more if need be."""
        earlier = (self.work, float(self.updates)) if self.trainer is not None else (0.0, 0.0)
        trainer = start_dcd(self.problem, self.request)
        trainer.begin(newton.trainer.dual_weights(), newton.trainer.combination())
        # Ctrl-C may come before, so all that changes comes last.
        self.trainer, (self.earlier_work, self.earlier_updates) = trainer, earlier
        self.margin, self.upper_bound = NOTHING  # what it had proven before is kept elsewhere

    @property
    def work(self) -> float:
        """How much work it has done."""
        return super().work + self.earlier_work

    @property
    def updates(self) -> int:
        """How many updates it has made."""
        return super().updates + int(self.earlier_updates)

    @property
    def full_passes(self) -> int:
        """How many passes its work amounts to."""
        return int(self.work // self.pass_work)

    def pause(self) -> None:
        """Let the run return when it has done all the work that it is allowed."""
        visits = (self.allowed - self.earlier_work) / self.pass_work * self.problem.n_rows
        self.trainer.pause_at(math.ceil(max(0.0, min(visits, MOST_VISITS))))

    def expected(self, spent: float) -> float:
        """Return infinity: it has its turns after those of Newton's method."""
        return math.inf

    @property
    def least(self) -> float:
        """The least work that is worth a turn."""
        return FINISH * self.pass_work
