"""What must hold for every case.

(i)   What is published is true: the margin not above the exact one, the upper bound not below it.
(ii)  `verify` says "proven" for no claim that is false, however little is wrong with it.
(iii) `verify` says "proven" for what was published.
(iv)  All of that also if the rows are spread over shards (`sharded`).
"""

import math
from dataclasses import replace

import numpy as np

from dynmargin import SparseCounts
from dynmargin.certificate.certify import certify
from dynmargin.certificate.witness_digest import digest_witnesses
from dynmargin.problem.matrix import as_matrix

from .exact import truth_of

TOO_STRONG = (1e-15, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.5, 1e3, 1e30, 1e300)


def check_case(case, random):
    """Return sentences on what does not hold."""
    truth = truth_of(case)
    try:
        certificate = make_certificate(case)
    except ValueError as error:
        if case.legal:
            return [f"a legal witness is refused: {error}"]
        return check_illegal(case, truth)
    if not case.legal and truth.upper_bound is None and certificate.upper_bound < math.inf:
        return [f"illegal counts prove an upper bound of {certificate.upper_bound!r}"]
    return check_certificate(certificate, case, truth, random)


def make_certificate(case, **changes):
    matrix = as_matrix(case.X)
    sides = case.problem.sides(case.y, case.sample_weight)
    core = case.problem.to_core(sides, case.sample_weight)
    witnesses = {"weights": case.weights, "intercept": case.intercept, "counts": case.counts, **changes}
    return certify(matrix, case.problem, core, core.digest(matrix), *witnesses.values(), epsilon=0.01)


def check_certificate(certificate, case, truth, random):
    """Check a certificate, whoever made it."""
    failures = []

    def verify(**claims):
        return replace(certificate, **claims).verify(case.X, case.y, case.sample_weight)

    if not truth.margin_holds(certificate.margin):
        failures.append(f"the published margin {certificate.margin!r} is false")
    if not truth.upper_bound_holds(certificate.upper_bound):
        failures.append(f"the published upper bound {certificate.upper_bound!r} is false")
    own = verify()
    claims_something = math.isfinite(certificate.margin) and math.isfinite(certificate.upper_bound)
    if claims_something and not own:
        failures.append(f"the published bounds are not proven: {own}")
    # The strongest claims that pass are what the verification says of itself.
    if not math.isnan(own.margin) and not truth.margin_holds(own.margin):
        failures.append(f"the verified margin {own.margin!r} is false")
    if not math.isnan(own.upper_bound) and not truth.upper_bound_holds(own.upper_bound):
        failures.append(f"the verified upper bound {own.upper_bound!r} is false")
    for name, claim in false_claims(truth, random):
        weak = {"margin": certificate.margin, "upper_bound": certificate.upper_bound, name: claim}
        if verify(**weak):
            failures.append(f"a false {name} of {claim!r} is proven")
    return failures


def false_claims(truth, random):
    """Return claims that are false: the one nearest to the truth, and one of any size."""
    claims = []
    factor = 1 + TOO_STRONG[int(random.integers(len(TOO_STRONG)))]
    if truth.margin is None or truth.margin.den:
        near = 0.0 if truth.margin is None else truth.margin.neighbours()[1]
        far = (near * factor if near > 0 else near / factor) if near is not None else math.inf
        claims += [("margin", near), ("margin", far), ("margin", (math.inf, math.nan, 1e308)[int(random.integers(3))])]
    near = 1.0 if truth.upper_bound is None else truth.upper_bound.neighbours()[0]
    far = (near / factor if near > 0 else near * factor) if near is not None else -math.inf
    odd = (-math.inf, math.nan, -1.0, 5e-324, 1e-40)[int(random.integers(5))]
    claims += [("upper_bound", near), ("upper_bound", far), ("upper_bound", odd)]
    holds = {"margin": truth.margin_holds, "upper_bound": truth.upper_bound_holds}
    return [(name, claim) for name, claim in claims if claim is not None and not holds[name](claim)]


def check_illegal(case, truth):
    """Illegal counts, put into a certificate that was made with legal ones, with digests that fit."""
    if truth.upper_bound is not None:
        return []  # refused, though it need not be
    shape = case.counts.shape
    none = SparseCounts(np.empty(0, np.int64), np.empty(0, np.int64), shape)
    certificate = make_certificate(case, counts=none)
    digest = digest_witnesses(case.problem, certificate.weights, certificate.intercept, case.counts)
    forged = replace(certificate, counts=case.counts, upper_bound=1e300, witness_digest=digest)
    if forged.verify(case.X, case.y, case.sample_weight):
        return ["illegal counts are proven"]
    return []
