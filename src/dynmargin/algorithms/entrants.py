"""The algorithms that take turns in a race: what each has done, and what it will take to close a gap.

Work is counted in multiplications of a pass over the rows, as the core counts those of Newton's method.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.packed import PackedProblem
from ..training.request import Request
from .dual import start_dcd
from .newton import SUBSET_STEPS, NewtonTrainer, Vector, begins_on_subset, n_prices
from .pdm import finer_accuracy, start_pdm

# A visit of coordinate descent or PDM, in random order and with an update now and then, costs as much as this many
# (perceptron/polish.hpp has the same numbers):
VISIT, VISIT_ENTRY = 60.0, 2.0  # to find a row, and per non-zero
FEWEST_PASSES = 3.0  # of coordinate descent in a turn
# Of coordinate descent: where another is expected to take less, that begins. With more rows per feature than this, it
# is times the eighth root of the stiffness: Newton's method is seldom slower there, and what coordinate descent finds
# is of little use to it. (20 random problems of 141 begin otherwise for that: 19 take less time, 13 % less on average.)
TYPICAL_PASSES, VERY_TALL = 6.0, 15
NEWTON_STEPS = 5  # typically, from weights that are not far off
TYPICALLY_ACTIVE = 0.5  # of all rows, before any weights are known
# With a Hessian, that many rows per feature and a stiffness above this, Newton's method begins: coordinate descent
# takes tens of times as long on most such problems. Once it has begun, its Hessian is there, and what is left counts as
# this share of what it is likely to take. (396 random problems, replayed: 1.07 times the time of the best algorithm by
# itself, and 1.12 without these numbers, the limits of forecasts below and the lengths of turns in race.py.)
STIFF_TO_LEAD, FURTHER_SHARE = 30.0, 0.25
# But where it is likely to take more than this many passes, coordinate descent is tried first, for one pass and then
# for four: Newton's method takes over if more than this share of the rows have a dual weight after the first, or if the
# gap is still above this after the fourth. Then coordinate descent gets no other turn before Newton's method has spent
# that many passes. Where Newton's method begins on a subset of the rows, it has no need of that. (43 random problems
# take 0.86 times the time for it, between 0.32 and 1.29; 18,541 rows of 497 columns 183 ms instead of 622.)
LONG_LEAD, PROBES_OF_A_LONG_LEAD, FEW, HARDLY_LESS, LONGEST_LEAD = 20.0, (1.0, 4.0), 0.2, 0.93, 80.0
SMALLEST_SHARE = 0.1  # of the work so far, for what is left to be done
# Products with a Hessian that is not formed, typically: times the root of the stiffness, of rows that are dense and of
# rows that are sparse, and at least. (Of 10 and of 20 random problems; the latter vary more.)
NEWTON_PRODUCTS, NEWTON_PRODUCTS_SPARSE, FEWEST_PRODUCTS = 6.0, 12.0, 50.0
DENSE = 0.1  # of all entries are not zero
TALL, LARGEST_ROOT = 5, 35.0  # with more rows per feature than this, classes overlap: the root counts as at most that
# Of PDM, typically, and what its polish costs in passes; times the root of the stiffness where rows are not many and
# the polish has no Hessian. (Of 24 such random problems, half take more and half take less; few take more than the
# last of these numbers, however stiff they are. Where its steps are cheap it takes fewer; but it is hardly ever the
# first choice there, and 25 or 40 instead of 60 make no difference to the 396 problems.)
PDM_PASSES, PDM_PASSES_PER_ROOT, PDM_MOST_PASSES = 60.0, 4.0, 500.0
# With a Hessian: on problems that are stiffer than this, with fewer rows per feature than that. (Of 12 such random
# problems two take 20 passes, the others 150 to 4,000, and Newton's method less than PDM. 900 rows of 213 columns take
# 0.36 times the work for it, 4,739 of 401 columns 0.59 times.)
PDM_STIFF, PDM_NOT_TALL, PDM_STIFF_PASSES = 1e4, 20, 250.0
# On sparse rows coordinate descent from Newton's dual weights is often faster still: PDM counts as if it took longer.
PDM_LATER = 1.5
# The longer the others take, the longer PDM may take too. But when they have taken that many times what it typically
# takes, it gets a chance: it is expected to take this share of all work so far. (3,726 rows of 526 columns: 2.4 s
# instead of more than 5. Of 266 random problems two take longer for it, 1.3 and 1.7 times.)
PDM_WAITS, PDM_SHARE = 3.0, 0.5
STIFFEST = 1e6  # for these forecasts; no algorithm is to wait longer for its turn
# Of what full passes of coordinate descent foretell, once there are two: it accelerates as fewer rows change. (Of 217
# random problems three get other turns for it: 134 ms instead of 297, 13 instead of 26, 13 instead of 12.)
ACCELERATES = 0.6
# Times the work so far: no forecast of coordinate descent is good for more, since it accelerates once its states are
# mixed. (Of 129 random problems 20 get other turns for it, and take 0.8 times the work: 1,676 rows of 444 columns a
# fifth, and none more than 1.22 times.)
FARTHEST = 5.0
# Where rows are dense, or features few, there are fewer features than rows, and the stiffness is above this, coordinate
# descent is either the fastest or hopeless. Two probes of so many passes tell: hopeless if more than this share of
# the rows have a dual weight, about as many after both, and the second hardly reduces the gap. Newton's method suits
# such problems, since its system stays the same; PDM, which makes such steps too, takes longer. (25 of 210 random
# problems get other turns for it. They take 0.63 times the time, and none takes more than 1.15 times.)
HARD, PROBE, CROWDED, STEADY, HARDLY = 100.0, 2.0, 0.15, 0.02, 0.9
# Times the work so far, what it is expected to take then; on sparse rows Newton's method may be hopeless too. (1,378
# rows of 1,590 columns: 16 ms instead of 103.)
HOPELESS, HOPELESS_IF_SPARSE = 1000.0, 80.0
TRUSTED = 300.0  # passes of coordinate descent: if Newton's method takes more, it does not suit the problem after all
PDM_PER_NEWTON = 1.2  # and what PDM is expected to take at least, compared with Newton's method
PDM_FARTHEST = 1.0  # the same of PDM, whose polish may end a run at any time
MOST_VISITS = 2.0**62
NOTHING = (-math.inf, math.inf)  # is proven before the first check
TINY = 1e-9
FINISH, FINISH_LONGER, CLOSE = 2.0, 6.0, 0.1  # passes of coordinate descent from Newton's; more if this gap is left
STALLED = 0.95  # of the gap, after a turn of Newton's method
LATE = 10.0  # times the work so far: what is expected of one whose result could not be proven


def require_intact(holds: bool) -> None:
    """Refuse a snapshot that cannot have been taken from such a run."""
    if not holds:
        raise ValueError("the snapshot of the run is damaged, or of another run")


class Entrant(ABC):
    """One of the algorithms: its run once it has begun, and what its last check has found."""

    name: str
    trainer: Any = None
    margin, upper_bound = NOTHING
    known_margin = -math.inf  # of others, if it may count on that
    over = False  # nothing is left to do for it
    allowed = 0.0  # work, after which another one may take over
    remembered: ClassVar[tuple[str, ...]] = ()  # numbers of its own that a snapshot has to hold, none of them negative

    def __init__(self, problem: PackedProblem, request: Request) -> None:
        self.problem, self.request = problem, request
        self.nonzeros = problem.nonzeros
        self.pass_work = VISIT_ENTRY * self.nonzeros + VISIT * problem.n_rows
        self.tall = problem.n_rows > TALL * problem.rows.n_columns
        self.very_tall = problem.n_rows > VERY_TALL * problem.rows.n_columns
        self.dense = self.nonzeros > DENSE * problem.n_rows * problem.rows.n_columns
        self.root = math.sqrt(min(problem.stiffness, STIFFEST))

    @abstractmethod
    def start(self, w: Vector | None) -> None:
        """Begin, at these weights if that is of use."""

    @abstractmethod
    def expected(self, spent: float) -> float:
        """Return the work that it will take to close the gap, when all have spent so much already."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The least work that is worth a turn."""

    @property
    def gap(self) -> float:
        """What its own bounds leave open, or its upper bound and the weights that it may count on."""
        margin = max(self.margin, self.known_margin)
        return 1 - margin / self.upper_bound if 0 < self.upper_bound < math.inf else math.inf

    @property
    def work(self) -> float:
        """How much work it has done."""
        visits: int = self.trainer.visits if self.trainer is not None else 0
        return visits / self.problem.n_rows * self.pass_work

    @property
    def updates(self) -> int:
        """How many updates it has made."""
        updates: int = self.trainer.updates
        return updates

    @property
    def full_passes(self) -> int:
        """How many passes it has made."""
        passes: int = self.trainer.full_passes
        return passes

    @property
    def work_if_even(self) -> float:
        """The work to close the gap if it keeps falling as it has from 1, by the same factor for the same work."""
        epsilon = self.request.epsilon
        fallen = -_core.log(min(max(self.gap, epsilon), 1 - 1e-3))
        return self.work * _core.log(max(min(self.gap, 1.0) / epsilon, 1.0)) / fallen

    def allow(self, work: float) -> None:
        """Let it run until it has done that much more work."""
        self.allowed = self.work + work
        self.pause()

    def pause(self) -> None:
        """Let the run return when it has done all the work that it is allowed."""
        visits = self.allowed / self.pass_work * self.problem.n_rows
        self.trainer.pause_at(math.ceil(min(visits, MOST_VISITS)))

    def has_spent(self, event: _core.Event) -> bool:
        """Whether it has done all the work that it is allowed."""
        return event is _core.Event.budget_spent

    def refine(self) -> bool:
        """Continue by a finer rule now that this one is satisfied; return whether there is one."""
        return False

    def numbers(self) -> list[float]:
        """Return what a snapshot has to hold beside the state of the run."""
        begun, own = float(self.trainer is not None), [getattr(self, name) for name in self.remembered]
        return [begun, self.margin, self.upper_bound, self.allowed, float(self.over), *own]

    def restore(self, numbers: list[float], snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        begun, margin, upper_bound, allowed, over, *own = numbers
        require_intact(begun in (0, 1) and over in (0, 1) and 0 <= allowed < math.inf)
        require_intact(all(0 <= number < math.inf for number in own))
        require_intact(margin < math.inf and upper_bound > 0 and (begun == 1 or (margin, upper_bound) == NOTHING))
        self.trainer = None
        if begun:
            self.start(np.zeros(self.problem.rows.n_columns + 1))
            self.trainer.restore(snapshot)
        self.margin, self.upper_bound, self.allowed = margin, upper_bound, allowed
        self.over = bool(over)
        for name, number in zip(self.remembered, own, strict=True):
            setattr(self, name, number)
        if begun:
            self.pause()


class CoordinateDescent(Entrant):
    """Dual coordinate descent: its passes are the cheapest, and tell how fast the gap falls."""

    name = "dcd"
    remembered = ("probed_gap", "probed_share", "foretold")
    probed_gap, probed_share = 0.0, 0.0  # the gap and the share of rows with a dual weight after the first probe
    foretold = 0.0  # the work in all that it was expected to take at the end of its first turn

    @property
    def may_be_hopeless(self) -> bool:
        """Whether the problem is of a kind where it is either the fastest, or hopeless."""
        columns = self.problem.rows.n_columns
        kind = self.dense or columns <= _core.MOST_HESSIAN_COLUMNS
        shape = columns < self.problem.n_rows and not self.very_tall
        return kind and shape and self.problem.stiffness > HARD

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
        self.probed_gap, self.probed_share = max(min(self.gap, 1.0), TINY), self.active_share()

    @property
    def hopeless(self) -> bool:
        """Whether the second probe tells that it is."""
        steady = abs(self.active_share() - self.probed_share) <= STEADY
        return self.probed and steady and self.gap > HARDLY * self.probed_gap

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
        return faster * min(visits / self.problem.n_rows * self.pass_work, self.work_if_even, FARTHEST * self.work)

    def doubtful(self, forecast: float) -> float:
        """Return what is left to be done if this forecast is as wrong as the first one has turned out to be.

        Where progress is slow but steady, every forecast says that the end is near, and none comes true. (Of 379 random
        problems 28 get other turns for it and take 0.9 times the work: 4,669 rows of 89,633 columns 74 ms instead of
        136, 8,259 of 148 columns 35 instead of 51; one of them takes 2.5 times the work.)
        """
        total = self.work + forecast
        self.foretold = self.foretold or total
        return forecast * max(1.0, total / self.foretold)

    @property
    def least(self) -> float:
        """The least work that is worth a turn."""
        return FEWEST_PASSES * self.pass_work

    def active_share(self) -> float:
        """Return the share of rows that have a dual weight: they are the ones that Newton's Hessian is summed over."""
        return max(1, int(np.count_nonzero(self.trainer.dual_weights()))) / self.problem.n_rows


class Newton(Entrant):
    """Newton's method: few steps, each expensive; how many is known only when it is under way."""

    name = "newton"
    remembered = ("active_share", "finished_gap", "last_gap", "judged_work", "stalled")
    active_share = TYPICALLY_ACTIVE  # of all rows: those that its Hessian is summed over
    finished_gap = 1.0  # what coordinate descent has made of its dual weights
    last_gap, judged_work = 1.0, 0.0  # at the end of its last turn
    stalled = 0.0  # 1 if a turn has hardly reduced the gap

    def __init__(self, problem: PackedProblem, request: Request) -> None:
        super().__init__(problem, request)
        columns, rows = problem.rows.n_columns, problem.n_rows
        at_once = 3 if problem.rows.dense else 1  # as the core counts
        self.solve_work = _core.solve_work(columns + 1)
        self.hessian_work = self.nonzeros * (self.nonzeros / rows) / 2 / at_once
        self.steps = NEWTON_STEPS * n_prices(problem)
        self.step_work = 2 * self.nonzeros + 20 * rows + _core.PER_COORDINATE * (columns + 1)
        self.vector_work = _core.PER_COORDINATE * (columns + 1)
        self.product_work = 2 * self.nonzeros + _core.FIND_ROW * rows  # over all rows, beside that
        typically = NEWTON_PRODUCTS if self.dense else NEWTON_PRODUCTS_SPARSE
        root = min(self.root, LARGEST_ROOT if self.tall else math.inf)
        self.products = max(FEWEST_PRODUCTS, typically * root)
        self.may_form_hessian = columns <= _core.MOST_HESSIAN_COLUMNS

    def start(self, w: Vector | None) -> None:
        """Begin at the best weights so far, if there are any."""
        self.trainer = NewtonTrainer(self.problem, self.request.seed, w)

    @property
    def work(self) -> float:
        """How much work it has done."""
        work: float = self.trainer.work if self.trainer is not None else 0.0
        return work

    @property
    def full_passes(self) -> int:
        """Its steps, if they are exact; thousands of others without progress do not mean that all have stalled."""
        return super().full_passes if self.exact_at_once else 0

    @property
    def gap(self) -> float:
        """What the best of its bounds leave open, or what coordinate descent has made of them."""
        upper_bound = min(self.upper_bound, self.trainer.best_upper_bound if self.trainer is not None else math.inf)
        own = 1 - self.margin / upper_bound if 0 < upper_bound < math.inf else math.inf
        return min(own, self.finished_gap) if self.finished_gap < 1 else own

    def end_turn(self) -> None:
        """Remember the gap, and whether it has hardly fallen since the turn before; nothing if that is done already.

        On dense rows Newton's weights may be good long before its dual weights are, while coordinate descent has a good
        upper bound long before its weights are good. (1,024 rows of 667 columns: 170 ms instead of more than 5,000;
        1,021 of 856: 890 instead of 2,300; 956 of 709: 2,000 instead of 1,000.)
        """
        if not self.work > self.judged_work:
            return
        if self.dense and not self.exact_at_once and self.last_gap < 1 and self.gap > STALLED * self.last_gap:
            self.stalled = 1.0
        self.last_gap, self.judged_work = max(min(self.gap, 1.0), TINY), self.work

    def pause(self) -> None:
        """Do nothing: a step is a turn of its own, if need be."""

    def has_spent(self, event: _core.Event) -> bool:
        """Whether it has done all the work that it is allowed."""
        return self.work >= self.allowed

    def expected(self, spent: float) -> float:
        """Return the work that it will take to close the gap, when all have spent so much already."""
        if self.trainer is not None:
            likely = max(self.work, self._work_of(self.steps, formed=True))
            if self.exact_at_once:
                return FURTHER_SHARE * likely
            return min(max(likely, 2 * self.work), max(self.work_if_even, SMALLEST_SHARE * self.work))
        # To find weights to begin at.
        on_subset = SUBSET_STEPS * self.solve_work if spent == 0 and self.may_form_hessian else 0.0
        return self._work_of(self.steps) + on_subset

    @property
    def leads(self) -> bool:
        """Whether it begins, whatever the forecasts are."""
        return self.exact_at_once and self.very_tall and self.problem.stiffness > STIFF_TO_LEAD

    @property
    def takes_long(self) -> bool:
        """Whether it is worth some passes of coordinate descent to find out whether that would be faster."""
        return self.expected(0.0) > LONG_LEAD * self.pass_work and not begins_on_subset(self.problem)

    @property
    def least(self) -> float:
        """The least work that is worth a turn."""
        products = FEWEST_PRODUCTS * self._work_of_product
        return self._work_of(NEWTON_STEPS) if self.exact_at_once else NEWTON_STEPS * self.step_work + products

    @property
    def _work_of_product(self) -> float:
        """The work of a product with the Hessian, over the active rows."""
        return self.active_share * self.product_work + self.vector_work

    def _work_of(self, steps: int, *, formed: bool = False) -> float:
        """Return the work of some steps; where a Hessian is expensive, conjugate gradients may do without it."""
        hessian, product = self.active_share * self.hessian_work, self._work_of_product
        exact = steps * self.solve_work + (0.0 if formed else hessian)
        iterated = self.products * product
        if not self.may_form_hessian:
            return steps * self.step_work + iterated
        return steps * self.step_work + (exact if self.exact_at_once else min(exact, iterated))

    @property
    def exact_at_once(self) -> bool:
        """Whether a Hessian is formed before conjugate gradients have tried without it."""
        hessian, product = self.active_share * self.hessian_work, self._work_of_product
        at_once: bool = _core.hessian_pays_at_once(hessian, self.problem.rows.n_columns + 1, product)
        return self.may_form_hessian and at_once


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


class DynamicMargin(Entrant):
    """The perceptron with dynamic margin: with its polish it is seldom the fastest, and seldom slow."""

    name = "pdm"
    remembered = ("accuracy",)
    accuracy = 1.0  # of its rule

    @property
    def typical(self) -> float:
        """The work that it typically takes."""
        columns = self.problem.rows.n_columns
        if columns**2 <= self.nonzeros:  # its polish has a Hessian, as polish.hpp has it
            stiff = self.problem.stiffness > PDM_STIFF and self.problem.n_rows < PDM_NOT_TALL * columns
            return (PDM_STIFF_PASSES if stiff else PDM_PASSES) * self.pass_work
        by_root = 0.0 if self.tall else PDM_PASSES_PER_ROOT * self.root
        return min(max(PDM_PASSES, by_root), PDM_MOST_PASSES) * self.pass_work

    def start(self, w: Vector | None) -> None:
        """Begin at zero."""
        self.trainer, self.accuracy = start_pdm(self.problem, self.request)

    def expected(self, spent: float) -> float:
        """Return the work that it will take to close the gap, when all have spent so much already."""
        if self.trainer is None:
            likely = max(self.typical, spent if spent < PDM_WAITS * self.typical else PDM_SHARE * spent)
            return likely if self.dense else PDM_LATER * likely
        return min(max(self.work_if_even, SMALLEST_SHARE * self.work), PDM_FARTHEST * self.work)

    @property
    def work(self) -> float:
        """How much work it has done."""
        polish: float = self.trainer.polish_work if self.trainer is not None else 0.0
        return super().work + polish

    def pause(self) -> None:
        """Let the run return when it has done all the work that it is allowed; a polish that has begun is not cut."""
        passes = (self.allowed - self.trainer.polish_work) / self.pass_work
        self.trainer.pause_at(math.ceil(max(0.0, min(passes * self.problem.n_rows, MOST_VISITS))))

    def has_spent(self, event: _core.Event) -> bool:
        """Whether it has done all the work that it is allowed."""
        return event is _core.Event.budget_spent or self.work >= self.allowed

    @property
    def least(self) -> float:
        """The least work that is worth a turn."""
        return PDM_PASSES * self.pass_work

    def refine(self) -> bool:
        """Continue by a finer rule now that this one is satisfied; return whether there is one."""
        finer = finer_accuracy(self.accuracy, self.request)
        if finer is None:
            return False
        self.accuracy = finer
        self.trainer.set_rule(_core.DynamicMargin(finer))
        return True
