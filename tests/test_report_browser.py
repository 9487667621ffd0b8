"""The report in a real browser: both themes, narrow and wide, on paper, under the pointer, and without a complaint.

It needs Chromium and the extra ``browser``; ``tools/install-browser`` installs both.
"""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from dynmargin import MaxMarginClassifier, PDMClassifier

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: run tools/install-browser")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe is not installed: run tools/install-browser"
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: run tools/install-browser")

QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
QUIET += ("--disable-component-update", "--disable-sync")

HOSTILE = "<script>document.title='run'</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, digits):
    """Reports of two classes with hostile names, and of ten."""
    folder = tmp_path_factory.mktemp("reports")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = ((X - X.mean()) / X.std()).rename(columns={"worst area": HOSTILE})
    labels = np.array([HOSTILE, "benign"])[y]
    PDMClassifier(0.001, random_state=0).fit(X, labels).report(X, labels, folder / "two.html")
    X, y = digits
    MaxMarginClassifier(random_state=0).fit(X, y).report(X, y, folder / "ten.html")
    return folder


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, folder):
    """Open a report from the disk; whatever the console says, or anything that is asked of a network, is an error."""
    complaints, pages = [], []

    def open_page(name, theme="light", width=1200):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith("file:") else complaints.append(asked.url))
        page.goto((folder / name).as_uri())
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []


@pytest.mark.parametrize(
    ("name", "theme", "width"),
    [("two.html", "light", 1200), ("two.html", "dark", 375), ("ten.html", "dark", 1200), ("ten.html", "light", 375)],
)
def test_it_fits_and_everybody_can_read_it(open_page, name, theme, width):
    page = open_page(name, theme, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    cut = """svgs => svgs.filter(svg => { const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].some(text => { const box = text.getBoundingClientRect();
            return box.left < frame.left - 4 || box.right > frame.right + 4; }); }).length"""
    assert page.locator("figure svg").evaluate_all(cut) == 0  # no label sticks out of its picture


def test_the_dark_theme_is_dark_and_paper_is_white(open_page):
    page = open_page("two.html", "dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    curve = page.locator("figure svg path[style*='--proven']").first
    assert curve.evaluate("path => getComputedStyle(path).fill + getComputedStyle(path).stroke").count("133, 184, 245")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator("figure .reading").first.is_hidden()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_curves_can_be_read_off(open_page, theme):
    page = open_page("two.html", theme)
    for place in range(page.locator("figure[data-points]").count()):
        figure = page.locator("figure[data-points]").nth(place)
        said = set()
        figure.scroll_into_view_if_needed()
        frame = figure.locator("svg").bounding_box()
        for share in (0.2, 0.6, 0.95):
            page.mouse.move(frame["x"] + share * frame["width"], frame["y"] + 0.4 * frame["height"])
            said.add(figure.locator("output").text_content())
        assert "" not in said
        assert len(said) >= 2
        assert figure.locator(".guide").count() == 1


def test_the_keyboard_moves_along_a_curve(open_page):
    page = open_page("two.html")
    figure = page.locator("figure[data-points]").first
    figure.locator("input").focus()
    page.keyboard.press("End")
    last = figure.locator("output").text_content()
    assert "gap 0.0" in last or "gap 0.1" in last
    assert figure.locator("input").get_attribute("aria-valuetext") == last
    page.keyboard.press("Home")
    assert figure.locator("output").text_content() != last


def test_names_and_labels_are_only_shown(open_page):
    page = open_page("two.html")
    assert page.title() == "Report: PDMClassifier"
    assert page.get_by_role("rowheader", name=HOSTILE).count() >= 1
    assert page.locator("script").count() == 1
