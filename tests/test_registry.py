"""An algorithm is declared once: estimators, names, command line and help follow from the registry."""

import ast
import inspect
import pydoc
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError, make_constraint

import dynmargin
from dynmargin import JointProblem, MaxMarginClassifierCV, _core, compare
from dynmargin.algorithms.registry import ALGORITHMS, NAMES, find
from dynmargin.cli.main import main
from dynmargin.comparison.compare import make
from dynmargin.comparison.peers import PEERS
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.training.request import Request

ESTIMATORS = [*(getattr(dynmargin, algorithm.estimator) for algorithm in ALGORITHMS.values()), MaxMarginClassifierCV]
EVERY_PARAMETER = {name for estimator in ESTIMATORS for name in inspect.signature(estimator).parameters}

X = np.array([[0.0, 2.0], [0.5, 3.0], [2.0, 0.0], [3.0, 0.5], [-2.0, -2.0], [-3.0, -2.0]])
two, three = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=lambda one: one.name)
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)


def parameters_of(estimator):
    return inspect.signature(estimator).parameters


@every_algorithm
def test_an_estimator_has_the_options_of_its_algorithm_with_the_same_defaults(algorithm):
    parameters = parameters_of(getattr(dynmargin, algorithm.estimator))
    for name, option in algorithm.options.items():
        assert parameters[name].default == option.default


@every_algorithm
def test_the_training_function_is_named_after_the_algorithm_and_takes_its_options(algorithm):
    home = import_module(f"dynmargin.algorithms.{algorithm.family}")
    train = getattr(home, f"train_{algorithm.name.replace('-', '_')}")
    assert algorithm.load() is train
    keywords = {name: one for name, one in inspect.signature(train).parameters.items() if one.kind is one.KEYWORD_ONLY}
    assert set(algorithm.options) <= set(keywords)
    for name in set(keywords) - set(algorithm.options):  # not for users
        assert keywords[name].default is not inspect.Parameter.empty


@pytest.mark.parametrize("name", NAMES)
def test_every_name_makes_an_estimator_with_its_settings(name):
    algorithm, settings = NAMES[name]
    estimator = make(name)
    assert type(estimator) is getattr(dynmargin, algorithm.estimator)
    assert settings.items() <= estimator.get_params().items()


@every_algorithm
def test_an_estimator_can_do_what_the_registry_says(algorithm):
    estimator = getattr(dynmargin, algorithm.estimator)
    assert algorithm.online == hasattr(estimator, "partial_fit")
    assert (len(algorithm.losses) > 1) == ("loss" in parameters_of(estimator))
    assert algorithm.joint or "multi_class" not in parameters_of(estimator)
    fitted = estimator(0.1).fit(X, two)
    assert fitted.certificate_.problem.free_bias == algorithm.free_bias
    hard = estimator(0.1, C=np.inf)
    if algorithm.soft_only:
        with pytest.raises(ValueError, match="finite C"):
            hard.fit(X, two)
    else:
        assert hard.fit(X, two).certificate_.problem.hard_margin


@pytest.mark.parametrize("name", [name for name, (algorithm, _) in NAMES.items() if not algorithm.joint])
def test_the_others_refuse_a_joint_margin_in_words(name):
    matrix = as_matrix(X)
    packed = PackedProblem(matrix, _core.pack(matrix), JointProblem((0, 1, 2), (1.0, 1.0, 1.0), 1.0), three)
    with pytest.raises(ValueError, match="train for a joint margin"):
        find(name)[1](packed, Request())


def test_the_public_names_are_those_that_type_checkers_see():
    tree = ast.parse(Path(dynmargin.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING")
    homes = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name  # the way to export a name
    }
    assert sorted([*homes, "__version__"]) == dynmargin.__all__
    for name, home in homes.items():
        if home is not None:  # theory is a module
            assert getattr(import_module(f"dynmargin.{home}"), name) is getattr(dynmargin, name)


def test_every_estimator_is_public():
    public = {name for name in dynmargin.__all__ if name.endswith(("Classifier", "ClassifierCV"))}
    assert public == {estimator.__name__ for estimator in ESTIMATORS}


def test_the_command_line_takes_every_name_and_no_other(capsys):
    with pytest.raises(SystemExit):
        main(["train", "data", "--algorithm", "other"])
    listed = capsys.readouterr().err.partition("choose from ")[2]
    assert re.findall(r"[\w-]+", listed)[: len(NAMES)] == list(NAMES)


def test_compare_takes_every_name_and_no_other():
    table = compare(X, two, NAMES, X_test=X, y_test=two, epsilon=0.5, random_state=0)
    assert list(table["algorithm"]) == list(NAMES)
    with pytest.raises(ValueError, match="no algorithm is called 'other'") as refused:
        compare(X, two, ["other"])
    assert str(refused.value).endswith(f"there are {', '.join([*NAMES, *PEERS])}")


@every_estimator
def test_only_epsilon_may_be_given_without_its_name(estimator):
    first, *others = parameters_of(estimator).values()
    assert first.name == "epsilon"
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert {one.kind for one in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert estimator(0.25).epsilon == 0.25


@every_estimator
def test_every_parameter_has_a_type_and_a_default(estimator):
    for parameter in parameters_of(estimator).values():
        assert parameter.annotation is not parameter.empty
        assert parameter.default is not parameter.empty


@every_estimator
def test_what_an_estimator_does_not_have_is_no_attribute_of_it(estimator):
    others = EVERY_PARAMETER - set(parameters_of(estimator))
    assert not [name for name in others if hasattr(estimator(), name)]


def wrong_values(constraints):
    """Return values that a parameter must not have: of another kind, and just outside of every interval."""
    ends = [end for one in constraints if isinstance(one, Interval) for end in (one.left, one.right) if end is not None]
    numbers = [float("nan"), float("inf"), *(end + step for end in ends for step in (-1, 0, 0.5, 1))] if ends else []
    allowed = [make_constraint(one) for one in constraints]
    return [value for value in (object(), "abc", *numbers) if not any(one.is_satisfied_by(value) for one in allowed)]


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(estimator, name) for estimator in ESTIMATORS for name in parameters_of(estimator)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_a_wrong_value_of_a_parameter_is_refused_by_name(estimator, name):
    wrong = wrong_values(estimator._parameter_constraints[name])
    assert wrong
    for value in wrong:
        with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of {estimator.__name__} must be"):
            estimator(**{name: value}).fit(X, two)


def fitted_attributes(estimator):
    """Return all public attributes that an estimator gets by being fitted, on a table with names, or online."""
    fits = [estimator(0.1, **({"cv": 2} if estimator is MaxMarginClassifierCV else {}))]
    names = set(vars(fits[0].fit(pd.DataFrame(X, columns=["a", "b"]), three)))
    if hasattr(estimator, "partial_fit"):
        names |= set(vars(estimator().partial_fit(X, three, [0, 1, 2])))
    return {name for name in names if name.endswith("_") and not name.startswith("_")}


@every_estimator
def test_the_help_shows_every_parameter_and_every_fitted_attribute(estimator):
    text = pydoc.render_doc(estimator, renderer=pydoc.plaintext)
    parameters, _, attributes = inspect.getdoc(estimator).partition("\nAttributes\n")
    for name, parameter in parameters_of(estimator).items():
        shown = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        assert re.search(rf"^{name} : \S.*, default={re.escape(shown)}\n    \S", parameters, re.MULTILINE)
        assert f"{name} : " in text
    documented = re.findall(r"^(\w+_) : \S.*\n    \S", attributes, re.MULTILINE)
    assert set(documented) == fitted_attributes(estimator)
    assert not re.search(r"\bsee `*\w*Classifier", inspect.getdoc(estimator), re.IGNORECASE)
    assert "see PDMClassifier" not in text.replace("`", "")
