"""What the package index shows of the README, and the one place that names the repository."""

import importlib.util
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "tools/package_page.py"
spec = importlib.util.spec_from_file_location("package_page", SOURCE)
package_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package_page)

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def targets(text):
    return re.findall(r"\]\(([^)]+)\)", text)


def test_no_link_of_the_page_is_relative():
    relative = [target for target in targets(README) if not target.startswith(("http", "#"))]
    assert relative
    assert all((ROOT / target.split("#")[0]).exists() for target in relative)

    known = package_page.page(README, "https://example.org/us/dynmargin", "1.2.3")
    assert len(targets(known)) == len(targets(README))
    assert all(target.startswith(("http", "#")) for target in targets(known))
    assert "https://example.org/us/dynmargin/raw/v1.2.3/docs/images/convergence.png" in targets(known)
    assert "https://example.org/us/dynmargin/blob/v1.2.3/CONTRIBUTING.md" in targets(known)


def test_without_an_address_the_page_has_text_in_place_of_links():
    unknown = package_page.page(README, "https://repository.invalid/dynmargin", "1.2.3")
    assert set(targets(unknown)) == {target for target in targets(README) if target.startswith(("http", "#"))}
    assert "invalid" not in unknown
    assert "![" not in unknown
    assert "no code (all commands)" in unknown


def test_the_address_and_the_version_are_named_once():
    written = {"address": PROJECT["urls"]["Repository"], "version": f'"{PROJECT["version"]}"'}
    files = [ROOT / name for name in ("pyproject.toml", "CMakeLists.txt", "CITATION.cff")]
    files += [*ROOT.glob("*.md"), *(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert {name: sum(text.count(value) for text in texts) for name, value in written.items()} == {
        "address": 1,
        "version": 1,
    }
