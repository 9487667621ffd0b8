"""What the algorithms that rescale the weight vector share: real coefficients, and the counts they become."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..dual_weights import as_counts
from ..task import Task
from ..training import Plan


class RescalingTrainer(_core.RescalingTrainer):
    """A run of ROMMA, ALMA, CRAMMA or MICRA."""

    def __init__(self, task: Task, rule: _core.Romma | _core.Alma | _core.MistakeControlled, plan: Plan) -> None:
        schedule = task.schedule(plan.schedule)
        super().__init__(task.rows, task.core_problem, rule, schedule.to_core(), task.key(plan.seed))

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Round the coefficients to integers."""
        coefficients = self.coefficients()
        return as_counts(np.arange(len(coefficients)), coefficients)
