"""DaskMaxMarginClassifier on a real cluster: three workers, each a process of its own, that can be killed."""

import json
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification

from dynmargin import CheckCallback, MaxMarginClassifier, load
from dynmargin.certificate.certificate import Certificate
from dynmargin.cli import cluster as command
from dynmargin.cli.main import main
from dynmargin.data.dataset import Dataset
from dynmargin.data.formats import write_dataset

dask = pytest.importorskip("dask", reason="needs dask")
pytest.importorskip("distributed", reason="needs dask")

import dask.array as da  # noqa: E402
from cluster.data import delayed_parts, together  # noqa: E402
from cluster.workers import Workers  # noqa: E402
from distributed import Client, Event  # noqa: E402

from dynmargin.dask import ClusterError, DaskMaxMarginClassifier, verify  # noqa: E402
from dynmargin.dask import cluster as cluster_module  # noqa: E402
from dynmargin.dask.local import IgnoreCtrlC, ctrl_c_later  # noqa: E402

N_WORKERS = 3


@pytest.fixture(scope="module")
def workers():
    found = Workers(N_WORKERS)
    yield found
    found.close()


@pytest.fixture
def client(workers):
    workers.refill(N_WORKERS)
    return workers.client


@pytest.fixture(scope="module")
def rows():
    return together(4, 500)


def fitted(X, y, client, sample_weight=None, **parameters):
    options = {"epsilon": 1e-3, "random_state": 0, "client": client, **parameters}
    return DaskMaxMarginClassifier(**options).fit(X, y, sample_weight)


def same(first, second):
    """Whether two certificates are the same bit for bit."""
    bounds = (first.margin, first.upper_bound) == (second.margin, second.upper_bound)
    return bounds and first.witness_digest == second.witness_digest and first.data_digest == second.data_digest


def test_arrays_frames_and_delayed_parts_give_the_same(client, rows):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = rows
    dX, dy = da.from_array(X, chunks=(500, 6)), da.from_array(y, chunks=700)
    frame = dd.from_pandas(pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]), npartitions=4)
    labels = dd.from_pandas(pd.Series(y), npartitions=4)
    inputs = [(dX, dy), (dX, y), delayed_parts(4, 500), (frame, labels)]
    found = [fitted(*data, client) for data in inputs]
    assert all(same(one.certificate_, found[0].certificate_) for one in found)
    certificate = found[0].certificate_
    assert certificate.achieved
    assert certificate.verify(X, y)
    assert certificate.verify(dX, dy, client=client)
    assert certificate.verify(dX, dy, C=2.0).verdict == "other problem"
    assert verify(certificate.to_local(), dX, dy).verdict == "proven"
    assert found[3].feature_names_in_[0] == "x0"
    with pytest.raises(
        ValueError, match=r"same order as they were in fit.\nPass X\[list\(classifier.feature_names_in_\)\]"
    ):
        found[3].predict(frame[[*frame.columns[::-1]]])
    assert len(found[3].predict(frame[[*frame.columns[::-1]]][list(found[3].feature_names_in_)]).compute()) == len(y)


def test_the_model_is_that_of_one_machine(client, rows):
    X, y = rows
    dX, dy = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    classifier = fitted(dX, dy, client, epsilon=1e-9)
    local = classifier.to_local()
    assert isinstance(local, MaxMarginClassifier)
    assert type(local.certificate_) is Certificate
    assert (classifier.predict(dX).compute() == local.predict(X)).all()
    assert classifier.decision_function(dX).compute() == pytest.approx(local.decision_function(X))
    assert (classifier.settled(dX).compute() == local.settled(X)).all()
    assert (np.concatenate(dask.compute(*classifier.predict(delayed_parts(4, 500)[0]))) == local.predict(X)).all()
    assert (classifier.predict(X) == local.predict(X)).all()
    assert classifier.dual_coef_[0] @ X[classifier.support_] == pytest.approx(classifier.coef_[0], rel=1e-2, abs=1e-3)
    one = MaxMarginClassifier(1e-3).fit(X, y).certificate_
    assert one.margin <= classifier.certificate_.upper_bound
    assert classifier.certificate_.margin <= one.upper_bound
    assert clone(classifier).client is client
    assert "MaxMarginClassifier is faster" in classifier.algorithm_  # on 2,000 rows


def test_sparse_blocks_weights_and_several_classes(client):
    X, y = together(4, 300, sparse=True, n_classes=3)
    weight = np.random.default_rng(0).exponential(size=len(y)) * (np.arange(len(y)) % 10 > 0)
    parts, labels = delayed_parts(4, 300, sparse=True, n_classes=3)
    weights = [dask.delayed(part) for part in np.split(weight, 4)]
    classifier = fitted(parts, labels, client, weights, class_weight="balanced")
    assert len(classifier.certificates_) == 3
    assert all(certificate.achieved and certificate.verify(X, y, weight) for certificate in classifier.certificates_)
    blocks = da.concatenate([da.from_delayed(part, (300, 12), meta=sp.csr_matrix((0, 0))) for part in parts])
    assert same(fitted(blocks, y, client, weight, class_weight="balanced").certificate_, classifier.certificate_)
    assert classifier.decision_function(blocks).compute().shape == (1200, 3)


def test_the_number_of_workers_does_not_matter(workers, client, rows):
    data = delayed_parts(9, 200)  # more than are merged at once
    expected = fitted(*data, client)
    workers.kill(0)
    workers.kill(0)
    alone = fitted(*data, client)
    assert same(alone.certificate_, expected.certificate_)
    assert [check[1:] for check in alone.history_] == [check[1:] for check in expected.history_]


@pytest.mark.parametrize("moment", [0, 2])
def test_a_worker_that_is_killed_costs_time_and_nothing_else(workers, client, moment):
    data = delayed_parts(6, 400)
    expected = fitted(*data, client, epsilon=1e-6)
    checks = []

    def kill(check):
        if len(checks) == moment:
            workers.kill(0)
        checks.append(check)

    classifier = DaskMaxMarginClassifier(1e-6, random_state=0, client=client).set_callbacks(CheckCallback(kill))
    assert same(classifier.fit(*data).certificate_, expected.certificate_)
    assert classifier.certificate_.verify(*together(6, 400))
    assert len(workers.processes) == N_WORKERS - (len(checks) > moment)


def test_rows_that_are_gone_for_good_are_an_error(workers, client, rows):
    X, y = rows
    parts = client.scatter(np.split(X, 4), broadcast=False)
    labels = client.scatter(np.split(y, 4), broadcast=False)

    def kill(check):
        while workers.processes:
            workers.kill(0)
        workers.start()

    classifier = DaskMaxMarginClassifier(1e-9, client=client).set_callbacks(CheckCallback(kill))
    with pytest.raises(ClusterError, match="nothing is published"):
        classifier.fit(parts, labels)
    assert not hasattr(classifier, "certificate_")


def test_classes_that_are_not_separable_end_a_hard_margin(client):
    X, y = make_classification(400, 5, flip_y=0.3, random_state=0)
    classifier = DaskMaxMarginClassifier(C=np.inf, random_state=0, client=client, max_time=60.0)
    with pytest.warns(UserWarning, match="separable"):
        classifier.fit(da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100))
    assert classifier.stop_reason_ == "inseparable"


class Resume(logging.Handler):
    """Let stopped workers continue as soon as they have been named."""

    def __init__(self, processes):
        super().__init__()
        self.processes = processes
        self.named = []

    def emit(self, record):
        """Note who is slow."""
        if "waiting for tcp://" in record.getMessage():
            self.named.append(record.getMessage())
            self.resume()

    def resume(self):
        """Continue all processes; this does nothing to those that run."""
        for process in self.processes:
            process.send_signal(signal.SIGCONT)


def test_a_slow_worker_is_named(workers, client, monkeypatch):
    """All workers stop: which of them hold rows is for the scheduler to decide."""
    monkeypatch.setattr(cluster_module, "SLOW_SECONDS", 0.2)
    resume, stopped = Resume(list(workers.processes)), []

    def stop(check):
        if not stopped:
            stopped.append(check)
            for process in resume.processes:
                process.send_signal(signal.SIGSTOP)

    classifier = DaskMaxMarginClassifier(1e-6, random_state=0, client=client).set_callbacks(CheckCallback(stop))
    in_the_end = threading.Timer(30.0, resume.resume)  # if the code under test names nobody
    in_the_end.start()
    cluster_module.logger.addHandler(resume)
    try:
        classifier.fit(*delayed_parts(3, 100))
    finally:
        cluster_module.logger.removeHandler(resume)
        resume.resume()
        in_the_end.cancel()
    assert resume.named
    assert classifier.certificate_.achieved


def test_limits_and_ctrl_c_leave_a_model_and_its_certificate(client, rows):
    X, y = rows
    dX, dy = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    with pytest.warns(match="max_time"):
        short = fitted(dX, dy, client, epsilon=1e-12, max_time=1e-6)
    assert short.stop_reason_ == "max_time"
    assert short.certificate_.verify(X, y)

    pressed = []

    def press(check):
        if not pressed:
            pressed.append(check)
            raise KeyboardInterrupt

    with pytest.warns(match="interrupted"):
        cut = DaskMaxMarginClassifier(1e-12, client=client).set_callbacks(CheckCallback(press)).fit(dX, dy)
    assert cut.stop_reason_ == "interrupted"
    assert cut.certificate_.verify(X, y)
    ended = DaskMaxMarginClassifier(1e-12, client=client).set_callbacks(CheckCallback(lambda check: True)).fit(dX, dy)
    assert ended.stop_reason_ == "callback"


def test_ctrl_c_is_for_the_process_that_leads(workers, client):
    """A terminal sends it to all processes of a command, workers included."""
    client.register_plugin(IgnoreCtrlC(), name="ctrl-c")
    for process in workers.processes:
        process.send_signal(signal.SIGINT)
    found = fitted(*delayed_parts(3, 100), client)
    client.unregister_worker_plugin("ctrl-c")
    assert found.certificate_.achieved
    assert all(process.poll() is None for process in workers.processes)


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be blocked there")
def test_ctrl_c_waits_until_the_workers_are_started():
    """They never get it; whoever started them gets it when they can be closed."""
    program = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    started = []

    def start():
        os.kill(os.getpid(), signal.SIGINT)
        started.append(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout)

    with pytest.raises(KeyboardInterrupt), ctrl_c_later():
        start()
    assert started == ["True\n"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_fit_continues_from_its_checkpoint(client, rows, tmp_path):
    data = delayed_parts(4, 500)
    expected = fitted(*data, client, epsilon=1e-9)
    path = tmp_path / "fit.checkpoint"
    seen = []
    first = DaskMaxMarginClassifier(1e-9, random_state=0, client=client, checkpoint=path, checkpoint_every=1e-9)
    first.set_callbacks(CheckCallback(lambda check: seen.append(check) or len(seen) == 2)).fit(*data)
    assert first.stop_reason_ == "callback"
    for _ in range(2):  # the second time it is complete
        again = fitted(*data, client, epsilon=1e-9, checkpoint=path, checkpoint_every=1e-9)
        assert same(again.certificate_, expected.certificate_)
        assert len(again.support_) == len(expected.support_)
    with pytest.raises(ValueError, match="other data"):
        fitted(*delayed_parts(3, 500), client, epsilon=1e-9, checkpoint=path)


def test_scaled_features_are_trained_on_like_any_others(client, rows):
    X, y = rows
    dX, dy = da.from_array(X * 1000, chunks=(500, -1)), da.from_array(y, chunks=500)
    scaled = dX / abs(dX).max(axis=0)
    assert fitted(scaled, dy, client).certificate_.verify(scaled.compute(), y)


def test_what_cannot_be_trained_on_is_refused_in_words(client, rows):
    X, y = rows
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    dX, dy = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    frame = dd.from_pandas(pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]), npartitions=4)
    series, labels = dd.from_pandas(pd.Series(y), npartitions=4), list(dy.to_delayed())
    wrong = [
        ((X, y), TypeError, "MaxMarginClassifier"),
        ((dX, dy[:-1]), ValueError, "2000 rows, but y has 1999"),
        ((dX, np.ones(2000)), ValueError, "there is only one class"),
        (
            (da.where(dX > 3, np.nan, dX), dy),
            ValueError,
            r"partition \d \(counting from 0\): row \d+ \(counting from 0\) has the value nan",
        ),
        ((delayed_parts(2, 10)[0], delayed_parts(3, 10)[1]), ValueError, "2 partitions, but y has 3; cut both"),
        ((dX, dX[:, 0]), ValueError, "Unknown label type: continuous"),
        (([dX[:500].to_delayed()[0, 0], dX[500:1000, :3].to_delayed()[0, 0]], labels[:2]), ValueError, r"\[3, 12\]"),
        ((frame, y), TypeError, "pass y as a Dask array or series with the same partitions"),
        ((frame.assign(text="a"), series), ValueError, "column 'text' is .*, not numbers; leave it out, or encode it"),
        ((frame.assign(x1=frame.x1.astype("Float64").mask(frame.x1 > 3)), series), ValueError, "has the value nan"),
    ]
    for data, kind, message in wrong:
        with pytest.raises(kind, match=message):
            fitted(*data, client)
    closed = Client(client.scheduler.address)
    closed.close()
    with pytest.raises(ValueError, match="the Dask client is closed"):
        fitted(dX, dy, closed)


def test_any_partitions_are_fine(client, rows):
    """Uneven, empty, of one class, of unknown lengths; labels of any kind; weights that are cut elsewhere."""
    X, y = rows
    order, weight = np.argsort(y, kind="stable"), np.random.default_rng(0).exponential(size=len(y))
    X, y = X[order], np.array(["no", "yes"])[y[order]]
    cuts = [0, 1, 1, 700, 700, 2000]
    parts = [dask.delayed(X[begin:end]) for begin, end in pairwise(cuts)]
    labels = [dask.delayed(y[begin:end]) for begin, end in pairwise(cuts)]
    found = fitted(parts, labels, client, [dask.delayed(weight[begin:end]) for begin, end in pairwise(cuts)])
    assert found.certificate_.verify(X, y, weight)
    assert set(np.concatenate(dask.compute(*found.predict(parts)))) == {"no", "yes"}
    dX = da.from_array(X, chunks=((1, 699, 1300), -1))
    again = fitted(dX, da.from_array(y.astype(object), chunks=900), client, da.from_array(weight, chunks=300))
    assert again.certificate_.verify(X, y, weight)
    assert again.score(dX, y) == found.score(parts, labels) == found.score(X, y) > 0.6
    everything = da.from_array(np.ones(2000, dtype=bool), chunks=((1, 699, 1300),))
    unknown, theirs = dX[everything], da.from_array(y, chunks=((1, 699, 1300),))[everything]
    assert fitted(unknown, theirs, client).score(unknown, theirs) > 0.6
    assert found.score(dX, y, weight) == pytest.approx(found.to_local().score(X, y, weight))
    copy = pickle.loads(pickle.dumps(found))
    assert copy.client is None
    assert copy.certificate_.verify(X, y, weight)
    with pytest.raises(ValueError, match=r"row 0 \(counting from 0\) has the value nan"):
        found.predict(dX * np.nan).compute()
    with pytest.raises(TypeError, match="rows in memory: pass some of them"):
        found.report(dX, y, "never.html")


def test_the_hinge_and_the_hard_margin(workers, client, rows, tmp_path, capfd):
    X, y = rows
    dX, dy = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    hinge = fitted(dX, dy, client, loss="hinge")
    assert hinge.certificate_.achieved
    assert "of the rows in one place" in hinge.algorithm_
    assert hinge.certificate_.verify(X, y, loss="hinge")
    assert hinge.certificate_.verify(dX, dy)
    away = X + 0.3 * np.where(X[:, :1] > 0, 1, -1) * (np.arange(12) == 0)
    hard = fitted(da.from_array(away, chunks=(500, -1)), dX[:, 0] > 0, client, C=np.inf)
    assert hard.certificate_.achieved
    assert hard.certificate_.verify(away, X[:, 0] > 0)
    write_dataset(Dataset(X, y), str(tmp_path / "all.svm"))
    where = ["--scheduler", workers.scheduler.scheduler_address]
    assert main(["train", str(tmp_path / "all.svm"), str(tmp_path / "m.npz"), "--loss", "hinge", *where]) == 0
    assert main(["verify", str(tmp_path / "m.npz"), str(tmp_path / "all.svm"), "--loss", "hinge"]) == 0


def test_two_fits_at_once_do_not_disturb_each_other(client, rows):
    data = delayed_parts(3, 300)
    expected = fitted(*data, client)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: fitted(*data, client), range(2)))
    assert all(same(one.certificate_, expected.certificate_) for one in both)


def test_the_command_trains_over_files(workers, client, rows, tmp_path, capsys):
    X, y = rows
    X = np.where(np.abs(X) > 1, X, 0).astype(np.float32)
    for i, (part, labels) in enumerate(zip(np.split(X, 4), np.split(y, 4), strict=True)):
        write_dataset(Dataset(part, labels), str(tmp_path / f"part-{i}.svm"))
    everything, model = tmp_path / "all.svm", tmp_path / "model.npz"
    write_dataset(Dataset(X, y), str(everything))
    address = workers.scheduler.scheduler_address
    assert main(["train", str(tmp_path / "part-*.svm"), str(model), "--scheduler", address, "-w1", "2"]) == 0
    assert "rounds over 4 partitions" in capsys.readouterr().out
    assert main(["verify", str(model), str(everything)]) == 0
    assert load(model).certificates[0].problem.C_positive == 2
    assert main(["train", str(tmp_path / "none-*"), str(model), "--scheduler", address]) == 3
    assert main(["train", str(everything), str(model), "--workers", "2", "--algorithm", "pdm"]) == 3


@pytest.fixture
def tables(rows, tmp_path, monkeypatch):
    """Tables with features of very different sizes and a column to leave out, one file per partition; and all rows."""
    monkeypatch.chdir(tmp_path)
    X, y = rows
    values = np.column_stack([X[:, :4] * 10.0 ** np.arange(-3, 5, 2) + 5, np.arange(len(y))])
    header = '"a, in metres",b,c,d,id,label'
    texts = [",".join(f"{value:.6g}" for value in row) + f",c{label}" for row, label in zip(values, y, strict=True)]
    for i, part in enumerate(np.array_split(np.array(texts), [300, 900, 1900])):
        (tmp_path / f"part-{i}.csv").write_text("\n".join([header, *part]) + "\n")
    (tmp_path / "all.csv").write_text("\n".join([header, *texts]) + "\n")
    return ["--label", "label", "--drop", "id"]


@pytest.mark.parametrize("kind", ["standard", "maxabs"])
def test_features_are_scaled_over_files_as_on_one_machine(kind, workers, client, tables, capfd):
    where = ["--scheduler", workers.scheduler.scheduler_address]
    assert main(["train", "part-*.csv", "model.npz", "--scale", kind, "--json", *tables, *where]) == 0
    ours = json.loads(capfd.readouterr().out)
    assert main(["train", "all.csv", "one.npz", "--scale", kind, "--json", *tables]) == 0
    theirs = json.loads(capfd.readouterr().out)
    assert ours.keys() == theirs.keys()
    assert [ours[name] for name in ("rows", "features", "classes", "scale")] == [2000, 4, ["c0", "c1"], kind]
    assert ours["settled_share"] > 0
    one, many = load("one.npz"), load("model.npz")
    assert np.array_equal(one.scaling.shift, many.scaling.shift)
    assert np.array_equal(one.scaling.divisor, many.scaling.divisor)
    assert one.certificate.data_digest == many.certificate.data_digest
    assert many.feature_names[0] == "a, in metres"
    assert many.parameters["drop"] == ["id"]
    assert main(["verify", "model.npz", "all.csv", "--scale", kind]) == 0
    assert "without the column id, as the model says" in capfd.readouterr().out
    assert main(["predict", "all.csv", "model.npz"]) == 0


def test_a_limit_of_time_is_for_reading_over_a_cluster_too(workers, client, tables, monkeypatch, capfd):
    monkeypatch.setattr("dynmargin.cli.training.LEAST_TIME", 0.0)
    where = ["--scheduler", workers.scheduler.scheduler_address]
    monkeypatch.setattr("dynmargin.cli.cluster.running", lambda _: nullcontext(client))  # connecting takes longer
    assert main(["train", "part-*.csv", "model.npz", *tables, "--max-time", "1e-9", *where]) == 3
    assert "--max-time 1e-09 was over before the rows were read" in capfd.readouterr().err
    assert not Path("model.npz").exists()


def test_a_limit_of_time_is_for_scaling_over_a_cluster_too(workers, client, tables, monkeypatch, capfd):
    def read(*arguments, read=command.read):
        found = read(*arguments)
        monkeypatch.setattr("dynmargin.cli.training.LEAST_TIME", 0.0)  # from now on
        return found

    monkeypatch.setattr(command, "read", read)
    monkeypatch.setattr(command, "running", lambda _: nullcontext(client))
    monkeypatch.setattr("dynmargin.cli.training.LEAST_TIME", 100.0)
    where = ["--scheduler", workers.scheduler.scheduler_address, "--max-time", "1e-9"]
    assert main(["train", "part-*.csv", "model.npz", *tables, "--scale", "standard", *where]) == 3
    assert "--max-time 1e-09 was over before the rows were scaled (" in capfd.readouterr().err
    assert not Path("model.npz").exists()


def test_messages_call_files_what_the_user_called_them(workers, client, tables, tmp_path, capfd):
    where = ["--scheduler", workers.scheduler.scheduler_address]
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n-1 1:2\n")
    assert main(["train", "a.svm", "model.npz", *where]) == 0
    assert "dynmargin: a.svm: query ids (qid) are ignored\n" in capfd.readouterr().err
    (tmp_path / "b.svm").write_text("1 1:1\n-1 1:x\n")
    (tmp_path / "part-1.csv").write_text("")
    (tmp_path / "loop.svm").symlink_to(tmp_path / "nowhere")
    for words, message in {
        ("[ab].svm",): "b.svm, line 2, column 6: the value is not a number: 'x'",
        ("part-*.csv", *tables): "part-1.csv: the file is empty",
        ("./*.svm",): f"./loop.svm: a worker cannot find it; it looks for {tmp_path / 'loop.svm'}",
    }.items():
        assert main(["train", *words, "model.npz", *where]) == 3
        assert capfd.readouterr().err.splitlines()[-1] == f"dynmargin train: {message}"
        (tmp_path / "b.svm").write_text("1 1:1\n")


def test_weights_and_settled_rows_over_files(workers, client, tables, tmp_path, capfd):
    where = ["--scheduler", workers.scheduler.scheduler_address]
    (tmp_path / "weights").write_text("\n".join(str(i % 3) for i in range(2000)))
    options = [*tables, "--scale", "standard", "--weights", "weights", "--until-settled", "99%"]
    assert main(["train", "part-*.csv", "model.npz", *options, *where]) == 0
    assert re.search(r"; (99\.\d+|100) % of the training rows are provably predicted", capfd.readouterr().out)
    assert load("model.npz").certificate.settled_share >= 0.99
    assert main(["verify", "model.npz", "all.csv", "--weights", "weights"]) == 0
    (tmp_path / "part-1.csv").write_text('"a, in metres",b,c,d,id,label\n1,2,inf,4,5,c0\n')
    assert main(["train", "part-*.csv", "model.npz", *tables, *where, "--scale", "maxabs"]) == 3
    assert "part-1.csv: row 1 (counting from 1) has the value inf" in capfd.readouterr().err
    (tmp_path / "part-1.csv").write_text("a,b,c,d,id,label\n1,2,3,4,5,c0\n")
    assert main(["train", "part-*.csv", "model.npz", *tables, *where]) == 3
    assert 'part-1.csv has other columns than part-0.csv: a, b, c, d, not "a, in metres", b' in capfd.readouterr().err
    assert (
        main(["train", "part-0.csv", "model.npz", *tables, "--scheduler", "tcp://127.0.0.1:9", "--max-time", "1"]) == 3
    )
    assert "no Dask scheduler answers at tcp://127.0.0.1:9 within 1 s" in capfd.readouterr().err


def test_training_ends_when_predictions_are_settled(client, rows):
    X, y = rows
    dX, dy = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    classifier = fitted(dX, dy, client, epsilon=0.1, stop="predictions", settle=0.99)
    assert classifier.stop_reason_ == "predictions"
    assert classifier.certificate_.settled_share >= 0.99
    assert classifier.settled(dX).compute().mean() == classifier.certificate_.settled_share
    assert classifier.certificate_.verify(X, y)
    for others in (dX[:500], X[:500]):
        few = DaskMaxMarginClassifier(0.1, random_state=0, client=client, stop="predictions", settle=1.0)
        few.fit(dX, dy, settle_on=others)
        assert few.settled(X[:500]).all()
        assert few.certificate_.settled_share is None
    with pytest.raises(ValueError, match="needs stop='predictions'"):
        DaskMaxMarginClassifier(client=client).fit(dX, dy, settle_on=dX)


@pytest.mark.parametrize(
    ("names", "words", "message"),
    [
        ("part-*.svm", ["--checkpoint", "model.npz"], "model.npz is the model and the checkpoint"),
        ("part-*.svm", ["--checkpoint", "other"], "the checkpoint other was written for -c 1.0, not 3.0"),
        ("part-*.svm", ["--weights", "weights"], "weights, line 1, column 1: 'one' is not a weight; weights are"),
        ("part-*.svm", ["--drop", "a"], "part-0.svm: --drop is for tables"),
        ("part-*.csv", ["--label", "kind"], "part-0.csv: no column is called 'kind'; there are a, label"),
        ("part-9.svm", [], "part-9.svm: no such file or directory"),
        ("part-*.svm", ["--algorithm", "dcd"], "for this problem a cluster trains by Newton's method; leave --algor"),
        (
            "part-*.svm",
            ["--algorithm", "dcd", "--loss", "hinge"],
            "trains by coordinate descent on the rows that decid",
        ),
    ],
)
def test_what_can_be_checked_is_checked_before_there_is_a_cluster(names, words, message, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part-0.svm").write_text("1 1:1\n-1 2:1\n" * 5)
    (tmp_path / "part-0.csv").write_text("a,label\n1,0\n2,1\n")
    (tmp_path / "weights").write_text("one\n")
    assert main(["train", "-q", "part-0.svm", "first.npz", "--checkpoint", "other"]) == 0
    started = []
    monkeypatch.setattr("dynmargin.dask.local.local_cluster", started.append)
    assert main(["train", names, "model.npz", "--workers", "2", "-c", "3", *words]) == 3
    assert message in capfd.readouterr().err
    assert not started


def test_what_a_worker_stumbles_over_is_one_sentence(tmp_path, monkeypatch, capfd):
    """Workers of a cluster that the command itself starts log no traceback before it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part-0.svm").write_text("1 1:1\n-1 2:1\n")
    (tmp_path / "part-1.svm").write_text("1 1:1\n-1 2:nan\n")
    assert main(["train", "-q", "part-*.svm", "model.npz", "--workers", "1"]) == 3
    assert capfd.readouterr().err == (
        "dynmargin train: part-1.svm: row 2 (counting from 1) has the value nan; all values must be finite\n"
    )


def test_the_first_error_ends_the_waiting(client):
    def task(number):
        if number:
            raise ValueError("this one fails")
        Event("go on").wait(timeout=60)
        Event("over").set()

    with pytest.raises(ValueError, match="this one fails"):
        cluster_module.gathered(client, client.map(task, [0, 1], pure=False))
    assert not Event("over", client=client).is_set()
    Event("go on", client=client).set()


def test_files_of_two_kinds_are_both_named(workers, client, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part-0.svm").write_text("1 1:1\n-1 2:1\n")
    np.savez(tmp_path / "part-1.npz", X=np.eye(2), y=[1, -1])
    assert main(["train", "part-*", "m.npz", "--scheduler", workers.scheduler.scheduler_address]) == 3
    assert "the rows of part-1.npz are dense, and those of part-0.svm are sparse" in capfd.readouterr().err


def test_newtons_method_does_not_advise_itself(workers, client, rows, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    write_dataset(Dataset(*rows), "part-0.svm")
    where = ["--scheduler", workers.scheduler.scheduler_address]
    assert main(["train", "part-*.svm", "m.npz", "-c", "1e8", "--epsilon", "1e-15", *where]) == 1
    out, err = capfd.readouterr()
    assert "To get closer, scale the features" in err
    assert "--algorithm newton" not in err
    assert " round" in out
    assert " pass" not in out  # a second number, of the same


def test_a_saved_model_has_all_parameters_but_the_cluster(client, rows, tmp_path):
    X, y = rows
    asked = {"epsilon": 0.05, "C": 0.5, "class_weight": {0: 2.0, 1: 1.0}, "random_state": 3, "max_time": 100.0}
    saved = fitted(da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500), client, **asked)
    saved.save(tmp_path / "m.npz")
    found = load(tmp_path / "m.npz")
    assert "client" not in found.parameters
    again = found.to_estimator()
    assert type(again) is MaxMarginClassifier
    shared = again.get_params().keys() & saved.get_params().keys()
    assert {name: again.get_params()[name] for name in shared} == {name: getattr(saved, name) for name in shared}
    np.testing.assert_array_equal(again.coef_, saved.coef_)
