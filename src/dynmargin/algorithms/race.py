"""Algorithms that take turns on one problem, by counted work, until one of them closes the gap.

Which of them suits a problem cannot be told from its shape: coordinate descent may take ten passes or ten thousand,
Newton's method five steps or a thousand. But a run shows how fast its gap falls. So the one that is likely to be
cheapest begins: Newton's method where features are few, coordinate descent elsewhere. When it has spent a part of what
the other is likely to cost, whichever is expected to close the gap first continues, for a part of the work that the
next one would take; and so on.

Work is counted in multiplications of a pass over the rows, never in seconds, so that the turns, and with them the
result, are the same on every machine. Nothing is lost when another algorithm takes over: Newton's method begins at the
best weights so far, coordinate descent goes on from the dual weights that it finds, an algorithm that gets another turn
continues where it was, and the weights and the counts that prove most need not come from the same one.
"""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.packed import PackedProblem
from ..training.request import LARGEST_COUNT, Request
from ..training.result import ROUNDING, Result
from ..training.run import Refinement, train
from .entrants.descent import CLOSE, FINISH, FINISH_LONGER, PROBE, CoordinateDescent, FromNewton
from .entrants.dynamic_margin import DynamicMargin
from .entrants.entrant import TINY, Entrant, require_intact
from .entrants.kept import Kept
from .entrants.newton import FEW, HARDLY_LESS, LONGEST_LEAD, PROBES_OF_A_LONG_LEAD, Newton
from .newton import Vector

# Shares of work. (Geometric mean over 64 random problems, counted: 30.4 million multiplications, and 31.2 if a turn
# lasts as long as the next algorithm would take; 18 of the 20 slowest gain by a shorter beginning.)
FIRST_SHARE = 0.25  # of what the next one is likely to take, for coordinate descent to begin with
# In passes: at least, at most on sparse rows, and at most on dense ones. (396 random problems, replayed: 1.07 times
# the time of the best algorithm by itself; 1.08 with 60 passes for both, or with 20.)
FIRST_PASSES, MOST_IF_SPARSE, MOST_IF_DENSE = 2.0, 20.0, 60.0
PATIENCE = 0.25  # of what the next one would take: the longest turn, after which its progress is judged again
# Without a Hessian, Newton's method may take a tenth of what is expected, or ten times as much. So it gets a turn of
# this share of all work so far before PDM begins, or if all others are expected to take more than that many times as
# long: the turn shows how its gap falls. (4,159 rows of 364,698 columns take 85 ms instead of 750, 763 rows of 1,616
# columns 34 instead of 350; where it is in vain, a fit takes up to 1.6 times as long.) On sparse rows it also gets one
# when the others have spent this share of what it is expected to take, unless they are near the end: forecasts of
# coordinate descent may be too small again and again. (Of 29 random problems that get other turns for it, 19 take about
# as long and 3 up to 1.3 times; 7 take 0.26 to 0.8 times: 62,938 rows of 6,946 columns 165 ms instead of 480.)
TRIAL, FAR, WAITS, NEAR = 0.7, 3.0, 0.35, 0.3
# Then its turns grow by this share of its work, so that coordinate descent continues from its dual weights in time.
LEAST_NEWTON, MORE_NEWTON = 15.0, 0.5
# Where coordinate descent is hopeless, PDM is expected to take at least PDM_PER_NEWTON times as long as Newton's
# method, unless that is stuck, or has done more work than TRUSTED passes of coordinate descent: then it does not suit
# the problem either.
# (2,050 rows of 1,342 columns: 0.51 s instead of 0.89 with 300, 3,770 rows of 621 columns: 0.36 instead of 0.8.)
TRUSTED, PDM_PER_NEWTON = 500.0, 1.2
LARGEST_STIFFNESS = 1e26  # for Newton's method; features of 1e12 are within it


class Race:
    """A run in which algorithms take turns, with the interface of the core's trainers."""

    def __init__(self, problem: PackedProblem, request: Request) -> None:
        self.problem = problem
        kinds: list[type[Entrant]] = [Newton, DynamicMargin]
        if not problem.stiffness <= LARGEST_STIFFNESS:  # beyond, rounding decides which way its steps go
            kinds.remove(Newton)
        self.descent = descent = CoordinateDescent(problem, request)
        others = [kind(problem, request) for kind in kinds]
        self.newton = next((entrant for entrant in others if isinstance(entrant, Newton)), None)
        self.finish = FromNewton(problem, request)
        self.kept = Kept(problem, request)
        self.entrants: list[Entrant] = [descent, *others, self.finish, self.kept]
        self.first_turn = 0.0  # of coordinate descent, in work
        other = min(others, key=lambda entrant: entrant.expected(0.0))
        likely = other.expected(0.0)
        leader = self.newton if self.newton is not None and self.newton.leads else None
        self.long_lead = leader is not None and leader.takes_long
        if not self.long_lead and (leader is not None or likely < descent.expected(0.0)):
            self.current = leader or other
            self.current.start(None)
            self.current.allow(self.current.least)
        else:
            self.current = descent
            descent.start(None)
            most = MOST_IF_DENSE if descent.dense else MOST_IF_SPARSE
            probe, fewest = (PROBE, PROBE) if descent.may_be_hopeless else (math.inf, FIRST_PASSES)
            passes = min(max(FIRST_SHARE * likely / descent.pass_work, fewest), most)
            self.first_turn = passes * descent.pass_work
            probe = PROBES_OF_A_LONG_LEAD[0] if self.long_lead else probe
            descent.allow(min(probe * descent.pass_work, self.first_turn))
        self.turn_over = False
        self.turns = [self.current.name]

    @property
    def updates(self) -> int:
        """Steps of all algorithms."""
        return sum(entrant.updates for entrant in self._begun())

    @property
    def full_passes(self) -> int:
        """Passes of all algorithms."""
        return sum(entrant.full_passes for entrant in self._begun())

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Advance the algorithm whose turn it is; at the end of its turn its bounds are checked."""
        if self.turn_over:
            self._next_turn()
        if max_updates < LARGEST_COUNT:  # else no limit was asked for, and each has its own
            max_updates -= self.updates - self.current.trainer.updates
        self.current.pause()  # at a visit that depends on what has been polished meanwhile
        event: _core.Event = self.current.trainer.advance(seconds, max_updates)
        satisfied = event in (_core.Event.converged, _core.Event.exhausted)
        if satisfied and not self.current.refine():
            self.current.over = True
            at_the_end = isinstance(self.current, Newton) and self.current.gap < ROUNDING
            if at_the_end or all(entrant.over or entrant is self.finish for entrant in self.entrants):
                return event
        self.turn_over = satisfied or self.current.has_spent(event)
        if self.turn_over and not satisfied and self._goes_on_after_a_probe():
            probe = PROBES_OF_A_LONG_LEAD[1] if self.long_lead else math.inf
            self.descent.allow(min(probe * self.descent.pass_work, self.first_turn) - self.descent.work)
            self.turn_over = False
            return _core.Event.slice_over
        return _core.Event.check_due if self.turn_over else event

    def _goes_on_after_a_probe(self) -> bool:
        """Whether coordinate descent, at the end of the first probe, has no need to be judged yet."""
        if not self._probing:
            return False
        if not self.long_lead:
            return not self.descent.crowded
        between = sum(PROBES_OF_A_LONG_LEAD) / 2 * self.descent.pass_work
        return self.descent.work < between and self.descent.active_share() <= FEW

    @property
    def _probing(self) -> bool:
        """Whether coordinate descent has begun, and has not spent its first turn yet."""
        return self.current is self.descent and len(self.turns) == 1 and not self._first_turn_spent

    @property
    def _first_turn_spent(self) -> bool:
        return self.descent.work >= (1 - TINY) * self.first_turn

    def _next_turn(self) -> None:
        """Let the algorithm continue that is expected to close the gap first, until it is to be judged again."""
        if self.newton is not None and self.current is self.newton:
            self.newton.end_turn()
            self.kept.keep(self.newton)
            self._tell_all()
        if self._finish_turn():
            return
        if self.current is self.descent:
            self.descent.watch()
            if self.newton is not None:
                self.newton.active_share = self.descent.active_share()
        spent = sum(entrant.work for entrant in self.entrants)
        expected = {
            entrant: entrant.expected(spent)
            for entrant in self.entrants
            if not entrant.over and entrant is not self.finish
        }
        forecast = dict(expected)  # uncorrected: by this it is judged whether the end is near
        # After a turn of its own only: when others have had one and take long too, its word counts again.
        if self.current is self.descent and self.descent in expected and self._first_turn_spent:
            expected[self.descent] = self.descent.corrected(expected[self.descent])
        hopeless = self.descent.trainer is not None and self.descent.hopeless
        enough = TRUSTED * self.descent.pass_work
        if hopeless and self.newton in expected and not self.newton.stuck and self.newton.work < enough:
            least = PDM_PER_NEWTON * expected[self.newton]
            for entrant in expected:
                if isinstance(entrant, DynamicMargin) and entrant.trainer is None:
                    expected[entrant] = max(expected[entrant], least)
        leads = self.newton in expected and 0 < self.newton.work < LONGEST_LEAD * self.descent.pass_work
        if self.long_lead and leads and not self._first_turn_spent:
            expected.pop(self.descent, None)  # its probes have shown that it would take longer
        chosen = min(expected, key=lambda entrant: expected[entrant])
        promising = False
        if self.long_lead and self._probing and self.newton in expected:
            promising = self.descent in expected and self.descent.active_share() <= FEW
            promising = promising and self.descent.gap < HARDLY_LESS
            chosen = self.descent if promising else self.newton
        others = min((work for entrant, work in expected.items() if entrant is not chosen), default=math.inf)
        # No turn lasts longer than all before it: a forecast that is far too large for the others costs no more.
        turn = max(min(PATIENCE * others, 2 * expected[chosen], spent), chosen.least)
        second_probe = chosen is self.descent and self.descent.crowded and not self.descent.probed
        far = chosen.trainer is None or expected[chosen] > FAR * spent
        if self.newton in expected and not self.newton.dense:
            far = far or (spent > WAITS * expected[self.newton] and forecast[chosen] > NEAR * spent)
        if promising:
            turn = self.first_turn - self.descent.work
        elif second_probe:
            turn = PROBE * self.descent.pass_work
        elif far and (newton := self._newcomer()) not in (None, chosen):
            chosen, turn = newton, TRIAL * spent
        if chosen is self.newton and not (self.newton.exact_at_once or self.newton.dense):
            turn = min(turn, max(LEAST_NEWTON * self.descent.pass_work, MORE_NEWTON * chosen.work))
        # Ctrl-C may come while an algorithm begins, so all that changes comes last.
        if chosen.trainer is None:
            w, scale = self._best_margin().trainer.model()
            chosen.start(w * scale)
        chosen.allow(turn)
        if second_probe:
            self.descent.remember_probe()
        self.turns.append(chosen.name)
        self.current, self.turn_over = chosen, False

    def _finish_turn(self) -> bool:
        """Let coordinate descent continue from Newton's dual weights after its turn, longer if that is promising."""
        newton, finish = self.newton, self.finish
        if newton is None or newton.trainer is None or newton.exact_at_once or newton.dense:
            return False
        if self.current is newton:
            finish.take_over(newton)
            finish.over = False
            finish.allow(FINISH * finish.pass_work)
        elif self.current is finish:
            # Newton's weights are good enough before these are: together they are done. (35,591 rows of 19,337 columns:
            # 220 ms instead of 450; 44,605 of 211,116: 180 instead of 300.)
            gap = 1 - self._best_margin().margin / finish.upper_bound if finish.upper_bound < math.inf else math.inf
            newton.finished_gap = max(min(gap, 1.0), TINY)
            if finish.over or not gap < CLOSE or self.turns[-2:] == [finish.name] * 2:
                return False
            finish.allow(FINISH_LONGER * finish.pass_work)
        else:
            return False
        self.turns.append(finish.name)
        self.current, self.turn_over = finish, False
        return True

    def _newcomer(self) -> Newton | None:
        """Return Newton's method if it has not begun yet, and would do without a Hessian."""
        newton = self.newton
        return newton if newton is not None and newton.trainer is None and not newton.exact_at_once else None

    def check(self) -> _core.Bounds:
        """Return the best bounds of all, after a check of the algorithm whose turn it is."""
        bounds = self.current.trainer.check()
        # What is not a number, as the bound of no counts at all, says nothing.
        self.current.margin = bounds.margin if bounds.margin < math.inf else -math.inf
        self.current.upper_bound = bounds.upper_bound if bounds.upper_bound > 0 else math.inf
        # Before coordinate descent has begun there is no need to: a copy at every check would cost more than it saves.
        if self.current is self.finish or (self.current is self.newton and self.descent.trainer is not None):
            self.kept.keep(self.current)
        self._tell_all()
        margin, upper_bound = self._best_margin().margin, self._best_bound().upper_bound
        return _core.Bounds(margin, upper_bound, bounds.directional_margin)

    def _tell_all(self) -> None:
        """Let the others count on the best weights where Newton's method has stalled: their bounds may be close."""
        stalled = self.newton is not None and self.newton.stalled
        known = self._best_margin().margin if stalled else -math.inf
        for entrant in self.entrants:
            entrant.known_margin = known

    def checked(self, gap: float, enough: float | None) -> None:
        """Tell the algorithm whose turn it is."""
        self.current.trainer.checked(self.current.gap, enough)

    def renew(self) -> None:
        """Let the algorithm whose turn it is continue from better counts."""
        if not self.turn_over:
            self.current.trainer.renew()

    def support(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the counts, or dual weights, that prove the best upper bound."""
        found: tuple[NDArray[np.int64], NDArray[Any]] = self._best_bound().trainer.support()
        return found

    def model(self) -> tuple[Vector, float]:
        """Return the weights that prove the best margin."""
        found: tuple[Vector, float] = self._best_margin().trainer.model()
        return found

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the state as bytes: numbers, then the runs that have begun, each after its length."""
        turns = [self._names().index(name) for name in self.turns]
        numbers = [float(self.turn_over), float(len(turns)), *turns]
        for entrant in self.entrants:
            numbers += entrant.numbers()
        runs = [entrant.trainer.snapshot() for entrant in self._begun()]
        lengths = np.array([len(run) for run in runs], dtype=np.int64)
        header = np.array([len(numbers), *numbers])
        return np.concatenate([header.view(np.uint8), lengths.view(np.uint8), *runs])

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        require_intact(len(snapshot) >= 8)
        size = float(snapshot[:8].view(np.float64)[0])
        require_intact(3 <= size <= len(snapshot) / 8 - 1)
        numbers = snapshot[8 : 8 * (1 + int(size))].view(np.float64).tolist()
        sizes = [len(entrant.numbers()) for entrant in self.entrants]
        require_intact(len(numbers) > 2 + sum(sizes))
        turn_over, n_turns, *turns = numbers[: -sum(sizes)]
        known = range(len(self.entrants))
        require_intact(turn_over in (0, 1) and n_turns == len(turns) and all(turn in known for turn in turns))
        of_entrants = iter(numbers[-sum(sizes) :])
        parts = [list(islice(of_entrants, size)) for size in sizes]
        rest = snapshot[8 * (1 + int(size)) :]
        begun = [part[0] == 1 for part in parts]
        require_intact(len(rest) >= 8 * sum(begun))
        lengths, rest = rest[: 8 * sum(begun)].view(np.int64).tolist(), rest[8 * sum(begun) :]
        require_intact(all(length >= 0 for length in lengths) and sum(lengths) == len(rest))
        for entrant, part, has_begun in zip(self.entrants, parts, begun, strict=True):
            length = lengths.pop(0) if has_begun else 0
            entrant.restore(part, np.ascontiguousarray(rest[:length]))
            rest = rest[length:]
        self.turn_over, self.turns = bool(turn_over), [self._names()[int(turn)] for turn in turns]
        self.current = self.entrants[int(turns[-1])]
        require_intact(self.current.trainer is not None)
        self._tell_all()

    def _names(self) -> list[str]:
        return [entrant.name for entrant in self.entrants]

    def _begun(self) -> list[Entrant]:
        return [entrant for entrant in self.entrants if entrant.trainer is not None]

    def _best_margin(self) -> Entrant:
        return max(self._begun(), key=lambda entrant: entrant.margin)

    def _best_bound(self) -> Entrant:
        return min(self._begun(), key=lambda entrant: entrant.upper_bound)


def train_race(problem: PackedProblem, request: Request) -> Result:
    """Let algorithms take turns until one of them has closed the gap."""
    race = Race(problem, request)
    result = train(problem, race, request, Refinement.none())
    last = race.current.name
    others = [name for name in dict.fromkeys(race.turns) if name != last]
    algorithm = f"{last}: {'in turns with ' + ', '.join(others) if others else 'alone'}"
    return replace(result, algorithm=algorithm, newton="newton" in race.turns)
