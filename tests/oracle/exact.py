"""What a witness is worth, without any rounding: Python's whole numbers only.

Every double is a whole number times a power of two, and so are all sums and products of doubles. A bound is kept as its
square, a fraction of two whole numbers, and a sign; whether a claim is true is decided by comparing squares.
"""

import math
from dataclasses import dataclass

Dyadic = tuple[int, int]  # (n, e) is n 2^e


def dyadic(x):
    n, d = float(x).as_integer_ratio()
    return n, 1 - d.bit_length()


def aligned(values):
    """Return whole numbers and the power of two that they are multiples of."""
    pairs = [dyadic(x) for x in values]
    e = min((e for n, e in pairs if n), default=0)
    return [n << (f - e) if n else 0 for n, f in pairs], e


def total(terms):
    """Add numbers n 2^e."""
    e = min((e for n, e in terms if n), default=0)
    return sum(n << (f - e) for n, f in terms if n), e


def ratio(above, below):
    """Return numerator and denominator of the quotient of two numbers n 2^e."""
    (n, e), (d, f) = above, below
    return (n << (e - f), d) if e >= f else (n, d << (f - e))


def root_down(num, den):
    """Return the largest double whose square is at most num / den."""
    if num == 0:
        return 0.0
    shift = (130 - num.bit_length() + den.bit_length()) // 2
    r = math.isqrt((num << 2 * shift) // den if shift >= 0 else num // (den << -2 * shift))
    e = -shift
    drop = max(r.bit_length() - 53, -1074 - e, 0)
    try:
        return math.ldexp(r >> drop, e + drop)
    except OverflowError:
        return math.nextafter(math.inf, 0)


@dataclass
class Value:
    """The exact value of a bound, sign sqrt(num / den); infinite where den is 0."""

    num: int
    den: int
    sign: int = 1

    def compare(self, claim):
        """Return a number with the sign of claim - value, for a finite claim."""
        n, e = dyadic(claim)
        claimed, own = ratio((n * abs(n) * self.den, 2 * e), (1, 0)), self.sign * self.num
        return claimed[0] - own * claimed[1]

    def neighbours(self):
        """Return the largest double that is less than the value, and the smallest that is greater."""
        down = root_down(self.num, self.den) if self.den else math.nextafter(math.inf, 0)
        near = [self.sign * down]
        near = [
            math.nextafter(math.nextafter(near[0], -math.inf), -math.inf),
            math.nextafter(near[0], -math.inf),
            *near,
        ]
        near += [math.nextafter(near[-1], math.inf), math.nextafter(math.nextafter(near[-1], math.inf), math.inf)]
        finite = [x for x in near if math.isfinite(x)]
        below = [x for x in finite if self.compare(x) < 0]
        above = [x for x in finite if self.compare(x) > 0]
        return (below[-1] if below else None), (above[0] if above else None)


@dataclass
class Truth:
    """What the two witnesses prove; None for a witness that proves nothing."""

    margin: Value | None
    upper_bound: Value | None

    def margin_holds(self, claim):
        if math.isnan(claim) or claim == -math.inf or self.margin is None:
            return claim == -math.inf
        return self.margin.den == 0 or (claim < math.inf and self.margin.compare(claim) <= 0)

    def upper_bound_holds(self, claim):
        if math.isnan(claim) or claim == math.inf or self.upper_bound is None:
            return claim == math.inf
        return claim > -math.inf and self.upper_bound.compare(claim) >= 0


def finite(*numbers):
    return all(math.isfinite(x) for x in numbers)


def truth_of(case):
    """Recompute both bounds of a case."""
    return Truth(_margin(case), _upper_bound(case))


def _margin(case):
    """1 / sqrt(F) for weights with F = norm2 + losses, or the smallest score by the length of the weights."""
    weights, intercepts, rho = case.weight_rows, case.intercepts, case.problem.rho
    members = [k for k in range(len(case.rows)) if case.sides[k]]
    if not finite(*intercepts, *(c for row in weights for c in row)):
        return None
    if not all(finite(*(value for _, value in case.rows[k])) for k in members):
        return None
    if rho == 0 and any(intercepts) and not case.problem.free_bias:
        return None
    K, d = len(weights), case.n_columns
    flat, we = aligned([c for row in weights for c in row])
    W = [flat[c * d : (c + 1) * d] for c in range(K)]
    B, be = aligned(intercepts)
    rows, xe = _whole_rows(case, members)
    se = min(we + xe, be, 0)
    one = 1 << -se
    margins = []
    for k in members:
        scores = [
            (sum(W[c][j] * x for j, x in rows[k].items()) << (we + xe - se)) + (B[c] << (be - se)) for c in range(K)
        ]
        if case.joint:
            right = case.sides[k] - 1
            margins.append(min(scores[right] - s for c, s in enumerate(scores) if c != right))
        else:
            margins.append(case.sides[k] * scores[0])
    R2, re = (dyadic(rho)[0] ** 2, 2 * dyadic(rho)[1]) if rho else (1, 0)
    norm2 = [(R2 * sum(w * w for w in flat), re + 2 * we)]  # times rho², as everything here
    if rho:
        norm2.append((sum(b * b for b in B), 2 * be))
    if case.problem.hard_margin:
        length, smallest = total(norm2), min(margins, default=None)
        if length[0] == 0 or smallest is None:
            return None
        num, den = ratio((smallest * smallest * R2, 2 * se + re), length)
        return Value(num, den, -1 if smallest < 0 else 1)
    losses = []
    for k, margin in zip(members, margins, strict=True):
        slack = one - margin
        if slack > 0:
            p, pe = case.penalties[k]
            lost, le = (slack, se) if case.problem.loss == "hinge" else (slack * slack, 2 * se)
            losses.append((p * lost * R2, pe + le + re))
    return Value(*ratio((R2, re), total([*norm2, *losses])))


def _whole_rows(case, wanted):
    """Return the rows as whole numbers by column, repeated columns added up, and their common power of two."""
    flat, e = aligned([value for k in wanted for _, value in case.rows[k]])
    rows, i = {}, 0
    for k in wanted:
        row = rows[k] = {}
        for column, _ in case.rows[k]:
            row[column] = row.get(column, 0) + flat[i]
            i += 1
    return rows, e


def _upper_bound(case):
    """‖sum n_k y_k‖ / sum n_k; for the hinge 1 / sqrt(2 D) with the best dual value D that the counts prove."""
    K = len(case.weight_rows) if case.joint else 1
    signed, own, t = [{} for _ in range(K)], {}, 0
    last = -1
    for place, n in zip(case.counts.indices.tolist(), case.counts.data.tolist(), strict=True):
        k, r = divmod(place, K) if case.joint else (place, 0)
        if place <= last or n < 0:
            return None
        last, t = place, t + n
        if n == 0:
            continue
        if not 0 <= k < len(case.rows) or not case.sides[k] or not finite(*(value for _, value in case.rows[k])):
            return None
        own[k] = own.get(k, 0) + n
        if case.joint:
            right = case.sides[k] - 1
            if r == right:
                return None
            signed[r][k] = signed[r].get(k, 0) - n
            signed[right][k] = signed[right].get(k, 0) + n
        else:
            signed[0][k] = n * case.sides[k]
    if not 0 < t <= 2**53:
        return None
    if case.problem.free_bias and sum(signed[0].values()):
        return None
    rows, xe = _whole_rows(case, own)
    squares, biases = 0, 0
    for block in signed:
        a = {}
        for k, n in block.items():
            for j, x in rows[k].items():
                a[j] = a.get(j, 0) + n * x
        squares += sum(x * x for x in a.values())
        biases += sum(block.values()) ** 2
    R, re = dyadic(case.problem.rho)
    num, den = ratio(total([(squares, 2 * xe), (biases * R * R, 2 * re)]), (1, 0))
    if case.problem.loss == "hinge":
        return _hinge(num, den, t, [(case.penalties[k], n) for k, n in own.items()])
    if not case.problem.hard_margin:
        for k, n in own.items():
            above, below = ratio((n * n, 0), case.penalties[k])
            num, den = num * below + above * den, den * below
    return Value(num, den * t * t)


def _hinge(num, den, t, costs):
    """D = s t - s² norm2 / 2 at the best scale s with s n_k <= C_k; penalties are 2 C_k, norm2 is num / den."""
    scales = [ratio(penalty, (2 * n, 0)) for penalty, n in costs]
    sn, sd = scales[0]
    for n, d in scales[1:]:
        if n * sd < sn * d:
            sn, sd = n, d
    if t * den * sd <= sn * num:  # the best scale of all, t / norm2, is in the box
        return Value(num, den * t * t)
    return Value(sd * sd * den, 2 * sn * t * sd * den - sn * sn * num)
