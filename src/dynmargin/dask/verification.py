"""Certificates that are verified where the data are."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any

import distributed

from ..certificate.certificate import Certificate
from ..certificate.verification import Verification
from ..shards.verification import verify_shards
from .cluster import Cluster, client_of
from .parts import is_distributed, partitions


def verify(
    certificate: Certificate,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    client: distributed.Client | None = None,
    C: float | None = None,
    classes: Collection[Any] | None = None,
    loss: str | None = None,
    intercept_scaling: float | None = None,
) -> Verification:
    """Verify a certificate where the data are.

    Every worker recomputes its part of both bounds from its rows, rounding errors accounted for; the counts of its rows
    are sent to it. The answer is that of ``certificate.verify`` on all rows together.

    Parameters
    ----------
    certificate : Certificate
        Of a classifier for two classes, or of one class against the rest.
    X, y, sample_weight : Dask collections or lists of delayed parts
        The data that the classifier was trained on.
    client : distributed.Client, optional
        Default: the current one.
    C, classes, loss, intercept_scaling
        What the problem must be, as in ``Certificate.verify``.

    Returns
    -------
    Verification
        True in a condition only if both bounds are proven, for the problem asked about.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from dynmargin import MaxMarginClassifier, dask as cluster
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    >>> certificate = MaxMarginClassifier().fit(X, y).certificate_
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     cluster.verify(certificate, da.asarray(X), da.asarray(y)).verdict
    'proven'
    """
    with Cluster(client_of(client), partitions(X, y, sample_weight)) as shards:
        return verify_shards(certificate, shards, C=C, classes=classes, loss=loss, intercept_scaling=intercept_scaling)


class ClusterCertificate(Certificate):
    """A certificate whose `verify` also takes Dask collections; the data are checked where they are.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from dynmargin.dask import DaskMaxMarginClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> dX, dy = da.from_array(X, chunks=(50, 4)), da.from_array(y == 1, chunks=50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     certificate = DaskMaxMarginClassifier(random_state=0).fit(dX, dy).certificate_
    ...     certificate.verify(dX, dy).verdict, certificate.verify(X, y == 1).verdict
    ('proven', 'proven')
    """

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None, **asked: Any) -> Verification:
        """Recompute each bound from its witness and the data, rounding errors accounted for.

        Parameters
        ----------
        X, y, sample_weight : Dask collections, lists of delayed parts, or arrays
            The data that the classifier was trained on.
        **asked
            What the problem must be, as in ``Certificate.verify``, and the ``client`` for Dask collections.

        Returns
        -------
        Verification
            True in a condition only if both bounds are proven, for the problem asked about.
        """
        if is_distributed(X):
            return verify(self, X, y, sample_weight, **asked)
        asked.pop("client", None)
        return super().verify(X, y, sample_weight, **asked)

    @classmethod
    def of(cls, certificate: Certificate) -> "ClusterCertificate":
        """Return the same certificate."""
        return cls(**{one.name: getattr(certificate, one.name) for one in fields(certificate)})

    def to_local(self) -> Certificate:
        """Return the same certificate, for data in memory."""
        return Certificate(**{one.name: getattr(self, one.name) for one in fields(self)})
