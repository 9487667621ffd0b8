import os
import signal

os.environ.setdefault(
    "SCIPY_ARRAY_API", "1"
)  # before scipy is loaded: scikit-learn skips its array API check without it

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

from dynmargin import PDMClassifier

# A shell ignores SIGINT in what it starts in its background, nohup ignores SIGHUP, and every child inherits that. Tests
# press Ctrl-C; a handler set here is also the default one again in the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if hasattr(signal, "pthread_sigmask"):  # blocked signals are inherited as well
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})

# Bars and tables must not depend on the terminal that the tests are started from, either.
os.environ["TERM"] = "xterm"
for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
    os.environ.pop(name, None)

settings.register_profile("dynmargin", deadline=None, derandomize=True)
settings.load_profile("dynmargin")


def pytest_addoption(parser):
    parser.addoption(
        "--overwrite", action="store_true", help="write the golden results of the present code; see test_golden.py"
    )


def pytest_collection_modifyitems(items):
    if os.environ.get("DYNMARGIN_SANITIZED"):
        for item in items:
            if item.get_closest_marker("unsanitized"):
                item.add_marker(pytest.mark.skip(reason="makes no sense under a sanitizer"))


@pytest.fixture(scope="session")
def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture(scope="session")
def jointly_trained(digits):
    """Rows, labels and a classifier with one margin for all classes."""
    X, y = digits
    return X, y, PDMClassifier(multi_class="joint", random_state=0).fit(X, y)


@pytest.fixture(scope="session")
def data_dir():
    """The folder with the large real data sets; they are not part of the project."""
    folder = os.environ.get("DYNMARGIN_DATA")
    if not folder:
        pytest.skip("DYNMARGIN_DATA does not name the folder with the large data sets")
    return Path(folder)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def endless():
    """Rows that PDM needs minutes for: overlapping classes, badly scaled, and too sparse for a Hessian."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 300)) * np.logspace(0, 7, 300) * (random.random((3000, 300)) < 0.05)
    return X, (X @ random.normal(size=300) + 1e5 * random.normal(size=3000) > 0).astype(int)


@pytest.fixture(autouse=True)
def no_interrupt_remembered(monkeypatch):
    """Each test begins as if Ctrl-C had not been pressed for a long time."""
    monkeypatch.setattr("dynmargin.training.run.last_interrupt", -np.inf)
