"""A report says what is true of a model, in one file; whatever it is given as a name or a label is text."""

import json
import re
from html import escape
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dynmargin import DCDClassifier, DecompositionSVMClassifier, MaxMarginClassifier, PDMClassifier, load
from dynmargin.cli.main import main
from dynmargin.displays import style
from dynmargin.displays.convergence import proven_by_then
from dynmargin.model.linear_model import LinearModel
from dynmargin.report import measures
from dynmargin.report.markup import element
from dynmargin.report.page import as_page
from dynmargin.report.sections import gap_text
from dynmargin.report.subject import Origin, Subject
from dynmargin.report.svg import THEMED

HOSTILE = ["<script>alert(1)</script>", "</svg><img src=x onerror=alert(1)>", "$\\frac{1}{0}$ & \"quoted\" 'text'"]


class Page(HTMLParser):
    """The elements of a page and its text."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words.append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def report_of(classifier, X, y, path, **options):
    classifier.report(X, y, path, **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def cancer(breast_cancer):
    X, y = breast_cancer
    return X, np.array(["malignant", "benign"])[y]


@pytest.fixture(scope="module")
def fitted(cancer):
    return PDMClassifier(random_state=0).fit(*cancer)


@pytest.fixture(scope="module")
def source(fitted, cancer, tmp_path_factory):
    return report_of(fitted, *cancer, tmp_path_factory.mktemp("report") / "report.html")


def test_it_says_all_that_there_is_to_say(fitted, cancer, source):
    (X, y), classifier = cancer, fitted
    page, found = Page(source), classifier.certificate_
    for heading in ("What was trained on what", "The certificate", "The strongest features", "Predictions"):
        assert heading in page.text
    assert f"at least {found.margin:.6g}" in page.text
    assert f"above {found.upper_bound:.6g}" in page.text
    assert f"{100 * np.mean(classifier.predict(X) == y):.2f} % of 569 rows are right" in page.text
    assert "It was done when this page was made: proven." in page.text
    strongest = int(np.abs(classifier.coef_).argmax())
    assert f"feature {strongest}" in page.text
    for name in ("certificate", "convergence", "margins", "roc", "precision-recall"):
        assert f'id="{name}-' in source
    assert "confusion matrix" in page.text.lower()
    assert 'dynmargin.load("model.npz").verify(X, y)' in page.text


def test_one_file_is_all_it_takes(source):
    page = Page(source)
    assert not page.count("img") + page.count("link") + page.count("iframe")
    for _, attributes in page.elements:
        assert "src" not in attributes
        assert attributes.get("xlink:href", "#").startswith("#")
    assert set(re.findall(r"https?://[^\s\"']+", source)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert re.findall(r"url\((?!#)", source) == []


def test_names_are_unique_and_pictures_are_described(digits, tmp_path):
    X, y = digits
    source = report_of(MaxMarginClassifier(random_state=0).fit(X, y), X, y, tmp_path / "report.html")
    page = Page(source)
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    pictures = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert len(pictures) == 5
    assert all(picture["role"] == "img" and len(picture["aria-label"]) > 40 for picture in pictures)
    assert page.count("figcaption") == page.count("figure") == 5
    assert page.count("h1") == 1


def test_names_and_labels_are_text(cancer, tmp_path):
    X, y = cancer[0][:, :5], np.arange(len(cancer[1])) % 3
    y = np.array(HOSTILE)[y]
    names = [*HOSTILE, "<b>bold</b>", "#000000"]
    classifier = PDMClassifier(random_state=0).fit(X, y)
    source = report_of(classifier, X, y, tmp_path / "report.html", feature_names=names)
    page = Page(source)
    assert page.count("script") == 1
    assert page.count("img") == page.count("b") == 0
    for text in (*HOSTILE, *names):
        assert escape(text) in source
        assert text in page.text
    for picture in re.findall(r"<svg.*?</svg>", source, flags=re.DOTALL):
        ElementTree.fromstring(picture)  # still well-formed


@settings(max_examples=300, deadline=None)
@given(st.text(), st.text())
@example("</script>", '"><script>')
def test_markup_holds_any_text(text, attribute):
    page = Page(element("p", text, title=attribute))
    assert [tag for tag, _ in page.elements] == ["p"]
    assert "".join(page.words).replace("\r", "\n") == text.replace("\r", "\n")
    assert page.elements[0][1]["title"] == attribute


@settings(max_examples=300, deadline=None)
@given(st.floats(1e-5, 1.0))
def test_a_gap_is_never_written_smaller_than_it_is(gap):
    written = float(gap_text(gap).removesuffix(" %")) / 100
    assert gap <= written * (1 + 1e-6) <= 1.2 * gap


def test_it_is_small_however_many_features_and_classes_there_are(tmp_path):
    random = np.random.default_rng(0)
    X = sp.random(400, 10_000, density=0.01, format="csr", random_state=0)
    y = np.arange(400) % 40
    names = [f"a rather long name of feature number {j}" for j in range(10_000)]
    classifier = PDMClassifier(0.5, random_state=0, max_time=5).fit(X, y)
    classifier.report(X, y, tmp_path / "many.html", feature_names=names)
    y = random.integers(0, 2, 400)
    PDMClassifier(0.5, random_state=0).fit(X, y).report(X, y, tmp_path / "two.html", feature_names=names)
    assert all((tmp_path / name).stat().st_size < 300_000 for name in ("many.html", "two.html"))


def test_the_points_of_a_curve_are_where_it_is_drawn(fitted, source):
    page, classifier = Page(source), fitted
    figures = [attributes for tag, attributes in page.elements if "data-points" in attributes]
    assert len(figures) == 3
    history = json.loads(figures[0]["data-points"])
    assert len(history) == len(classifier.history_)
    margins, bounds = proven_by_then(classifier.history_)
    for (_, _, words), margin, bound in zip(history, margins, bounds, strict=True):
        assert f"margin {margin:.5g}, nobody above {bound:.5g}" in words
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', source).groups()
    for figure in figures:
        for x, heights, _ in json.loads(figure["data-points"]):
            assert 0 <= x <= float(width)
            assert all(0 <= y <= float(height) + 100 for y in heights)


def subject_of(classifier, X, y):
    return Subject.of(classifier._as_model(), Origin("it", "data", ()), X, y)


@pytest.mark.parametrize(
    "classifier", [PDMClassifier(), DecompositionSVMClassifier(), DCDClassifier(loss="hinge")], ids=str
)
def test_a_margin_is_negative_where_a_row_is_wrong(cancer, classifier):
    X, y = cancer
    subject = subject_of(classifier.set_params(random_state=0).fit(X, y), X, y)
    wrong = classifier.predict(X) != y
    assert ((subject.margins < 0) == wrong).all()
    assert measures.confusions(subject).sum() - np.trace(measures.confusions(subject)) == wrong.sum()
    worst = measures.worst_rows(subject, 10, 3)
    assert [row.number - 1 for row in worst] == np.argsort(subject.margins, kind="stable")[:10].tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_several_classes_are_counted_like_scikit_learn_does(digits, sparse):
    from sklearn.metrics import confusion_matrix, roc_auc_score

    X, y = digits
    X = sp.csr_array(X) if sparse else X
    classifier = MaxMarginClassifier(random_state=0).fit(X, y)
    subject = subject_of(classifier, X, y)
    assert (measures.confusions(subject) == confusion_matrix(y, classifier.predict(X))).all()
    assert ((subject.margins < 0) == (classifier.predict(X) != y)).all()
    roc, _ = measures.curves(subject)
    scores = classifier.decision_function(X)
    for place, curve in enumerate(roc):
        assert curve.area == pytest.approx(roc_auc_score(y == place, scores[:, place]))
        assert len(curve.x) <= measures.MOST_POINTS


def test_what_speaks_against_a_row_does(cancer):
    X, y = cancer
    classifier = PDMClassifier(random_state=0).fit(X, y)
    subject = subject_of(classifier, X, y)
    for row in measures.worst_rows(subject, 10, 3):
        side = 1 if y[row.number - 1] == classifier.classes_[1] else -1
        for name, value in row.against:
            column = int(name.removeprefix("feature "))
            assert X[row.number - 1, column] == value
            assert side * classifier.coef_[0, column] * value < 0


def test_other_rows_are_called_that(cancer, tmp_path):
    X, y = cancer
    classifier = PDMClassifier(random_state=0).fit(X[:400], y[:400])
    page = Page(report_of(classifier, X[400:], y[400:], tmp_path / "report.html"))
    assert "They are not the data that the model was trained on" in page.text
    assert "It was done when" not in page.text


def test_weights_belong_to_the_data(cancer, tmp_path):
    X, y = cancer
    weights = np.linspace(0.5, 2, len(y))
    classifier = PDMClassifier(random_state=0).fit(X, y, weights)
    assert "not the data" in Page(report_of(classifier, X, y, tmp_path / "a.html")).text
    assert "proven." in Page(report_of(classifier, X, y, tmp_path / "b.html", sample_weight=weights)).text


def test_a_model_alone_has_a_page(cancer, tmp_path):
    X, y = cancer
    classifier = PDMClassifier(random_state=0).fit(X, y)
    page = Page(report_of(classifier, None, None, tmp_path / "model.html"))
    assert "No data were given" in page.text
    assert page.count("figure") == 2
    page = Page(report_of(classifier, X, None, tmp_path / "rows.html"))
    assert "They have no labels" in page.text


def test_a_model_without_a_certificate_has_a_page():
    model = LinearModel(np.array([0, 1]), np.array([[1.0, -2.0]]), np.array([0.5]), 1.0)
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), np.array([1, 0, 7])
    page = Page(as_page(Subject.of(model, Origin("it", "data", ()), X, y)))
    assert "nothing is proven about it" in page.text
    assert "1 row had a label that the model does not know" in page.text


def test_what_makes_no_sense_is_refused(fitted, cancer, tmp_path):
    (X, y), classifier = cancer, fitted
    for arguments, options, message in (
        ((None, y), {}, "give X too"),
        ((X, y[:5]), {}, "569 rows and 5 labels"),
        ((X, np.full(len(y), "other")), {}, "no row has a label that the model knows"),
        ((X, y), {"feature_names": ["a"]}, "one per feature"),
    ):
        with pytest.raises(ValueError, match=message):
            classifier.report(*arguments, tmp_path / "report.html", **options)
    assert not (tmp_path / "report.html").exists()


def test_every_colour_of_a_picture_has_one_in_each_theme(source):
    pictures = "".join(re.findall(r"<svg.*?</svg>", source, flags=re.DOTALL))
    assert re.findall(r'style="[^"]*#[0-9a-f]{6}', pictures) == []
    light, dark = re.findall(r":root \{(.*?)\}", source, flags=re.DOTALL)
    for name in THEMED.values():
        assert f"--{name}:" in light
        assert f"--{name}:" in dark


def contrast(one, other):
    def brightness(colour):
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    dim, bright = sorted((brightness(one), brightness(other)))
    return (bright + 0.05) / (dim + 0.05)


def test_text_in_every_colour_can_be_read(source):
    for theme in re.findall(r":root \{(.*?)\}", source, flags=re.DOTALL):
        colours = dict(re.findall(r"--(\w+): (#\w{6})", theme))
        for name in ("ink", "quiet", "proven", "bound", "chosen"):
            assert contrast(colours[name], colours["paper"]) >= 4.5, name
        assert contrast(colours["ink"], colours["band"]) >= 4.5
    for colour in (style.PROVEN, style.BOUND, style.CHOSEN, style.INK, style.QUIET, *style.FURTHER):
        assert contrast(colour, "#ffffff") >= 4.5, colour


def test_the_command_writes_a_page_that_says_how_to_verify_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    rows = [f"{2 * int(a + b > 0) - 1} 1:{a:.3f} 3:{b:.3f}" for a, b in random.normal(size=(60, 2))]
    (tmp_path / "some data").write_text("\n".join(rows) + "\n")
    assert main(["train", "-q", "some data", "model.npz"]) == 0
    assert main(["report", "model.npz", "some data", "-o", "report.html"]) == 0
    source = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(source)
    assert "dynmargin verify model.npz 'some data'" in page.text
    assert "feature 3" in page.text  # as in the file, from 1
    assert "It was done when this page was made: proven." in page.text
    assert 'id="convergence-slider"' in source  # the file has the history
    assert load("model.npz").history
    assert main(["report", "model.npz", "-o", "alone.html"]) == 0
    assert "dynmargin verify model.npz DATA" in Page((tmp_path / "alone.html").read_text(encoding="utf-8")).text
    (tmp_path / "other").write_text("\n".join(rows[:40]) + "\n")  # on which it cannot be verified
    assert main(["report", "model.npz", "other", "-o", "other.html", "--format", "libsvm"]) == 0
    page = Page((tmp_path / "other.html").read_text(encoding="utf-8"))
    assert "They are not the data that the model was trained on" in page.text
    assert "dynmargin verify model.npz DATA" in page.text
    assert "dynmargin verify model.npz other" not in page.text
    assert main(["report", "model.npz", "some data", "-o", "model.npz"]) == 3
    assert "the output is the input" in capsys.readouterr().err


def test_the_page_calls_proven_what_verify_does(tmp_path, monkeypatch, capsys):
    """Data with a column more are other data, in a table and in sparse rows; the page shows what the model uses."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    kinds = np.where(X.sum(axis=1) > 0, "up", "down")
    names, more = "a,b,kind", "a,b,more,kind"
    (tmp_path / "it.csv").write_text("\n".join([names, *(f"{a},{b},{k}" for (a, b), k in zip(X, kinds, strict=True))]))
    (tmp_path / "more.csv").write_text(
        "\n".join([more, *(f"{a},{b},7,{k}" for (a, b), k in zip(X, kinds, strict=True))])
    )
    rows = [f"{1 if k == 'up' else -1} 1:{a} 2:{b}" for (a, b), k in zip(X, kinds, strict=True)]
    (tmp_path / "it.svm").write_text("\n".join(rows) + "\n")
    (tmp_path / "more.svm").write_text("\n".join(rows) + " 3:7\n")
    for kind, label in (("csv", ("--label", "kind")), ("svm", ())):
        assert main(["train", "-q", f"it.{kind}", f"{kind}.npz", *label]) == 0
        for name, code in ((f"it.{kind}", 0), (f"more.{kind}", 2)):
            assert main(["verify", f"{kind}.npz", name]) == code
            verdict, _, detail = capsys.readouterr().out.splitlines()[0].partition(": ")
            assert main(["report", f"{kind}.npz", name, "-o", "page.html"]) == 0
            page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
            assert ("It was done when this page was made: proven." in page.text) == (verdict == "proven")
            assert (f"They are not the data that the model was trained on: {detail}." in page.text) == (code == 2)


def test_the_same_model_has_the_same_page(fitted, tmp_path):
    fitted.save(tmp_path / "model.npz")
    pages = [as_page(Subject.of(load(tmp_path / "model.npz"), Origin("it", "data", ()))) for _ in range(2)]
    assert pages[0] == pages[1]
