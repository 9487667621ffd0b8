"""The paper's Table 1 and ROMMA's margins of Table 2, on its own data: needs the folder named by DYNMARGIN_DATA."""

import lzma
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from dynmargin import PDMClassifier, PFMClassifier, ROMMAClassifier, Schedule

# margin x 1e4 and updates in millions of PDM and of PDM-succ, margin x 1e4 of ROMMA (Table 2); the best margin x 1e4
# that independent solvers agree on.
# The paper's 739.4 million updates of PDM on Web are those of a first pass in the order of the file.
TABLE_1 = {
    "adult/a9a.xz": (123, (84.57, 27.43), (84.46, 9.312), 84.66, 85.295335),
    "web/w8a.xz": (300, (209.6, None), (209.1, 0.838), 209.6, 211.032767),
}
PAPER = {"C": 0.5, "stop": "convergence", "schedule": "paper", "random_state": 0}  # Delta = 1


@pytest.fixture(scope="module", params=TABLE_1)
def problem(request, data_dir):
    n_features, *figures = TABLE_1[request.param]
    with lzma.open(data_dir / request.param) as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    return X, y, *figures


@pytest.mark.parametrize("eta", [None, 8])
def test_margin_and_updates_are_those_of_table_1(problem, eta):
    X, y, pdm, succ, _, best = problem
    margin, updates = succ if eta else pdm
    classifier = PDMClassifier(0.01, eta=eta, **PAPER).fit(X, y)
    certificate = classifier.certificate_
    assert certificate.directional_margin * 1e4 == pytest.approx(margin, rel=0.0015)
    if updates is not None:
        assert classifier.n_updates_ / 1e6 == pytest.approx(updates, rel=0.15)
    assert certificate.margin * 1e4 < best * (1 + 1e-5)
    assert certificate.upper_bound * 1e4 > best * (1 - 1e-5)
    assert certificate.verify(X, y)


def test_the_updates_of_pdm_are_those_of_a_first_pass_in_the_order_of_the_file(problem, request):
    """Web has its positive rows in one block: permuted, it takes 4 million updates; as it stands, 720 to 770."""
    X, y, *_ = problem
    paper = {"adult/a9a.xz": 27.43, "web/w8a.xz": 739.4}[request.node.callspec.params["problem"]]
    in_order = {**PAPER, "schedule": replace(Schedule.named("paper"), shuffle_first=False)}
    assert PDMClassifier(0.01, **in_order).fit(X, y).n_updates_ / 1e6 == pytest.approx(paper, rel=0.1)


def test_pfm_converges_with_pdms_margin(problem):
    X, y, *_ = problem
    classifier = PFMClassifier(epsilon=0.01, **PAPER).fit(X, y)
    assert classifier.stop_reason_ == "converged"
    assert classifier.certificate_.directional_margin > classifier.beta_[0]


def test_the_default_is_certified(problem):
    X, y, *_, best = problem
    certificate = PDMClassifier(C=0.5, random_state=0).fit(X.astype(np.float32), y).certificate_
    assert certificate.achieved
    assert certificate.margin * 1e4 < best < certificate.upper_bound * 1e4
    assert certificate.verify(X, y)


def test_romma_converges_to_the_margin_of_table_2(problem):
    X, y, _, _, margin, best = problem
    classifier = ROMMAClassifier(0.01, **PAPER).fit(X, y)
    certificate = classifier.certificate_
    assert classifier.stop_reason_ == "converged"
    assert certificate.directional_margin * 1e4 == pytest.approx(margin, rel=0.0015)
    assert 0.99 * best <= certificate.margin * 1e4 <= best * (1 + 1e-5)
    assert certificate.upper_bound * 1e4 > best * (1 - 1e-5)


def test_romma_is_certified(problem):
    X, y, *_, best = problem
    classifier = ROMMAClassifier(0.01, C=0.5, random_state=0).fit(X, y)
    certificate = classifier.certificate_
    assert classifier.stop_reason_ == "certificate"
    assert 0.99 * best <= certificate.margin * 1e4 <= best * (1 + 1e-5)
    assert best * (1 - 1e-5) <= certificate.upper_bound * 1e4 <= best / 0.99
    assert certificate.verify(X, y)
