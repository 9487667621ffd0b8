"""The joint problem over packed data, ready to be trained on and certified."""

from typing import ClassVar

from .. import _core
from ..certificate import Certificate
from ..schedule import Schedule
from ..task import Rule, Task
from .certificate import JointCertificate
from .problem import JointProblem


class JointTask(Task):
    """All classes at once."""

    problem: JointProblem  # type: ignore[assignment]
    core_problem: _core.JointProblem  # type: ignore[assignment]
    certificate_type: ClassVar[type[Certificate]] = JointCertificate

    def trainer(self, rule: Rule, schedule: Schedule, seed: int) -> _core.JointTrainer:  # type: ignore[override]
        """Start a run of PDM."""
        if not isinstance(rule, _core.DynamicMargin):
            raise ValueError("only PDM looks for a joint margin")
        return _core.JointTrainer(self.rows, self.core_problem, rule, schedule.to_core(), self.key(seed))
