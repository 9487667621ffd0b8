"""The paper's tables by one command: every cell is shown, none is lost, and the problems are the paper's or refused."""

import bz2
import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from dynmargin.cli.main import main
from dynmargin.data.dataset import DataError
from dynmargin.paper import figures, problems, readers, sensitivity, tables
from dynmargin.paper.cells import Cells, Key, Result
from dynmargin.paper.columns import COLUMNS, Task
from dynmargin.paper.published import NOTES, TABLES, published
from dynmargin.progress.table import TableProgress

ROWS, FEATURES = 150, 5
TABLE_1 = ["pdm", "pdm-in-order", "pfm", "pdm-succ", "pfm-succ"]
PUBLISHED_1 = [name for name in TABLE_1 if name != "pdm-in-order"]
TABLE_2 = ["romma", "svm", "dcd-l1", "dcd-l2", "mpu"]


def small_problems():
    """The paper's problems, but of a size that these tests can afford."""
    return {
        name: replace(problem, shape=(ROWS, FEATURES), positives=75 if problem.positives else None)
        for name, problem in problems.PROBLEMS.items()
    }


@pytest.fixture
def data(tmp_path):
    """Adult and Web, in small."""
    for seed, name in enumerate(["adult/a9a", "web/w8a"]):
        random = np.random.default_rng(seed)
        y = np.repeat([1, -1], ROWS // 2)
        X = (random.normal(size=(ROWS, FEATURES)) + 0.7 * y[:, None]).round(3)
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True)
        dump_svmlight_file(X, y, str(path), zero_based=False)
    return tmp_path / "data"


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run a command line on small problems: exit code, standard output, standard error."""
    monkeypatch.setattr(problems, "PROBLEMS", small_problems())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNMARGIN_DATA", raising=False)

    def run(*words):
        capfd.readouterr()
        try:
            code = main([*map(str, words)])
        except SystemExit as end:  # a command line that cannot be parsed
            code = end.code
        return code, *capfd.readouterr()

    return run


class InProcess:
    """A worker without a process of its own, which takes seconds to start; nothing here has to be ended."""

    def __init__(self, problem, folder, tick):
        self.problem, self.process = problem, self
        self.X, self.y = problem.load(folder)

    def is_alive(self):
        return True

    def loaded(self):
        pass

    def compute(self, limit, column, epsilon, seed, beta):
        return column.run(Task(self.X, self.y, self.problem, epsilon, seed, beta))

    def end(self):
        pass


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr(tables, "Worker", InProcess)


def rows_of(folder, table):
    with (folder / f"table{table}.csv").open() as file:
        return {(row["set"], row["column"]): row for row in csv.DictReader(file)}


def cells_of(folder):
    return {path.name: path.read_bytes() for path in (folder / "cells").glob("table*.json")}


def test_table_1_shows_ours_beside_the_paper(run, data, tmp_path):
    code, out, err = run("paper", "table1", "--sets", "adult,web", "--seeds", 2, "--data-dir", data, "--out", "new")
    assert code == 0
    rows = rows_of(tmp_path / "new", 1)
    assert list(rows) == [(name, column) for name in ("adult", "web") for column in TABLE_1]
    for (name, column), row in rows.items():
        paper = published("table1", name, column.removesuffix("-in-order"))
        assert float(row["updates_millions_paper"]) == paper.updates
        assert float(row["updates_millions_ratio"]) == pytest.approx(float(row["updates_millions"]) / paper.updates)
        assert row["remark"] == ""  # converged and proven
        seeds = [Cells(tmp_path / "new/cells").read(Key("table1", name, column, 0.01, seed)) for seed in (0, 1)]
        assert float(row["margin_e4"]) == pytest.approx(1e4 * np.median([cell.margin for cell in seeds]))
        assert all((cell.ended, cell.verdict) == ("converged", "proven") for cell in seeds)
    for name in ("adult", "web"):
        assert float(rows[name, "pfm"]["margin_e4"]) > float(rows[name, "pdm"]["margin_e4"])  # its beta
        assert float(rows[name, "pfm-succ"]["margin_e4"]) > float(rows[name, "pdm-succ"]["margin_e4"])
    assert "84.57" in out
    assert "a first pass in the order of the file" in out
    assert "Adult, PDM, seed 1: converged" in err
    assert "0 cells left" in err
    markdown, latex = (tmp_path / "new/table1.md").read_text(), (tmp_path / "new/table1.tex").read_text()
    assert markdown.count("\n| Adult |") == latex.count("\nAdult &") == 5
    assert latex.count(r" \\") == 1 + len(rows)
    assert all(line.count("&") == 12 for line in latex.splitlines() if line.endswith(r"\\"))


def test_every_column_of_table_2_is_filled(run, data, tmp_path, in_process):
    code, out, _ = run("paper", "table2", "--sets", "adult", "--columns", ",".join(TABLE_2), "--data-dir", data)
    assert code == 0
    rows = rows_of(tmp_path / "paper-results", 2)
    assert list(rows) == [("adult", column) for column in TABLE_2]
    margins = [float(row["margin_e4"]) for row in rows.values()]
    assert max(margins) * 0.98 <= min(margins)  # the same problem, each to 1 %
    assert all(row["updates_millions_paper"] == "" for row in rows.values())
    assert rows["adult", "dcd-l2"]["margin_e4_paper"] == ""
    assert "the margin is geometric" in out


def test_liblinear_solves_the_same_problem(run, data, tmp_path, in_process):
    pytest.importorskip("liblinear")
    columns = ["dcd-l1", "dcd-l1-liblinear", "dcd-l2", "dcd-l2-liblinear"]
    assert run("paper", "table2", "--sets", "adult", "--columns", ",".join(columns), "--data-dir", data)[0] == 0
    margins = [float(row["margin_e4"]) for row in rows_of(tmp_path / "paper-results", 2).values()]
    assert max(margins) * 0.98 <= min(margins)


def test_a_peer_that_is_not_installed_is_said_to_be(run, data, monkeypatch, in_process):
    monkeypatch.setattr(tables, "find_spec", lambda module: None)
    code, out, _ = run("paper", "table2", "--sets", "adult", "--columns", "dcd-l2,dcd-l2-liblinear", "--data-dir", data)
    assert code == 0
    assert "not installed: pip install liblinear-official" in out


def test_pfm_brings_the_column_it_takes_its_margin_from():
    assert [column.name for column in tables.columns_of("table1", ["pfm-succ"])] == ["pdm-succ", "pfm-succ"]


def test_a_run_over_the_limit_is_ended_and_shown(run, data, tmp_path):
    words = ("paper", "table1", "--sets", "adult", "--epsilon", 1e-9, "--data-dir", data, "--time-limit")
    code, out, _ = run(*words, 0.3, "--columns", "pfm")
    assert code == 0
    assert "not finished in 0.3 s" in out
    assert "the paper's figures are for epsilon 0.01" in out
    assert "no margin of PDM to aim at" in out
    (cell,) = cells_of(tmp_path / "paper-results").values()
    assert json.loads(cell)["state"] == "over limit"
    assert Result("over limit", limit=0.3).stands(0.2)
    assert not Result("over limit", limit=0.3).stands(0.4)


def test_an_empty_folder_shows_the_papers_figures_and_where_data_are(run, tmp_path):
    (tmp_path / "empty").mkdir()
    code, out, _ = run("paper", "table2", "--data-dir", "empty")
    assert code == 3
    for sets in TABLES["table2"].values():
        assert all(repr(figures.seconds) in out for figures in sets.values())
    for problem in problems.PAPER:
        assert f"{problem.title}: data not here: {problem.wanted} from {problem.source}" in out
    code, out, _ = run("data", "--data-dir", "empty")
    assert code == 0
    assert out.count("not here\n") == 10  # nine, and newsgroups; the other stand-in is generated
    for problem in problems.PAPER:
        assert f"{problem.title}: {problem.wanted}\n  {problem.source}\n" in out


def test_data_lists_what_is_found(run, data):
    code, out, _ = run("data", "--data-dir", data)
    assert code == 0
    assert f"  {os.path.join('adult', 'a9a')}\n" in out


def test_a_wrong_file_is_refused_with_what_was_expected_and_seen(run, data, monkeypatch):
    right = small_problems()
    monkeypatch.setattr(problems, "PROBLEMS", {**right, "adult": replace(right["adult"], positives=74)})
    code, out, _ = run("paper", "table1", "--sets", "adult,web", "--data-dir", data, "--columns", "pdm-succ")
    assert code == 0  # Web could be run
    message = "this is not the paper's Adult: 150 rows and 5 columns, 74 of them positive were expected; "
    assert message + "there are 150 and 5, 75 positive" in out
    assert run("paper", "table1", "--sets", "adult", "--data-dir", data)[0] == 3


def test_a_cell_that_fails_says_why_and_is_tried_again(run, data, monkeypatch):
    right = small_problems()
    monkeypatch.setattr(problems, "PROBLEMS", {**right, "web": replace(right["web"], delta=0.0)})
    words = ("paper", "table1", "--sets", "adult,web", "--columns", "pdm", "--data-dir", data)
    code, out, _ = run(*words)
    assert code == 1
    assert "failed: " in out
    monkeypatch.setattr(problems, "PROBLEMS", right)
    code, out, err = run(*words, "--resume")
    assert code == 0
    assert err.count("converged") == 1  # Web; Adult was done


@pytest.mark.parametrize(
    "words",
    [
        ("table1", "--sets", "adult,elsewhere"),
        ("table1", "--columns", "romma"),
        ("table1", "--epsilon", "2"),
    ],
)
def test_a_wrong_name_or_number_is_refused(words, run, tmp_path):
    code, out, err = run("paper", *words)
    assert (code, out) == (3, "")
    assert err.startswith("dynmargin paper")
    assert not (tmp_path / "paper-results").exists()


DRIVER = f"""
import sys

if __name__ == "__main__":  # a worker begins with this file, too
    from dataclasses import replace
    from dynmargin.cli.main import main
    from dynmargin.paper import problems

    for name, problem in problems.PROBLEMS.items():
        problems.PROBLEMS[name] = replace(problem, shape=({ROWS}, {FEATURES}), positives=None)
    sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_killed_at_any_moment_it_loses_no_finished_cell(run, data, tmp_path):
    (tmp_path / "driver.py").write_text(DRIVER)
    words = ["paper", "table1", "--sets", "adult", "--seeds", "2", "--data-dir", str(data), "--out", "kept"]
    folder = tmp_path / "kept"
    for wanted in (1, 4):  # killed twice, further on the second time
        before = cells_of(folder)
        process = subprocess.Popen(
            [sys.executable, "driver.py", *words, "--resume"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while len(cells_of(folder)) < wanted and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        after = cells_of(folder)
        assert len(after) >= wanted
        assert all(json.loads(cell)["state"] == "done" for cell in after.values())  # none half-written
        assert before.items() <= after.items()
    code, _, err = run(*words, "--resume")
    assert code == 0
    assert after.items() <= cells_of(folder).items()  # kept as they were
    assert len(cells_of(folder)) == 10
    assert err.count("converged") == 10 - len(after)
    assert all(row["margin_e4"] and row["remark"] == "" for row in rows_of(folder, 1).values())


def test_an_interrupted_table_is_shown_as_far_as_it_went(run, data, tmp_path, monkeypatch):
    def begin(self, what, left):
        if left == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(TableProgress, "begin", begin)
    code, out, _ = run("paper", "table1", "--sets", "adult", "--columns", "pdm,pdm-succ", "--data-dir", data)
    assert code == 130
    assert "not run yet" in out
    rows = rows_of(tmp_path / "paper-results", 1)
    assert rows["adult", "pdm"]["margin_e4"]
    assert not rows["adult", "pdm-succ"]["margin_e4"]


def test_without_resume_everything_is_computed_again(run, data, tmp_path, in_process):
    words = ("paper", "table1", "--sets", "adult", "--columns", "pdm-succ", "--data-dir", data)
    assert run(*words)[2].count("converged") == 1
    assert run(*words, "--resume")[2] == ""
    assert run(*words)[2].count("converged") == 1


@pytest.mark.parametrize("content", [b"", b'{"key": [1, "adult"', b"[]", b'{"key": 3}', b'{"state": "done"}'])
def test_what_is_no_cell_is_not_taken_for_one(content, tmp_path):
    cells, key = Cells(tmp_path), Key("table1", "adult", "pdm", 0.01, 0)
    (tmp_path / key.file).write_bytes(content)
    assert cells.read(key) is None
    cells.write(key, Result("done", margin=0.1, updates=3, seconds=1.0))
    assert cells.read(key) == Result("done", margin=0.1, updates=3, seconds=1.0)


def test_figures_are_drawn_of_what_is_here(run, data, tmp_path, in_process):
    assert run("paper", "table1", "--sets", "adult", "--data-dir", data)[0] == 0
    code, out, _ = run("paper", "figures", "--sets", "adult,physics", "--data-dir", data)
    assert code == 0
    names = ["curves-adult.png", "updates-adult.png", "table1.png"]
    assert out.splitlines() == [os.path.join("paper-results", name) for name in names]
    assert all((tmp_path / "paper-results" / name).read_bytes().startswith(b"\x89PNG") for name in names)
    assert run("paper", "figures", "--sets", "physics", "--data-dir", data, "--out", "none")[0] == 3


@pytest.fixture
def three_families(monkeypatch):
    """Those with numbers, tuples and devices: drawing all of them takes seconds."""
    families = (sensitivity.FAMILIES[0], *sensitivity.FAMILIES[-2:])
    names = {variation.name for family in families for variation in family.values.values()}
    monkeypatch.setattr(sensitivity, "FAMILIES", families)
    monkeypatch.setattr(sensitivity, "VARIATIONS", tuple(v for v in sensitivity.VARIATIONS if v.name in names))
    return {family.title: family.paper for family in families}


def test_sensitivity_varies_one_thing_at_a_time_and_resumes(run, data, tmp_path, in_process, three_families):
    words = ("paper", "sensitivity", "--sets", "adult", "--data-dir", data)
    code, _, err = run(*words)
    assert code == 0
    assert err.count("converged") == len(sensitivity.VARIATIONS)
    with (tmp_path / "paper-results/sensitivity.csv").open() as file:
        rows = {(row["varied"], row["value"]): row for row in csv.DictReader(file)}
    paper = {tuple(row.values())[3:] for (varied, value), row in rows.items() if value == three_families[varied]}
    assert len(paper) == 1  # the paper's own setting is one run, in every family
    assert {varied for varied, _ in rows} == set(three_families)
    assert all(float(row["margin"]) > 0 and 0 <= float(row["training_error"]) < 0.5 for row in rows.values())
    assert float(rows["epsilon", "0.2"]["margin"]) < float(rows["epsilon", "0.005"]["margin"])
    assert (tmp_path / "paper-results/sensitivity.png").read_bytes().startswith(b"\x89PNG")
    assert "**9,12,12**" in (tmp_path / "paper-results/sensitivity.md").read_text()
    assert run(*words, "--resume")[2] == ""


def test_every_variation_differs_from_the_paper_in_what_it_is_named_after():
    changed = [variation for variation in sensitivity.VARIATIONS if variation != sensitivity.BASELINE]
    plain = replace(sensitivity.BASELINE, name="", title="")
    assert all(replace(variation, name="", title="") != plain for variation in changed)
    assert len({replace(variation, name="", title="") for variation in changed}) == len(changed)
    assert len({variation.name for variation in sensitivity.VARIATIONS}) == len(sensitivity.VARIATIONS)
    assert all(family.paper in family.values for family in sensitivity.FAMILIES)


def test_all_goes_through_every_part(run, data, tmp_path, monkeypatch, in_process):
    monkeypatch.setattr(sensitivity, "FAMILIES", sensitivity.FAMILIES[:1])
    monkeypatch.setattr(sensitivity, "VARIATIONS", (sensitivity.BASELINE,))
    monkeypatch.setattr(figures, "EPSILONS", (0.1, 0.01))
    columns = {name: column for name, column in COLUMNS.items() if name in ("pdm", "pfm", "mpu")}
    monkeypatch.setattr(tables, "COLUMNS", columns)
    words = ("paper", "all", "--sets", "adult", "--seeds", 1, "--data-dir", data)
    assert run(*words)[0] == 0
    made = {path.name for path in (tmp_path / "paper-results").iterdir()}
    pictures = {"curves-adult.png", "updates-adult.png", "table1.png", "sensitivity.png"}
    texts = {f"{work}.{kind}" for work in ("table1", "table2") for kind in ("csv", "md", "tex")}
    assert made == {"cells", "sensitivity.csv", "sensitivity.md", *pictures, *texts}
    assert run(*words, "--resume")[2] == ""  # nothing is left to do


def test_all_goes_on_after_a_part_that_failed(run, tmp_path):
    """Without data nothing can be drawn: that is said, and the part after it is run."""
    (tmp_path / "empty").mkdir()
    code, _, err = run("paper", "all", "--sets", "adult", "--data-dir", "empty")
    assert code == 3
    assert err.startswith("dynmargin paper figures: nothing could be drawn: empty holds none of the sets")
    assert (tmp_path / "paper-results/sensitivity.csv").exists()


def test_all_ends_with_the_worst_code_even_if_later_parts_succeed(run, data, monkeypatch, in_process):
    monkeypatch.setattr(sensitivity, "FAMILIES", sensitivity.FAMILIES[:1])
    monkeypatch.setattr(sensitivity, "VARIATIONS", (sensitivity.BASELINE,))
    monkeypatch.setattr(tables, "COLUMNS", {name: COLUMNS[name] for name in ("pdm", "mpu")})
    monkeypatch.setattr(figures, "draw_all", lambda *_: iter(()))
    code, out, err = run("paper", "all", "--sets", "adult", "--seeds", 1, "--data-dir", data)
    assert code == 3
    assert "dynmargin paper figures: nothing could be drawn" in err
    assert out.endswith(f"{os.path.join('paper-results', 'sensitivity.png')}\n")


def test_all_refuses_a_wrong_name_once(run, tmp_path):
    code, out, err = run("paper", "all", "--sets", "adult,elsewhere")
    assert (code, out) == (3, "")
    assert err.count("there is no set 'elsewhere'") == 1
    assert not (tmp_path / "paper-results").exists()


def test_the_published_tables_are_complete():
    paper = [problem.name for problem in problems.PAPER]
    assert list(TABLES["table1"]) == list(TABLES["table2"]) == paper
    for work, names in (("table1", PUBLISHED_1), ("table2", TABLE_2)):
        for problem in paper:
            assert list(TABLES[work][problem]) == names
            assert all(figures.seconds for figures in TABLES[work][problem].values())
            for column in COLUMNS.values():
                assert column.work != work or column.paper in names
    assert all(column in TABLES[table][problem] for table, problem, column in NOTES)


def test_the_default_folder_is_the_cache_whatever_lies_around(tmp_path, monkeypatch):
    monkeypatch.delenv("DYNMARGIN_DATA", raising=False)
    (tmp_path / "project").mkdir()
    (tmp_path / "shared/data").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    assert problems.data_folder(None).name == "dynmargin"
    monkeypatch.setenv("DYNMARGIN_DATA", "named")
    assert str(problems.data_folder(None)) == "named"
    assert str(problems.data_folder("chosen")) == "chosen"


def test_compressed_files_are_found_in_a_folder_of_their_own_or_not(tmp_path):
    adult = problems.PROBLEMS["adult"]
    assert adult.find(tmp_path) is None
    (tmp_path / "a9a.bz2").touch()
    assert adult.find(tmp_path) == [tmp_path / "a9a.bz2"]
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult/a9a.xz").touch()
    assert adult.find(tmp_path) == [tmp_path / "adult/a9a.xz"]


@pytest.mark.parametrize("header", ["", "Elevation,Aspect,Slope,Class\n"])
def test_covertype_is_the_first_class_against_the_rest_rescaled(header, tmp_path):
    with gzip.open(tmp_path / "covtype.data.gz", "wt") as file:
        file.write(header + "2596,51,0,5\n2804,139,9,1\n2785,-1.5e1,18,2\n")
    X, y = readers.read_covertype([tmp_path / "covtype.data.gz"], 3)
    assert np.allclose(X.toarray(), np.array([[2596, 51, 0], [2804, 139, 9], [2785, -15, 18]]) * 0.001)
    assert y.tolist() == [-1, 1, -1]
    with pytest.raises(DataError, match="3 columns were expected, there are 4"):
        readers.read_covertype([tmp_path / "covtype.data.gz"], 2)


def test_physics_goes_without_its_attributes_with_missing_values(tmp_path):
    table = np.arange(1, 161, dtype=float).reshape(2, 80)
    table[:, 1] = [1, 0]
    table[0, [21, 22, 23, 45, 46, 47]] = 999  # columns 22-24, 46-48 of the file
    table[1, [30, 56]] = 9999  # 31 and 57
    np.savetxt(tmp_path / "phy_train.dat", table, fmt="%g", delimiter="\t")
    X, y = readers.read_physics([tmp_path / "phy_train.dat"], 70)
    assert X.shape == (2, 70)
    assert not np.isin(X.toarray(), [0.999, 9.999]).any()
    assert X[0, 0] == pytest.approx(0.003)
    assert y.tolist() == [1, -1]
    np.savetxt(tmp_path / "phy_train.dat", table[:, :-1])
    with pytest.raises(DataError, match="80 columns were expected, there are 79"):
        readers.read_physics([tmp_path / "phy_train.dat"], 70)


def rcv1(folder, topics="C11 2287 1\nCCAT 2286 1\nCCAT 2288 1\nC110 2289 1\n"):
    (folder / "train").write_text("2286  1:0.5 4:0.25\n2287  2:1\n")
    (folder / "test").write_bytes(gzip.compress(b"2288  5:0.125\n2289  3:0.5\n"))
    (folder / "topics").write_bytes(gzip.compress(topics.encode()))
    return [folder / "train", folder / "test", folder / "topics"]


def test_rcv1_is_put_together_from_vectors_and_topics(tmp_path):
    files = rcv1(tmp_path)
    X, y = readers.read_ccat(files, 5)
    assert X.toarray().tolist() == [[0.5, 0, 0, 0.25, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0.125], [0, 0, 0.5, 0, 0]]
    assert y.tolist() == [1, -1, 1, -1]
    assert readers.read_c11(files, 5)[1].tolist() == [-1, 1, -1, -1]


def test_rcv1_is_refused_when_its_files_do_not_belong_together(tmp_path):
    with pytest.raises(DataError, match="document 7 is not in the vector files"):
        readers.read_c11(rcv1(tmp_path, "C11 7 1\n"), 5)
    train, _, topics = rcv1(tmp_path)
    with pytest.raises(DataError, match="twice"):
        readers.read_c11([train, train, topics], 5)


def test_newsgroups_are_even_groups_against_odd_ones(tmp_path):
    with tarfile.open(tmp_path / "20news-bydate.tar.xz", "w:xz") as archive:
        for name, text in (("alt", "red apple"), ("comp", "green pear"), ("misc", "red pear")):
            content = text.encode()
            member = tarfile.TarInfo(f"20news-bydate-train/{name}/1")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    X, y = readers.read_newsgroups([tmp_path / "20news-bydate.tar.xz"], 0)
    assert X.shape == (3, 7)  # four words, three pairs
    assert np.allclose(X.multiply(X).sum(axis=1), 1)
    assert y.tolist() == [1, -1, 1]


def test_rcv1_like_is_seeded_and_has_unit_rows():
    X, y = readers.make_rcv1_like([], 2000, rows=300)
    again, _ = readers.make_rcv1_like([], 2000, rows=300)
    assert X.shape == (300, 2000)
    assert (again != X).nnz == 0
    assert np.allclose(X.multiply(X).sum(axis=1), 1, atol=1e-5)
    assert 0.2 < (y > 0).mean() < 0.8


@pytest.mark.parametrize("name", ["adult", "web"])
def test_the_real_files_are_the_papers_problems(name, data_dir):
    X, y = problems.PROBLEMS[name].load(data_dir)  # refuses what is not
    assert set(y) == {1, -1}
    assert X.shape == problems.PROBLEMS[name].shape


@pytest.mark.parametrize("name", ["real-sim", "news20", "webspam"])
def test_the_sets_of_the_libsvm_page_are_read_as_they_are_published(name, tmp_path):
    """Labels +1 and -1, indices from 1, unit rows with as many digits as the files have; compressed by bzip2."""
    problem = replace(problems.PROBLEMS[name], shape=(3, 6))
    wanted = problem.files[0].split(" or ")[0]
    path = tmp_path / (wanted + ".bz2")
    path.parent.mkdir(parents=True)
    text = b"-1 1:0.182574 4:0.983192 \n+1 2:1\n-1 3:0.70710678 6:0.70710678\n"
    path.write_bytes(bz2.compress(text))
    assert problem.find(tmp_path) == [path]
    X, y = problem.load(tmp_path)
    assert y.tolist() == [-1, 1, -1]
    assert X.toarray()[0].tolist() == pytest.approx([0.182574, 0, 0, 0.983192, 0, 0])
    with pytest.raises(DataError, match="this is not the paper's"):
        problems.PROBLEMS[name].load(tmp_path)  # far too small


@pytest.mark.parametrize("name", sorted(problems.NOT_HERE))
def test_a_stand_in_has_the_shape_of_its_set_and_is_called_one(name):
    problem, (per_row, positive) = problems.PROBLEMS[f"{name}-like"], problems.NOT_HERE[name]
    assert problem.shape == problems.PROBLEMS[name].shape
    assert problem.delta == problems.PROBLEMS[name].delta
    assert problem.stands_for == name
    assert published("table1", problem.name, "pdm") == published("table2", problem.name, "mpu") == (None, None, None)
    X, y = partial(problem.read, rows=400)([], problem.shape[1])
    again, _ = partial(problem.read, rows=400)([], problem.shape[1])
    assert (again != X).nnz == 0
    assert X.nnz / 400 == pytest.approx(per_row, rel=0.02)
    assert np.mean(y > 0) == pytest.approx(positive, abs=0.01)
    assert np.allclose(X.multiply(X).sum(axis=1), 1, atol=1e-5)


def test_a_table_runs_on_a_stand_in_and_says_so(run, tmp_path, monkeypatch, in_process):
    like = problems.PROBLEMS["physics-like"]
    small = replace(like, shape=(ROWS, 70), read=partial(like.read, rows=ROWS), positives=None)
    monkeypatch.setitem(problems.PROBLEMS, "physics-like", small)
    code, out, _ = run("paper", "table1", "--sets", "physics-like", "--columns", "pdm", "--data-dir", tmp_path)
    assert code == 0
    assert "a stand-in, not the paper's data; the paper has no figures for it" in out
    (row,) = rows_of(tmp_path / "paper-results", 1).values()
    assert row["margin_e4"]
    assert not row["margin_e4_paper"]
