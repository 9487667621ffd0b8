"""Newton's method."""

from .fitted import Proven
from .parameters import Cost, Intercept, StopBySettledRows
from .settling import SettlingClassifier


class NewtonClassifier(Proven, Intercept, Cost, StopBySettledRows, SettlingClassifier):
    """Maximum-margin linear classifier by Newton's method on LinearSVC's objective, with the same certificate.

    Not a perceptron and not in the paper. It takes about ten passes to a gap of 1 % and few more to 1e-9, whatever the
    scale of the features; a step costs about d² per row and d³ / 3 in all for d features. Where that is expensive,
    conjugate gradients come first, and beyond 2,000 features they are all there is. For soft margins only: ``C`` must
    be finite. ``random_state`` chooses the rows that the first steps are taken on.

    Attributes
    ----------
    certificates_ : list of Certificate
        One per class, or a single one for two classes; the counts are the dual weights, scaled and rounded to
        integers.
    n_updates_ : int
        Newton steps, over all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dynmargin import NewtonClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> NewtonClassifier(epsilon=1e-6).fit(X, y).certificate_.achieved
    True
    """

    _algorithm = "newton"
