"""Algorithms that also take back: dual coordinate descent, MPU, and a decomposition SVM."""

from typing import Literal

from .base import MarginClassifier
from .fitted import Proven
from .parameters import (
    Cost,
    Intercept,
    Losses,
    MarginFloor,
    OwnRule,
    OwnRuleOrSettledRows,
    option,
    parameter,
    words,
)
from .settling import SettlingClassifier


class DualFamily(Proven, OwnRule, MarginFloor, Cost, MarginClassifier):
    """Base of the classifiers that maximise the dual objective.

    Attributes
    ----------
    certificates_ : list of Certificate
        One per class, or a single one for two classes; the counts are the dual weights, scaled and rounded to
        integers.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Signed dual weights.
    """


class DCDClassifier(OwnRuleOrSettledRows, Losses, Intercept, DualFamily, SettlingClassifier):
    """Maximum-margin linear classifier by dual coordinate descent, LIBLINEAR's algorithm, with a certificate.

    It solves the problem of ``LinearSVC(loss="squared_hinge", penalty="l2")``, as `PDMClassifier` does, or with
    ``loss="hinge"`` that of ``LinearSVC(loss="hinge")``. The order in which rows are visited is not LIBLINEAR's: the
    rows whose visits gain most are visited most, which takes a fraction of the visits on wide text. With
    ``stop="convergence"`` LIBLINEAR's own rule with tolerance ``epsilon`` ends the training. An update is a change of
    one dual weight.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import DCDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> bool(DCDClassifier(random_state=0).fit(X, y).certificate_.verify(X, y))
    True
    """

    _algorithm = "dcd"


class MPUClassifier(Losses, Intercept, DualFamily):
    """Maximum-margin linear classifier by the margin perceptron with unlearning, with a certificate.

    The perceptron with margin also takes back what it has learned of patterns that are right by far, which makes it
    converge to the maximum margin. Its paper was not available: the rule is our derivation, with the properties that
    could be read about it. It solves the problem of ``LinearSVC(loss="squared_hinge", penalty="l2")``, as
    `PDMClassifier` does, or with ``loss="hinge"`` that of ``LinearSVC(loss="hinge")``. The threshold of learning is set
    so that the rule itself guarantees ``epsilon``; with ``stop="convergence"`` the training ends when a full pass finds
    nothing to learn or unlearn. Learning or unlearning a pattern once is an update.

    Parameters
    ----------
    dead_zone : float in (1, inf), default=3.0
        The distance between the thresholds of learning and unlearning, in units of R², the squared length of the
        longest pattern.
    schedule : {"fast", "paper"}, default="fast"
        The order of visits: where a visit gains most, or two active sets of five rounds each.

    Attributes
    ----------
    certificates_ : list of Certificate
        One per class, or a single one for two classes; a count is how often a pattern was learned and not unlearned
        again.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import MPUClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> bool(MPUClassifier(random_state=0).fit(X, y).certificate_.verify(X, y))
    True
    """

    _algorithm = "mpu"

    dead_zone: float = option("mpu", "dead_zone")
    schedule: Literal["fast", "paper"] = parameter(default="fast", within=[words("fast", "paper")])


class DecompositionSVMClassifier(DualFamily):
    """Maximum-margin linear classifier by decomposition, SVM-light's scheme, with a certificate.

    Ten dual weights at a time are optimised, those of the steepest feasible direction. The intercept is not
    regularised, as in SVM-light and LIBSVM, so the margin is the geometric one. It is here for comparison: an iteration
    costs a pass over the active rows, and `DCDClassifier` is faster by orders of magnitude. With ``stop="convergence"``
    SVM-light's own rule with tolerance ``epsilon`` ends the training. An update is one working set solved.

    Attributes
    ----------
    certificates_ : list of Certificate
        One per class, or a single one for two classes. The margins are geometric; the counts are the dual weights,
        scaled and rounded to integers with the same sum on both sides.
    n_iter_ : int
        How often a row has been in a working set, on average.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import DecompositionSVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> bool(DecompositionSVMClassifier(random_state=0).fit(X, y).certificate_.verify(X, y))
    True
    """

    _algorithm = "decomposition"
