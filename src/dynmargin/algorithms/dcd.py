"""DCD, dual coordinate descent (Hsieh and others 2008; LIBLINEAR -s 1), with the certificate as its stop rule."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train
from .dual import DualTrainer


def train_dcd(task: Task, plan: Plan) -> Outcome:
    """Run dual coordinate descent; with ``stop="convergence"`` to LIBLINEAR's rule with tolerance epsilon."""
    tolerance = plan.epsilon if plan.stop == "convergence" else 0.0
    trainer = DualTrainer(task, _core.CoordinateDescent(), _core.GainSchedule(), plan, tolerance)
    return train(task, trainer, plan, accuracies=iter(())).by_own_rule()
