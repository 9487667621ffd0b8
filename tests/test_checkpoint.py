"""A fit that continues from its checkpoint ends as if it had never been disturbed, and a checkpoint is never lost."""

import contextlib
import errno
import math
import os
import random
import shutil
import signal
import struct

import golden
import numpy as np
import pytest
from interrupts import ctrl_c_at
from kills import kill_and_resume

import dynmargin
from dynmargin import (
    CheckCallback,
    CheckpointError,
    DCDClassifier,
    MaxMarginClassifierCV,
    NewtonClassifier,
    PDMClassifier,
    Schedule,
)
from dynmargin.algorithms.dual import MIX_AFTER
from dynmargin.training import checkpoint as module


class Killed(Exception):
    """Ends a fit right after a snapshot was written."""


@pytest.fixture
def short_slices(monkeypatch):
    """Slices of a few visits, so that even a short run has many moments at which it may end."""
    monkeypatch.setattr("dynmargin.training.run.SLICE_SECONDS", 0.0)


@pytest.fixture
def dies_after(monkeypatch):
    """Let the next fit end after so many slices, right after a snapshot."""

    def set_slices(count):
        left = [count]

        def keep_and_perhaps_die(self, run):
            left[0] -= 1
            if left[0] == 0:
                self.take(run)
                self.checkpoint.write()
                raise Killed

        monkeypatch.setattr(module.Snapshots, "keep", keep_and_perhaps_die)

    return set_slices


def fit_in_pieces(classifier, X, y, path, dies_after, seed, **options):
    """Fit, die at a random moment and begin again, until the fit is complete; return how often that took place."""
    moments, deaths = random.Random(seed), 0
    classifier.set_params(checkpoint=path)
    while True:
        dies_after(moments.randint(1, 1 << deaths))  # soon at first: most runs are short
        try:
            classifier.fit(X, y, **options)
            return deaths
        except Killed:
            deaths += 1


SHORT: tuple[str, ...] = ()  # runs of a single slice
PROBLEMS = ("iris", "separable", "overlap", "wide", "text")
RUNS = [(name, label) for name in PROBLEMS for label, _ in golden.estimators(name)]


@pytest.mark.parametrize(("name", "label"), RUNS, ids=[f"{name}: {label}" for name, label in RUNS])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_that_dies_again_and_again_ends_with_the_same_model(name, label, tmp_path, dies_after, short_slices):
    classifier = dict(golden.estimators(name))[label]
    deaths = fit_in_pieces(classifier, *golden.problem(name), tmp_path / "run", dies_after, seed=label)
    assert deaths > 0 or classifier.history_[-1].passes <= 1 or label in SHORT
    assert golden.record(classifier) == golden.read()[f"{name}: {label}"]


def test_weights_of_rows_and_cross_validation_continue_too(tmp_path, dies_after, short_slices):
    X, y = golden.problem("text")
    weight = np.random.RandomState(3).randint(0, 3, len(y)).astype(float)
    classifier = PDMClassifier(random_state=0)
    assert fit_in_pieces(classifier, X, y, tmp_path / "weighted", dies_after, 0, sample_weight=weight) > 0
    assert golden.record(classifier) == golden.read()["text: weighted"]
    classifier = MaxMarginClassifierCV(Cs=[0.1, 1.0, 10.0], cv=3, random_state=0)
    assert fit_in_pieces(classifier, X, y, tmp_path / "cv", dies_after, 0) > 0
    assert golden.record(classifier) == golden.read()["text: cross_validated"]


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_states_that_are_mixed_continue_too(loss, breast_cancer, tmp_path, dies_after, short_slices):
    X, y = breast_cancer
    whole = DCDClassifier(1e-9, C=10.0, loss=loss, random_state=0).fit(X, y)
    assert whole.history_[-1].updates > 2 * MIX_AFTER * len(y)
    pieces = DCDClassifier(**whole.get_params())
    assert fit_in_pieces(pieces, X, y, tmp_path / "run", dies_after, seed=0) > 5
    assert golden.record(pieces) == golden.record(whole)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
@pytest.mark.parametrize("command", ["pdm --multi-class joint", "margitron -v 3"])
def test_a_killed_process_is_continued(command, tmp_path):
    """The short form of ``python -m tests.kills``."""
    assert kill_and_resume(command.split(), kills=2, seed=1, folder=tmp_path) == (2, True)


def test_a_fit_that_was_interrupted_or_met_a_limit_continues(endless, tmp_path):
    X, y = endless
    path = tmp_path / "run"
    limits = {"max_updates": 10**8, "random_state": 0}
    whole = PDMClassifier(1e-3, **limits)
    pieces = PDMClassifier(1e-3, **limits, checkpoint=path)
    with pytest.warns(match="max_updates"):
        whole.fit(X, y)
    with pytest.warns(match="interrupted"), ctrl_c_at(5):
        assert pieces.set_params(verbose=2).fit(X, y).stop_reason_ == "interrupted"
    with pytest.warns(match="max_time"):
        assert pieces.set_params(verbose=0, max_time=0.05).fit(X, y).stop_reason_ == "max_time"
    pieces.set_params(max_time=None).set_callbacks(CheckCallback(lambda _: True)).fit(X, y)
    assert pieces.stop_reason_ == "callback"
    with pytest.warns(match="max_updates"):
        pieces.set_callbacks().fit(X, y)
    assert golden.record(pieces) == golden.record(whole)


def test_a_complete_fit_is_not_repeated(breast_cancer, tmp_path):
    X, y = breast_cancer
    path = tmp_path / "run"
    first = DCDClassifier(checkpoint=path).fit(X, y)  # without a random_state: the file has the seed
    again = DCDClassifier(checkpoint=path).fit(X, y)
    assert golden.record(first) == golden.record(again)
    assert [check.time for check in first.history_] == [check.time for check in again.history_]
    assert again.certificate_.verify(X, y)


def test_times_go_on_where_they_were(endless, tmp_path):
    X, y = endless
    classifier = PDMClassifier(1e-3, max_time=0.3, random_state=0, checkpoint=tmp_path / "run")
    with pytest.warns(match="max_time"):
        first = classifier.fit(X, y).history_[:-1]  # the last one is that of the proof, which is not continued from
    with pytest.warns(match="max_time"):
        history = classifier.fit(X, y).history_
    assert history[: len(first)] == first
    times = [check.time for check in history]
    assert times == sorted(times)


def belongs_to_another_fit(X, y):
    """Changes after which a checkpoint no longer belongs to the fit, and what the message names."""
    others = y.copy()
    others[0] = 1 - others[0]
    yield "C=1.0, not 2.0", {"C": 2.0}, X, y, None
    yield "epsilon=0.01, not 0.02", {"epsilon": 0.02}, X, y, None
    yield "class_weight=None", {"class_weight": {0: 1.0, 1: 2.0}}, X, y, None
    yield "another seed", {"random_state": 1}, X, y, None
    yield "other data", {}, X * 2, y, None
    yield "other data", {}, X[::-1], y[::-1], None
    yield "other data", {}, X, others, None
    yield "other data", {}, X, y.astype(str), None
    yield "other data", {}, X, y, np.full(len(y), 2.0)


def test_a_checkpoint_of_another_fit_is_refused_and_stays_as_it_is(breast_cancer, tmp_path):
    X, y = breast_cancer
    path = tmp_path / "run"
    PDMClassifier(random_state=0, checkpoint=path).fit(X, y)
    content = path.read_bytes()
    for message, parameters, rows, labels, weight in belongs_to_another_fit(X, y):
        classifier = PDMClassifier(random_state=0, checkpoint=path).set_params(**parameters)
        with pytest.raises(CheckpointError, match=message) as error:
            classifier.fit(rows, labels, sample_weight=weight)
        assert "Remove it to begin anew" in str(error.value)
        assert path.read_bytes() == content
    with pytest.raises(CheckpointError, match="estimator='PDMClassifier', not 'DCDClassifier'"):
        DCDClassifier(random_state=0, checkpoint=path).fit(X, y)
    # What does not decide the result may change.
    PDMClassifier(random_state=0, checkpoint=path, n_jobs=2, verbose=2, max_time=9.0).fit(X, y)


@pytest.mark.parametrize("content", [b"", b"something else", "model", "half", "other entries"])
def test_what_is_no_checkpoint_is_refused_and_stays_as_it_is(content, breast_cancer, tmp_path):
    X, y = breast_cancer
    path = tmp_path / "run"
    if content == "model":
        PDMClassifier().fit(X, y).save(path)
    elif content == "other entries":
        with path.open("wb") as file:
            np.savez(file, format="dynmargin checkpoint", version=1, header="[" * 100_000)
    elif content == "half":
        PDMClassifier(random_state=0, checkpoint=path).fit(X, y)
        path.write_bytes(path.read_bytes()[:-5000])
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"damaged|not a readable \.npz file"):
        PDMClassifier(random_state=0, checkpoint=path).fit(X, y)
    assert path.read_bytes() == before


HOSTILE = [struct.pack("<d", number) for number in (math.nan, math.inf, -math.inf, -1.0, 0.0, 5e-324, 1e308)]
HOSTILE += [struct.pack("<q", number) for number in (-1, 1, 2, 100, 2**31, 2**62, -(2**63))]
STATES = (  # one of every kind of trainer
    ("overlap", "pdm"),
    ("text", "dcd"),
    ("text", "mpu hinge, paper"),
    ("overlap", "decomposition"),
    ("overlap", "romma"),
    ("overlap", "margitron norm"),
    ("iris", "joint"),
    ("digits", "newton"),
)


@pytest.mark.parametrize(("name", "label"), STATES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_damaged_snapshots_are_refused_or_harmless(name, label, dies_after, short_slices, tmp_path):
    """Whatever a snapshot holds, the core ends, and touches no memory that is not its own."""
    moments, path = random.Random(label), tmp_path / "damaged"
    classifier = dict(golden.estimators(name))[label].set_params(checkpoint=tmp_path / "run")
    dies_after(2)
    with pytest.raises(Killed):
        classifier.fit(*golden.problem(name))
    with np.load(tmp_path / "run") as archive:
        arrays = dict(archive)
    (state,) = [key for key in arrays if key.endswith("/state")]
    for _ in range(60):
        damaged = arrays[state].tobytes()
        for _ in range(moments.choice([1, 5])):
            # Few numbers decide where a run is in memory; they stand at either end.
            place = int(moments.choice([0, 1]) * len(damaged) + moments.choice([-1, 1]) * moments.expovariate(0.01))
            place = moments.choice([place % len(damaged), moments.randrange(len(damaged))])
            word = moments.choice([*HOSTILE, bytes([moments.randrange(256)])])
            damaged = (damaged[:place] + word + damaged[place + len(word) :])[: len(damaged)]
        length = moments.choice([len(damaged)] * 5 + [moments.randrange(len(damaged))])
        with path.open("wb") as file:
            np.savez(file, **arrays | {state: np.frombuffer(damaged[:length], dtype=np.uint8)})
        classifier.set_params(checkpoint=path, max_time=1.0)
        dies_after(3)
        with contextlib.suppress(Killed, CheckpointError):
            classifier.fit(*golden.problem(name))


def test_a_result_in_a_checkpoint_is_proven_again(breast_cancer, tmp_path):
    X, y = breast_cancer
    path = tmp_path / "run"
    PDMClassifier(random_state=0, checkpoint=path).fit(X, y)
    with np.load(path) as archive:
        arrays = dict(archive)
    (weights,) = [key for key in arrays if key.endswith("/weights")]
    for forged in (arrays[weights] * 0.5, arrays[weights][:-1]):
        with path.open("wb") as file:
            np.savez(file, **arrays | {weights: forged})
        with pytest.raises(CheckpointError, match="damaged"):
            PDMClassifier(random_state=0, checkpoint=path).fit(X, y)


def test_a_fit_that_a_callback_ends_continues_to_the_same_model(breast_cancer, tmp_path):
    X, y = breast_cancer
    asked = {"epsilon": 1e-4, "random_state": 0}
    whole = PDMClassifier(**asked).fit(X, y)
    for number, last in enumerate(whole.history_[:-2]):
        pieces = PDMClassifier(**asked, checkpoint=tmp_path / f"{number}")
        pieces.set_callbacks(CheckCallback(lambda check, last=last: check.updates >= last.updates))
        assert pieces.fit(X, y).stop_reason_ == "callback"
        assert golden.record(pieces.set_callbacks().fit(X, y)) == golden.record(whole)


def test_a_run_that_stalls_does_so_at_the_same_check(breast_cancer, tmp_path):
    X, y = breast_cancer
    whole = PDMClassifier(1e-5, C=100.0, schedule=Schedule(taking_back=False, polish=False), random_state=0)
    with pytest.warns(match="hardly move"):
        late = whole.fit(X, y).history_[-4]
    pieces = PDMClassifier(**{**whole.get_params(), "checkpoint": tmp_path / "run"})
    pieces.set_callbacks(CheckCallback(lambda check: check.updates >= late.updates)).fit(X, y)
    with pytest.warns(match="hardly move"):
        assert golden.record(pieces.set_callbacks().fit(X, y)) == golden.record(whole)


def test_a_full_disk_does_not_end_the_training(breast_cancer, tmp_path, monkeypatch, caplog):
    X, y = breast_cancer
    path = tmp_path / "run"
    classifier = PDMClassifier(1e-3, random_state=0)
    expected = golden.record(classifier.fit(X, y))

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        classifier.set_params(checkpoint=path).fit(X, y)
    assert golden.record(classifier) == expected
    assert "No space left on device" in caplog.text
    assert os.listdir(tmp_path) == []  # no half-written file either


def test_a_folder_that_disappears_does_not_end_the_training(breast_cancer, tmp_path, caplog):
    X, y = breast_cancer
    folder = tmp_path / "folder"
    with pytest.raises(FileNotFoundError, match="no such folder"):  # but one that was never there is an error
        PDMClassifier(checkpoint=folder / "run").fit(X, y)
    folder.mkdir()
    classifier = PDMClassifier(checkpoint=folder / "run")
    classifier.set_callbacks(CheckCallback(lambda _: shutil.rmtree(folder, ignore_errors=True))).fit(X, y)
    assert classifier.certificate_.achieved
    assert "could not be written" in caplog.text


def test_many_short_runs_share_one_clock(digits, tmp_path, monkeypatch):
    """The file does not have to wait for a run that takes long, and all runs together pay for it."""
    X, y = digits
    moments, write = [], module.Checkpoint._write

    def count(self):
        write(self)
        moments.append(sum(job.result is not None for job in self.jobs.values()))

    monkeypatch.setattr(module.Checkpoint, "_write", count)
    monkeypatch.setattr(module, "COST", math.inf)
    DCDClassifier(random_state=0, checkpoint=tmp_path / "run", checkpoint_every=1e-9).fit(X, y)
    assert set(moments) >= set(range(1, 11))  # after every class
    moments.clear()
    monkeypatch.setattr(module, "COST", 1e-9)
    DCDClassifier(random_state=0, checkpoint=tmp_path / "other", checkpoint_every=1e-9).fit(X, y)
    assert moments[-1] == 10
    assert len(moments) == 2  # the first one has used up the time that all of them have


def test_every_run_in_threads_is_in_the_file(endless, tmp_path):
    X, y = endless
    # By the paper's schedule alone, which never polishes, no class comes to its end.
    classifier = PDMClassifier(1e-3, schedule="paper", n_jobs=2, max_time=1.0, random_state=0, checkpoint_every=0.1)
    with pytest.warns(match="max_time"):
        classifier.set_params(checkpoint=tmp_path / "run").fit(X, y + (X[:, 0] > 0))
    with np.load(tmp_path / "run") as archive:
        assert sum(name.endswith("/state") for name in archive.files) == 3


def test_standard_output_is_no_checkpoint(breast_cancer):
    with pytest.raises(ValueError, match="name a file"):
        PDMClassifier(checkpoint="-").fit(*breast_cancer)


def test_equal_parameters_are_the_same_however_they_are_written(breast_cancer, tmp_path):
    X, y = breast_cancer
    asked = {"random_state": 0, "checkpoint": tmp_path / "run"}
    PDMClassifier(C=2, class_weight={0: 1, 1: 2}, **asked).fit(X, y)
    PDMClassifier(C=2.0, class_weight={np.int64(1): 2.0, np.int64(0): 1.0}, **asked).fit(X, y.astype(np.int32))


def test_a_fit_that_never_began_leaves_no_file(breast_cancer, tmp_path):
    with pytest.raises(ValueError, match="finite C"):
        NewtonClassifier(C=np.inf, checkpoint=tmp_path / "run").fit(*breast_cancer)
    assert os.listdir(tmp_path) == []


def test_a_warm_start_has_no_checkpoint(breast_cancer, tmp_path):
    with pytest.raises(ValueError, match="use one of the two"):
        PDMClassifier(warm_start=True, checkpoint=tmp_path / "run").fit(*breast_cancer)


def test_without_a_checkpoint_nothing_is_written(breast_cancer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PDMClassifier().fit(*breast_cancer)
    assert os.listdir(tmp_path) == []


def test_ctrl_c_twice_leaves_the_last_snapshot(endless, tmp_path):
    X, y = endless
    classifier = PDMClassifier(1e-3, random_state=0, checkpoint=tmp_path / "run", checkpoint_every=0.01)

    def press(check):
        if len(seen) >= 6:
            signal.raise_signal(signal.SIGINT)
        seen.append(check)

    seen = []
    with pytest.raises(KeyboardInterrupt):
        classifier.set_callbacks(CheckCallback(press)).fit(X, y)
    assert dynmargin.training.checkpoint.Checkpoint(tmp_path / "run", 1.0, _parameters(classifier)).seed is not None


def _parameters(classifier):
    from dynmargin.classifiers.request import NOT_DECIDING

    parameters = classifier.get_params().items()
    return {"estimator": type(classifier).__name__} | {k: v for k, v in parameters if k not in NOT_DECIDING}
