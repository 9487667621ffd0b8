"""Ctrl-C at a chosen moment, and what a fit that was ended early has to leave."""

import logging
import signal
from contextlib import contextmanager

import numpy as np


class InterruptAtFirstCheck(logging.Handler):
    """Presses Ctrl-C when the first check of a fit is logged, or the first after so many."""

    def __init__(self, *checks):
        super().__init__()
        self.checks, self.seen = checks, 0

    def emit(self, record):
        self.seen += 1
        if self.seen in self.checks:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def ctrl_c_at(*checks):
    logger, handler = logging.getLogger("dynmargin"), InterruptAtFirstCheck(*checks)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def assert_usable(classifier, X, y):
    certificate = classifier.certificate_
    assert not certificate.achieved
    assert certificate.verify(X, y)
    assert classifier.score(X, y) > 0.4
    assert np.isfinite(classifier.coef_).all()
