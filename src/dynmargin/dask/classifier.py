"""The classifier over a cluster."""

import time
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import dask
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..classifiers.base import MarginClassifier
from ..classifiers.fitted import Proven
from ..classifiers.front_door import Chosen, MaxMarginClassifier
from ..classifiers.parameters import Cost, Intercept, Losses, MarginFloor, StopBySettledRows, parameter, validated
from ..classifiers.request import request_of
from ..classifiers.warn_caller import warn_caller
from ..classifiers.watch import Watch, visible_checks
from ..model.linear_model import LinearModel, other_names
from ..problem.problems import BinaryProblem, Weights, binary
from ..shards.fit import Data, ShardedFit, fit, support_of, survey, unchanged
from ..shards.settling import fit_settled
from ..shards.sums import tree_sum
from .cluster import Cluster, client_of, gathered
from .lazily import Labels, OfRows, RightOnes, Scores, each_of, feature_names, lazily
from .parts import is_distributed, partitions
from .verification import ClusterCertificate

# What both kinds of classifier have after a fit.
LOCAL = (
    *("classes_", "coef_", "intercept_", "n_features_in_", "feature_names_in_", "n_updates_", "n_iter_", "history_"),
    *("stop_reason_", "algorithm_", "support_", "dual_coef_"),
)


class DaskMaxMarginClassifier(
    StopBySettledRows, Proven, Chosen, Cost, Losses, MarginFloor, Intercept, MarginClassifier
):
    """Maximum-margin linear classifier over a Dask cluster, with a certificate.

    The rows stay where they are: every worker packs its partitions and returns sums. The result is the same bit for bit
    for any number of workers. A worker that dies costs time, as long as its partitions can be computed again. The
    certificate is proven from what every partition holds, and is the one that ``certificate_.verify`` confirms on all
    rows together, on the cluster or on one machine.

    With more than two classes each is trained against the rest. For the hinge and the hard margin the rows that decide
    are sent to this process and trained on here; ``algorithm_`` says how many they were.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The cluster; None for the current client.
    n_jobs : None
        Not used: the cluster has its own threads.

    Attributes
    ----------
    algorithm_ : str
        How it was trained, and in how many rounds: a round asks every partition for its sums once. It also says so
        where one machine would probably have been faster.
    certificate_ : ClusterCertificate
        What is proven about the model; with more than two classes the one with the largest gap.
    certificates_ : list of ClusterCertificate
        One per class, or a single one for two classes.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dynmargin.dask import DaskMaxMarginClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> dX, dy = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     classifier = DaskMaxMarginClassifier().fit(dX, dy)
    ...     classifier.certificate_.achieved, classifier.certificate_.verify(dX, dy).verdict
    (True, 'proven')
    """

    _algorithm = "newton"

    client: Any = parameter(default=None, within=[object])

    def __sklearn_clone__(self) -> Self:
        """Return a classifier with the same parameters; a connection cannot be copied, so both share it."""
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(**{name: clone(value, safe=False) for name, value in parameters.items()}, client=client)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "client": None}  # whoever reads it has another one

    @validated
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, settle_on: Any = None) -> Self:
        """Train until what is asked for is proven, or a limit is met.

        Parameters
        ----------
        X : Dask array or data frame, or list of delayed parts
            Rows, dense or in blocks of CSR; their global order is the order of the partitions.
        y : Dask array or series, list of delayed parts, or array
            Labels, cut into partitions as the rows are.
        sample_weight : the same, optional
            A weight multiplies C for its row; a row of weight zero is left out.
        settle_on : Dask array or data frame, list of delayed parts, array or sparse matrix, optional
            With ``stop="predictions"``: the rows whose predictions are to be settled, instead of the training rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        started = time.perf_counter()
        if settle_on is not None and self.stop != "predictions":
            raise ValueError("settle_on names the rows that are to be settled; it needs stop='predictions'")
        client, parts = client_of(self.client), partitions(X, y, sample_weight)
        request, watch = request_of(self, started), None
        with Cluster(client, parts) as cluster:
            data = survey(cluster)
            names = feature_names(X)
            self.n_features_in_ = data.n_features
            if names is not None:
                self.feature_names_in_ = names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            if data.classes.dtype.kind == "f":  # three of each are as good as all labels
                check_classification_targets(np.repeat(data.classes, 3))
            problems = self._binary_problems(data)
            others = None if settle_on is None else each_of(client, settle_on)

            def fitted_by(around: Any) -> ShardedFit:
                if self.stop == "predictions":
                    return fit_settled(data, problems, request, float(self.settle), others, around)
                return fit(data, problems, request, around)

            around = unchanged if request.checkpoint is None else request.checkpoint.around
            if not self.verbose and not getattr(self, "_skl_callbacks", ()):
                fitted = fitted_by(around)
            else:
                metadata = None if sample_weight is None else {"sample_weight": sample_weight}
                watch = Watch(self, len(problems), data.classes, {"X": X, "y": y, "metadata": metadata})
                request = replace(request, watch=watch.see)
                labels = [str(label) for label in data.classes] if len(problems) > 1 else []
                with visible_checks(self.verbose, request.epsilon, labels, request.max_time) as watch.bar:
                    fitted = fitted_by(lambda train: watch.around(around(train)))
            alone = data.faster_alone(cluster.n_workers)
        self._publish_sharded(data, fitted)
        if alone:
            self.algorithm_ += "; where the rows fit one machine, MaxMarginClassifier is faster"
        if watch is not None:
            watch.finish()
        return self

    def _binary_problems(self, data: Data) -> list[BinaryProblem]:
        self._surveyed = data
        try:
            stated = self._problems(data.classes, data.classes, None)
        finally:
            del self._surveyed
        return binary(stated)

    def _class_weights(self, classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> Weights:
        if self.class_weight == "balanced":
            shares = self._surveyed.weights
            weights: Weights = shares.sum() / (len(classes) * shares)
            return weights
        if self.class_weight is None:
            return np.ones(len(classes))
        return super()._class_weights(classes, y, sample_weight)

    def _publish_sharded(self, data: Data, fitted: ShardedFit) -> None:
        self.__dict__.pop("_support", None)
        self.classes_ = data.classes
        self.certificates_: list[Any] = [ClusterCertificate.of(found) for found in fitted.certificates]
        worst = fitted.worst
        self.certificate_ = self.certificates_[fitted.results.index(worst)]
        self.stop_reason_ = worst.stop_reason
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.n_updates_, self.n_iter_ = fitted.updates, fitted.passes
        self.history_ = fitted.history
        self.algorithm_ = fitted.results[0].algorithm
        self._sides = fitted.sides
        if message := fitted.shortfall:
            warn_caller(message)

    @cached_property
    def _support(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The rows with a count and their signed counts, computed when they are first asked for."""
        return support_of(self.certificates_, self._sides)

    @property
    def support_(self) -> NDArray[np.int64]:  # type: ignore[override]  # an attribute elsewhere
        """The rows with a count."""
        check_is_fitted(self)
        return self._support[0]

    @property
    def dual_coef_(self) -> NDArray[np.float64]:  # type: ignore[override]  # an attribute elsewhere
        """Signed counts, scaled so that their product with the rows approaches ``coef_`` as the gap closes."""
        check_is_fitted(self)
        return self._support[1]

    def decision_function(self, X: Any) -> Any:
        """Return signed scores, lazily for Dask collections.

        Parameters
        ----------
        X : Dask array or data frame, list of delayed parts, array or sparse matrix
            The rows to score.

        Returns
        -------
        Dask array, list of delayed arrays, or array
            With two classes a positive score means the second one.
        """
        self._require_same_names(X)
        return lazily(X, self._scores, np.float64, None if len(self.coef_) == 1 else len(self.coef_))

    def predict(self, X: Any) -> Any:
        """Predict labels, lazily for Dask collections.

        Parameters
        ----------
        X : Dask array or data frame, list of delayed parts, array or sparse matrix
            The rows to classify.

        Returns
        -------
        Dask array, list of delayed arrays, or array
            One label per row.
        """
        self._require_same_names(X)
        return lazily(X, Labels(self._scores, self.classes_), self.classes_.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, computed where the rows are.

        Parameters
        ----------
        X : Dask array or data frame, list of delayed parts, array or sparse matrix
            The rows.
        y : Dask array or series, list of delayed parts, or array
            Their labels, cut into partitions as the rows are.
        sample_weight : the same, optional
            How much each row counts.

        Returns
        -------
        float
            The share of rows whose label is predicted.
        """
        if not is_distributed(X):
            return float(super().score(X, y, sample_weight))
        self._require_same_names(X)
        client, right = client_of(self.client), dask.delayed(RightOnes(Labels(self._scores, self.classes_)))
        sums = gathered(client, client.compute([right(*part[:3]) for part in partitions(X, y, sample_weight)]))
        of_right, of_all = tree_sum(sums)
        return float(of_right / of_all)

    def report(self, X: Any, y: Any, path: Any, **options: Any) -> None:
        """Write a page about the fitted model; see ``MaxMarginClassifier.report``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or None
            Rows in memory: a part of a Dask collection has to be computed first.
        y : array of shape (n_samples,), or None
            Their labels.
        path : path
            The HTML file to write.
        **options
            ``sample_weight`` and ``feature_names``.
        """
        if is_distributed(X) or is_distributed(y):
            raise TypeError(
                "a report shows rows in memory: pass some of them, as in report(dX[:10_000].compute(), "
                "dy[:10_000].compute(), path), or None, None for a page about the model alone"
            )
        super().report(X, y, path, **options)

    def settled(self, X: Any) -> Any:
        """Say which predictions no more training can change, lazily for Dask collections.

        Parameters
        ----------
        X : Dask array or data frame, list of delayed parts, array or sparse matrix
            The rows.

        Returns
        -------
        Dask array, list of delayed arrays, or array of bool
            Whether the exact optimum provably predicts the same.
        """
        self._require_same_names(X)
        return lazily(X, OfRows(self._settled().of), np.bool_)

    def _as_model(self) -> LinearModel:
        model = super()._as_model()
        kept = {name: value for name, value in model.parameters.items() if name != "client"}
        return replace(model, parameters=kept)  # whoever reads it has another cluster, or none

    def _require_same_names(self, X: Any) -> None:
        """Refuse columns with other names, or in another order, than those of the data frame that was trained on."""
        check_is_fitted(self)
        known, found = getattr(self, "feature_names_in_", None), feature_names(X)
        if known is not None and found is not None and known.tolist() != found.tolist():
            raise other_names(found.tolist(), known.tolist(), "X[list(classifier.feature_names_in_)]")

    @property
    def _scores(self) -> Scores:
        return Scores(self.coef_, self.intercept_)

    def to_local(self) -> MaxMarginClassifier:
        """Return the same model for data in memory.

        Returns
        -------
        MaxMarginClassifier
            Fitted, with the same weights, certificates and history.
        """
        check_is_fitted(self)
        shared = MaxMarginClassifier().get_params().keys() & self.get_params().keys()
        local = MaxMarginClassifier(**{name: getattr(self, name) for name in shared})
        for name in LOCAL:
            if hasattr(self, name):
                setattr(local, name, getattr(self, name))
        local.certificates_ = [certificate.to_local() for certificate in self.certificates_]
        worst = next(i for i, found in enumerate(self.certificates_) if found is self.certificate_)
        local.certificate_ = local.certificates_[worst]
        return local
