"""Settled predictions on the command line."""

import csv

import numpy as np

from dynmargin import load, read_libsvm


def test_train_until_settled_and_predict(run, folder):
    code, out, _ = run("train", "train", "settled.npz", "--until-settled", "99%")
    assert code == 0
    assert "of the training rows are provably predicted as by the exact optimum" in out
    model = load(folder / "settled.npz")
    X, y = read_libsvm(folder / "train")
    assert model.settled(X).mean() >= 0.99
    assert model.verify(X, y)
    assert "provably predicted" in run("info", "settled.npz")[1]
    code, out, _ = run("predict", "test", "settled.npz", "labels.txt", "--settled")
    assert code == 0
    names, *lines = (folder / "labels.txt").read_text().splitlines()
    assert names == "label settled"
    settled = [line.split()[1] for line in lines]
    assert set(settled) <= {"yes", "no"}
    assert f"({settled.count('yes')}/{len(settled)})" in out


def test_what_does_not_go_together_is_refused(run):
    for words in (
        ("--algorithm", "decomposition"),
        ("--algorithm", "perceptron"),
        ("-v", "3"),
        ("--checkpoint", "kept.npz"),
    ):
        code, _, err = run("train", "train", "--until-settled", "99%", *words)
        assert code == 3
        assert "--until-settled" in err
    assert run("train", "train", "--until-settled", "120%")[0] == 3


def test_what_cannot_be_reached_says_how_far_it_came(run):
    code, _, err = run("train", "train", "short.npz", "--until-settled", "100%", "--max-time", "1e-9")
    assert code == 1
    assert "of the rows are settled, not 100 %: --max-time is reached" in err


def test_verify_says_that_rows_were_to_be_settled(run):
    assert run("train", "-q", "train", "to-settle.npz", "--until-settled", "90%")[0] == 0
    out = run("verify", "to-settle.npz", "train")[1]
    assert "the file says that 90.0 % of the rows were to be settled\n" in out
    assert "was asked for" not in out


def test_scores_of_labels_with_spaces_can_be_read(run, folder):
    kinds = ["New York", 'the "Hague"', "Rome"]
    X = np.array([[i, j] for i in range(3) for j in range(3)], dtype=float)
    with (folder / "cities.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["city", "x", "y"], *([kinds[int(x)], x, y] for x, y in X)])
    assert run("train", "-q", "cities.csv", "cities.npz", "--label", "city")[0] == 0
    assert run("predict", "-q", "cities.csv", "cities.npz", "cities.txt", "--scores", "--settled")[0] == 0
    with (folder / "cities.txt").open(newline="") as file:
        names, *found = csv.reader(file, delimiter=" ")
    model = load(folder / "cities.npz")
    assert names == ["label", "settled", *sorted(kinds)]
    assert [row[0] for row in found] == model.predict(X).tolist()
    np.testing.assert_array_equal([[*map(float, row[2:])] for row in found], model.decision_function(X))
    assert run("predict", "-q", "cities.csv", "cities.npz", "-")[1].splitlines() == model.predict(X).tolist()
