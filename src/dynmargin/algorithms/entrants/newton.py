"""Newton's method in a race."""

import math

from ... import _core
from ...problem.packed import PackedProblem
from ...training.request import Request
from ..newton import SUBSET_STEPS, NewtonTrainer, Vector, begins_on_subset, n_prices
from .entrant import SMALLEST_SHARE, TINY, Entrant

NEWTON_STEPS = 5  # typically, from weights that are not far off
TYPICALLY_ACTIVE = 0.5  # of all rows, before any weights are known
# With a Hessian, very tall data and a stiffness above this, Newton's method begins: coordinate descent
# takes tens of times as long on most such problems. Once it has begun, its Hessian is there, and what is left counts as
# this share of what it is likely to take. (396 random problems, replayed: 1.07 times the time of the best algorithm by
# itself, and 1.12 without these numbers, the limits of forecasts of the others and the lengths of turns in race.py.)
# That holds until it has taken this many times what is typical; from then on it is expected to take as long again as it
# has taken. (1,370 rows of 193 columns: 0.5 s instead of 2.8.)
STIFF_TO_LEAD, FURTHER_SHARE, TOO_LONG = 30.0, 0.25, 6.0
# But where it is likely to take more than this many passes, coordinate descent is tried first, for one pass and then
# for four: Newton's method takes over if more than this share of the rows have a dual weight after the first, or if the
# gap is still above this after the fourth. Then coordinate descent gets no other turn before Newton's method has spent
# that many passes. Where Newton's method begins on a subset of the rows, it has no need of that. (43 random problems
# take 0.86 times the time for it, between 0.32 and 1.29; 18,541 rows of 497 columns 183 ms instead of 622.)
LONG_LEAD, PROBES_OF_A_LONG_LEAD = 20.0, (1.0, 4.0)
FEW, HARDLY_LESS = 0.2, 0.93
LONGEST_LEAD = 80.0
# Products with a Hessian that is not formed, typically: times the root of the stiffness, of rows that are dense and of
# rows that are sparse, and at least. (Of 10 and of 20 random problems; the latter vary more.)
NEWTON_PRODUCTS, NEWTON_PRODUCTS_SPARSE, FEWEST_PRODUCTS = 6.0, 12.0, 50.0
# The largest root of the stiffness that counts: on tall data, where classes overlap, and on dense data with fewer rows
# per feature than this, where either products are few or coordinate descent is soon done. (577 rows of 1,774 columns
# take 134 products, not the 5,500 expected; with this limit the fit takes 1.1 times as long as Newton's method by
# itself, not 2.6 times.)
LARGEST_ROOT, WIDE = 35.0, 1.25
STALLED = 0.95  # of the gap, after a turn of Newton's method
# Where a turn has hardly reduced a gap below this, the rate so far says nothing about the end, and the forecast is not
# limited by it. (4,807 rows of 908 columns: 0.5 s instead of 3.6.)
NEARLY_CLOSED = 0.1


class Newton(Entrant):
    """Newton's method: few steps, each expensive; how many is known only when it is under way."""

    name = "newton"
    remembered = ("active_share", "finished_gap", "last_gap", "judged_work", "stalled", "stuck")
    active_share = TYPICALLY_ACTIVE  # of all rows: those that its Hessian is summed over
    finished_gap = 1.0  # what coordinate descent has made of its dual weights
    last_gap, judged_work = 1.0, 0.0  # at the end of its last turn
    stalled = 0.0  # 1 if a turn has hardly reduced the gap
    stuck = 0.0  # 1 if its last turn has hardly reduced a gap that was nearly closed

    def __init__(self, problem: PackedProblem, request: Request) -> None:
        super().__init__(problem, request)
        columns, rows = problem.rows.n_columns, problem.n_rows
        # As the core counts.
        stored_dense = problem.rows.dense
        self.solve_work = _core.solve_work(columns + 1, stored_dense)
        as_dense = rows * columns**2 / 2 / _core.made_at_once(stored_dense)
        self.hessian_work = as_dense if stored_dense else min(as_dense, self.nonzeros * (self.nonzeros / rows) / 2)
        self.steps = NEWTON_STEPS * n_prices(problem)
        self.vector_work = _core.PER_COORDINATE * (columns + 1)
        self.step_work = 2 * self.nonzeros + 20 * rows + self.vector_work
        self.product_work = 2 * self.nonzeros + _core.FIND_ROW * rows  # over all rows, without the vectors
        typically = NEWTON_PRODUCTS if self.dense else NEWTON_PRODUCTS_SPARSE
        limited = self.tall or (self.dense and rows < WIDE * columns)
        root = min(self.root, LARGEST_ROOT if limited else math.inf)
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
        hardly_fell = self.dense and self.last_gap < 1 and self.gap > STALLED * self.last_gap
        if hardly_fell and not self.exact_at_once:
            self.stalled = 1.0
        self.stuck = float(hardly_fell and self.gap < NEARLY_CLOSED)
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
                return FURTHER_SHARE * likely if self.work < TOO_LONG * self._work_of(self.steps) else likely
            longest = max(likely, 2 * self.work)
            return longest if self.stuck else min(longest, max(self.work_if_even, SMALLEST_SHARE * self.work))
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
        at_once: bool = _core.hessian_pays_at_once(
            hessian, self.problem.rows.n_columns + 1, product, self.problem.rows.dense
        )
        return self.may_form_hessian and at_once
