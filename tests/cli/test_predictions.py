"""Settled predictions on the command line."""

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
