"""Training over shards, in one process with the real merging: rounds, sums, proofs, what is lost and what is late."""

import operator
import pickle
import random
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle.cases import draw_case
from oracle.exact import truth_of
from oracle.sharded import check_sharded
from sklearn.datasets import load_breast_cancer, load_digits

from dynmargin import DCDClassifier, MaxMarginClassifier, NewtonClassifier, _core
from dynmargin.problem.problems import state_problems
from dynmargin.shards import shipping
from dynmargin.shards.cost import alone_is_faster, bytes_per_round
from dynmargin.shards.executor import InProcess
from dynmargin.shards.fit import fit, survey
from dynmargin.shards.path import Path, Step
from dynmargin.shards.point import Point
from dynmargin.shards.problem import ShardedProblem
from dynmargin.shards.shard import Shard
from dynmargin.shards.sums import FAN_IN, Evidence, Sum, tree_sum
from dynmargin.shards.verification import verify_shards
from dynmargin.training.request import Request


def cut(X, y, n_shards, weight=None, executor=InProcess):
    """Cut rows into shards, in order; some may be empty."""
    places = np.linspace(0, len(y), n_shards + 1).astype(int)
    parts = [slice(begin, end) for begin, end in pairwise(places)]
    return executor([Shard(X[part], y[part], None if weight is None else weight[part]) for part in parts])


def train(shards, C=1.0, epsilon=0.01, rho=1.0, **asked):
    data = survey(shards)
    problems = state_problems(data.classes, C, np.ones(len(data.classes)), rho=rho)
    return fit(data, problems, Request(epsilon=epsilon, **asked))


def mixed(n_rows, n_features, seed=0, noise=1.0):
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(n_rows, n_features))
    return X, np.where(X[:, 0] + noise * chance.normal(size=n_rows) > 0, 1, -1)


@pytest.fixture(scope="module")
def overlapping():
    return mixed(3000, 20)


@given(
    st.integers(0, 2**31),
    st.integers(1, 9),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([0.0, 1.0, 5.0]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60)
def test_the_certificate_of_shards_is_one_of_all_rows(seed, n_shards, C, rho, weighted, sparse):
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(chance.integers(4, 60), chance.integers(1, 6))) * 10.0 ** chance.integers(-2, 3)
    y = np.where(X[:, 0] + X.std() * chance.normal(size=len(X)) > 0, 1, -1)
    assume(len(set(y)) == 2)
    weight = chance.exponential(size=len(y)) * (chance.random(len(y)) < 0.9) if weighted else None
    assume(weight is None or all(weight[y == label].any() for label in (-1, 1)))
    rows = sp.csr_matrix(X) if sparse else X
    shards = cut(rows, y, n_shards, weight)
    certificate = train(shards, C, 1e-6, rho).certificates[0]
    best = NewtonClassifier(1e-9, C=C, fit_intercept=rho > 0, intercept_scaling=rho or 1.0)
    best.fit(X, y, sample_weight=weight)
    assert certificate.achieved
    assert certificate.verify(rows, y, weight)
    assert verify_shards(certificate, shards)
    assert certificate.margin <= best.certificate_.upper_bound
    assert certificate.upper_bound >= best.certificate_.margin
    assert certificate.ball is not None


@pytest.mark.parametrize("n_shards", [2, 5, 17, 64])
def test_rounds_do_not_depend_on_how_rows_are_spread(overlapping, n_shards):
    X, y = overlapping
    by_label = np.argsort(y, kind="stable")
    for order in (np.arange(len(y)), by_label):
        found = train(cut(X[order], y[order], n_shards))
        assert found.achieved
        assert found.passes <= 10
        assert found.certificates[0].verify(X[order], y[order])


def test_wide_rows_are_certified_by_conjugate_gradients():
    chance = np.random.default_rng(3)
    X = sp.random(400, 2500, density=0.01, random_state=3, format="csr")
    y = np.where(np.asarray(X @ chance.normal(size=2500)) + 0.1 * chance.normal(size=400) > 0, 1, -1)
    for order in (np.arange(400), np.argsort(y, kind="stable")):
        found = train(cut(X[order], y[order], 3), C=10.0)
        assert found.achieved
        assert "conjugate gradients" in found.results[0].algorithm
        assert found.certificates[0].verify(X[order], y[order])


def test_renumbered_columns_are_those_of_the_matrix():
    chance = np.random.default_rng(4)
    X = sp.random(300, 40_000, density=0.0005, random_state=4, format="csr", dtype=np.float64)
    y = np.where(np.asarray(X.sum(axis=1)).ravel() + 0.2 * chance.normal(size=300) > 10, 1, -1)
    found = train(cut(X, y, 3), C=10.0)
    assert found.certificates[0].verify(X, y)
    one = MaxMarginClassifier(C=10.0).fit(X, y).certificate_
    assert found.certificates[0].margin <= one.upper_bound
    assert found.certificates[0].upper_bound >= one.margin


class Unreliable(InProcess):
    """Shards that are lost and built again, answers that are lost and asked for again, in any order."""

    def __init__(self, shards):
        super().__init__(shards)
        self.chance = random.Random(0)
        self.losses = 0

    def map(self, function, *arguments):
        return self.map_each(lambda shard, _, *rest: function(shard, *rest), [None] * len(self.shards), *arguments)

    def map_each(self, function, parts, *arguments):
        answers = {}
        missing = list(range(len(self.shards)))
        while missing:
            i = missing.pop(self.chance.randrange(len(missing)))
            if self.chance.random() < 0.2:  # the worker dies; another one has the partition
                self.shards[i] = pickle.loads(pickle.dumps(self.shards[i]))
                self.losses += 1
            answer = function(self.shards[i], parts[i], *arguments)
            if self.chance.random() < 0.2:  # the answer is lost on its way
                missing.append(i)
                self.losses += 1
            else:
                answers[i] = answer
        return [answers[i] for i in range(len(self.shards))]


class Forgetful(InProcess):
    """Shards that are read from somewhere for each call, as blocks of a file are."""

    keeps = False

    def map(self, function, *arguments):
        return [function(pickle.loads(pickle.dumps(shard)), *arguments) for shard in self.shards]

    def map_each(self, function, parts, *arguments):
        copies = (pickle.loads(pickle.dumps(shard)) for shard in self.shards)
        return [function(shard, part, *arguments) for shard, part in zip(copies, parts, strict=True)]


def same(first, second):
    """Whether two certificates are the same bit for bit."""
    bounds = (first.margin, first.upper_bound) == (second.margin, second.upper_bound)
    return bounds and first.witness_digest == second.witness_digest and first.data_digest == second.data_digest


@pytest.mark.parametrize("width", [20, 2500])
def test_losses_change_nothing(width):
    X, y = mixed(600, width)
    undisturbed = train(cut(X, y, 7))
    shards = cut(X, y, 7, executor=Unreliable)
    disturbed = train(shards)
    assert shards.losses > 10
    assert same(disturbed.certificates[0], undisturbed.certificates[0])
    assert [check[1:] for check in disturbed.history] == [check[1:] for check in undisturbed.history]


def test_shards_that_keep_nothing_are_enough(overlapping):
    X, y = overlapping
    found = train(cut(X, y, 3, executor=Forgetful), epsilon=1e-6)
    assert found.achieved
    assert found.certificates[0].verify(X, y)


def test_a_path_may_be_followed_again_from_its_start(overlapping):
    X, y = overlapping
    problem = state_problems(np.unique(y), 1.0, np.ones(2), rho=1.0)[0]
    chance = np.random.default_rng(1)
    path = Path(chance.normal(size=21))
    shard, points = Shard(X, y), []
    for step in (Step(chance.normal(size=21), 0.5), Step(None, -0.25), Step(chance.normal(size=21), 1.0)):
        path = path.then(step).with_hessian()
        points.append((path, shard.point(problem, path, True)))
    for known, before in reversed(points):  # shorter and shorter, so that the shard itself has to begin anew too
        for other in (shard, Shard(X, y)):
            again = other.point(problem, known, True)
            assert (again.pull == before.pull).all()
            assert (again.hessian == before.hessian).all()
            assert again.loss == before.loss
    w = points[-1][0].end
    slack = np.maximum(0, 1 - y * (X @ w[:-1] + w[-1]))
    assert points[-1][1].loss == pytest.approx(2 * (slack**2).sum())
    assert points[-1][1].total == pytest.approx(2 * slack.sum())
    assert Path.from_numbers(np.array(path.numbers()), 21).end.tolist() == path.end.tolist()
    with pytest.raises(ValueError, match="damaged"):
        Path.from_numbers(np.array(path.numbers())[:-1], 21)


def test_a_line_is_followed_to_where_it_is_flat(overlapping):
    X, y = overlapping
    shards = cut(X, y, 4)
    problem = ShardedProblem(shards, survey_problem(shards), [750] * 4, 20)
    for length in (0.001, 1.0, 1000.0):
        point = Point(problem, np.full(21, 0.3))
        direction = -length * point.gradient / np.abs(point.gradient).max()
        before, F = point.gradient @ direction, point.margin**-2
        assert point.move_along(direction, hessian=False) > 0
        assert abs(point.gradient @ direction) <= 0.5 * abs(before) * (1 + 1e-9)
        assert point.margin**-2 < F


def survey_problem(shards, C=1.0):
    return state_problems(survey(shards).classes, C, np.ones(2), rho=1.0)[0]


def test_sums_are_merged_in_one_order_wherever_that_is_done():
    chance = np.random.default_rng(0)
    parts = [float(number) for number in chance.normal(size=3 * FAN_IN * FAN_IN + 5) * 10.0 ** chance.integers(-8, 8)]
    # Not by sum(), which compensates for rounding errors since Python 3.12.
    groups = [reduce(operator.add, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    assert tree_sum(parts) == tree_sum(groups)  # the same as if workers had merged the first level


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=40)
def test_the_sum_of_evidence_bounds_its_own_rounding(seed, careful):
    """Both bounds of the shards together contain what all rows prove in one piece."""
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(40, 3)) * 10.0 ** chance.integers(-3, 4)
    y = np.where(chance.random(40) < 0.5, 1, -1)
    assume(len(set(y)) == 2)
    counts = chance.integers(0, 2**40, size=40)
    w, b = chance.normal(size=3), float(chance.normal())
    problem = state_problems(np.unique(y), 1.0, np.ones(2), rho=1.0)[0]
    whole = problem.to_core(problem.sides(y, None))
    rows = np.arange(40)
    order = np.argsort(y, kind="stable")  # so that sums of shards are long, and cancel
    places = np.split(order, [7, 19, 20])
    parts = []
    for place in places:
        place.sort()
        shard = Shard(X[place], y[place])
        parts.append(shard.evidence((np.arange(len(place)), counts[place]), problem, w, b, careful))
    stated = problem.to_core(np.zeros(0, dtype=np.int8))
    found = _core.prove_sums(stated, w, b, *tree_sum(parts).for_core(), 1)
    exact = whole.prove(_core.dense(X), w, b, rows, counts, True)
    for (value, error), (known, known_error) in zip(found[:2], exact[:2], strict=True):
        assert abs(value - known) <= error + known_error
        assert error <= 1e-9 * abs(known)
    assert found[4] >= 0


@given(st.integers(0, 2**40))
@settings(max_examples=60)
def test_no_bound_of_shards_claims_more_than_exact_arithmetic_proves(seed):
    """Adversarial witnesses, rows cut anywhere, plain sums and careful ones: both bounds are true."""
    case = draw_case(seed)
    assume(case.legal and not case.joint)
    assert check_sharded(case, truth_of(case), np.random.default_rng(seed)) == []


def test_exact_arithmetic_notices_sums_of_shards_that_are_not_rounded_outward(monkeypatch):
    prove = _core.prove_sums

    def without_errors(*arguments):
        (margin, _), (upper_bound, _), *ball = prove(*arguments)
        return (margin, 0.0), (upper_bound, 0.0), *ball

    monkeypatch.setattr(_core, "prove_sums", without_errors)
    cases = [case for case in map(draw_case, range(100)) if case.legal and not case.joint]
    failures = [check_sharded(case, truth_of(case), np.random.default_rng(0)) for case in cases]
    said = str(failures)
    assert "a margin of" in said
    assert "an upper bound of" in said


def test_the_gap_that_is_asked_for_decides_how_careful_a_proof_over_shards_is(overlapping):
    X, y = overlapping
    shards = cut(X, y, 4)
    found = train(shards, epsilon=1e-12).certificates[0]
    problem = ShardedProblem(shards, found.problem, [750] * 4, 20)

    def error(epsilon):
        witnesses = found.weights, found.intercept, found.counts.indices, found.counts.data
        (_, of_margin), (_, of_bound), *_ = problem.prove(None, *witnesses, False, epsilon)
        return of_margin + of_bound

    assert 0 < error(0.0) == error(1e-12) < error(0.01)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-11, 1e-13])
@pytest.mark.parametrize("n_shards", [3, 70])
def test_gaps_are_proven_over_shards_that_are_as_small_as_those_of_one_machine(overlapping, n_shards, epsilon):
    X, y = overlapping
    shards = cut(X, y, n_shards)
    found = train(shards, epsilon=epsilon)
    assert found.achieved
    assert 0 <= found.certificates[0].gap <= epsilon
    assert found.certificates[0].verify(X, y)
    assert verify_shards(found.certificates[0], shards)


@given(st.lists(st.tuples(st.floats(-1e30, 1e30), st.floats(0, 1e-3)), min_size=1, max_size=200))
def test_a_sum_of_numbers_knows_how_far_it_may_be_off(parts):
    total = tree_sum([Evidence(True, *[Sum(value, 0.0, error)] * 3, *NOTHING) for value, error in parts]).loss
    value, error = total.rounded()
    exact, allowed = sum(Fraction(value) for value, _ in parts), sum(Fraction(error) for _, error in parts)
    assert abs(Fraction(value) - exact) + allowed <= Fraction(error)
    assert error <= 1.01 * float(allowed) + 1e-15 * abs(value) + 1e-29 * sum(abs(value) for value, _ in parts) + 5e-324


NOTHING = (np.inf, np.inf, np.inf, 0, 0, np.zeros(1), 0.0)  # the rest of evidence


def test_a_missing_or_repeated_shard_is_noticed(overlapping):
    X, y = overlapping
    shards = cut(X, y, 4)
    certificate = train(shards).certificates[0]
    assert verify_shards(certificate, shards)
    for others in (shards.shards[:3], [*shards.shards[:3], shards.shards[0]], shards.shards[::-1]):
        assert verify_shards(certificate, InProcess(others)).verdict == "other data"
    doubled = [Shard(X[:750], y[:750]), *shards.shards]
    assert verify_shards(certificate, InProcess(doubled)).verdict == "other data"
    assert verify_shards(certificate, shards, C=2.0).verdict == "other problem"


def test_forged_bounds_are_not_proven_over_shards(overlapping):
    from dataclasses import replace

    X, y = overlapping
    shards = cut(X, y, 3)
    certificate = train(shards).certificates[0]
    for forged in (
        replace(certificate, margin=certificate.margin * 1.001),
        replace(certificate, upper_bound=certificate.upper_bound * 0.999),
        replace(certificate, ball=replace(certificate.ball, radius=certificate.ball.radius * 0.9)),
    ):
        assert verify_shards(forged, shards).verdict == "not proven"
    assert verify_shards(replace(certificate, intercept=0.0), shards).verdict == "altered"


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_what_one_machine_proves_is_proven_over_many_shards(C):
    X, y = mixed(2000, 6, seed=3)
    certificate = MaxMarginClassifier(1e-9, C=C, random_state=0).fit(X, y).certificate_
    for n_shards in (64, 256, 1000):
        assert verify_shards(certificate, cut(X, y, n_shards)).verdict == "proven"


def test_rows_that_change_while_they_are_trained_on_are_noticed(overlapping):
    X, y = overlapping
    shards = cut(X, y, 3)
    certificate = train(shards).certificates[0]

    class Changing(InProcess):
        def map_each(self, *arguments):
            self.shards[1] = Shard(X[1000:2000] + 1, y[1000:2000])
            return super().map_each(*arguments)

    changing = Changing(shards.shards)
    changed = verify_shards(certificate, changing)
    assert changed.verdict == "not proven"
    assert "the rows of partition 1 (counting from 0) have changed since training began" in str(changed)


def test_weights_that_are_all_zero_prove_nothing(overlapping):
    X, y = overlapping
    certificate = train(cut(X, y, 3)).certificates[0]
    assert not verify_shards(certificate, cut(X, y, 3, np.zeros(len(y))))


def test_counts_that_overflow_prove_nothing():
    t = 2**52
    one = Evidence(True, Sum(1.0, 0, 0), Sum(0.0, 0, 0), Sum(1.0, 0, 0), np.inf, np.inf, np.inf, t, 0, np.zeros(1), 0.0)
    many = tree_sum([one] * 4096)  # 2**64 would be 0 if it were an int64
    with pytest.raises(ValueError, match="2\\*\\*53"):
        many.for_core()


def test_a_shard_travels_as_it_is():
    X, y = load_digits(return_X_y=True)
    weight = np.random.default_rng(0).exponential(size=len(y))
    problem = state_problems(np.unique(y), 1.0, np.ones(10), rho=1.0)[3]
    for rows in (X, sp.csr_matrix(X), X.astype(np.float32), X * np.pi, sp.csr_matrix(X * np.pi)):
        shard = Shard(rows, y, weight)
        again = pickle.loads(pickle.dumps(shard))
        assert again.digest(((1, 2), ()), problem) == shard.digest(((1, 2), ()), problem)
        assert again.rows.nbytes == shard.rows.nbytes
        path = Path(np.random.default_rng(1).normal(size=65))
        assert (again.point(problem, path, True).hessian == shard.point(problem, path, True).hessian).all()


def test_repeated_columns_are_proven_as_they_are_stored():
    X = sp.csr_matrix((np.tile([0.1, 0.2, 1.0], 50), np.tile([0, 0, 1], 50), np.arange(0, 151, 3)), shape=(50, 2))
    y = np.arange(50) % 2
    shards = cut(X, y, 2)
    assert shards.shards[0].kept is not None
    certificate = train(shards).certificates[0]
    assert certificate.verify(X, y)
    again = InProcess([pickle.loads(pickle.dumps(shard)) for shard in shards.shards])
    assert verify_shards(certificate, again)


def test_bad_scaling_does_not_matter():
    X, y = load_breast_cancer(return_X_y=True)
    found = train(cut(X, y, 5), epsilon=1e-6)
    assert found.achieved
    assert found.certificates[0].verify(X, y)


def test_every_class_against_the_rest():
    X, y = load_digits(return_X_y=True)
    found = train(cut(X / 16, y, 4))
    assert len(found.certificates) == 10
    assert all(certificate.achieved and certificate.verify(X / 16, y) for certificate in found.certificates)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(np.zeros((0, 2)), np.zeros(0))], "there are no rows"),
        ([(np.ones((3, 2)), np.ones(3))], "there is only one class"),
        ([(np.ones((3, 2)), np.ones(3)), (np.ones((3, 3)), np.zeros(3))], "different numbers of features"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        train(InProcess([Shard(X, y) for X, y in parts]))
    X, y = np.ones((4, 2)), np.array([0, 1, 0, 1])
    with pytest.raises(ValueError, match="all rows of class 1 have weight zero"):
        train(cut(X, y, 2, np.array([1.0, 0.0, 1.0, 0.0])))


def test_one_machine_is_said_to_be_faster_where_it_is():
    assert alone_is_faster(1e6, 64, exact=True)
    assert not alone_is_faster(1e9, 2, exact=True)
    assert alone_is_faster(1e9, 1, exact=True)
    assert alone_is_faster(1e7, 2, exact=False)
    assert not alone_is_faster(1e8, 2, exact=False)


def test_bytes_per_round_are_those_of_the_message():
    X, y = mixed(50, 30)
    problem = state_problems(np.unique(y), 1.0, np.ones(2), rho=1.0)[0]
    for hessian in (False, True):
        sums = Shard(X, y).point(problem, Path(np.zeros(31)), hessian)
        numbers = sums.pull.size + 3 + (sums.hessian.size if hessian else 0)
        assert bytes_per_round(30, hessian=hessian) == 8 * (numbers + 1)


# The hinge and the hard margin.


@given(st.integers(0, 2**31), st.integers(1, 5), st.sampled_from([0.0, 1.0]), st.booleans(), st.booleans())
@settings(max_examples=25)
def test_rows_that_decide_prove_the_hinge_and_the_hard_margin_of_all(seed, n_shards, rho, hard, weighted):
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(chance.integers(6, 80), 3))
    y = np.where(X[:, 0] + 0.5 * (0 if hard else 1) * chance.normal(size=len(X)) > 0, 1, -1)
    assume(len(set(y)) == 2)
    weight = chance.exponential(size=len(y)) * (chance.random(len(y)) < 0.9) if weighted and not hard else None
    assume(weight is None or all(weight[y == label].any() for label in (-1, 1)))
    shards = cut(sp.csr_matrix(X), y, n_shards, weight)
    data, C = survey(shards), np.inf if hard else 1.0
    problems = state_problems(data.classes, C, np.ones(2), rho=rho, loss="squared_hinge" if hard else "hinge")
    with mock.patch.object(shipping, "FEWEST_ROWS", 4), mock.patch.object(shipping, "ROWS_PER_FEATURE", 1):
        found = fit(data, problems, Request(epsilon=1e-3))
    (certificate,) = found.certificates
    assert certificate.verify(X, y, weight)
    assert verify_shards(certificate, shards)
    best = DCDClassifier(1e-6, C=C, loss=problems[0].loss, fit_intercept=rho > 0).fit(X, y, sample_weight=weight)
    assert certificate.margin <= best.certificate_.upper_bound
    assert certificate.upper_bound >= best.certificate_.margin
    assert certificate.achieved
    assert len(found.sides[0]) == len(certificate.counts.data)
    assert found.results[0].algorithm.startswith("dcd: ")


def test_few_rows_are_sent_for_a_hard_margin(overlapping):
    X, _ = overlapping
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    X = X + 0.2 * y[:, None] * (np.arange(X.shape[1]) < 2)  # room between the classes
    data = survey(cut(X, y, 4))
    problems = state_problems(data.classes, np.inf, np.ones(2), rho=1.0)
    with mock.patch.object(shipping, "FEWEST_ROWS", 100), mock.patch.object(shipping, "ROWS_PER_FEATURE", 1):
        found = fit(data, problems, Request(epsilon=0.01))
        assert found.certificates[0].verify(X, y)
        assert found.achieved
        share = float(found.results[0].algorithm.removeprefix("dcd: ").partition("%")[0])
        assert share < 40
        states, kept = [], []

        class Keeper:
            def begin(self, run):
                run.trainer.restore(states.pop()) if states else None

            def keep(self, run):
                kept.append(run.trainer.snapshot())

            def take(self, run, result=None): ...

        fit(data, problems, Request(epsilon=0.01, snapshots=Keeper()))
        states.append(kept[0])
        again = fit(data, problems, Request(epsilon=0.01, snapshots=Keeper()))
    ours, theirs = again.certificates[0], found.certificates[0]
    assert ours.witness_digest == theirs.witness_digest
    assert again.passes == found.passes


def test_ctrl_c_before_any_row_is_here_leaves_a_certificate_that_claims_nothing(overlapping):
    X, y = overlapping

    class Pressed(InProcess):
        def map_each(self, function, *arguments):
            if function is shipping._sample:
                raise KeyboardInterrupt
            return super().map_each(function, *arguments)

    data = survey(cut(X, y, 2, executor=Pressed))
    found = fit(data, state_problems(data.classes, 1.0, np.ones(2), rho=1.0, loss="hinge"), Request(epsilon=0.01))
    assert found.results[0].stop_reason == "interrupted"
    assert not found.achieved
    assert not found.coef.any()


def test_classes_that_are_not_separable_end_with_a_statement(overlapping):
    X, y = overlapping
    data = survey(cut(X, y, 3))
    found = fit(data, state_problems(data.classes, np.inf, np.ones(2), rho=1.0), Request(epsilon=0.01))
    assert found.results[0].stop_reason == "inseparable"
    assert found.certificates[0].verify(X, y)
    assert "separable" in found.shortfall


@pytest.mark.parametrize(
    "others",
    [np.array(["a", "b"]), np.array(["a", "b"], dtype=object)],
    ids=["text", "objects"],
)
@pytest.mark.parametrize("numbers", [np.array([0, 1]), np.array([0.0, 1.0])], ids=["whole", "real"])
def test_labels_are_all_text_or_all_numbers(numbers, others):
    """Else numpy makes text of the numbers, which no label of their own partition is equal to."""
    X = np.eye(2)
    with pytest.raises(ValueError, match="text in some partitions and numbers in others"):
        survey(InProcess([Shard(X, numbers), Shard(X, others)]))


def test_training_on_some_rows_warns_of_nothing(overlapping, caplog, monkeypatch):
    for limit in ("SLOW_SECONDS", "SLOW_AFTER_SECONDS", "SLOW_AFTER_CHECKS"):  # everything is slow
        monkeypatch.setattr(f"dynmargin.training.run.{limit}", 0)
    X, y = overlapping
    data, warned = survey(cut(X, y, 3)), []
    asked = Request(epsilon=0.005, warn=warned.append)
    fit(data, state_problems(data.classes, 100.0, np.ones(2), rho=1.0, loss="hinge"), asked)
    assert not any("0.0025" in text for text in [*warned, *(record.message for record in caplog.records)])
