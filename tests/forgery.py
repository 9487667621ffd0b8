"""Certificates that someone has tampered with who knows how digests are made."""

from dataclasses import replace

from dynmargin.certificate.witness_digest import digest_witnesses


def reforged(certificate, **changes):
    """Change a certificate and make its digest fit: the proof must not rest on digests."""
    forged = replace(certificate, **changes)
    digest = digest_witnesses(forged.problem, forged.weights, forged.intercept, forged.counts)
    return replace(forged, witness_digest=digest)
