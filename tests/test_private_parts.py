"""What we use of scikit-learn though it is private there: a release that changes one of these fails here first."""

import inspect
import re
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from estimators import sklearn_version
from sklearn.base import BaseEstimator

import dynmargin

SOURCE = Path(dynmargin.__file__).parent
ADVICE = "scikit-learn has changed a private part that dynmargin uses"


def private(module, name):
    found = getattr(import_module(module), name, None)
    assert found is not None, f"{ADVICE}: {module}.{name} is gone"
    return found


def test_fit_context_validates_parameters_before_a_fit():
    """classifiers/parameters.py: `fit` refuses wrong parameters in scikit-learn's words."""
    fit_context = private("sklearn.base", "_fit_context")
    interval = private("sklearn.utils._param_validation", "Interval")

    class Estimator(BaseEstimator):
        _parameter_constraints: ClassVar = {"a": [interval(Real, 0, 1, closed="right"), None]}

        def __init__(self, a=1.0):
            self.a = a

        @fit_context(prefer_skip_nested_validation=True)
        def fit(self):
            return self

    Estimator(None).fit()
    for wrong in (0.0, 1.5, "x"):
        with pytest.raises(ValueError, match="The 'a' parameter of Estimator must be"):
            Estimator(wrong).fit()


def test_constraints_of_parameters_have_the_same_words():
    """classifiers/parameters.py: words, and words that the messages do not list."""
    options = private("sklearn.utils._param_validation", "StrOptions")({"a", "b"})
    hidden = private("sklearn.utils._param_validation", "Hidden")(type(options)({"c"}))
    validate = private("sklearn.utils._param_validation", "validate_parameter_constraints")
    validate({"p": [options, hidden]}, {"p": "c"}, "it")
    with pytest.raises(ValueError, match=r"must be a str among \{'(a', 'b|b', 'a)'\}\. Got 'd'"):
        validate({"p": [options, hidden]}, {"p": "d"}, "it")


def test_sample_weights_are_checked():
    """classifiers/validation.py: weights are numbers, one per row, none negative."""
    check = private("sklearn.utils.validation", "_check_sample_weight")
    X = np.zeros((2, 1))
    options = {"dtype": np.float64, "ensure_non_negative": True}
    np.testing.assert_array_equal(check([1, 2], X, **options), [1.0, 2.0])
    for wrong in ([1.0, -1.0], [1.0], [1.0, np.nan], "text"):
        with pytest.raises(ValueError, match=r"sample_weight|Negative|could not convert"):
            check(wrong, X, **options)


def test_the_first_call_of_partial_fit_sets_the_classes():
    """classifiers/online.py: classes are named once, and are the same later."""
    check = private("sklearn.utils.multiclass", "_check_partial_fit_first_call")
    estimator = BaseEstimator()
    assert check(estimator, [2, 1])
    assert estimator.classes_.tolist() == [1, 2]
    assert not check(estimator, None)
    with pytest.raises(ValueError, match="classes"):
        check(estimator, [1, 3])


@pytest.mark.skipif(sklearn_version < (1, 7), reason="not used before 1.7")
def test_the_picture_in_a_notebook_can_be_extended():
    """classifiers/fitted.py: `_html_repr` returns the parameters as HTML, and `_repr_mimebundle_` shows it."""
    classifier = dynmargin.PDMClassifier(0.1).fit([[0.0], [1.0]], [0, 1])
    assert "<table" in classifier._html_repr(), f"{ADVICE}: BaseEstimator._html_repr"
    assert "margin" in classifier._repr_mimebundle_()["text/html"], f"{ADVICE}: it no longer shows _html_repr"


def test_callbacks_are_kept_where_we_look_for_them():
    """classifiers/base.py and watch.py: a fit nobody watches must not pay for it."""
    classifier = dynmargin.PDMClassifier()
    assert not getattr(classifier, "_skl_callbacks", ())
    callback = dynmargin.CheckCallback(bool)
    classifier.set_callbacks(callback)
    assert list(getattr(classifier, "_skl_callbacks", ())) == [callback], f"{ADVICE}: _skl_callbacks"
    parameters = inspect.signature(classifier._init_callback_context).parameters
    accepted = {"max_subtasks", "sequential_subtasks"} <= parameters.keys() or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    assert accepted, f"{ADVICE}: _init_callback_context takes {', '.join(parameters)}"


def test_no_other_private_part_is_imported():
    """A new one belongs into this file with what we need of it."""
    known = {"_fit_context", "_check_sample_weight", "_check_partial_fit_first_call", "_param_validation"}
    found = set()
    for path in SOURCE.rglob("*.py"):
        for line in re.findall(r"^\s*(?:from|import) sklearn.*$", path.read_text(encoding="utf-8"), re.MULTILINE):
            found |= set(re.findall(r"\b_\w+", line))
    assert found == known
