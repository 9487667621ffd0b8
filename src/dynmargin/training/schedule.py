"""In which order patterns are presented: the named schedules, and how to make others."""

import math
from dataclasses import dataclass, replace
from numbers import Integral


@dataclass(frozen=True)
class Schedule:
    """Full passes and three nested active sets (Section 4 of the paper).

    A pass over the full set, freshly permuted, gathers the first active set; a pass over that gathers the second, and
    so on inwards. The order never touches the theory: every addition still satisfies the rule's own condition.

    Parameters
    ----------
    rounds : tuple of three int
        How often the first, second and third active set are presented before control returns to the set outside.
    widths : tuple of two float
        A pattern enters the first (second) active set when its score is at most ``widths[0]`` (``widths[1]``) times
        the threshold. Below 1, only patterns that are clearly wrong enter.
    first_width : float or None
        Replaces ``widths[0]`` in the first full pass; None for no difference.
    multiple_updates : bool
        Add a misclassified pattern as often as presenting it again and again would add it. False: once per visit.
    single_updates_first : bool
        No multiple updates in the first full pass.
    shuffle_first : bool
        A fresh order for the first full pass. False: the order of the rows, as in the paper's own runs.
    shuffle_active_sets : bool
        A fresh order for the active sets too, on every pass.
    balanced : bool
        Mix the two sides evenly in every fresh order.
    inner_passes : float
        Return to the full set when the active sets have been visited as often as in this many full passes. That means
        many rounds where they are small and few where they are nearly the full set: one setting for problems that would
        each need rounds of their own.
    taking_back : bool
        For PDM with ``stop="certificate"``: in a full pass, take back what a pattern was added too often. What is
        left are counts that a perceptron may begin with, and they prove a better upper bound.
    mixing : bool
        For PDM with ``stop="certificate"``: after a full pass, go on from the combination of this state and earlier
        ones that proves the best upper bound.
    renewal : bool
        For PDM with ``stop="certificate"``: after a check, go on from the counts that the best weights call for, if
        noise of the counts is what keeps the bounds apart.
    polish : bool
        For PDM with ``stop="certificate"``: after a check, improve the best weights of a run that is stiff by steps of
        Newton's method, and go on from the counts that they call for.
    rule_accuracy : float
        The rule's accuracy as a fraction of the ``epsilon`` to be certified, for ``stop="certificate"``.

    Examples
    --------
    >>> from dynmargin import Schedule
    >>> Schedule.named("paper").rounds
    (9, 12, 12)
    """

    rounds: tuple[int, int, int] = (9, 2, 2)
    widths: tuple[float, float] = (1.2, 1.03)
    first_width: float | None = None
    multiple_updates: bool = True
    single_updates_first: bool = True
    shuffle_first: bool = True
    shuffle_active_sets: bool = True
    balanced: bool = True
    inner_passes: float = 2.0
    taking_back: bool = True
    mixing: bool = True
    renewal: bool = True
    polish: bool = True
    rule_accuracy: float = 0.1

    def __post_init__(self) -> None:
        if len(self.rounds) != 3 or any(not isinstance(n, Integral) or n < 0 for n in self.rounds):
            raise ValueError(f"rounds must be three whole numbers that are not negative, got {self.rounds}")
        first = self.widths[0] if self.first_width is None else self.first_width
        if len(self.widths) != 2 or not all(width > 0 for width in (*self.widths, first)):
            raise ValueError(
                f"widths must be two positive numbers, got {self.widths} and first_width {self.first_width}"
            )
        if not self.inner_passes > 0:
            raise ValueError(f"inner_passes must be positive, got {self.inner_passes}")
        for name in ("multiple_updates", "shuffle_first", "taking_back", "mixing", "renewal", "polish"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if not 0 < self.rule_accuracy <= 1:
            raise ValueError(f"rule_accuracy must be in (0, 1], got {self.rule_accuracy}")

    @staticmethod
    def named(name: str, *, wide: bool = False, hard_margin: bool = False) -> "Schedule":
        """Look up the schedule called "fast" or "paper"; the fast one depends on the kind of problem.

        `wide` means more columns than rows.
        """
        if name not in ("fast", "paper"):
            raise ValueError(f"schedule must be 'fast' or 'paper', got {name!r}")
        return NAMED[name, wide, hard_margin]

    def for_other_rules(self) -> "Schedule":
        """Drop what is only for plain PDM, by the paper (the first full pass) or by us: PDM-succ and PFM go without."""
        return replace(self.with_own_updates_only(), first_width=None, single_updates_first=False)

    def with_own_updates_only(self) -> "Schedule":
        """Drop whatever changes counts otherwise than by the rule."""
        return replace(self, taking_back=False, mixing=False, renewal=False, polish=False)


FAST = Schedule()

PAPER = Schedule(
    rounds=(9, 12, 12),
    widths=(2.2, 1.1),
    first_width=1.1,
    shuffle_active_sets=False,
    balanced=False,
    inner_passes=math.inf,
    taking_back=False,
    mixing=False,
    renewal=False,
    polish=False,
    rule_accuracy=1.0,
)

# Visits per row to a certified 1 %, compared with the fast schedule for other problems: newsgroups
# (18,846 x 1,664,489) 39 instead of 93, reuters at C=100 35 instead of 48. For tall data it is the other way round.
WIDE = Schedule(rounds=(9, 4, 4), widths=(1.05, 0.95), inner_passes=1.5)

# The same to a certified 0.1 %: 7 full passes instead of 390 on 4,596 separable rows of 20 columns.
HARD_MARGIN = Schedule(rounds=(9, 9, 9), widths=(1.5, 1.1), inner_passes=4.0, taking_back=False, rule_accuracy=0.3)
# Milliseconds to a certified 1 %: 39 instead of 69 on 4,795 separable rows of 20,000 columns; but 40 instead of 27 on
# 18,389 of 20 columns.
WIDE_HARD_MARGIN = replace(HARD_MARGIN, taking_back=True)

# By name, whether there are more columns than rows, and whether the margin is hard.
NAMED = {
    ("fast", False, False): FAST,
    ("fast", True, False): WIDE,
    ("fast", False, True): HARD_MARGIN,
    ("fast", True, True): WIDE_HARD_MARGIN,
    **{("paper", wide, hard_margin): PAPER for wide in (False, True) for hard_margin in (False, True)},
}
