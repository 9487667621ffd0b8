"""LIBLINEAR's options: those that ask for a problem of ours work, the others are answered with what to use instead."""

import numpy as np
import pytest

from dynmargin import load


def test_a_command_line_of_liblinear_works_as_it_is(run, folder):
    assert run("train", "-s", "2", "-c", "4", "-B", "1", "-q", "train", "theirs.npz") == (0, "", "")
    assert run("verify", "theirs.npz", "train", "-c", "4", "-B", "1", "--loss", "squared_hinge")[0] == 0
    assert run("train", "-q", "-c", "4", "train", "ours.npz")[0] == 0
    assert np.array_equal(load(folder / "theirs.npz").coef, load(folder / "ours.npz").coef)


@pytest.mark.parametrize(
    "words", [("-s", "3"), ("--loss", "hinge"), ("--algorithm", "mpu", "--loss", "hinge"), ("--algorithm", "dcd-hinge")]
)
def test_the_hinge_by_its_name_its_number_or_its_algorithm(run, words):
    assert run("train", "-q", "-c", "0.1", *words, "train", "hinge.npz")[0] == 0
    assert run("verify", "hinge.npz", "train", "--loss", "hinge", "-c", "0.1")[0] == 0


def test_a_free_intercept(run):
    assert run("train", "-q", "-R", "-B", "1", "-c", "0.01", "--epsilon", "0.5", "train", "free.npz")[0] == 0
    assert "a free intercept" in run("verify", "free.npz", "train")[1]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("-s", "0"), "-s 0 is logistic regression"),
        (("-s", "4"), "use --multi-class joint, the same margin with squared slacks"),
        (("-s", "5"), "another problem"),
        (("-s", "6"), "another problem"),
        (("-s", "7"), "another loss"),
        *((("-s", kind), "a regression; dynmargin trains classifiers only") for kind in ("11", "12", "13")),
        (("-s", "21"), "a classifier needs two or more"),
        (("-s", "8"), "LIBLINEAR has no -s 8"),
        (("-p", "0.1"), "-p is for a regression"),
        (("-n", "0.1"), "-n is for models for one class only"),
        (("-s", "2", "--loss", "hinge"), "contradict each other"),
        (("--algorithm", "dcd-hinge", "--loss", "squared_hinge"), "contradict each other"),
        (("--algorithm", "newton", "-s", "3"), "--loss hinge needs --algorithm auto, dcd, or mpu; newton"),
        (("--loss", "hinge", "--multi-class", "joint"), "squared slacks only"),
        (("-R", "--algorithm", "pdm"), "-R needs --algorithm decomposition"),
        (("-R", "-B", "-1"), "-R and -B -1 contradict each other"),
        (("-R", "-B", "5"), "-R and -B 5 contradict each other"),
        (("--algorithm", "decomposition", "-B", "5"), "--algorithm decomposition and -B 5 contradict each other"),
        (("-C", "-c", "4"), "--C-range LOW HIGH says where to search"),
        (("-C", "-s", "3"), "not for --loss hinge"),
        (("--unheard-of", "1"), "dynmargin train: unrecognized arguments: --unheard-of; see dynmargin train --help\n"),
    ],
)
def test_what_is_not_ours_is_answered(run, folder, words, answer):
    code, _, err = run("train", *words, "train", "never.npz")
    assert code == 3
    assert answer in err
    assert not (folder / "never.npz").exists()


def test_probabilities_are_answered(run):
    code, out, err = run("predict", "-b", "1", "test", "model.npz", "-")
    assert (code, out) == (3, "")
    assert "--scores" in err
    assert run("predict", "-b", "0", "test", "model.npz")[0] == 0
