"""Training over a cluster, with Dask: ``pip install 'dynmargin[dask]'``.

Rows stay where they are. Workers hold their partitions, packed; messages are sums. The result is the same bit for bit
for any number of workers, and so is the certificate, which anyone can verify on all rows together.
"""

from .classifier import DaskMaxMarginClassifier
from .cluster import ClusterError
from .verification import ClusterCertificate, verify

__all__ = ["ClusterCertificate", "ClusterError", "DaskMaxMarginClassifier", "verify"]
