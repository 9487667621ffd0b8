"""Where a package is missing that an extra brings, the error says how to install it, released or not."""

import sys

import numpy as np
import pytest

import dynmargin.dask
from dynmargin import (
    ConvergenceDisplay,
    CPathDisplay,
    ErrorCurveDisplay,
    MarginDisplay,
    MaxMarginClassifierCV,
    PDMClassifier,
    c_path,
)


@pytest.fixture
def data(rng):
    y = np.arange(60) % 2
    return rng.normal(size=(60, 3)) + y[:, None], y


@pytest.fixture
def without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"] + ["matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)


def test_pictures_name_the_package(data, without_matplotlib):
    fitted = PDMClassifier(random_state=0).fit(*data)
    searched = MaxMarginClassifierCV(tolerance=0.2, C_range=(0.1, 1.0), cv=2).fit(*data)
    for draw in (
        lambda: ConvergenceDisplay.from_estimator(fitted),
        lambda: MarginDisplay.from_estimator(fitted, *data),
        lambda: CPathDisplay.from_path(c_path(*data, 0.1, 1.0)),
        lambda: ErrorCurveDisplay.from_estimator(searched),
    ):
        with pytest.raises(ImportError, match=r"pictures need matplotlib: pip install matplotlib"):
            draw()


def test_frames_name_the_package(data, monkeypatch):
    fitted = PDMClassifier(random_state=0).fit(*data)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"history_frame needs pandas: pip install pandas"):
        fitted.history_frame()


def test_clusters_name_the_packages(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("dynmargin.dask.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("DaskMaxMarginClassifier", "verify"):
        with pytest.raises(ImportError, match=r"a cluster needs dask: pip install 'dask\[array\]' distributed"):
            getattr(dynmargin.dask, name)
