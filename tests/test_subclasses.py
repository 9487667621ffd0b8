"""Users may derive their own classifiers, with annotated attributes or a constructor of their own."""

from sklearn.base import clone

from dynmargin import PDMClassifier


class WithParameter(PDMClassifier):
    extra: int = 3
    note_: str  # a fitted attribute


class WithConstructor(PDMClassifier):
    def __init__(self, epsilon=0.01, *, extra=3):
        super().__init__(epsilon)
        self.extra = extra


def test_a_subclass_may_add_an_annotated_parameter(breast_cancer):
    classifier = clone(WithParameter(0.05, extra=4, random_state=0)).fit(*breast_cancer)
    assert (classifier.epsilon, classifier.extra) == (0.05, 4)
    assert classifier.certificate_.achieved
    assert "note_" not in classifier.get_params()


def test_a_subclass_may_have_its_own_constructor(breast_cancer):
    assert WithConstructor(0.05, extra=4).fit(*breast_cancer).certificate_.achieved
