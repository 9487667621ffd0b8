"""Learning online and going on: `partial_fit`, `certify` and ``warm_start``."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import _core
from ..certificate import Certificate
from ..matrix import as_matrix
from ..online import Stream
from ..outcome import Outcome
from ..problem import BinaryProblem
from ..task import Task
from .base import MarginClassifier

Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


def _trains_classes_apart(classifier: Any) -> bool:
    """Say whether classes are trained one by one, which is all that can go on from sums kept."""
    if classifier.multi_class != "ovr":
        raise AttributeError(
            f"partial_fit and certify are for multi_class='ovr'; multi_class={classifier.multi_class!r} needs a fit"
        )
    return True


class OnlineClassifier(MarginClassifier):
    """A classifier that can go on from where it is: with rows that pass by, or with another fit."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MarginClassifier._parameter_constraints,
        "warm_start": ["boolean"],
        "keep_counts": ["boolean"],
    }

    multi_class: str
    warm_start: bool
    keep_counts: bool
    _streams: list[Stream] | None  # one a certificate; None after a fit that did not keep any

    @available_if(_trains_classes_apart)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Present rows once, in their order, strictly online; they are not kept.

        A row costs time in proportion to its non-zeros, a call in proportion to the number of features. Blocks do not
        matter: rows in two calls are the same as in one, bit for bit. The weights handed out are the average of PDM's
        weights over all rows presented. After a `fit` with ``warm_start=True`` it goes on from there; after one without
        it begins anew, and warns.

        ``epsilon`` may change between calls; ``C``, ``class_weight``, ``fit_intercept`` and ``intercept_scaling`` may
        not, because the sums kept are about one problem. The parameters that order and end a fit have no meaning here.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows, as for `fit`.
        y : array of shape (n_samples,)
            Their labels; all of them may be the same.
        classes : array of shape (n_classes,), optional
            All labels there will ever be; needed in the first call.
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies C for its row, and the row may be added as often as its weight says, rounded up; a row
            of weight zero is left out.

        Returns
        -------
        self
            With an `OnlineCertificate` as ``certificate_``: an upper bound for all rows seen, a margin only for those
            of this call.
        """
        first = not hasattr(self, "_streams")
        if first:
            self.__dict__.pop("classes_", None)  # of a first call that was refused
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' is not known before all rows are; compute it from a sample of the labels "
                "(sklearn.utils.compute_class_weight) and pass it as a dict"
            )
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            accept_large_sparse=True,
            reset=first,
        )
        if not first and self._streams is None:
            warnings.warn(
                "partial_fit begins anew: it can go on from a fit only if that had warm_start=True, which keeps the "
                "sums it needs",
                stacklevel=3,  # past scikit-learn's decorator
            )
        if first and classes is not None:
            _require_classes(classes)
        _check_partial_fit_first_call(self, classes)
        self._require_known(y)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        problems, matrix = self._problems(self.classes_, y, weight), as_matrix(X)
        streams = getattr(self, "_streams", None)
        if streams is None:
            streams = [Stream(problem, matrix.n_columns, self.keep_counts) for problem in problems]
        elif problems != [stream.problem for stream in streams]:
            raise ValueError(
                "C, class_weight, fit_intercept and intercept_scaling must stay as they were when the first rows came; "
                "a clone of the classifier can begin anew"
            )
        core_problems = [problem.to_core(problem.sides(y, weight), weight) for problem in problems]
        certificates = [
            stream.present(matrix, core_problem, repeats, float(self.epsilon))
            for stream, core_problem, repeats in zip(
                streams, core_problems, self._repeats(problems, y, weight), strict=True
            )
        ]
        self._streams = streams
        self._publish_online(certificates)
        self.stop_reason_, self.n_iter_, self.history_ = "online", 1, []
        self.n_samples_seen_ = streams[0].state.rows_seen
        self.n_updates_ = sum(stream.state.updates for stream in streams)
        for name in ("support_", "dual_coef_"):  # about rows that are no longer there
            if hasattr(self, name):
                delattr(self, name)
        return self

    @available_if(_trains_classes_apart)
    def certify(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Certificate:
        """Prove what the model is worth on these rows, in one look at them; nothing is learnt.

        It completes what `partial_fit` has to leave open. The rows may be all that were seen or those that are still
        there, in any order; counts are brought to the rows that are recognised, and the certificate is about exactly
        the rows given. ``coef_`` and ``intercept_`` are put at the scale that is best for them.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their labels.
        sample_weight : array of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        Certificate
            The one with the largest gap; all of them are in ``certificates_``, which this replaces.
        """
        check_is_fitted(self)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=True, reset=False
        )
        self._require_known(y)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        streams = self._streams
        if streams is None:
            streams = [Stream(found.problem, X.shape[1], keep_counts=False) for found in self.certificates_]
        matrix, models = as_matrix(X), zip(streams, scores.T, self.coef_, self.intercept_, strict=True)
        certificates = [
            stream.certify(matrix, y, weight, score, coef, float(intercept), float(self.epsilon))
            for stream, score, coef, intercept in models
        ]
        self._publish_online(certificates)
        return max(certificates, key=lambda certificate: certificate.gap)

    def _start(self, task: Task) -> Counts | None:
        """Give the counts to begin a fit with: those of the rows that a warm start still finds."""
        if not self.warm_start:
            return None
        if not self.keep_counts:
            raise ValueError("warm_start=True goes on from the counts; it needs keep_counts=True")
        before: list[Stream] | None = getattr(self, "_streams", None)
        for stream in before or []:
            if stream.problem.positive == task.problem.positive and stream.state.keep_counts:
                return stream.counts_of(_core.row_keys(task.rows, task.core_problem))
        return None

    def _publish(self, outcomes: list[Outcome], sides: list[NDArray[np.int8]]) -> None:
        streams = [outcome.stream for outcome in outcomes]
        self._streams = None if None in streams else streams
        super()._publish(outcomes, sides)

    def _publish_online(self, certificates: list[Any]) -> None:
        self.certificates_ = certificates
        self.certificate_ = max(certificates, key=lambda certificate: certificate.gap)
        self.coef_ = np.array([certificate.weights for certificate in certificates])
        self.intercept_ = np.array([certificate.intercept for certificate in certificates])

    def _require_known(self, y: NDArray[Any]) -> None:
        labels = np.unique(y)
        unknown = labels[~np.isin(labels, self.classes_)]
        if len(unknown):
            raise ValueError(f"y holds labels that are not in classes: {unknown.tolist()}")

    def _repeats(
        self, problems: list[BinaryProblem], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> list[NDArray[np.float64] | None]:
        """Say how often each row may be added: its weight, that of its class included."""
        if self.class_weight is None:
            return [weight] * len(problems)
        by_class = self._class_weights(self.classes_, y, weight)
        by_row = by_class[np.searchsorted(self.classes_, y)] * (1.0 if weight is None else weight)
        if len(problems) == 1:
            return [by_row]
        rest = np.ones(len(y)) if weight is None else weight  # as in the problems: only a class's own weight counts
        return [np.where(y == problem.positive, by_row, rest) for problem in problems]


def _require_classes(classes: ArrayLike) -> None:
    labels = np.unique(np.asarray(classes))
    check_classification_targets(np.repeat(labels, 3))  # a class is no sample
    if len(labels) < 2:
        raise ValueError(f"classes holds {len(labels)} class only ({labels.tolist()}); a classifier needs two or more")
