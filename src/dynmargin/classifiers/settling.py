"""Training until predictions are settled."""

from typing import Any, Self

from numpy.typing import ArrayLike

from .base import MarginClassifier
from .parameters import validated


class SettlingClassifier(MarginClassifier):
    """Base of the classifiers that can train until predictions are settled."""

    @validated
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, settle_on: Any = None) -> Self:
        """Train until what is asked for is proven, or a limit is met.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            float32 or float64, dense or CSR, is read as it is; anything else is converted first. `MaxMarginClassifier`
            also takes what `dynmargin.open_data` returns: rows on a disk, which have labels of their own.
        y : array of shape (n_samples,)
            Labels; with more than two, each is trained against the rest.
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies C for its row: an integer weight is a repeated row, a row of weight zero is left out.
        settle_on : array or sparse matrix of shape (n_rows, n_features), optional
            With ``stop="predictions"``: the rows whose predictions are to be settled, instead of the training rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight, settle_on)
