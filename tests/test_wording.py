"""Messages name things as whoever reads them knows them: by parameters in Python, by options at a shell."""

import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from dynmargin import DCDClassifier, MaxMarginClassifier, NewtonClassifier, PDMClassifier, c_path
from dynmargin.cli.main import main
from dynmargin.problem.wording import PYTHON, SHELL, any_of, speaking, wording
from dynmargin.training.result import Check
from dynmargin.training.run import Trend

PYTHON_ONLY = re.compile(r"Classifier|max_time|epsilon=|margin_floor|sample_weight|\bC=|Scaler|intercept_scaling")


@pytest.fixture
def mixed():
    """Rows of both classes in the same places, badly scaled: no gap is small at once."""
    random = np.random.default_rng(0)
    return random.normal(size=(400, 30)) * 10.0 ** np.linspace(-4, 4, 30), random.integers(0, 2, 400)


def warning_of(classifier, X, y):
    with pytest.warns(ConvergenceWarning) as caught:
        classifier.fit(X, y)
    return str(caught[0].message)


def test_the_shell_ends_with_its_command():
    assert wording() is PYTHON
    with speaking(SHELL):
        assert wording() is SHELL
    assert wording() is PYTHON
    assert main(["info", "nothing-here.npz"]) == 3
    assert wording() is PYTHON


def test_newton_is_advised_where_it_may_help_and_never_to_itself(mixed):
    advised = warning_of(PDMClassifier(C=100.0, max_time=1e-9), *mixed)
    assert "use NewtonClassifier (which copes with any scale)" in advised
    for classifier in (
        NewtonClassifier(C=100.0, epsilon=1e-9, max_time=1e-9),
        DCDClassifier(loss="hinge", max_time=1e-9),
        PDMClassifier(C=np.inf, margin_floor=0.0, max_time=1e-9),
    ):
        assert "Newton" not in warning_of(classifier, *mixed)
    tried = MaxMarginClassifier(C=100.0, epsilon=1e-9, max_time=1e-9)
    assert ("Newton" in warning_of(tried, *mixed)) == ("newton" not in tried.algorithm_)


def test_a_limit_that_is_set_is_not_advised():
    trend = Trend(1e-6)
    for seconds in range(1, 9):
        trend.record(Check(seconds, seconds, seconds, 1 - 1 / (1 + seconds), 1.0, 0), 1 / (1 + seconds), seconds)
    check = Check(8.0, 8, 8, 0.8, 1.0, 0)
    assert trend.message(check, 1.0, None).endswith("ask for a larger epsilon, or set max_time.")
    assert trend.message(check, 1.0, 60.0).endswith("or ask for a larger epsilon.")
    with speaking(SHELL):
        assert trend.message(check, 1.0, None).endswith("ask for a larger --epsilon, or set --max-time.")
        assert not PYTHON_ONLY.search(trend.message(check, 1.0, None))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-time", "1e-9", "--algorithm", "pdm"), "--max-time is reached"),
        (("--max-time", "1e-9", "--algorithm", "pdm"), "raise --max-time, use a smaller -c, use --algo"),
        (("--max-time", "1e-9", "--algorithm", "pdm"), "use --algorithm newton (which copes with any scale)"),
        (("--max-time", "1e-9", "--until-settled", "100%"), "--max-time is reached"),
        (("-c", "inf"), "Use a finite -c.\n"),
        (("-c", "inf", "--algorithm", "newton"), "--algorithm pdm takes the hard margin"),
        (("-C", "--max-fits", "2", "--C-range", "1", "2"), "--max-fits was reached"),
        (("-B", "1e300"), "from its row, -B and"),
    ],
)
def test_the_shell_names_no_parameter_of_python(mixed, words, message, tmp_path, capfd, monkeypatch):
    X, y = mixed
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=X, y=y)
    assert main(["train", "data.npz", "m.npz", *words]) != 0
    out, err = capfd.readouterr()
    assert message in err
    assert not PYTHON_ONLY.search(out + err)


def test_what_is_wrong_with_a_path_is_said_about_the_path():
    with pytest.raises(ValueError, match="'epsilon' parameter of c_path"):
        c_path([[0.0], [1.0]], [0, 1], epsilon=2.0)


def test_any_of():
    assert any_of(["a", "", "b", "c"]) == "a, b, or c"
    assert any_of(["", "a"]) == "a"
