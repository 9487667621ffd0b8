"""The certificate: two bounds on the best margin, a witness for each, and a check of both from the data alone."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..problem.cores import threads_of
from ..problem.matrix import as_matrix, stays_on_disk
from ..problem.packed_weights import SpreadOutLater
from ..problem.problems import Problem, first_foreign, label_text
from ..problem.statement import counted, describe, difference, foreign_text
from ..problem.wording import wording
from .ball import Ball
from .bounds import prove
from .counts import SparseCounts
from .html import as_table
from .objective import lower_objective, objective_of
from .settled_share import percent, settled_text
from .verification import Verification, unproven
from .witness_digest import digest_witnesses

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Certificate(SpreadOutLater):
    """How good a linear classifier is, and why that is certain.

    The *weights* prove a margin: no classifier needs to be trusted, only measured. The *counts* prove that no
    classifier has a larger margin than ``upper_bound``: any non-negative combination of the patterns does (equation 4
    of the paper). Margins are those of the extended space, where the 2-norm soft margin is a hard one; ``primal`` and
    ``dual`` say the same in terms of LinearSVC's objective.

    With the hinge loss (the 1-norm soft margin) there is no such space: what is proven is the duality gap, ``primal``
    by the weights and ``dual`` by the counts, scaled to dual weights that respect ``0 <= alpha_k <= C_k``. ``margin``
    and ``upper_bound`` are the same two numbers as 1 / sqrt(2 objective).

    With a free bias (``problem.free_bias``, the decomposition SVM) the margins are geometric: the intercept is not a
    part of the weights' length, and the counts of the two sides have the same sum.

    Attributes
    ----------
    margin : float
        The weights have at least this margin, with the slacks that are best for them.
    upper_bound : float
        No classifier has a larger margin.
    directional_margin : float
        The smallest normalised margin of the algorithm's own final state, without choosing slacks anew: the figure in
        the paper's tables. For information; `verify` does not check it. Not a number where the counts are not those
        of that state.
    epsilon : float
        The gap that was asked for.
    weights, intercept : array of float64, float
        The witness of ``margin``.
    counts : SparseCounts
        The witness of ``upper_bound``.
    problem : BinaryProblem
        What was asked: the classes, which of them is positive, the cost of slacks, the augmentation.
    data_digest, rows_digest, witness_digest : int
        Digests of the data, of the data whatever the order of its rows, and of the problem with the two witnesses.
    ball : Ball or None
        Contains the weights of the exact optimum, which both witnesses together prove: the classifier's `settled` and
        `decision_bounds` rest on it. None where nothing is known, as with a free intercept, and in older model files.
    settled_share : float or None
        The share of the training rows whose predictions are settled, where it was computed. A model's `verify` checks
        it to within 0.1 %.

    Examples
    --------
    >>> from dynmargin import MaxMarginClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], ["left", "right", "right"]
    >>> certificate = MaxMarginClassifier(epsilon=0.01).fit(X, y).certificate_
    >>> certificate.margin <= certificate.upper_bound
    True
    >>> certificate.achieved, certificate.gap <= 0.01
    (True, True)
    >>> certificate.verify(X, y).verdict
    'proven'
    """

    margin: float
    upper_bound: float
    directional_margin: float
    epsilon: float
    weights: Vector
    intercept: float | Vector
    counts: SparseCounts
    problem: Problem
    data_digest: int
    rows_digest: int
    witness_digest: int
    ball: Ball | None = None
    settled_share: float | None = None

    packed_field: ClassVar[str] = "weights"
    margin_name: ClassVar[str] = "margin"

    @property
    def gap(self) -> float:
        """``1 - margin / upper_bound``: the largest fraction by which the margin can fall short of the best one."""
        sound = 0 < self.upper_bound < np.inf and self.margin < np.inf  # neither holds for NaN
        return 1 - self.margin / self.upper_bound if sound else np.inf

    @property
    def achieved(self) -> bool:
        """Whether the gap is at most the ``epsilon`` asked for."""
        return self.gap <= self.epsilon

    @property
    def primal(self) -> float:
        """LinearSVC's objective at the weights, ``1 / (2 margin²)``."""
        return objective_of(self.margin)

    @property
    def dual(self) -> float:
        """A value that LinearSVC's objective cannot fall below, ``1 / (2 upper_bound²)``."""
        return lower_objective(self.upper_bound)

    @property
    def duality_gap(self) -> float:
        """``primal - dual``; relative to ``primal`` it is ``1 - (1 - gap)²``, about twice the gap."""
        return self.primal - self.dual if np.isfinite(self.primal) else np.inf

    @property
    def loss(self) -> str:
        """The loss that the certificate is about: "squared_hinge" or "hinge"."""
        return self.problem.loss

    @property
    def _which(self) -> str:
        return f"{self.problem.title}: " if self.problem.title else ""

    def __str__(self) -> str:
        bounds = f"{self.margin_name} {self.margin:.6g}, no classifier above {self.upper_bound:.6g}"
        if self.loss == "hinge":
            bounds = f"hinge objective {self.primal:.6g}, none below {self.dual:.6g}"
        achieved = "achieves" if self.achieved else "does not achieve"
        # Where hardly any row is settled, that says nothing about the classifier: so early, the ball is still large.
        worth_saying = self.settled_share is not None and self.settled_share >= 0.001
        settled = f"; {settled_text(self.settled_share or 0.0)}" if worth_saying else ""
        asked = wording().setting("epsilon", f"{self.epsilon:g}")
        return f"{self._which}{bounds}; gap {self.gap:.3g} ({achieved} {asked}){settled}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return as_table([self.row()])

    def row(self) -> dict[str, str]:
        """Return what is proven as a row of a table, column by column."""
        bounds = {
            f"{self.margin_name} proven": f"{self.margin:.6g}",
            "no classifier has more than": f"{self.upper_bound:.6g}",
        }
        if self.loss == "hinge":
            bounds = {"hinge objective": f"{self.primal:.6g}", "none is below": f"{self.dual:.6g}"}
        return {
            "class": label_text(self.problem.positive),
            **bounds,
            "gap proven": f"{self.gap:.3g}",
            "gap asked for": f"{self.epsilon:g}",
            "achieved": "yes" if self.achieved else "no",
            **({} if self.settled_share is None else {"rows settled": percent(self.settled_share)}),
        }

    def verify(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        C: float | None = None,
        classes: Collection[Any] | None = None,
        loss: str | None = None,
        intercept_scaling: float | None = None,
        n_jobs: int | None = None,
    ) -> Verification:
        """Recompute each bound from its witness and the data, rounding errors accounted for.

        The certificate itself says which problem it is about, and the answer repeats it. To demand a certain problem,
        pass what it must be.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or RowsOnDisk
            The data that the classifier was trained on.
        y : array of shape (n_samples,)
            Its labels; rows on a disk have their own.
        sample_weight : array of shape (n_samples,), optional
            Its weights, when it was trained with any.
        C : float, optional
            What slacks must cost, those of every class: class weights make it another problem.
        classes : collection of labels, optional
            Which classes there must be.
        loss : {"squared_hinge", "hinge"}, optional
            Which loss it must be.
        intercept_scaling : float, optional
            Which constant feature the intercept must belong to; 0 or less for no intercept. A free intercept, that of
            the decomposition SVM, belongs to none and is not the same as no intercept.
        n_jobs : int or None, default=None
            How many threads to use; -1 for all cores. The answer is the same for any number.

        Returns
        -------
        Verification
            True in a condition only if both bounds are proven, for the problem asked about.

        Examples
        --------
        >>> from dynmargin import PDMClassifier
        >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
        >>> certificate = PDMClassifier(C=1.0).fit(X, y).certificate_
        >>> certificate.verify(X, y).verdict
        'proven'
        >>> print(certificate.verify(X, y, C=2.0))
        other problem: C = 1, not C = 2 for every row
        """
        n_threads = threads_of(n_jobs)
        if stays_on_disk(X):
            if y is not None:
                raise ValueError("rows on a disk have labels of their own; leave y out")
            expected = {"C": C, "classes": classes, "loss": loss, "intercept_scaling": intercept_scaling}
            found: Verification = X.verify(self, sample_weight, **expected)
            return found
        if (refused := self.refusal(C, classes, loss, intercept_scaling)) is not None:
            return refused
        if y is None:
            raise TypeError("y is missing: the labels are part of what is proven")
        matrix, labels = as_matrix(X), np.ravel(y)
        n_features = self.weights.shape[-1]
        if not len(labels) == matrix.n_rows == self.counts.shape[0] or matrix.n_columns != n_features:
            rows, features = counted(self.counts.shape[0], "labelled row"), counted(n_features, "feature")
            return unproven("other data", f"it was made for {rows} and {features}")
        weight = None
        if sample_weight is not None:
            weight = np.array(np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(labels)))
        if (row := first_foreign(self.problem, labels, weight)) is not None:
            return unproven("other data", foreign_text(self.problem.classes, row, labels[row]))
        try:
            core_problem = self.problem.to_core(self.problem.sides(labels, weight), weight, n_threads)
        except ValueError as error:  # impossible costs
            return replace(unproven("not proven", str(error)), problem=problem_text([self], weight is not None))
        return self.recomputed(matrix, core_problem, weighted=weight is not None)

    def refusal(
        self, C: float | None, classes: Collection[Any] | None, loss: str | None, intercept_scaling: float | None
    ) -> Verification | None:
        """Say what is wrong with it whatever the data are, if anything is."""
        witnesses = self.problem, self.weights, self.intercept, self.counts
        if self.witness_digest not in (digest_witnesses(*witnesses), digest_witnesses(*witnesses, format_3=True)):
            return unproven("altered", "problem, weights or counts are not those that the certificate was made with")
        if differs := difference(self.problem, C, classes, loss, intercept_scaling):
            return unproven("other problem", self._which + differs)
        return None

    def recomputed(self, data: Any, problem: Any, *, weighted: bool) -> Verification:
        """Judge it by what a problem of the core, or one with its methods, proves from data."""
        try:
            found = self._recompute(data, problem)
        except ValueError as error:  # impossible counts
            found = unproven("not proven", str(error))
        if found.verdict == "other data":
            return found
        return replace(found, problem=problem_text([self], weighted=weighted))

    def _recompute(self, matrix: Any, problem: Any) -> Verification:
        data_digest, rows_digest = problem.digest(matrix)
        if data_digest != self.data_digest:
            if rows_digest == self.rows_digest:
                return unproven("other data", "the rows are the same, in another order")
            return unproven(
                "other data", f"rows, labels or {wording().name('sample_weight')} are not those it was made for"
            )
        margin, upper_bound, ball = prove(
            matrix, problem, self.problem, self.weights, self.intercept, self.counts, confirming=True
        )
        failed = self._failures(margin, upper_bound)
        if self.ball is not None and not (ball is not None and self.ball.covers(ball, self.problem.rho)):
            failed.append("the ball around the optimum is not the one that the witnesses prove")
        if failed:
            return Verification("not proven", margin, upper_bound, self._which + " and ".join(failed))
        return Verification("proven", margin, upper_bound, self._which + self._claim())

    def _failures(self, margin: float, upper_bound: float) -> list[str]:
        """Say why what was computed does not prove what is claimed; a number that is not finite proves nothing."""
        failed = []
        if not np.isfinite(self.margin):
            failed.append(f"a {self.margin_name} of {self.margin} says nothing")
        elif not self.margin <= margin < np.inf:
            failed.append(f"the weights prove a {self.margin_name} of {margin:.17g} only")
        if not np.isfinite(self.upper_bound):
            failed.append(f"an upper bound of {self.upper_bound} says nothing")
        elif not 0 <= upper_bound <= self.upper_bound:
            failed.append(f"the counts prove an upper bound of {upper_bound:.17g} only")
        if not failed and not margin <= upper_bound:
            failed.append(f"a margin of {margin:.17g} and an upper bound of {upper_bound:.17g} contradict each other")
        return failed

    def _claim(self) -> str:
        """Say what both bounds say."""
        claim = f"the {self.margin_name} is at least {self.margin:.6g}"
        claim += f" and no classifier has more than {self.upper_bound:.6g}"
        if self.loss == "hinge":
            claim = f"the hinge objective is at most {self.primal:.6g} and none is below {self.dual:.6g}"
        if not self.weights.any():
            claim += "; all weights are zero: every row gets the same label"
            if self.achieved:
                claim += f", and no weights are better than none by more than {max(0.0, self.gap):.2g} of the best"
        return claim

    def signed_counts(self, sides: NDArray[Any]) -> tuple[NDArray[np.int64], Vector]:
        """Return the rows with a count, and their counts with the signs they have in each row of weights."""
        rows = self.counts.indices
        return rows, np.multiply(sides[rows], self.counts.data, dtype=np.float64)[None, :]


def problem_text(certificates: Sequence[Certificate], weighted: bool | None = None) -> str:
    """Put the problem of the certificates of a model into words, with the size of its data.

    Only the data tell whether there were sample weights: without them, nothing is said of weights.
    """
    n_rows, n_features = certificates[0].counts.shape[0], certificates[0].weights.shape[-1]
    weights = {None: "", True: ", with sample weights", False: ", without sample weights"}[weighted]
    problems = [certificate.problem for certificate in certificates]
    return f"{describe(problems)}; {counted(n_rows, 'row')}, {counted(n_features, 'feature')}{weights}"
