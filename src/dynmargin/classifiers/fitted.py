"""What a fitted classifier has, and what it can do: predict, be saved and shown, become one of scikit-learn's."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..certificate.ball import Settled
from ..certificate.certificate import Certificate
from ..certificate.html import as_table
from ..model.linear_model import LinearModel, Predictor
from ..problem.matrix import for_products
from ..training.result import Check, StopReason
from .validation import ValidatesInput


class Fitted:
    """The attributes of a fitted classifier, for type checkers."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_features_in_: int
    n_updates_: int
    n_iter_: int
    history_: list[Check]
    stop_reason_: StopReason
    support_: NDArray[np.int64]
    dual_coef_: NDArray[np.float64]


class Proven:
    """What a fit proves, for type checkers; a classifier that also learns online has something else there."""

    certificate_: Certificate
    certificates_: list[Certificate]


class FittedClassifier(ValidatesInput, Fitted, Predictor, ClassifierMixin, BaseEstimator):
    """What a classifier can do after a fit."""

    class_weight: Mapping[Any, float] | Literal["balanced"] | None

    def _linear(self, X: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return for_products(X) if hasattr(X, "indptr") else X, self.coef_, self.intercept_, self.classes_

    def _settled(self) -> Settled:
        check_is_fitted(self)
        if not all(isinstance(certificate, Certificate) for certificate in self.certificates_):
            raise ValueError(
                "after partial_fit nothing is proven about the exact optimum yet; call certify(X, y) first"
            )
        return Settled(self.certificates_, self.coef_, self.intercept_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, as a whole or not at all; `dynmargin.load` reads it.

        Parameters
        ----------
        path : path
            Where to write; by custom it ends with ``.npz``.
        """
        self._as_model().save(path)

    def _as_model(self) -> LinearModel:
        """Return the fitted model without scikit-learn."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return LinearModel(
            self.classes_,
            self.coef_,
            self.intercept_,
            bias=self.certificate_.problem.rho,
            certificates=tuple(found for found in self.certificates_ if isinstance(found, Certificate)),
            feature_names=None if names is None else np.asarray(names, dtype=np.str_),
            parameters={"estimator": type(self).__name__, **self.get_params(), "stop_reason": self.stop_reason_},
            history=tuple(getattr(self, "history_", ())),
        )

    def report(
        self,
        X: Any,
        y: Any,
        path: str | os.PathLike[str],
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        """Write a page about the fitted model, for people who did not train it; it needs matplotlib.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or None
            The rows to show: those that it was trained on, or others. None for a page about the model alone.
        y : array of shape (n_samples,), or None
            Their labels; without them nothing is said about errors.
        path : path
            The HTML file to write. It needs no network.
        sample_weight : array of shape (n_samples,), optional
            The weights of the rows in training, if there were any: without them these are not the same data.
        feature_names : sequence of str, optional
            The names of the features, where the rows do not have them: those of a vectorizer, for example.

        Examples
        --------
        >>> import tempfile
        >>> from sklearn.datasets import load_breast_cancer
        >>> from dynmargin import MaxMarginClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> classifier = MaxMarginClassifier(random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     classifier.report(X, y, f"{folder}/report.html")
        """
        from ..report.page import write_report
        from ..report.subject import Origin

        model = self._as_model()
        rows = None if X is None else self._rows(X, reset=False)
        save = 'classifier.save("model.npz")  # by whoever has trained it'
        load = (
            'import dynmargin\nprint(dynmargin.load("model.npz").verify(X, y))  # with the data that it was trained on'
        )
        origin = Origin(type(self).__name__, "the data that were passed", (save, load))
        write_report(path, model, origin, rows, y, sample_weight, feature_names)

    def to_sklearn(self) -> Any:
        """Return the same model as a fitted ``sklearn.svm.LinearSVC``, for tools that know only that class (skl2onnx).

        Returns
        -------
        sklearn.svm.LinearSVC
            Its predictions are ours; what is proven about them does not come along.
        """
        from sklearn.svm import LinearSVC

        check_is_fitted(self)
        problem = self.certificate_.problem
        twin = LinearSVC(
            C=self._price(),
            loss=problem.loss,
            fit_intercept=problem.free_bias or problem.rho > 0,
            intercept_scaling=problem.rho if problem.rho > 0 else 1.0,
            class_weight=self.class_weight,
            multi_class="crammer_singer" if problem.joint else "ovr",
        )
        for name in ("classes_", "coef_", "intercept_", "n_iter_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def history_frame(self) -> Any:
        """Return ``history_`` as a table.

        Returns
        -------
        pandas.DataFrame
            One row per check: time in seconds, passes, updates, margin, upper bound, gap, and the class that was
            trained against the rest ("all" for a joint margin).
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("history_frame needs pandas: pip install pandas") from None
        check_is_fitted(self)
        frame = pandas.DataFrame(self.history_, columns=list(Check._fields))
        positive = np.array([certificate.problem.positive for certificate in self.certificates_])
        frame["gap"] = [check.gap for check in self.history_]
        frame["class"] = positive[frame.pop("problem")]
        return frame

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _get_params_html(self, *arguments: Any, **options: Any) -> Any:
        """Show the parameters as scikit-learn does and, after a fit, what is proven; in a pipeline, too."""
        shown = super()._get_params_html(*arguments, **options)
        if certificates := getattr(self, "certificates_", ()):
            parameters = shown._repr_html_inner
            shown._repr_html_inner = lambda: parameters() + as_table([found.row() for found in certificates])
        return shown

    def _price(self) -> float:
        """Return C."""
        return float(getattr(self, "C", 1.0))
