"""The loop around the core: slices, checks, and every reason to stop.

The core runs for a moment and returns; here Python checks the clock, Ctrl-C and the bounds, and decides whether to go
on.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..certificate.certificate import Certificate
from ..certificate.certify import certify
from ..certificate.counts import SparseCounts, as_counts
from ..problem.packed import PackedProblem
from ..problem.statement import work_text
from ..problem.wording import any_of, wording
from . import phases
from .duration import in_words
from .request import Request, logger
from .result import UNFINISHED, Check, Result, StopReason
from .trainer import Trainer

SLICE_SECONDS = 0.05  # short enough for Ctrl-C and max_time to be felt at once
STALL_PASSES, STALL_FRACTION = 1000, 0.01  # a stall: this many full passes without a fall by this fraction;
OUT_OF_SIGHT = 1e-9  # where the margin is less than this part of the upper bound, steady progress is not enough:
FAR_PASSES, FAR_FRACTION = 250, 0.5  # these instead, and no rule is certain to be satisfied
SLOW_SECONDS = 60.0  # a projected time beyond this is worth a warning,
SLOW_AFTER_SECONDS, SLOW_AFTER_CHECKS = 2.0, 5  # but not before the projection has something to go by

SECOND_INTERRUPT_SECONDS = 2.0  # Ctrl-C twice within this time means the program, not the fit
last_interrupt = -math.inf

Finer = Callable[[float], float | None]  # gives the run a finer rule than that of an accuracy; None if there is none


class Refinement:
    """The accuracy of a run's rule, which becomes finer whenever the rule has nothing left to do."""

    def __init__(self, accuracy: float, finer: Finer) -> None:
        self.accuracy = accuracy
        self.finer = finer

    def __call__(self) -> bool:
        """Give the run the next rule; return whether there is one."""
        accuracy = self.finer(self.accuracy)
        self.accuracy = self.accuracy if accuracy is None else accuracy
        return accuracy is not None

    @classmethod
    def none(cls) -> "Refinement":
        """Return that of a run that has a single rule and is certain to reach any gap by it."""
        return cls(0.0, lambda _: None)


def train(
    problem: PackedProblem,
    trainer: Trainer,
    request: Request,
    refine: Refinement | None = None,
    *,
    steady: bool = True,
) -> Result:
    """Train by a run of this process; `steady` as in `Trend`."""
    return complete(Run(problem, trainer, request, refine, steady=steady))


def complete(run: "Run") -> Result:
    """Advance a run until it has done what is asked, meets a limit, or has no point in going on.

    Whenever a rule has nothing left to do, `refine` gives the run the next one. Without it the run ends by its own
    rule, wherever that may be. Ctrl-C ends the run and keeps what it has.
    """
    request, snapshots = run.request, run.request.snapshots
    if snapshots is not None and (result := snapshots.begin(run)):
        return result
    reason: StopReason | None = None
    try:
        while reason is None:
            reason = run.advance() or run.asked
            if snapshots is not None and reason is None:
                snapshots.keep(run)
    except KeyboardInterrupt:
        note_interrupt(request)
        reason = "interrupted"
    if snapshots is not None:  # before the last proof, which a run that continues from here would not have made
        snapshots.take(run)
    certificate = run.certificate if reason == "certificate" else None
    certificate = certificate or run.certify()
    phases.enter("training")
    last = run.record(certificate.margin, certificate.upper_bound, lambda: certificate)
    result = Result(certificate, reason, max(1, last.passes), last.updates, run.history, run.problem.R)
    if snapshots is not None and reason not in UNFINISHED:
        snapshots.take(run, result)
    return result


def note_interrupt(request: Request) -> None:
    """Let all runs of a fit end soon; a second Ctrl-C soon after goes through, so that a loop of fits can be left."""
    global last_interrupt
    request.interrupted.set()
    before, last_interrupt = last_interrupt, time.perf_counter()
    if last_interrupt - before < SECOND_INTERRUPT_SECONDS:
        raise KeyboardInterrupt


class Run:
    """A run in progress."""

    def __init__(
        self,
        problem: PackedProblem,
        trainer: Trainer,
        request: Request,
        refine: Refinement | None,
        *,
        steady: bool = True,
    ) -> None:
        self.problem = problem
        self.trainer = trainer
        self.request = request
        self.refine = refine
        self.started = request.started  # earlier by what the fit had taken before, if it continues
        self.began = time.perf_counter()
        self.trend = Trend(request.epsilon, steady=steady)
        self.warned = refine is None  # what ends by its own rule takes less time than the gap would
        self.history: list[Check] = []
        self.certificate: Certificate | None = None
        self.asked: StopReason | None = None  # by whoever watches
        self.renewal_due = False  # made with the next slice, so that a run that ends at a check can continue from it

    def advance(self) -> StopReason | None:
        """Train for a slice; return the reason to stop, if there is one."""
        request, trainer = self.request, self.trainer
        interrupted = request.interrupted.is_set()
        left = 0.0 if interrupted else request.deadline - time.perf_counter()
        if left <= 0 and trainer.updates > 0:
            return "interrupted" if interrupted else "max_time"
        if self.renewal_due:
            trainer.renew()
            self.renewal_due = False
        match trainer.advance(max(0.0, min(SLICE_SECONDS, left)), request.max_updates):
            case _core.Event.check_due:
                reason = self.check()
                self.renewal_due = reason is None
                return reason
            case _core.Event.bound_met:
                return self.prove()
            case _core.Event.converged:
                return self.check() or self.next_rule()
            case _core.Event.max_updates:
                return "max_updates"
            case _core.Event.infeasible:
                return "infeasible"
            case _core.Event.exhausted:
                return self.check() or "stalled"
        return None

    def next_rule(self) -> StopReason | None:
        """No pattern was misclassified in a full pass: take the next rule, or stop."""
        if self.refine is not None and self.refine():
            return None
        if self.request.stop == "convergence":
            return "converged"
        return "own_rule" if self.refine is None else "stalled"

    def prove(self, bounds: _core.Bounds | None = None) -> StopReason | None:
        """Prove the gap that was asked for, now that both bounds seem to be close enough."""
        self.certificate = self.certify(bounds)
        return "certificate" if self.certificate.achieved else None

    def check(self) -> StopReason | None:
        """Check the bounds; return the reason to stop that they give, if they do."""
        bounds, request = self.trainer.check(), self.request
        margin, upper_bound = bounds.margin, bounds.upper_bound
        check = self.record(margin, upper_bound, lambda: self.certify(bounds))
        if self.problem.hard_margin and upper_bound <= request.margin_floor * self.problem.R:
            return "inseparable"
        gap = 1 - margin / upper_bound if upper_bound > 0 else math.inf
        enough = None  # an upper bound that would close the gap
        if request.stop == "convergence":  # the rule itself must be satisfied, with its own margin
            gap = 1 - bounds.directional_margin / upper_bound if upper_bound > 0 else math.inf
        elif gap <= request.epsilon:
            if self.prove(bounds):
                return "certificate"
        else:
            enough = margin / (1 - request.epsilon) if request.epsilon < 1 else 0.0
        self.trainer.checked(gap, enough)
        self.trend.record(check, gap, time.perf_counter() - self.began)
        # The rule's own margin moves in leaps: no projection is worth a warning there.
        if not self.warned and request.stop == "certificate" and self.trend.slow():
            self.warned = True
            request.warn(self.trend.message(check, self.problem.R, request.max_time))
        # A rule that is certain to be satisfied some day, and is asked to be, may take its time. For the hard margin
        # nothing is certain: the classes may not be separable.
        patient = self.refine is None and request.stop == "convergence" and not self.problem.hard_margin
        return "stalled" if self.trend.stalled() and not (patient and not self.trend.far) else None

    def certify(self, bounds: _core.Bounds | None = None) -> Certificate:
        """Prove what the best weights and counts are worth; `bounds` are those of a fresh check."""
        phases.enter("proving")
        problem, trainer, stated = self.problem, self.trainer, self.problem.problem
        directional_margin = (bounds or trainer.check()).directional_margin
        rows, times = trainer.support()
        if times.dtype.kind == "f":  # dual weights; a certificate takes integers
            rows, times, sides = (problem.taking_part(of_rows) for of_rows in (rows, times, problem.sides))
            rows, times = as_counts(rows, times, sides if stated.free_bias else None)
        counts = SparseCounts(rows, times, stated.counts_shape(problem.matrix.n_rows))
        w, scale = trainer.model()

        def scaled(factor: float) -> Certificate:
            weights, intercept = stated.split(w if factor == 1 else w * factor)
            return certify(
                problem.provable,
                stated,
                problem.core,
                problem.digests,
                problem.unpack(weights),
                intercept,
                counts,
                epsilon=self.request.epsilon,
                directional_margin=directional_margin,
            )

        if scale > 0:
            return scaled(scale)
        # No positive scale is better than no weights at all. If no weights are proven to be good enough, they are the
        # result; otherwise nothing is separated yet, and the direction is all there is to return.
        w = np.ldexp(w, -np.frexp(np.abs(w).max())[1])  # no digit changes, and squares stay within the doubles
        length = math.sqrt(math.fsum(np.ravel(w) ** 2))  # the same on every machine, unlike a sum by BLAS
        nothing = scaled(0.0)
        return nothing if nothing.achieved or length == 0 else scaled(1 / length)

    def record(self, margin: float, upper_bound: float, certify: Callable[[], Certificate]) -> Check:
        """Add a line to the history and to the log, and show it to whoever watches."""
        elapsed, trainer, index = time.perf_counter() - self.started, self.trainer, self.problem.index
        check = Check(elapsed, trainer.full_passes, trainer.updates, margin, upper_bound, index)
        self.history.append(check)
        phases.heard()
        if logger.isEnabledFor(20):  # logging.INFO
            title = self.problem.problem.title
            which, work = f"{title}: " if title else "", work_text(check.passes, check.updates)
            logger.info(
                "%s%.2f s, %s, margin %.6g, upper bound %.6g, gap %.3g",
                *(which, elapsed, work, margin, upper_bound, check.gap),
                extra={"check": check},
            )
        if self.request.watch is not None and self.request.watch(check, certify):
            self.asked = "callback"
        return check

    def numbers(self) -> dict[str, Any]:
        """Return what a snapshot has to hold beside the trainer's own state."""
        now = time.perf_counter()
        return {
            "seconds": [now - self.started, now - self.began],
            "history": list(self.history),
            "trend": self.trend.numbers(),
            "warned": self.warned,
            "renewal_due": self.renewal_due,
            "accuracy": None if self.refine is None else self.refine.accuracy,
        }

    def restore(self, numbers: dict[str, Any]) -> None:
        """Continue from a snapshot, of whose trainer state the trainer has been restored."""
        now, (of_fit, of_run) = time.perf_counter(), numbers["seconds"]
        self.started, self.began = now - of_fit, now - of_run
        self.history = [Check(*check) for check in numbers["history"]]
        self.trend.restore(numbers["trend"])
        self.warned, self.renewal_due = bool(numbers["warned"]), bool(numbers["renewal_due"])
        if self.refine is not None:
            self.refine.accuracy = float(numbers["accuracy"])


class Moment(NamedTuple):
    """A check, as far as projections go."""

    seconds: float
    gap: float


class Trend:
    """How the bounds of a run move: whether it has stalled, and how long it will take to close the gap.

    Unless the gap is `steady`, falling as a power of time, nothing is projected.
    """

    def __init__(self, epsilon: float, *, steady: bool = True) -> None:
        self.epsilon = epsilon
        self.steady = steady
        self.best_gap = self.best_bound = math.inf
        self.passes = 0  # of the last check,
        self.passes_moved = 0  # and of the one at which the gap or the upper bound last fell by STALL_FRACTION
        self.checks = 0
        self.far = False  # whether the bounds are too far apart for steady progress ever to close the gap
        self.recent: deque[Moment] = deque()  # the last half of the run

    def record(self, check: Check, gap: float, seconds: float) -> None:
        """Take note of a check; `gap` is the one that the run has to close, `seconds` the time it has had for it."""
        self.far = 0 <= check.margin < OUT_OF_SIGHT * check.upper_bound  # a hard margin may be negative for long
        self.passes, fallen = check.passes, 1 - (FAR_FRACTION if self.far else STALL_FRACTION)
        if gap < fallen * self.best_gap:
            self.best_gap, self.passes_moved = gap, check.passes
        if check.upper_bound < fallen * self.best_bound:
            self.best_bound, self.passes_moved = check.upper_bound, check.passes
        self.checks += 1
        self.recent.append(Moment(seconds, gap))
        while len(self.recent) > 2 and self.recent[0].seconds < seconds / 2:
            self.recent.popleft()

    def numbers(self) -> dict[str, Any]:
        """Return all that `restore` needs."""
        return {**vars(self), "recent": list(self.recent)}

    def restore(self, numbers: dict[str, Any]) -> None:
        """Continue with what another trend has recorded."""
        for name in vars(self):
            setattr(self, name, type(getattr(self, name))(numbers[name]))
        self.recent = deque(Moment(*moment) for moment in numbers["recent"])

    def stalled(self) -> bool:
        """Whether neither the gap nor the upper bound has fallen for too long."""
        return self.passes - self.passes_moved >= (FAR_PASSES if self.far else STALL_PASSES)

    def slow(self) -> bool:
        """Whether the user should be warned that this will take long, or has taken long where nothing is projected."""
        if not self.steady:
            return self.recent[-1].seconds > SLOW_SECONDS
        enough = self.recent[-1].seconds > SLOW_AFTER_SECONDS and self.checks >= SLOW_AFTER_CHECKS
        return enough and self.projected_seconds() > SLOW_SECONDS

    def projected_seconds(self) -> float:
        """When the gap will be epsilon if it goes on falling as a power of time, as over the last half of the run."""
        if not self.steady:
            return math.inf
        (then, gap_then), (now, gap) = self.recent[0], self.recent[-1]
        if not (0 < then < now and 0 < gap < gap_then < math.inf):
            return math.inf
        power = math.log(gap_then / gap) / math.log(now / then)
        logarithm = math.log(now) + math.log(gap / self.epsilon) / power
        return math.exp(logarithm) if logarithm < 700 else math.inf

    def message(self, check: Check, R: float, max_time: float | None = None) -> str:
        """Say how long it may take, if that is known, and what to do about it."""
        words, projected = wording(), self.projected_seconds()
        expected = f"will take about {in_words(projected)}" if projected < 1e6 else "will take very long"
        if not self.steady:
            expected = "takes long"
        ratio = f" R/margin is {R / check.margin:.2g}." if check.margin > 0 else ""
        advice = any_of(
            [
                words.scaling and words.scaling + words.scalers,
                f"ask for a larger {words.name('epsilon')}",
                f"set {words.name('max_time')}" if max_time is None else "",
            ]
        )
        return (
            f"{words.setting('epsilon', f'{self.epsilon:g}')} {expected}: "
            f"after {check.time:.0f} s the proven gap is {check.gap:.3g}.{ratio} "
            f"{advice[0].upper()}{advice[1:]}."
        )
