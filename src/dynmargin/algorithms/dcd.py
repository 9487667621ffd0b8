"""DCD, dual coordinate descent (Hsieh and others 2008; LIBLINEAR -s 1 and -s 3), stopped by the certificate."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .dual import DualTrainer, train_dual


def train_dcd(task: Task, plan: Plan) -> Outcome:
    """Run dual coordinate descent; with ``stop="convergence"`` to LIBLINEAR's rule with tolerance epsilon."""
    tolerance = plan.epsilon if plan.stop == "convergence" else 0.0
    return train_dual(task, plan, DualTrainer(task, _core.CoordinateDescent(), _core.GainSchedule(), plan, tolerance))
