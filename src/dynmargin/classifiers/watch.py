"""Everything that follows a fit while it goes on: scikit-learn's callbacks, our own, the log, and the progress bar.

A fit is a tree of tasks for them: below "fit" there is a task "class" for each problem, and below that a "check" for
every check of the bounds, whose context has it as ``check``.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.certificate import Certificate
from ..problem.packed import PackedProblem
from ..progress.bar import ProgressBar, progress_bar
from ..progress.live import CheckLine
from ..progress.runs import Runs
from ..progress.ticker import Ticker
from ..training.fit import Train
from ..training.request import Request, logger
from ..training.result import Check, Result


@contextmanager
def visible_checks(
    verbose: int, epsilon: float, labels: list[str], max_time: float | None = None, *, steady: bool = True
) -> Iterator[ProgressBar | None]:
    """Let `verbose` show the checks for as long as a fit takes.

    They go to the log. Where logging was never set up they are shown all the same, as a bar or as log lines.
    """
    level, handler = logger.level, logging.StreamHandler()
    bar = progress_bar(CheckLine(epsilon, labels, max_time, steady=steady)) if verbose == 1 else None
    if verbose:
        logger.setLevel(logging.INFO)
    if verbose and not bar and not logger.hasHandlers():
        logger.addHandler(handler)
    try:
        if not verbose:
            yield None
        elif bar is None:
            with Ticker(_log):
                yield None
        else:
            with bar, Ticker(bar.say):
                yield bar
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def _log(text: str) -> None:
    if text:
        logger.info("%s", text)


@contextmanager
def visible_log(verbose: int) -> Iterator[None]:
    """Let `verbose` show the log, for what trains many models."""
    with visible_checks(2 if verbose else 0, 1.0, []):
        yield


@contextmanager
def visible_runs(verbose: int, total: int | None, max_time: float | None) -> Iterator[Callable[[Train], Train]]:
    """Let `verbose` show how far many runs are: 1 in one moving line, 2 in the log; return what counts them."""
    if verbose == 1:
        with Runs(total, max_time) as runs:
            yield runs.around
    else:
        with visible_log(verbose):
            yield lambda train: train


class Watch:
    """One fit, as callbacks and the progress bar see it.

    Classes may be trained in several threads; watchers see one event at a time.
    """

    def __init__(self, estimator: Any, n_problems: int, classes: NDArray[Any], data: dict[str, Any]) -> None:
        self.estimator = estimator
        self.classes = classes
        self.data = data  # X, y and metadata
        self.root = estimator._init_callback_context(max_subtasks=n_problems, sequential_subtasks=False)
        self.active = bool(getattr(estimator, "_skl_callbacks", ()))
        self.contexts: dict[int, Any] = {}
        self.certificates: list[Certificate | None] = [None] * n_problems
        self.bar: ProgressBar | None = None
        self.ended = False  # a callback wants no more classes
        self.lock = threading.RLock()
        self.root.call_on_fit_task_begin(estimator=estimator, **data)

    def around(self, train: Train) -> Train:
        """Make the training on one problem a task."""

        def watched(problem: PackedProblem, request: Request) -> Result:
            with self.lock:
                context = self.root.subcontext(task_name="class", task_id=problem.index, max_subtasks=None)
                self.contexts[problem.index] = context
                context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            result = train(problem, request)
            with self.lock:
                self.ended |= self._end(context, problem.index, lambda: result.certificate)
            return result

        return watched if self.active else train

    def see(self, check: Check, certify: Callable[[], Certificate]) -> bool:
        """Take note of a check; return whether a callback wants the training on this problem to end."""
        with self.lock:
            if self.bar is not None:
                self.bar.show(check)
            if not self.active:
                return False
            context = self.contexts[check.problem].subcontext(task_name="check")
            context.check = check
            context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            return self._end(context, check.problem, certify) or self.ended

    def finish(self) -> None:
        """Report that the classifier is fitted."""
        self.root.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes={}, **self.data)

    def _end(self, context: Any, problem: int, certify: Callable[[], Certificate]) -> bool:
        def fitted() -> dict[str, Any]:  # costs a pass over the data: called only if a callback asks for it
            self.certificates[problem] = certify()
            return self._fitted_attributes()

        return bool(
            context.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=fitted, **self.data)
        )

    def _fitted_attributes(self) -> dict[str, Any]:
        """Return what the classifier would have if the fit ended now.

        A class that is not trained yet has zero weights and the intercept -1: a score that says "not this one".
        """
        known = [certificate for certificate in self.certificates if certificate is not None]
        nothing = np.zeros(self.estimator.n_features_in_)
        return {
            "classes_": self.classes,
            "coef_": np.vstack([nothing if one is None else one.weights for one in self.certificates]),
            "intercept_": np.hstack([-1.0 if one is None else one.intercept for one in self.certificates]),
            "certificates_": known,
            "certificate_": max(known, key=lambda certificate: certificate.gap),
        }
