"""PFM, the perceptron with fixed margin (Section 2 of the paper)."""

from dataclasses import replace

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train
from .pdm import train_pdm


def train_pfm(task: Task, plan: Plan, *, beta: float | None = None) -> Outcome:
    """Run PFM with a fixed margin; without one, with the directional margin that PDM converges to (Section 5)."""
    if beta is None:
        pdm = train_pdm(task, replace(plan, stop="convergence"))
        if pdm.stop_reason != "converged":  # there is no margin to fix: what PDM has reached is the result
            return pdm
        beta = pdm.certificate.directional_margin
    trainer = task.trainer(_core.FixedMargin(beta), task.schedule(plan.schedule).for_other_rules(), plan.seed)
    return replace(train(task, trainer, plan), beta=beta)
