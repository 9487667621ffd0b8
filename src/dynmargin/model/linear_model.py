"""A linear classifier and what is proven about it; it needs NumPy only."""

import os
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.ball import Settled
from ..certificate.certificate import Certificate, problem_text
from ..certificate.settled_share import percent
from ..certificate.verification import Verification, unproven
from ..data.archives import contents, name_of
from ..data.dataset import DataError
from ..problem.matrix import as_floats, for_products, require_sound, stays_on_disk
from ..problem.problems import as_labels
from ..problem.statement import counted, labels_text
from ..training.result import Check
from .model_file import ModelFileError, parse, write
from .scaling import Scaling

ROUNDED_OTHERWISE = 1e-3  # of the rows may be settled or not by the way in which they are stored


def scores_of(X: Any, coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of rows: one per row, or one per row and class."""
    scores: NDArray[np.float64] = np.asarray(X @ coef.T) + intercept
    return scores.ravel() if scores.shape[1] == 1 else scores


def labels_of(scores: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
    """Turn scores into labels; a single score that is positive means the second class."""
    labels: NDArray[Any] = classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
    return labels


class Predictor:
    """Prediction by linear scores: of fitted classifiers and of loaded models."""

    @abstractmethod
    def _linear(self, X: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        """Return the rows, checked, and the weights, intercepts and labels."""

    @abstractmethod
    def _settled(self) -> Settled:
        """Return what is known of the exact optimum; refuse in words where nothing can be."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return signed scores: the rows times the weights, plus the intercepts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or RowsOnDisk
            The rows to score.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            With two classes a positive score means the second one.
        """
        if stays_on_disk(X):
            return X.each(self.decision_function)  # type: ignore[no-any-return]
        rows, coef, intercept, _ = self._linear(X)
        return scores_of(rows, coef, intercept)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or RowsOnDisk
            The rows to classify.

        Returns
        -------
        array of shape (n_samples,)
            One label per row.
        """
        if stays_on_disk(X):
            return X.each(self.predict)  # type: ignore[no-any-return]
        rows, coef, intercept, classes = self._linear(X)
        return labels_of(scores_of(rows, coef, intercept), classes)

    def settled(self, X: Any) -> NDArray[np.bool_]:
        """Say which predictions no more training can change.

        The prediction of a row is settled if it is provably that of the exact optimum of the problem that the model was
        trained on, and `predict` returns it. The certificate proves that. It says nothing about whether a prediction is
        right: the exact optimum makes mistakes too.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Any rows, whether the model was trained on them or not.

        Returns
        -------
        array of bool of shape (n_samples,)
            True where the prediction is settled.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from dynmargin import MaxMarginClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> bool(MaxMarginClassifier(epsilon=1e-9).fit(X, y).settled(X).all())
        True
        """
        if stays_on_disk(X):
            return X.each(self.settled)  # type: ignore[no-any-return]
        settled, (rows, *_) = self._settled(), self._linear(X)
        return settled.of(rows)

    def decision_bounds(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return bounds between which the scores of the exact optimum lie.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Any rows.

        Returns
        -------
        low, high : arrays of shape (n_samples,) or (n_samples, n_classes)
            In the shape of what `decision_function` returns. For the hard margin they are scores by weights whose
            smallest score on the training rows is 1; infinite if no margin is proven.

        Examples
        --------
        >>> from dynmargin import MaxMarginClassifier
        >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
        >>> low, high = MaxMarginClassifier(epsilon=1e-6).fit(X, y).decision_bounds(X)
        >>> bool((low <= high).all())
        True
        """
        settled, (rows, *_) = self._settled(), self._linear(X)
        return settled.bounds(rows)


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Predictor):
    """What `dynmargin.load` returns: it predicts and it can be verified, without scikit-learn.

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
        One per row of weights, or a `JointCertificate` for all; none for a model that was trained elsewhere.
    feature_names : array of str or None
        The names of the features, where they had any.
    first_index : int or None
        Where the indices of the LIBSVM text that it was trained on begin, 0 or 1.
    parameters : dict
        How it was trained, for information.
    scaling : Scaling or None
        What is done to the features first (``dynmargin train --scale``); weights and certificates are about such rows.
    history : tuple of Check
        How its bounds came together, up to 100 checks per certificate, for information. Loaded from a file they are at
        unknown times (NaN).

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
    scaling: Scaling | None = None
    history: tuple[Check, ...] = ()

    def __repr__(self) -> str:
        what = f"classes {labels_text(self.classes)}; {counted(self.n_features, 'feature')}"
        scaled = "" if self.scaling is None else f", scaled ({self.scaling.kind})"
        worst = self.certificate
        proven = "without a certificate" if worst is None else str(worst)
        return f"<LinearModel: {what}{scaled}; {proven}>"

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.coef.shape[1])

    @property
    def certificate(self) -> Certificate | None:
        """What is proven; with several certificates the one with the largest gap, None without any."""
        return max(self.certificates, key=lambda certificate: certificate.gap, default=None)

    def _linear(self, X: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        self._require_names(X)
        X = as_sparse(X) if hasattr(X, "tocsr") else as_floats(X)
        if len(X.shape) != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"the model has {counted(self.n_features, 'feature')}; X has the shape {tuple(X.shape)}")
        X = for_products(X) if hasattr(X, "indptr") else X
        X = X if self.scaling is None else self.scaling.of(X)
        _require_finite(X.data if hasattr(X, "indptr") else X)
        return X, self.coef, self.intercept, self.classes

    def _settled(self) -> Settled:
        if self.certificates and not self._is_that_of_the_certificates():
            raise ValueError(
                "the weights or classes are not those of the certificate, so nothing is known of the optimum"
            )
        return Settled(self.certificates, self.coef, self.intercept)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted, as scikit-learn's classifiers do.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or RowsOnDisk
            Any rows.
        y : array of shape (n_samples,), optional
            Their labels; rows on a disk have labels of their own.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        float
            Between 0 and 1.
        """
        labels, found = np.ravel(labels_for(X, y)), self.predict(X)
        if len(labels) != len(found):
            raise ValueError(f"there are {counted(len(found), 'row')} and {counted(len(labels), 'label')}")
        return float(np.average(found == labels, weights=sample_weight))

    def labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Turn scores into labels.

        Parameters
        ----------
        scores : array
            What `decision_function` returned.

        Returns
        -------
        array of shape (n_samples,)
            One label per row.
        """
        return labels_of(scores, self.classes)

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
        """Prove every certificate again from the data, and that they are about these very weights and classes.

        Parameters
        ----------
        X, y, sample_weight : see `Certificate.verify`
            The data that the model was trained on.
        C, classes, loss, intercept_scaling : see `Certificate.verify`
            What the problem must be; whatever it is by default.
        n_jobs : int or None, default=None
            How many threads to use; -1 for all cores.

        Returns
        -------
        Verification
            Of the first certificate that is not proven; of the one with the largest gap if all are, with the problem
            of all.
        """
        self._require_names(X)
        if not self.certificates:
            return unproven("not proven", "the model has no certificate")
        if not self._is_that_of_the_certificates():
            return unproven("altered", "the weights or classes are not those of the certificate")
        expected: dict[str, Any] = {"C": C, "classes": classes, "loss": loss, "intercept_scaling": intercept_scaling}
        rows, found = self._scaled(X), []
        if rows is None:
            return unproven("other data", f"the scaling of the model ({self.scaling}) is not that of these rows")
        for certificate in self.certificates:
            result = certificate.verify(rows, y, sample_weight, **expected, n_jobs=n_jobs)
            if not result:
                return result
            found.append((certificate.gap, result))
        claimed = max((one.settled_share for one in self.certificates if one.settled_share is not None), default=0.0)
        if claimed and not claimed - ROUNDED_OTHERWISE <= (share := self._settled_share(X, sample_weight)):
            detail = f"{percent(claimed)} of the rows are said to be settled, but {percent(share)} are"
            return unproven("not proven", detail)
        worst = max(found, key=lambda gap_and_result: gap_and_result[0])[1]
        problem = problem_text(self.certificates, weighted=sample_weight is not None)
        return replace(worst, problem=problem if self.scaling is None else f"{problem}; rows scaled: {self.scaling}")

    def _scaled(self, X: Any) -> Any:
        """Return the rows that the certificates are about; None if the rows do not give the scaling of the model."""
        if self.scaling is None:
            return X
        rows = X if stays_on_disk(X) else for_products(as_sparse(X)) if hasattr(X, "tocsr") else as_floats(X)
        if len(rows.shape) != 2 or rows.shape[1] != self.n_features:
            return rows  # which the certificates will refuse
        if stays_on_disk(X):
            return X.scaled_by(self.scaling) if self.scaling.is_that_of_all(X.sum, len(X)) else None
        return self.scaling.of(rows) if self.scaling.is_that_of(rows) else None

    def unscaled(self) -> "LinearModel":
        """Return a model of raw rows with the same scores, but for rounding; it has no certificate then.

        Returns
        -------
        LinearModel
            Itself if it does not scale.
        """
        if self.scaling is None:
            return self
        coef = self.coef / self.scaling.divisor
        return replace(
            self, coef=coef, intercept=self.intercept - coef @ self.scaling.shift, certificates=(), scaling=None
        )

    def _settled_share(self, X: Any, sample_weight: Any) -> float:
        """Return which share of the rows that take part is settled."""
        settled = self.settled(X)
        return float((settled if sample_weight is None else settled[np.asarray(sample_weight) != 0]).mean())

    def _is_that_of_the_certificates(self) -> bool:
        """Whether the certificates are about these weights and these classes."""
        weights = np.vstack([certificate.weights for certificate in self.certificates])
        intercept = np.hstack([certificate.intercept for certificate in self.certificates])
        labels = [label for certificate in self.certificates for label in certificate.problem.labels]
        classes = list(as_labels(self.classes))
        same = labels == (classes[1:] if len(self.coef) == 1 else classes)
        same &= all(list(certificate.problem.classes) == classes for certificate in self.certificates)
        return same and np.array_equal(weights, self.coef) and np.array_equal(intercept, self.intercept)

    def to_estimator(self) -> Any:
        """Return a fitted classifier of the kind that the model was saved from; it needs scikit-learn.

        It has the parameters that a file can hold, and predicts, scores, verifies and can be fitted again. What only
        the run itself knew (``n_iter_``, ``n_updates_``, ``dual_coef_``) is missing; ``history_`` has the checks
        that are in the file, at unknown times.

        Returns
        -------
        classifier, or sklearn.pipeline.Pipeline
            For a model of ``dynmargin train`` the estimator of its algorithm, and for one of a Dask cluster
            ``MaxMarginClassifier``. A model that scales becomes a pipeline of a scaler and the classifier.

        Examples
        --------
        >>> import tempfile, dynmargin
        >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["left", "right"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dynmargin.PDMClassifier(C=2.0).fit(X, y).save(f"{folder}/model.npz")
        ...     classifier = dynmargin.load(f"{folder}/model.npz").to_estimator()
        >>> classifier
        PDMClassifier(C=2.0)
        >>> classifier.score(X, y)
        1.0
        """
        return import_module("..classifiers.restored", __package__).restored(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, as a whole or not at all.

        Parameters
        ----------
        path : path
            Where to write; by custom it ends with ``.npz``.
        """
        write(path, **{one.name: getattr(self, one.name) for one in fields(self)})

    def _require_names(self, X: Any) -> None:
        """Refuse a data frame with other columns, or in another order, in scikit-learn's words."""
        names, known = _names(X), None if self.feature_names is None else self.feature_names.tolist()
        if names is not None and known is not None and names != known:
            raise other_names(names, known, "X[model.feature_names]")


def other_names(names: Sequence[str], known: Sequence[str], instead: str) -> ValueError:
    """Return the error of a data frame with other columns, or in another order; say what to pass instead."""
    message = "The feature names should match those that were passed during fit.\n"
    if unseen := sorted(set(names) - set(known)):
        message += "".join(["Feature names unseen at fit time:\n", *(f"- {name}\n" for name in unseen[:5])])
    if missing := sorted(set(known) - set(names)):
        message += "".join(
            ["Feature names seen at fit time, yet now missing:\n", *(f"- {name}\n" for name in missing[:5])]
        )
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    if not missing:
        message += f"Pass {instead}, which has the columns that were fitted, in their order.\n"
    return ValueError(message)


def labels_for(X: Any, y: Any) -> Any:
    """Return the labels that are given, or else those that rows on a disk have of their own."""
    if y is None and not stays_on_disk(X):
        raise TypeError("y is missing: there is no accuracy without labels")
    return X.labels() if y is None else y


def as_sparse(X: Any) -> Any:
    """Return a sparse matrix as CSR of float32 or float64."""
    require_sound(X)
    X = X.tocsr()
    return X if X.data.dtype in (np.float32, np.float64) else X.astype(np.float64)


def load(path: str | os.PathLike[str]) -> LinearModel:
    """Load a model that a classifier's `save` or ``dynmargin train`` has written.

    Parameters
    ----------
    path : path
        The file; it is data only and cannot run code.

    Returns
    -------
    LinearModel
        It predicts and can be verified; scikit-learn is not needed for that.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer version.

    Examples
    --------
    >>> import tempfile, dynmargin
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["left", "right"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dynmargin.MaxMarginClassifier().fit(X, y).save(f"{folder}/model.npz")
    ...     model = dynmargin.load(f"{folder}/model.npz")
    >>> model.verify(X, y).verdict
    'proven'
    """
    try:
        content = contents(path)
    except DataError as error:
        raise ModelFileError(str(error)) from error
    return LinearModel(**parse(content, name_of(path)))


def _names(X: Any) -> list[str] | None:
    """Return the names of a data frame's columns, of whatever library, where all are text."""
    names = getattr(X, "columns", None)
    names = None if names is None else list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def _require_finite(values: NDArray[Any]) -> None:
    """Refuse what no score can be computed from, in scikit-learn's words."""
    if not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype!r}"
        raise ValueError(f"Input X contains {what}.")
