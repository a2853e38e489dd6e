"""The documentation site builds without warnings, and reads well offline, also on a phone."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]
PHONE = 390


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a site that is built from the files of this repository."""
    for library in ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx_gallery"):
        pytest.importorskip(library, reason="the extra docs is not installed")
    for library in ("matplotlib", "networkx", "rdkit", "pandas", "pyarrow"):
        pytest.importorskip(library, reason="the gallery needs it")
    copy = tmp_path_factory.mktemp("repository")
    for name in ("docs", "examples"):
        generated = shutil.ignore_patterns(
            "gallery", "api", "__pycache__", "sg_execution_times.rst"
        )
        shutil.copytree(ROOT / name, copy / name, ignore=generated)
    shutil.copytree(ROOT / "experiments" / "results", copy / "experiments" / "results")
    for page in ROOT.glob("*.md"):
        shutil.copy(page, copy)
    options = ["--fail-on-warning", "--keep-going", "--quiet", "-d", copy / "cache"]
    command = [sys.executable, "-m", "sphinx", *options, copy / "docs", copy / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return copy / "site"


class Links(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, page):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("href") and values.get("rel") not in {"next", "prev"}:
            self.loaded.append(values["href"])
        elif values.get("src"):
            self.loaded.append(values["src"])


@pytest.fixture(scope="module")
def pages(site):
    return {
        page: Links(page) for page in sorted(site.rglob("*.html")) if "_static" not in page.parts
    }


def test_every_public_name_and_example_has_a_page(site):
    import graphmover
    from graphmover import distributed, evaluation, rivals

    for module in (graphmover, distributed, evaluation, rivals):
        for name in module.__all__:
            assert (site / "api" / f"{module.__name__}.{name}.html").exists(), name
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert len(examples) >= 12
    for example in examples:
        page = (site / "gallery" / f"{example.stem}.html").read_text()
        assert "sphx-glr-single-img" in page or "sphx-glr-multi-img" in page, example.name


def test_wide_tables_and_long_cells_are_given_room(site):
    page = (site / "results.html").read_text()
    assert re.search(r'<table class="[^"]*\bwide\b', page)
    assert re.search(r'<td class="[^"]*\blong\b', page)


def test_examples_show_their_output_alone(site):
    for page in (site / "gallery").glob("plot_*.html"):
        text = page.read_text()
        assert "compiling" not in text and "Total running time" not in text, page.name


def test_links_and_images_are_there(pages):
    for page, found in pages.items():
        for link in found.links + found.loaded:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), f"{page.name}: {link}"
            if parts.fragment and target in pages:
                anchor = unquote(parts.fragment)
                assert anchor in pages[target].anchors, f"{page.name}: {link}"


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for page, found in pages.items():
        outside = [link for link in found.loaded if urlsplit(link).netloc]
        assert not outside, f"{page.name}: {outside}"
    for sheet in site.rglob("*.css"):
        urls = re.findall(r"url\(['\"]?([^)'\"]+)", sheet.read_text())
        assert not [url for url in urls if url.startswith(("http", "//"))], sheet.name


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_no_page_scrolls_sideways_on_a_phone(site, tmp_path):
    # A page of frames, each as wide as a phone, which reports the width that each page takes: the
    # theme cuts off what is too wide, so text is measured, too. Tables and code scroll.
    names = [str(page.relative_to(site)) for page in sorted(site.rglob("*.html"))]
    names = [
        name for name in names if not name.startswith(("_static", "api/graphmover.evaluation"))
    ]
    frames = "".join(
        f'<iframe src="{name}" width="{PHONE}" height="800"></iframe>' for name in names
    )
    script = """
    addEventListener("load", () => setTimeout(() => {
      const wide = [...document.querySelectorAll("iframe")].map((frame) => {
        const page = frame.contentDocument;
        const text = page.querySelectorAll("article > *, article p, article dd, article h1");
        const fixed = [...text].filter((part) => !part.closest("table, pre"));
        const ends = fixed.map((part) => Math.round(part.getBoundingClientRect().right));
        const width = Math.max(page.documentElement.scrollWidth, ...ends);
        return frame.getAttribute("src") + " " + width;
      });
      document.body.innerHTML = "<pre>" + wide.join("\\n") + "</pre>";
    }, 500));
    """
    (site / "phone.html").write_text(f"<body>{frames}<script>{script}</script></body>")
    options = ["--allow-file-access-from-files", "--virtual-time-budget=60000", "--dump-dom"]
    command = [
        CHROMIUM,
        *FLAGS,
        f"--user-data-dir={tmp_path}",
        *options,
        f"file://{site}/phone.html",
    ]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout
    (site / "phone.html").unlink()
    widths = dict(re.findall(r"^(?:.*<pre>)?(\S+\.html) (\d+)", shown, re.MULTILINE))
    assert set(widths) == set(names)
    wide = {name: int(width) for name, width in widths.items() if int(width) > PHONE}
    assert not wide, wide
