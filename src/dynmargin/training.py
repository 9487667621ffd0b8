"""The loop around the core: slices, checks, and every reason to stop.

The core runs for a moment and comes back; here Python looks at the clock, at Ctrl-C and at the bounds, and decides
whether to go on.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from . import _core
from .certificate import Certificate
from .outcome import Bounds, Check, Outcome, StopReason
from .progress import STALL_PASSES, Progress
from .schedule import Schedule
from .task import Task, Trainer

SLICE_SECONDS = 0.05  # short enough for Ctrl-C and max_time to be felt at once
MOST_PASSES_BETWEEN_LOOKS = STALL_PASSES // 10  # so that a stall is seen when it is one
LARGEST_COUNT = 2**53  # counts stay integers that a double holds exactly

SECOND_INTERRUPT_SECONDS = 2.0  # Ctrl-C twice within this time means the program, not the fit

logger = logging.getLogger("dynmargin")
last_interrupt = -math.inf


@dataclass(frozen=True)
class Plan:
    """What a run is asked to do, in which order, and when it has to end all the same."""

    epsilon: float
    stop: Literal["certificate", "convergence"]
    schedule: str | Schedule
    seed: int
    margin_floor: float = 1e-4
    max_updates: int = LARGEST_COUNT
    deadline: float = math.inf  # on the clock of time.perf_counter, like `started`
    started: float = field(default_factory=time.perf_counter)
    warn: Callable[[str], None] = logger.warning
    whole_run: bool = False  # the counts are to be those of updates that were made, so that one can go on
    watch: Callable[[Check, Callable[[], Certificate]], bool] = lambda check, certify: False  # True to stop
    interrupted: threading.Event = field(default_factory=threading.Event)  # shared by all runs of a fit


def train(task: Task, trainer: Trainer, plan: Plan, rules: Iterator[Any] | None = None) -> Outcome:
    """Advance a run until it has done what the plan asks for, meets a limit, or has no point in going on.

    `rules` are those of successive runs: whenever a rule has nothing left to do, the next one is taken. Without them
    the run ends by its own rule, wherever that may be.

    Ctrl-C ends the run and keeps what it has.
    """
    run = Run(task, trainer, plan, rules)
    reason: StopReason | None = None
    try:
        while reason is None:
            reason = run.advance() or run.asked
    except KeyboardInterrupt:
        note_interrupt(plan)
        reason = "interrupted"
    certificate = run.certificate if reason == "certificate" else None
    certificate = certificate or task.certify(trainer, plan.epsilon)
    run.record(certificate.margin, certificate.upper_bound, lambda: certificate)
    return Outcome(certificate, reason, max(1, trainer.full_passes), run.history, task.R)


def note_interrupt(plan: Plan) -> None:
    """Let all runs of a fit end soon; a second Ctrl-C soon after goes through, so that a loop of fits can be left."""
    global last_interrupt
    plan.interrupted.set()
    before, last_interrupt = last_interrupt, time.perf_counter()
    if last_interrupt - before < SECOND_INTERRUPT_SECONDS:
        raise KeyboardInterrupt


class FullPass(NamedTuple):
    """What is known for nothing when a full pass ends."""

    visits: int
    upper_bound: float


class Run:
    """A run in progress."""

    def __init__(self, task: Task, trainer: Trainer, plan: Plan, rules: Iterator[Any] | None) -> None:
        self.task = task
        self.trainer = trainer
        self.plan = plan
        self.rules = rules
        self.began = time.perf_counter()
        self.progress = Progress(plan.epsilon)
        self.warned = rules is None  # what ends by its own rule will not take as long as the gap would
        self.next_look = self.next_look_pass = 0
        self.full_pass = FullPass(0, math.inf)
        self.looked_at = 0  # visits at the last look
        self.history: list[Check] = []
        self.certificate: Certificate | None = None
        self.asked: StopReason | None = None  # by whoever watches

    def advance(self) -> StopReason | None:
        """Train for a slice; return the reason to stop, if there is one."""
        interrupted = self.plan.interrupted.is_set()
        left = 0.0 if interrupted else self.plan.deadline - time.perf_counter()
        if left <= 0 and self.trainer.updates > 0:
            return "interrupted" if interrupted else "max_time"
        event = self.trainer.advance(max(0.0, min(SLICE_SECONDS, left)), self.plan.max_updates)
        match event:
            case _core.Event.full_pass:
                return self.look_and_renew() if self.due() else None
            case _core.Event.bound_met:
                self.trainer.wait_for(0.0)
                return self.prove()
            case _core.Event.converged:
                return self.look() or self.refine()
            case _core.Event.max_updates:
                return "max_updates"
            case _core.Event.infeasible:
                return "infeasible"
            case _core.Event.exhausted:
                return self.look() or "stalled"
        return None

    def refine(self) -> StopReason | None:
        """No pattern was misclassified in a full pass: take the next rule, or stop."""
        if self.rules is None:
            return "converged" if self.plan.stop == "convergence" else "own rule"
        rule = next(self.rules, None)
        if rule is None:
            return "converged" if self.plan.stop == "convergence" else "stalled"
        assert isinstance(
            self.trainer, _core.Trainer | _core.JointTrainer | _core.RescalingTrainer
        )  # only they have further rules
        self.trainer.set_rule(rule)
        return None

    def due(self) -> bool:
        """Whether to look at the bounds after this full pass: a look costs about half of another one.

        The upper bound by itself is free. While it falls by several epsilon from one full pass to the next, and they
        follow each other quickly, the gap is not about to close. (No such thing for the hard margin, where a bound that
        goes on falling means that there is no margin, nor where a look may lead to better counts.)
        """
        trainer, before = self.trainer, self.full_pass
        if trainer.visits == 0:
            return True  # a trainer at its own pace
        now = self.full_pass = FullPass(trainer.visits, trainer.upper_bound)
        falling = now.upper_bound < (1 - 3 * self.plan.epsilon) * before.upper_bound
        quick = now.visits - before.visits < 4 * self.task.n_rows
        early = trainer.visits < 8 * max(self.looked_at, self.task.n_rows)  # its story wants to be told now and then
        if falling and quick and early and not self.task.core_problem.hard_margin and not self.may_renew():
            return False
        return trainer.visits >= self.next_look or trainer.full_passes >= self.next_look_pass

    def may_renew(self) -> bool:
        """Whether a look may lead to better counts: noise of theirs, which is part of the extension, is in the way.

        After one pass it is too soon to tell, but the average weights of that are often good. On wide data it hardly
        ever is noise.
        """
        trainer = self.trainer
        if not isinstance(trainer, _core.Trainer) or not trainer.renews or self.task.wide:
            return False
        return trainer.full_passes == 1 or trainer.extension > 0.7

    def prove(self, bounds: Bounds | None = None) -> StopReason | None:
        """Prove the gap that was asked for, now that both bounds seem to be there."""
        self.certificate = self.task.certify(self.trainer, self.plan.epsilon, bounds)
        return "certificate" if self.certificate.achieved else None

    def look(self) -> StopReason | None:
        """Check the bounds; return the reason to stop that they give, if they do."""
        bounds, plan = self.trainer.check(), self.plan
        check = self.record(
            bounds.margin, bounds.upper_bound, lambda: self.task.certify(self.trainer, plan.epsilon, bounds)
        )
        if self.task.core_problem.hard_margin and bounds.upper_bound <= plan.margin_floor * self.task.R:
            return "inseparable"
        gap = check.gap
        if plan.stop == "convergence":  # the rule itself must be content, with its own margin
            gap = 1 - bounds.directional_margin / bounds.upper_bound
        elif gap <= plan.epsilon:
            if self.prove(bounds):
                return "certificate"
        else:  # what the margin found so far would be enough for
            self.trainer.wait_for(bounds.margin / (1 - plan.epsilon) if plan.epsilon < 1 else 0.0)
        visits = self.looked_at = self.trainer.visits
        self.progress.record(check, gap, visits, time.perf_counter() - self.began)
        # A look costs a pass over the rows: take the next one half-way to where the gap may be closed.
        self.next_look_pass = check.passes + MOST_PASSES_BETWEEN_LOOKS
        self.next_look = int(visits + (min(self.progress.projected_visits(), 1.5 * visits) - visits) / 2)
        # The rule's own margin moves in leaps: no projection is worth a warning there.
        if not self.warned and plan.stop == "certificate" and self.progress.slow():
            self.warned = True
            plan.warn(self.progress.message(check, self.task.R))
        # A rule that is sure to be content some day, and is asked to be, may take its time. For the hard margin nothing
        # is sure: the classes may not be separable.
        patient = self.rules is None and plan.stop == "convergence" and not self.task.core_problem.hard_margin
        return "stalled" if self.progress.stalled() and not patient else None

    def look_and_renew(self) -> StopReason | None:
        """Check the bounds; if the run goes on, it may do so from better counts."""
        reason = self.look()
        if reason is None and self.asked is None and isinstance(self.trainer, _core.Trainer):
            self.trainer.renew()
        return reason

    def record(self, margin: float, upper_bound: float, certify: Callable[[], Certificate]) -> Check:
        """Add a line to the history and to the log, and show it to whoever watches."""
        elapsed = time.perf_counter() - self.plan.started
        check = Check(elapsed, self.trainer.full_passes, self.trainer.updates, margin, upper_bound, self.task.index)
        self.history.append(check)
        logger.info(
            "problem %d: %.2f s, %d passes, %d updates, margin %.6g, upper bound %.6g, gap %.3g",
            *(self.task.index, elapsed, check.passes, check.updates, margin, upper_bound, check.gap),
            extra={"check": check},
        )
        if self.plan.watch(check, certify):
            self.asked = "callback"
        return check
