"""Fits over rows that stay on the disk."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..model.linear_model import labels_for
from ..problem.problems import BinaryProblem, Weights, binary
from ..shards.disk_fit import fit_on_disk
from ..shards.fit import Data, ShardedFit, support_of, unchanged
from ..shards.rows_on_disk import RowsOnDisk
from .base import MarginClassifier
from .request import request_of
from .warn_caller import warn_caller
from .watch import Watch, visible_checks


class FitsOnDisk(MarginClassifier):
    """A classifier whose `fit` also takes `RowsOnDisk`, in the place of X and y."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, settle_on: Any = None) -> Any:
        if not isinstance(X, RowsOnDisk):
            return super()._fit(X, y, sample_weight, settle_on)
        if y is not None:
            raise ValueError("rows on a disk have labels of their own; leave y out")
        if X.folder.memory <= X.memory_limit:
            dataset = X.folder.dataset()
            rows = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.to_scipy()
            return self._named(X, super()._fit(rows, dataset.y, sample_weight, settle_on))
        return self._fit_on_disk(X, sample_weight, settle_on)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on rows, which may stay on the disk.

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
            The share of rows whose label is predicted.
        """
        return float(super().score(X, labels_for(X, y), sample_weight))

    def _fit_on_disk(self, rows: RowsOnDisk, sample_weight: Any, settle_on: Any) -> Any:
        started = time.perf_counter()
        weight = None
        if sample_weight is not None:
            weight = np.array(np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(rows)))
            if not (np.isfinite(weight).all() and (weight >= 0).all()):
                raise ValueError("sample_weight must be finite and not negative")
        request, watch = request_of(self, started), None
        self.n_features_in_ = self._named(rows, rows).shape[1]
        around: Any = unchanged if request.checkpoint is None else request.checkpoint.around
        settling = self._settling(settle_on)
        classes = rows.classes
        callbacks: Any = getattr(self, "_skl_callbacks", ())
        if self.verbose or callbacks:
            watch = Watch(
                self, 1 if len(classes) == 2 else len(classes), classes, {"X": rows, "y": None, "metadata": None}
            )
            request, inner = replace(request, watch=watch.see), around
            watched = watch

            def around(train: Any) -> Any:
                return watched.around(inner(train))

            labels = [str(label) for label in classes] if len(classes) > 2 else []
            with visible_checks(self.verbose, request.epsilon, labels) as watch.bar:
                data, fitted = self._fitted(rows, weight, request, around, settling)
        else:
            data, fitted = self._fitted(rows, weight, request, around, settling)
        self._publish_on_disk(data, fitted)
        if watch is not None:
            watch.finish()
        return self._named(rows, self)

    def _settling(self, settle_on: Any) -> dict[str, Any]:
        """Return which share of which rows is to be settled, if that is asked for."""
        if getattr(self, "stop", "certificate") != "predictions":
            if settle_on is not None:
                raise ValueError("settle_on names the rows that are to be settled; it needs stop='predictions'")
            return {}

        share = float(getattr(self, "settle", 1.0))
        if settle_on is None or isinstance(settle_on, RowsOnDisk):
            return {"settle": share, "settle_on": None if settle_on is None else settle_on.each}
        rows = self._rows(settle_on, reset=False)
        return {"settle": share, "settle_on": lambda function: function(rows)}

    def _fitted(
        self, rows: RowsOnDisk, weight: Weights | None, request: Any, around: Any, settling: dict[str, Any]
    ) -> tuple[Data, ShardedFit]:
        def state(data: Data) -> Sequence[BinaryProblem]:
            # A row per class, which weighs as much as all of its rows: all that class_weight="balanced" asks for.
            return binary(self._problems(data.classes, data.classes, data.weights))

        algorithm = str(getattr(self, "algorithm", "auto"))
        return fit_on_disk(rows, weight, state, request, algorithm=algorithm, around=around, **settling)

    def _publish_on_disk(self, data: Data, fitted: ShardedFit) -> None:
        self.classes_, self.n_features_in_ = data.classes, data.n_features
        worst = fitted.worst
        self.certificates_, self.certificate_ = fitted.certificates, worst.certificate
        self.stop_reason_, self.history_ = worst.stop_reason, fitted.history
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.n_updates_, self.n_iter_ = fitted.updates, fitted.passes
        self.algorithm_: str = fitted.results[0].algorithm
        self.support_, self.dual_coef_ = support_of(fitted.certificates, fitted.sides)
        if message := fitted.shortfall:
            warn_caller(message)

    def _named(self, rows: RowsOnDisk, fitted: Any) -> Any:
        if rows.feature_names is not None:
            self.feature_names_in_ = rows.feature_names.astype(object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return fitted
