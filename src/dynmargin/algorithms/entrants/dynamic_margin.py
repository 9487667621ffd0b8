"""PDM in a race."""

import math

from ... import _core
from ..newton import Vector
from ..pdm import finer_accuracy, start_pdm
from .entrant import MOST_VISITS, SMALLEST_SHARE, Entrant

# Of PDM, typically, and what its polish costs in passes; times the root of the stiffness where rows are not many and
# the polish has no Hessian. (Of 24 such random problems, half take more and half take less; few take more than the
# last of these numbers, however stiff they are. Where its steps are cheap it takes fewer; but it is hardly ever the
# first choice there, and 25 or 40 instead of 60 make no difference to the 396 problems.)
PDM_PASSES, PDM_PASSES_PER_ROOT, PDM_MOST_PASSES = 60.0, 4.0, 500.0
# With a Hessian: on problems that are stiffer than this, with fewer rows per feature than that. (Of 12 such random
# problems two take 20 passes, the others 150 to 4,000, and Newton's method less than PDM. 900 rows of 213 columns take
# 0.36 times the work for it, 4,739 of 401 columns 0.59 times.)
PDM_STIFF, PDM_NOT_TALL, PDM_STIFF_PASSES = 1e4, 20, 250.0
# On sparse rows coordinate descent, by itself or from Newton's dual weights, is usually faster: before PDM begins, it
# counts as if it took this many times as long. (57 random problems in which algorithms take turns take 0.93 times the
# time that they take with 1.5 here and 1 for PDM_FARTHEST; no other number between 3 and 6 is better.)
PDM_LATER = 4.0
# The longer the others take, the longer PDM may take too. But when they have taken that many times what it typically
# takes, it gets a chance: it is expected to take this share of all work so far. (3,726 rows of 526 columns: 2.4 s
# instead of more than 5. Of 266 random problems two take longer for it, 1.3 and 1.7 times.)
PDM_WAITS, PDM_SHARE = 3.0, 0.5
PDM_FARTHEST = 4.0  # times the work so far: no forecast is good for more, since its polish may end a run at any time


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
        """Whether it has done all the work that it is allowed; the end of a slice of time is no moment to ask."""
        at_the_end_of_a_polish = event is not _core.Event.slice_over and self.work >= self.allowed
        return event is _core.Event.budget_spent or at_the_end_of_a_polish

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
