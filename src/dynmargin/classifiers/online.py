"""Learning online and continuing: `partial_fit`, `certify` and ``warm_start``."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Hidden
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..certificate.certificate import Certificate
from ..certificate.online import OnlineCertificate
from ..certificate.weights import Counts
from ..problem.matrix import as_matrix
from ..problem.packed import PackedProblem
from ..problem.problems import BinaryProblem, Problem, Weights, require_two_classes
from ..training.fit import Fit
from ..training.request import Request
from ..training.result import Result
from ..training.stream import Stream
from .parameters import Method, option, parameter, validated, words
from .perceptrons import PerceptronFamily
from .support import support_of

Proof = TypeVar("Proof", Certificate, OnlineCertificate)


def _trains_classes_apart(classifier: Any) -> bool:
    """Say whether classes are trained one by one, which is all that running sums allow."""
    if classifier.multi_class != "ovr":
        raise AttributeError(
            f"partial_fit and certify are for multi_class='ovr'; multi_class={classifier.multi_class!r} needs a fit"
        )
    return True


def one_against_the_rest(method: Method) -> Method:
    """Offer a method only where classes are trained one by one; the type of the method is kept."""
    return cast(Method, available_if(_trains_classes_apart)(method))


class OnlineFitted:
    """What a stream leaves beside `Fitted`, for type checkers."""

    # What `fit` and `certify` leave, which is what nearly everybody asks. After `partial_fit` it is an
    # OnlineCertificate: no proof yet that others could check.
    certificate_: Certificate
    certificates_: list[Certificate]
    n_samples_seen_: int
    _streams: list[Stream] | None  # one per certificate; None after a fit that did not keep any


class OnlineClassifier(OnlineFitted, PerceptronFamily):
    """A classifier that can continue from where it is: with rows that pass by, or with another fit.

    Parameters
    ----------
    eta : float in (1, inf) or None, default=None
        Divide the accuracy by ``eta`` in successive runs, from 1/2 down to the one needed (PDM-succ; the paper
        takes 8); None for one run.
    multi_class : {"ovr", "joint"}, default="ovr"
        With more than two classes: train each against the rest, with a certificate for each, or all at once for the
        joint margin, the smallest difference between the score of a row's own class and that of any other (Crammer
        and Singer's problem, with squared slacks), with one certificate for the whole. A joint fit is one problem:
        ``n_jobs`` has no effect on it, and it supports neither `partial_fit` nor ``warm_start``. With two classes
        both are the same.
    warm_start : bool, default=False
        Begin a fit with the counts of the previous `fit` or `partial_fit`, as far as their rows are still there.
        Rows are recognised by a digest of their values and their side, wherever they stand; counts of rows that
        have changed, changed sides or are gone are dropped. With more rows this is what PDM would do that had been
        presented the old ones first. With a smaller ``epsilon`` it is what PDM-succ does: whatever was
        misclassified under the larger one is under the smaller one too, so every update made so far satisfies the
        condition of the new run (Section 3 of the paper). Whatever it begins with, the certificate is proven from
        the data of the present fit alone. ``n_updates_`` includes the updates taken over, ``max_updates`` does not.
        A `fit` keeps what a later `fit` or `partial_fit` needs to continue only if this is True.
    keep_counts : bool, default=True
        Whether `partial_fit` remembers which rows have a count: 16 bytes for each of them, its only memory that
        grows. Without it the upper bound of `partial_fit` is just as true, but `warm_start` has nothing to continue
        from, and `certify` takes its counts from the slacks of the rows that it is given.

    Attributes
    ----------
    n_samples_seen_ : int
        Rows presented by `partial_fit`, those of a `fit` before it included.
    """

    eta: float | None = option("pdm", "eta")
    multi_class: Literal["ovr", "joint"] = parameter(
        default="ovr", within=[words("ovr", "joint"), Hidden(words("crammer_singer"))]
    )
    warm_start: bool = parameter(default=False, within=["boolean"])
    keep_counts: bool = parameter(default=True, within=["boolean"])

    @one_against_the_rest
    @validated
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Present rows once, in their order, strictly online; they are not kept.

        A row costs time in proportion to its non-zeros, a call in proportion to the number of features. Blocks do not
        matter: rows in two calls are the same as in one, bit for bit. The weights returned are the average of PDM's
        weights over all rows presented. After a `fit` with ``warm_start=True`` it continues from there; after one
        without it starts afresh, and warns.

        ``epsilon`` may change between calls; ``C``, ``class_weight``, ``fit_intercept`` and ``intercept_scaling`` may
        not, because the sums kept are about one problem. The parameters that order and end a fit have no effect here.

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
        X, y = self._rows(X, y, reset=first)
        if not first and self._streams is None:
            warnings.warn(
                "partial_fit starts afresh: it can continue a fit only if that had warm_start=True, which keeps the "
                "sums it needs",
                stacklevel=3,  # past scikit-learn's decorator
            )
        if first and classes is not None:
            labels = np.unique(np.asarray(classes))
            check_classification_targets(np.repeat(labels, 3))  # a class is no sample
            require_two_classes(labels)
        _check_partial_fit_first_call(self, classes)
        self._require_known(y)
        weight = self._row_weights(X, sample_weight)
        problems, matrix = cast("list[BinaryProblem]", self._problems(self.classes_, y, weight)), as_matrix(X)
        streams = getattr(self, "_streams", None)
        if streams is None:
            streams = [Stream(problem, matrix.n_columns, self.keep_counts) for problem in problems]
        elif problems != [stream.problem for stream in streams]:
            raise ValueError(
                "C, class_weight, fit_intercept and intercept_scaling must stay as they were when the first rows came; "
                "a clone of the classifier can start afresh"
            )
        repeats = self._repeats(problems, y, weight)
        certificates = [
            stream.present(matrix, y, weight, often, float(self.epsilon))
            for stream, often in zip(streams, repeats, strict=True)
        ]
        self._streams = streams
        self._publish_models(certificates)
        self.stop_reason_, self.n_iter_, self.history_ = "online", 1, []
        self.n_samples_seen_ = streams[0].state.rows_seen
        self.n_updates_ = sum(stream.state.updates for stream in streams)
        for name in ("support_", "dual_coef_"):  # about rows that are no longer there
            self.__dict__.pop(name, None)
        return self

    @one_against_the_rest
    def certify(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Certificate:
        """Prove what the model is worth on these rows, in one pass over them; nothing is learned.

        It completes what `partial_fit` has to leave open. The rows may be all that were seen or those that are still
        there, in any order. Counts are matched to the rows that are recognised, and the certificate is about exactly
        the rows given. ``coef_`` and ``intercept_`` are put at the scale that is best for them, and ``support_`` and
        ``dual_coef_`` are about these rows.

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
        X, y = self._rows(X, y, reset=False)
        self._require_known(y)
        weight = self._row_weights(X, sample_weight)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        streams = self._streams
        if any(found.problem.joint for found in self.certificates_):
            raise ValueError("the model was fitted for a joint margin; certify is for one class against the rest")
        if streams is None:
            problems = cast("list[BinaryProblem]", [found.problem for found in self.certificates_])
            streams = [Stream(problem, X.shape[1], keep_counts=False) for problem in problems]
        matrix, models = as_matrix(X), zip(streams, scores.T, self.coef_, self.intercept_, strict=True)
        certificates = [
            stream.certify(matrix, y, weight, score, coef, float(intercept), float(self.epsilon))
            for stream, score, coef, intercept in models
        ]
        worst = self._publish_models(certificates)
        problems, scales = [stream.problem for stream in streams], [None] * len(streams)
        self.support_, self.dual_coef_ = support_of(certificates, scales, problems, y, weight)
        return worst

    def _problems(self, classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> list[Problem]:
        if self.multi_class not in ("ovr", "joint"):
            raise ValueError(
                f"multi_class={self.multi_class!r} is LinearSVC's name; use multi_class='joint': the same margin, with "
                "squared slacks"
            )
        if self.warm_start and self.multi_class == "joint" and len(classes) > 2:
            raise ValueError("warm_start=True needs multi_class='ovr'")
        return super()._problems(classes, y, sample_weight)

    def _train(self, problem: PackedProblem, request: Request) -> Result:
        result = self._train_algorithm(problem, request, eta=self.eta, start=self._start(problem))
        if not self.warm_start:
            return result
        return replace(result, stream=Stream.after(problem, result.certificate))

    def _start(self, problem: PackedProblem) -> Counts | None:
        """Return the counts to begin a fit with: those of the rows that a warm start still finds."""
        if not self.warm_start:
            return None
        if not self.keep_counts:
            raise ValueError("warm_start=True continues from the counts; it needs keep_counts=True")
        for stream in getattr(self, "_streams", None) or []:
            if stream.problem.positive == problem.problem.positive and stream.state.keep_counts:
                found: Counts = stream.counts_of(problem.binary.row_keys(problem.rows))
                return found
        return None

    def _publish(
        self, fitted: Fit, problems: Sequence[Problem], y: NDArray[Any], sample_weight: Weights | None
    ) -> None:
        streams = [result.stream for result in fitted.results]
        self._streams = None if None in streams else streams
        super()._publish(fitted, problems, y, sample_weight)

    def _publish_models(self, certificates: list[Proof]) -> Proof:
        """Set the weights and what is proven about them; return the certificate with the largest gap."""
        worst = max(certificates, key=lambda certificate: certificate.gap)
        found: Any = certificates, worst  # of either kind, see `OnlineFitted`
        self.certificates_, self.certificate_ = found
        self.coef_ = np.array([certificate.weights for certificate in certificates])
        self.intercept_ = np.array([certificate.intercept for certificate in certificates])
        return worst

    def _require_known(self, y: NDArray[Any]) -> None:
        labels = np.unique(y)
        unknown = labels[~np.isin(labels, self.classes_)]
        if len(unknown):
            raise ValueError(f"y holds labels that are not in classes: {unknown.tolist()}")

    def _repeats(
        self, problems: Sequence[BinaryProblem], y: NDArray[Any], weight: Weights | None
    ) -> list[Weights | None]:
        """Return how often each row may be added: its weight, that of its class included."""
        if self.class_weight is None:
            return [weight] * len(problems)
        by_class = self._class_weights(self.classes_, y, weight)
        by_row = by_class[np.searchsorted(self.classes_, y)] * (1.0 if weight is None else weight)
        if len(problems) == 1:
            return [by_row]
        rest = np.ones(len(y)) if weight is None else weight  # as in the problems: only a class's own weight counts
        return [np.where(y == problem.positive, by_row, rest) for problem in problems]
