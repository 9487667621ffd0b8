"""Threads for one problem: passes over blocks of rows give the same result bit for bit, whoever does which block.

The rows are many enough for four blocks of every kind, below which no thread is started: 8,192 rows or 131,072 entries
for most passes, 16,384 rows where one takes next to no time, 16,384 entries where rows are packed.
"""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_threads import assert_same

from dynmargin import DCDClassifier, MaxMarginClassifier, MPUClassifier, NewtonClassifier, PDMClassifier, _core
from dynmargin.cli.main import main
from dynmargin.problem.cores import cores, threads_of
from dynmargin.problem.matrix import as_matrix

THREADS = (2, 3, 8)
ROWS = 70_000


@pytest.fixture(scope="module")
def tall():
    """Dense rows of overlapping classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 3)).round(3).astype(np.float32)
    return X, (X @ [1, 2, -1] + random.normal(size=ROWS) > 0).astype(int)


@pytest.fixture(scope="module")
def short_rows():
    """Sparse rows of few entries, with more columns than a Hessian is formed for."""
    random = np.random.default_rng(1)
    X = sp.csr_matrix(
        (random.random(5 * 40_000).round(3), random.integers(0, 2100, 5 * 40_000), np.arange(0, 5 * 40_000 + 1, 5)),
        (40_000, 2100),
    )
    X.sum_duplicates()
    return X, (X @ random.normal(size=2100) + 0.3 * random.normal(size=40_000) > 0).astype(int)


@pytest.fixture(scope="module")
def separable():
    random = np.random.default_rng(2)
    X = random.normal(size=(40_000, 3))
    scores = X @ [1, 2, -1]
    return X[abs(scores) > 0.1], (scores[abs(scores) > 0.1] > 0).astype(int)


def with_threads(classifier, n_jobs):
    return type(classifier)(**{**classifier.get_params(), "n_jobs": n_jobs, "random_state": 0})


# Sparse rows, sparse rows whose outer products are summed as if they were dense, and dense rows.
@pytest.mark.parametrize("fill", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix])
def test_a_hessian_too_large_for_a_sum_per_block_is_the_same_for_any_number_of_threads(as_rows, fill):
    random = np.random.default_rng(3)
    X = np.where(random.random((2000, 200)) < fill, random.normal(size=(2000, 200)), 0.0)
    y = (X[:, 0] + random.normal(size=2000) > 0).astype(int)
    found = [NewtonClassifier(1e-9, n_jobs=n, random_state=0).fit(as_rows(X), y) for n in (1, *THREADS)]
    for threads in found[1:]:
        assert_same(found[0], threads)


@pytest.mark.parametrize(
    "classifier",
    [
        MaxMarginClassifier(),
        NewtonClassifier(1e-9),
        PDMClassifier(0.02),
        DCDClassifier(0.02),
        DCDClassifier(0.05, loss="hinge"),
        MPUClassifier(0.05),
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", ["tall", "short_rows"])
def test_any_number_of_threads_gives_the_same_result(request, classifier, rows):
    X, y = request.getfixturevalue(rows)
    alone = with_threads(classifier, 1).fit(X, y)
    for n_jobs in THREADS:
        threads = with_threads(classifier, n_jobs).fit(X, y)
        assert_same(alone, threads)
        assert np.array_equal(alone.certificate_.counts.data, threads.certificate_.counts.data)
        assert np.array_equal(alone.certificate_.ball.centre, threads.certificate_.ball.centre)
        assert alone.certificate_.ball.radius == threads.certificate_.ball.radius


@pytest.mark.parametrize(
    "classifier", [PDMClassifier(0.1, C=np.inf), DCDClassifier(0.1, C=np.inf), PDMClassifier(0.2, multi_class="joint")]
)
def test_hard_and_joint_margins_too(separable, classifier):
    X, y = separable
    y = y + (y == 1) * (X[:, 0] > 1) if getattr(classifier, "multi_class", "ovr") == "joint" else y
    alone = with_threads(classifier, 1).fit(X, y)
    for n_jobs in THREADS:
        assert_same(alone, with_threads(classifier, n_jobs).fit(X, y))


def test_classes_and_passes_share_the_threads(tall):
    """Three classes on eight threads have two each."""
    X, y = tall
    y = y + (X[:, 0] > 1)
    alone = NewtonClassifier(random_state=0).fit(X, y)
    for n_jobs in (2, 8):
        assert_same(alone, NewtonClassifier(random_state=0, n_jobs=n_jobs).fit(X, y))


def problem_over(y, n_threads, weight=None):
    return _core.Problem((2 * y - 1).astype(np.int8), 1.0, 2.0, 1.0, weight, n_threads=n_threads)


@pytest.mark.parametrize("rows", ["tall", "short_rows"])
def test_the_passes_of_newtons_method(request, rows):
    """Steps with a Hessian, steps by conjugate gradients, and steps at another price."""
    X, y = request.getfixturevalue(rows)
    packed, results = _core.pack(as_matrix(X)), []
    members = np.arange(0, len(y), dtype=np.uint32)
    for n_threads in (1, *THREADS):
        point = _core.Newton(packed, problem_over(y, n_threads), members, np.zeros(X.shape[1] + 1))
        for _ in range(2):
            point.step()
        while not point.iterate():
            pass
        point.reprice(0.5)
        point.step()
        results.append((point.w(), point.dual_weights(), point.snapshot(), point.work, point.upper_bound))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert np.array_equal(one, two)


@st.composite
def matrices(draw):
    """Draw rows that are cut into several parts: dense or CSR, in any order, with repetitions and stored zeros."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    n_rows, n_columns = draw(st.sampled_from([(70, 60_000), (3000, 40), (200, 300), (900, 40_000)]))
    per_row = draw(st.sampled_from([20, 60, 250]))
    n = max(n_rows * per_row, 2**16)
    starts = np.sort(np.concatenate([[0, n], random.integers(0, n + 1, n_rows - 1)]))
    columns = random.integers(0, n_columns, n)
    if draw(st.booleans()):  # frequent ones and rare ones
        columns = (columns * random.random(n) ** 4).astype(np.int64)
    kind = draw(st.sampled_from(["ones", "float32", "float64"]))
    values = np.ones(n) if kind == "ones" else random.normal(size=n).astype(kind)
    values[random.random(n) < draw(st.sampled_from([0.0, 0.1]))] = 0
    X = sp.csr_matrix((values, columns, starts), (n_rows, n_columns))
    if draw(st.booleans()):
        X.sum_duplicates()
    return X.toarray() if n_columns <= 300 and draw(st.booleans()) else X


@settings(max_examples=25)
@given(matrices(), st.integers(0, 2**31))
def test_rows_are_packed_as_by_one_thread(X, seed):
    random = np.random.default_rng(seed)
    sides = random.choice([-1, 0, 1], X.shape[0]).astype(np.int8)
    matrix, problem = as_matrix(X), _core.Problem(sides, 1.0, 1.0, 1.0)
    one = _core.pack(matrix)
    w = random.normal(size=one.n_columns + 1)
    expected = _core.pull(one, problem, w)
    for n_threads in THREADS:
        other = _core.pack(matrix, n_threads)
        facts = ("n_rows", "n_columns", "n_matrix_columns", "n_nonzeros", "summed", "dense", "nbytes")
        assert [getattr(one, fact) for fact in facts] == [getattr(other, fact) for fact in facts]
        assert np.array_equal(one.columns, other.columns)
        assert np.array_equal(problem.row_keys(one), problem.row_keys(other))
        for first, second in zip(expected, _core.pull(other, problem, w), strict=True):
            assert np.array_equal(first, second)
        threaded = _core.Problem(sides, 1.0, 1.0, 1.0, n_threads=n_threads)
        assert threaded.digest(matrix) == problem.digest(matrix) == problem.digest(other)


def test_the_first_bad_row_is_named_by_any_number_of_threads():
    X = np.ones((3000, 40))
    X[[500, 2900], 3] = 1e200
    for n_threads in (1, *THREADS):
        for _ in range(5):
            with pytest.raises(
                ValueError, match=r"the squared length of row 500 \(counting from 0\) is not a finite number"
            ):
                _core.pack(as_matrix(X), n_threads)


def test_verification_is_the_same_for_any_number_of_threads(tall, short_rows):
    for X, y in (tall, short_rows):
        certificate = DCDClassifier(0.1, random_state=0).fit(X, y).certificate_
        alone = certificate.verify(X, y)
        assert alone.verdict == "proven"
        assert all(certificate.verify(X, y, n_jobs=n_jobs) == alone for n_jobs in (*THREADS, -1))


def test_settled_rows_and_scores_are_the_same_for_any_number_of_threads(tall):
    matrix, random = as_matrix(tall[0]), np.random.default_rng(3)
    two, three = random.normal(size=(2, 3)), random.normal(size=(3, 3))
    both = np.ones(2)
    for n_threads in THREADS:
        settled = [_core.settled_rows(matrix, two, both, both, 0.5, 1.0, n) for n in (1, n_threads)]
        assert np.array_equal(*settled)
        scored = [_core.score_rows(matrix, three, n) for n in (1, n_threads)]
        assert all(np.array_equal(one, two) for one, two in zip(*scored, strict=True))


@settings(max_examples=4)
@given(st.integers(0, 2**31), st.sampled_from([0, 20, 45]), st.booleans())
def test_bounds_over_several_blocks_enclose_the_exact_ones(seed, exponent, hard):
    """Whole numbers of very different sizes: the exact sums are computed in integers."""
    random = np.random.default_rng(seed)
    n = 35_000
    X = random.integers(-3, 4, (n, 2)) * 2 ** random.integers(0, exponent + 1, (n, 2))
    sides = random.choice([-1, 1], n).astype(np.int8)
    counts, rows = random.integers(1, 2**30, n), np.arange(n)
    w, b = [3.0, -0.5], 0.25
    C = np.inf if hard else 0.5
    exact_X, exact_n = X.astype(object), counts.astype(object) * sides.astype(object)
    a = [(exact_n * exact_X[:, j]).sum() for j in range(2)] + [exact_n.sum()]
    extended = 0 if hard else (counts.astype(object) ** 2).sum()  # Delta² = 1 / (2 C) = 1
    squared_bound = Fraction(sum(c * c for c in a) + extended, int(counts.sum()) ** 2)
    quarters = [int(side) * (12 * int(x) - 2 * int(z) + 1) for side, (x, z) in zip(sides, X, strict=True)]
    norm2 = Fraction(w[0]) ** 2 + Fraction(w[1]) ** 2 + Fraction(b) ** 2
    for n_threads in (1, 3):
        problem = _core.Problem(sides, 1.0, C, C, n_threads=n_threads)
        for data in (as_matrix(X.astype(np.float64)), _core.pack(as_matrix(X.astype(np.float64)))):
            (margin, margin_error), (bound, bound_error), *_ = problem.prove(data, np.array(w), b, rows, counts, False)
            low, high = Fraction(bound) - Fraction(bound_error), Fraction(bound) + Fraction(bound_error)
            assert max(low, 0) ** 2 <= squared_bound <= high**2
            low, high = Fraction(margin) - Fraction(margin_error), Fraction(margin) + Fraction(margin_error)
            if hard:  # min_k s_k / ‖w‖, negative here
                squared_margin = Fraction(min(quarters), 4) ** 2 / norm2
                assert high**2 <= squared_margin <= low**2
            else:
                F = norm2 + Fraction(sum(max(0, 4 - score) ** 2 for score in quarters), 16)
                assert low**2 * F <= 1 <= high**2 * F


@pytest.mark.parametrize("classifier", [NewtonClassifier(1e-9, random_state=0), DCDClassifier(0.02, random_state=0)])
def test_a_fit_may_continue_with_another_number_of_threads(tall, tmp_path, monkeypatch, classifier):
    from dynmargin.training import checkpoint

    X, y = tall
    undisturbed = type(classifier)(**classifier.get_params()).fit(X, y)
    path, left = tmp_path / "checkpoint.npz", [2]

    def die_after_a_snapshot(self, run):
        left[0] -= 1
        if left[0] == 0:
            self.take(run)
            self.checkpoint.write()
            raise InterruptedError

    classifier.set_params(checkpoint=path, n_jobs=2)
    monkeypatch.setattr("dynmargin.training.run.SLICE_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Snapshots, "keep", die_after_a_snapshot)
        with pytest.raises(InterruptedError):
            classifier.fit(X, y)
    assert path.exists()
    assert_same(undisturbed, classifier.set_params(n_jobs=3).fit(X, y))


def test_the_command_takes_all_cores_unless_told_otherwise(tall, tmp_path, capsys, monkeypatch):
    import dynmargin

    X, y = tall
    np.savez(tmp_path / "tall.npz", X=X, y=y)
    used = []
    monkeypatch.setattr("dynmargin.problem.cores.cores", lambda: used.append(1) or 3)
    models = []
    for options in ([], ["--jobs", "1"]):
        path = tmp_path / f"model{len(models)}.npz"
        assert main(["train", str(tmp_path / "tall.npz"), str(path), "-q", *options]) == 0
        assert main(["verify", str(path), str(tmp_path / "tall.npz"), *options]) == 0
        models.append(dynmargin.load(path))
    assert len(used) == 2
    assert np.array_equal(models[0].coef, models[1].coef)
    assert models[0].certificate.witness_digest == models[1].certificate.witness_digest
    with pytest.raises(SystemExit):
        main(["train", "nowhere", "--jobs", "0"])
    assert "0 is less than 1" in capsys.readouterr().err


def test_jobs_are_counted_as_by_scikit_learn():
    assert threads_of(None) == threads_of(1) == 1
    assert threads_of(7) == 7
    assert threads_of(-1) == cores()
    assert threads_of(-2) == max(1, cores() - 1)
    assert threads_of(-1000) == 1
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        threads_of(0)
