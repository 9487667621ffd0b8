"""Training over a cluster, with Dask, which the extra ``dask`` brings.

Rows stay where they are. Workers hold their partitions, packed; messages are sums. The result is the same bit for bit
for any number of workers, and so is the certificate, which anyone can verify on all rows together.

It may import everything but `displays`, `comparison`, `paper`, `report` and `cli`. What is public is loaded when it is
first used: workers need no scikit-learn, which takes seconds to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifier import DaskMaxMarginClassifier as DaskMaxMarginClassifier
    from .cluster import ClusterError as ClusterError
    from .verification import ClusterCertificate as ClusterCertificate
    from .verification import verify as verify

_HOMES = {
    "ClusterCertificate": "verification",
    "ClusterError": "cluster",
    "DaskMaxMarginClassifier": "classifier",
    "verify": "verification",
}

__all__ = sorted(_HOMES)

NEEDS_DASK = "a cluster needs dask: pip install 'dask[array]' distributed"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        raise ModuleNotFoundError(NEEDS_DASK, name=error.name) from None
