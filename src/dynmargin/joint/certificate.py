"""The certificate of a joint margin."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate
from .problem import JointProblem


@dataclass(frozen=True, eq=False, repr=False)
class JointCertificate(Certificate):
    """How good a classifier of several classes is as a whole, and why that is certain.

    The margin is the joint one: the smallest difference between what the own class of a row scores and what any other
    class scores, over the length of all weights together. Everything else is as in `Certificate`: the weights prove the
    margin, the counts (of the updates for a row and a wrong class) that no classifier has more than ``upper_bound``.

    Attributes
    ----------
    weights, intercept : array of shape (n_classes, n_features), array of shape (n_classes,)
        The witness of ``margin``.
    counts : SparseCounts
        The witness of ``upper_bound``, of shape (n_samples, n_classes).
    problem : JointProblem
        What was asked: the labels, the cost of slacks, the augmentation.
    margin, upper_bound, directional_margin, epsilon, data_digest, rows_digest, witness_digest
        As in `Certificate`.
    """

    intercept: NDArray[np.float64]  # type: ignore[assignment]  # one a class
    problem: JointProblem  # type: ignore[assignment]

    margin_name: ClassVar[str] = "joint margin"

    def signed_counts(self, sides: NDArray[np.integer], support: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give the counts of some rows with the signs they have in the weights, a row a class.

        A row counts for its own class as often as against all wrong ones together.
        """
        signed = np.zeros((self.counts.shape[1], len(support)))
        rows, wrong = np.divmod(self.counts.indices, self.counts.shape[1])
        place = np.searchsorted(support, rows)
        signed[wrong, place] = -self.counts.data
        np.add.at(signed, (sides[rows] - 1, place), self.counts.data)
        return signed
