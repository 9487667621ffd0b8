"""A fitted linear classifier and what is proven about it; needs NumPy only."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Certificate, Verification
from .joint.certificate import JointCertificate
from .matrix import as_floats, as_matrix

ENTRIES_A_BLOCK = 1 << 20  # of a sparse matrix, scored at a time


@dataclass(frozen=True, eq=False)
class LinearModel:
    """What `dynmargin.load` gives back: it predicts and it can be verified, without scikit-learn.

    Attributes
    ----------
    classes : array
        The labels. With two of them and one row of weights a positive score means the second.
    coef : array of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept : array of shape (1,) or (n_classes,)
        The intercepts.
    bias : float
        The constant feature that the intercepts belong to (LIBLINEAR's -B, ``intercept_scaling``); 0 for none.
    certificates : tuple of Certificate
        One a row of weights, or a `JointCertificate` for all; none for a model that was trained elsewhere.
    feature_names : array of str or None
        The names of the features, where they had any.
    first_index : int or None
        Where the indices of the LIBSVM text that it was trained on begin, 0 or 1.
    parameters : dict
        How it was trained, for information.

    Examples
    --------
    >>> import tempfile, dynmargin
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["left", "right"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dynmargin.PDMClassifier().fit(X, y).save(f"{folder}/model.npz")
    ...     model = dynmargin.load(f"{folder}/model.npz")
    >>> model.predict(X)
    array(['left', 'right'], dtype='<U5')
    >>> model.verify(X, y).verdict
    'proven'
    """

    classes: NDArray[Any]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    bias: float
    certificates: tuple[Certificate, ...] = ()
    feature_names: NDArray[np.str_] | None = None
    first_index: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.coef.shape[1])

    @property
    def certificate(self) -> Certificate | None:
        """What is proven; with several certificates the one with the largest gap, None without any."""
        return max(self.certificates, key=lambda certificate: certificate.gap, default=None)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed scores, ``X @ coef.T + intercept``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            As the `decision_function` of the classifiers.
        """
        self._require_names(X)
        X = X.tocsr() if hasattr(X, "tocsr") else as_floats(X)
        if len(X.shape) != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"the model has {self.n_features} features; X has the shape {tuple(X.shape)}")
        if hasattr(X, "indptr"):
            as_matrix(X)  # checks the indices, which NumPy would let wrap around
        _require_finite(X.data if hasattr(X, "indptr") else X)
        scores = (_sparse_scores(X, self.coef) if hasattr(X, "indptr") else X @ self.coef.T) + self.intercept
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        array of shape (n_samples,)
            A label a row.
        """
        return self.labels(self.decision_function(X))

    def labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Turn scores into labels.

        Parameters
        ----------
        scores : array
            What `decision_function` returned.

        Returns
        -------
        array of shape (n_samples,)
            A label a row.
        """
        labels: NDArray[Any] = self.classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return labels

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Prove every certificate again from the data, and that they are about these very weights.

        Parameters
        ----------
        X, y, sample_weight : see `Certificate.verify`
            The data that the model was trained on.

        Returns
        -------
        Verification
            Of the first certificate that is not proven; of the one with the largest gap if all are.
        """
        self._require_names(X)
        if self.certificate is None:
            return Verification("not proven", np.nan, np.nan, "the model has no certificate")
        if isinstance(self.certificate, JointCertificate):
            return self._verify_joint(self.certificate, X, y, sample_weight)
        positives = self.classes[1:] if len(self.certificates) == 1 else self.classes
        found: dict[int, Verification] = {}
        for certificate, w, b, label in zip(self.certificates, self.coef, self.intercept, positives, strict=True):
            same = np.array_equal(certificate.weights, w) and certificate.intercept == b
            if not (same and certificate.problem.positive == label):
                return Verification("altered", np.nan, np.nan, "the weights are not those of the certificate")
            found[id(certificate)] = result = certificate.verify(X, y, sample_weight)
            if not result:
                return result
        return found[id(self.certificate)]

    def _verify_joint(self, certificate: JointCertificate, X: Any, y: Any, sample_weight: Any) -> Verification:
        same = np.array_equal(certificate.weights, self.coef) and np.array_equal(certificate.intercept, self.intercept)
        if not (same and list(certificate.problem.classes) == self.classes.tolist()):
            return Verification("altered", np.nan, np.nan, "the weights are not those of the certificate")
        return certificate.verify(X, y, sample_weight)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, as a whole or not at all.

        Parameters
        ----------
        path : path
            Where to; by custom it ends with ``.npz``.
        """
        from .model_file import save

        save(self, path)

    def _require_names(self, X: Any) -> None:
        """Refuse a data frame with other columns, or in another order, in scikit-learn's words."""
        names, known = _names(X), None if self.feature_names is None else self.feature_names.tolist()
        if names is None or known is None or names == known:
            return
        message = "The feature names should match those that were passed during fit.\n"
        if unseen := sorted(set(names) - set(known)):
            message += "".join(["Feature names unseen at fit time:\n", *(f"- {name}\n" for name in unseen[:5])])
        if missing := sorted(set(known) - set(names)):
            message += "".join(
                ["Feature names seen at fit time, yet now missing:\n", *(f"- {name}\n" for name in missing[:5])]
            )
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)


def _names(X: Any) -> list[str] | None:
    """Give the names of a data frame's columns, of whatever library, where all are text."""
    names = getattr(X, "columns", None)
    names = None if names is None else list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def _require_finite(values: NDArray[Any]) -> None:
    """Refuse what no score can be computed of, in scikit-learn's words."""
    if not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype!r}"
        raise ValueError(f"Input X contains {what}.")


def _sparse_scores(X: Any, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """``X @ coef.T`` for the three arrays of a CSR matrix, each row summed in its own order."""
    n_rows = X.shape[0]
    scores = np.zeros((n_rows, len(coef)))
    begin = 0
    while begin < n_rows:
        end = max(begin + 1, int(np.searchsorted(X.indptr, X.indptr[begin] + ENTRIES_A_BLOCK, side="right")) - 1)
        entries = slice(int(X.indptr[begin]), int(X.indptr[end]))
        rows = np.repeat(np.arange(end - begin), np.diff(X.indptr[begin : end + 1]))
        indices, values = X.indices[entries], X.data[entries]
        for k, w in enumerate(coef):
            scores[begin:end, k] = np.bincount(rows, weights=values * w[indices], minlength=end - begin)
        begin = end
    return scores
