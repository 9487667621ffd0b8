"""The certificate of all classes at once."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..problem.problems import JointProblem
from .certificate import Certificate

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JointCertificate(Certificate):
    """How good a classifier of several classes is as a whole, and why that is certain.

    The margin is the joint one: the smallest difference between the score of a row's own class and that of any other
    class, divided by the length of all weights together. Everything else is as in `Certificate`: the weights prove the
    margin, the counts (of the updates for a row and a wrong class) that no classifier has more than ``upper_bound``.

    Attributes
    ----------
    weights, intercept : array of shape (n_classes, n_features), array of shape (n_classes,)
        The witness of ``margin``.
    counts : SparseCounts
        The witness of ``upper_bound``, of shape (n_samples, n_classes).
    problem : JointProblem
        What was asked: the labels, the cost of slacks, the augmentation.
    margin, upper_bound, directional_margin, epsilon, data_digest, rows_digest, witness_digest, ball, settled_share
        As in `Certificate`.

    Examples
    --------
    >>> from dynmargin import PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]], ["up", "right", "down"]
    >>> certificate = PDMClassifier(multi_class="joint", random_state=0).fit(X, y).certificate_
    >>> certificate.counts.shape
    (3, 3)
    >>> certificate.verify(X, y).verdict
    'proven'
    """

    intercept: Vector
    problem: JointProblem

    margin_name: ClassVar[str] = "joint margin"

    def signed_counts(self, sides: NDArray[Any]) -> tuple[NDArray[np.int64], Vector]:
        """Return the rows with a count, and their counts with the signs they have in each row of weights.

        A row counts for its own class as often as against all wrong ones together.
        """
        support, n_classes = self.counts.rows, self.counts.shape[1]
        rows, wrong = np.divmod(self.counts.indices, n_classes)
        place, signed = np.searchsorted(support, rows), np.zeros((n_classes, len(support)))
        signed[wrong, place] = -self.counts.data
        np.add.at(signed, (sides[rows] - 1, place), self.counts.data)
        return support, signed
