"""How the site is built: `make docs`. Nothing is fetched, neither by the build nor by the pages that it writes."""

import re
from importlib.metadata import version as version_of
from pathlib import Path

import matplotlib

matplotlib.use("agg")

HERE = Path(__file__).parent

project = "dynmargin"
author = "the dynmargin developers"
copyright = "the dynmargin developers, BSD-3-Clause"
version = release = version_of("dynmargin")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.md5", "gallery/**/*.codeobj.json"]
templates_path = ["_templates"]
nitpicky = True
default_role = "code"
smartquotes = False  # quotation marks and primes are often a part of code or formulas
highlight_language = "none"  # of blocks that name none: what a command prints, formulas
toc_object_entries_show_parents = "hide"

# Pages are Markdown. A link "#dynmargin.load" leads to the reference of that name.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# The reference: one page per public name, its docstring as it is, types as the docstring says them.
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The gallery: every example is run by the build, and is a notebook to download.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"/_",
    "backreferences_dir": "gallery/uses",
    "doc_module": ("dynmargin",),
    "reference_url": {"dynmargin": None},
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": True,
    "remove_config_comments": True,
    "show_memory": False,
    "capture_repr": ("_repr_html_",),
    "min_reported_time": 0,
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "dynmargin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "dynmargin", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    # Pages with wide tables do without the list of their headings.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        **{page: [] for page in ("paper", "claims", "speed", "reliability", "comparing", "commands", "classifiers")},
    },
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "getting-started": [], "coming-from": []}


def pages_that_explain() -> dict[str, list[str]]:
    """For each public name, the pages that link to it: the way back from the reference to the explanation."""
    pages: dict[str, list[str]] = {}
    for page in sorted(HERE.glob("*.md")):
        for name in re.findall(r"\]\(#(dynmargin\.[\w.]+)\)", page.read_text(encoding="utf-8")):
            pages.setdefault(name, [])
            if page.stem not in pages[name]:
                pages[name].append(page.stem)
    return pages


EXPLAINED = pages_that_explain()


def add_the_way_back(app, what, name, obj, options, lines):
    """End the docstring of a public name with the pages that explain it."""
    if pages := EXPLAINED.get(name):
        lines += ["", ".. rubric:: Explained in", "", ", ".join(f":doc:`/{page}`" for page in pages), ""]


ROLES = re.compile(r":(?:ref|term|class|func|meth|mod|doc|any|obj|attr):`~?\.?([^`<]+?)(?:\s*<[^`]*>)?`")


def unlink_the_text_of_others(app, what, name, obj, options, lines):
    """Methods that scikit-learn brings along refer to its own pages, which are not here."""
    if "sklearn" in (getattr(obj, "__module__", None) or "") or "_request" in name:
        lines[:] = [ROLES.sub(r"``\1``", line) for line in lines]
        lines[:] = [re.sub(r"`([^`]+) <https?://[^`]+>`_+", r"\1", line) for line in lines]


def to_the_gallery(app, page, source):
    """Lead links to the file of an example, which is there without a build too, to its page in the gallery."""
    source[0] = re.sub(r"\]\(\.\./examples/(plot_\w+)\.py\)", r"](gallery/\1.rst)", source[0])
    source[0] = source[0].replace("](../examples/README.rst)", "](gallery/index.rst)")


def setup(app):
    """Connect the hooks; that of scikit-learn's text comes before numpydoc's, which resolves nothing itself."""
    app.connect("autodoc-process-docstring", unlink_the_text_of_others, priority=100)
    app.connect("autodoc-process-docstring", add_the_way_back, priority=900)
    app.connect("source-read", to_the_gallery)
