"""The documentation site: `make docs` builds it in build/site, without network."""

import logging
import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # t-SNE's threads wait for each other on busy cores

import site_pages
import site_reference

import graphmover

logging.getLogger("graphmover").setLevel("WARNING")  # what is compiled is no output of an example

project = "graphmover"
author = "the graphmover developers"
project_copyright = author
version = release = graphmover.__version__

templates_path = ["_templates"]
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# README.md is the list of pages on a code host; guide.myst and others take theirs from it.
exclude_patterns = [
    "search.md",
    "README.md",
    "_templates",
    "**sg_execution_times.rst",
    "gallery/**/*.md5",
]
# *.myst show files that lie beside docs/, see site_pages.py.
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".myst": "markdown"}
default_role = "py:obj"
smartquotes = False
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

site_reference.write_reference(DOCS / "api")
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameters tell types, shapes and defaults
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "plot_gallery": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": float("inf"),  # seconds of this machine, compiling included
    "capture_repr": (),
    "show_signature": False,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib", "site_gallery"),
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (400, 280),
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("graphmover",),
    "reference_url": {"graphmover": None},
}

html_theme = "pydata_sphinx_theme"
html_title = "graphmover"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": [], "getting-started": []}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "graphmover"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}


def setup(app):
    """Let pages of the repository read as pages of the site."""
    app.connect("source-read", site_pages.on_source_read)
    app.connect("doctree-resolved", site_pages.on_doctree)
    app.connect("autodoc-process-docstring", site_reference.on_docstring, priority=400)
    app.connect("autodoc-skip-member", site_reference.on_skip_member)
