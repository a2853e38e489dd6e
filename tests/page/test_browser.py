"""The page in a real browser: Debian's Chromium, headless, driven by Playwright."""

import os
import shutil
import sys

import numpy as np
import pytest
from pages import HOSTILE, hostile_graphs

import graphmover as gm

pytestmark = pytest.mark.slow
pytest.importorskip("bokeh")
pytest.importorskip("igraph")

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs pip install playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("needs a browser of the system, such as apt-get install chromium")
    # Chromium refuses its sandbox to root, as which containers run.
    as_root = sys.platform == "linux" and os.geteuid() == 0
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"] if as_root else []
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    data = gm.make_graph_families(60, random_state=0)
    graphs = gm.as_graph_batch(data.graphs, ids=[f"family-{i}" for i in range(60)])
    path = tmp_path_factory.mktemp("page") / "report.html"
    gm.report(gm.Dataset("families", graphs, data.target), path, n_components=16, n_folds=2)
    return graphs, path


class Opened:
    """A page from disk without a network; what the browser complains about is collected."""

    def __init__(self, browser, path, *, viewport=DESKTOP, scheme="light"):
        self._context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        self.page = self._context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._note)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=30_000)

    def _note(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._context.close()

    def assert_content(self):
        assert self.complaints == []
        own = [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert own == []

    def point_on_screen(self, index):
        """Where the map shows a graph."""
        return self.page.evaluate(
            """(index) => {
              const find = (view) => view.model.type === "Figure" ? view : null;
              for (const root of Object.values(Bokeh.index.roots ? Object.fromEntries(
                  Bokeh.index.roots.map((v, i) => [i, v])) : Bokeh.index)) {
                const view = find(root);
                const source = view.model.document.get_model_by_name("map-source");
                if (!source) continue;
                const x = view.frame.x_scale.compute(source.data.x[index]);
                const y = view.frame.y_scale.compute(source.data.y[index]);
                const box = view.canvas_view.el.getBoundingClientRect();
                return [box.left + x, box.top + y];
              }
            }""",
            index,
        )


def test_all_sections_are_there(browser, families):
    _, path = families
    with Opened(browser, path) as opened:
        page = opened.page
        assert page.title() == "families"
        for heading in ("What the data holds", "Map of all graphs", "How well it predicts"):
            assert page.get_by_role("heading", name=heading).is_visible()
        for chart in ("chart-map", "chart-nodes", "chart-classes", "chart-scores"):
            box = page.locator(f"#{chart}").bounding_box()
            assert box["height"] > 100 and box["width"] > 300
        assert page.locator("#anchors svg").count() == 36  # six for each of six families
        assert page.locator("#legend li").count() == 6
        opened.assert_content()


def test_hover_draws_and_click_aligns(browser, families):
    graphs, path = families
    with Opened(browser, path) as opened:
        page = opened.page
        page.locator("#chart-map").scroll_into_view_if_needed()
        x, y = opened.point_on_screen(17)
        page.mouse.move(x - 30, y)
        page.mouse.move(x, y, steps=5)
        page.wait_for_selector("#hover:not([hidden])")
        index = int(page.locator("#hover").get_attribute("data-index"))
        assert f"family-{index}" in page.locator("#hover").inner_text()
        assert page.locator("#hover circle").count() == graphs.node_counts[index]
        assert page.locator("#hover line").count() == graphs.edge_counts[index]
        page.mouse.click(x, y)
        page.wait_for_function(
            "(id) => document.querySelector('#graph .name').textContent === id",
            arg=f"family-{index}",
        )
        assert page.locator("#graph .list button").count() == 5
        page.locator("#graph .list button").nth(2).click()
        words = page.locator("#graph").inner_text()
        near = gm.NearestGraphs(5, random_state=0).fit(graphs)
        distances, indices = near.kneighbors()
        assert f"Distance {float(f'{distances[index, 2]:.4g}'):g}" in words
        other = int(indices[index, 2])
        circles = page.locator("#graph .pair svg").nth(1).locator("circle")
        assert circles.count() == graphs.node_counts[other]
        colours = circles.evaluate_all("all => all.map(c => c.style.fill)")
        left = page.locator("#graph .pair svg").nth(0).locator("circle")
        theirs = left.evaluate_all("all => all.map(c => c.style.fill)")
        alignment = gm.explain(graphs[index], graphs[other], near)
        plan = np.zeros((graphs.node_counts[index], graphs.node_counts[other]))
        plan[alignment.nodes_a, alignment.nodes_b] = alignment.flow
        assert colours == [theirs[node] for node in plan.argmax(axis=0)]
        opened.assert_content()


def test_zoom(browser, families):
    _, path = families
    with Opened(browser, path) as opened:
        page = opened.page
        page.locator("#chart-map").scroll_into_view_if_needed()
        before = opened.point_on_screen(3)
        other = opened.point_on_screen(40)
        page.mouse.move(*other)
        page.mouse.wheel(0, -400)
        page.wait_for_timeout(300)
        after = opened.point_on_screen(3)
        assert abs(after[0] - before[0]) + abs(after[1] - before[1]) > 10


def test_keys_alone_suffice(browser, families):
    _, path = families
    with Opened(browser, path) as opened:
        page = opened.page
        page.locator("#which").focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("family-23")
        page.keyboard.press("Enter")
        assert page.locator("#graph .name").inner_text() == "family-23"
        page.keyboard.press("Tab")  # Show
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # previous
        assert page.locator("#graph .name").inner_text() == "family-22"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # next
        page.keyboard.press("Tab")  # the first of the nearest graphs
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        pressed = page.locator("#graph .list button").nth(1).get_attribute("aria-pressed")
        assert pressed == "true"
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.locator("#which").fill("nothing like this")
        page.keyboard.press("Enter")
        assert "there is no graph" in page.locator("#map-status").inner_text()
        opened.assert_content()


def test_a_phone_shows_map_and_panel_at_once(browser, families):
    _, path = families
    with Opened(browser, path, viewport=PHONE) as opened:
        page = opened.page
        box = page.locator("#chart-map").bounding_box()
        assert box["height"] <= box["width"]
        page.evaluate("document.getElementById('map').scrollIntoView()")
        page.wait_for_timeout(300)  # the chart is laid out anew
        page.mouse.click(*opened.point_on_screen(17))
        page.wait_for_function("document.querySelector('#graph .name').textContent === 'family-17'")
        assert page.locator("#graph .pair svg").nth(1).bounding_box()["y"] < PHONE["height"] - 100
        assert page.evaluate("scrollX") == 0
        opened.assert_content()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_readable_on_any_screen(browser, families, viewport, scheme):
    _, path = families
    with Opened(browser, path, viewport=viewport, scheme=scheme) as opened:
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        back, text = (
            page.evaluate(
                f"getComputedStyle(document.body).{name}.match(/\\d+/g).slice(0, 3)"
                ".reduce((sum, part) => sum + Number(part), 0) / 3"
            )
            for name in ("backgroundColor", "color")
        )
        assert (back > 200 and text < 60) if scheme == "light" else (back < 60 and text > 200)
        small = page.evaluate(
            "[...document.querySelectorAll('button')].filter(b => b.offsetHeight < 38).length"
        )
        assert small == 0  # fingers are thick
        opened.assert_content()


def test_nothing_hostile_runs(browser, tmp_path):
    data = hostile_graphs()
    folder = tmp_path / "<img src=x onerror=window.pwned=9>"
    folder.mkdir()
    path = folder / "<svg onload=window.pwned=10>.html"
    gm.report(data, path, n_components=8, n_folds=2, map="pca")
    with Opened(browser, path) as opened:
        page = opened.page
        for _ in range(8):
            page.locator("#next").click()
            page.locator("#graph .list button").nth(3).click()
        page.locator("#chart-map").scroll_into_view_if_needed()
        page.mouse.move(*opened.point_on_screen(4))
        page.wait_for_timeout(200)
        assert page.evaluate("window.pwned") is None
        assert page.locator("h1").inner_text() == HOSTILE[1]
        assert page.locator("main img, main iframe, #hover img").count() == 0
        node = page.locator("#graph .pair svg").nth(0).locator("circle").nth(0)
        tip = node.locator("title").text_content()  # as much of the label as the page keeps
        assert tip in {text[:12] for text in HOSTILE}
        short = page.locator("#graph .pair svg").nth(0).locator("text").all_text_contents()
        assert all(len(text) <= 4 for text in short)
        legend = page.locator("#legend li").all_inner_texts()
        assert sorted(legend) == sorted(HOSTILE[:3])
        opened.assert_content()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_long_names_stay_in_their_boxes(browser, tmp_path, viewport):
    graphs = gm.make_graph_families(24, random_state=0).graphs
    graphs = graphs.with_ids([f"{i}{'x' * 150}" for i in range(24)])
    classes = np.array(["y" * 300, "z" * 300] * 12)
    path = tmp_path / "report.html"
    gm.report(graphs, path, y=classes, n_components=4, n_folds=2, map="pca")
    with Opened(browser, path, viewport=viewport) as opened:
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        _, y = opened.point_on_screen(5)
        page.evaluate("(by) => scrollBy(0, by)", y - viewport["height"] + 20)  # near the lower end
        page.wait_for_timeout(100)
        x, y = opened.point_on_screen(5)
        page.mouse.move(x - 30, y)
        page.mouse.move(x, y, steps=5)
        page.wait_for_selector("#hover:not([hidden])")
        box = page.locator("#hover").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= viewport["width"]
        assert box["y"] >= 0 and box["y"] + box["height"] <= viewport["height"]
        for name in ("#hover", ".panel"):
            place = page.locator(name)
            assert place.evaluate("one => one.scrollWidth <= one.clientWidth"), name
        opened.assert_content()


def test_injected_script_is_refused(browser, families, tmp_path):
    """Even if text got into the page as HTML, the policy would not let it run."""
    _, path = families
    changed = tmp_path / "changed.html"
    bad = "<script>window.pwned=1</script><img src=x onerror='window.pwned=2'>"
    changed.write_text(path.read_text().replace("<main>", f"<main>{bad}", 1))
    with Opened(browser, changed) as opened:
        assert opened.page.evaluate("window.pwned") is None
        assert any("Content Security Policy" in text for text in opened.complaints)


def test_molecules_have_atoms_and_bonds(browser, tmp_path):
    pytest.importorskip("rdkit")
    smiles = ["CC(=O)O", "c1ccccc1", "CCO", "C#N", "CCN", "c1ccncc1"]
    gm.report(smiles, tmp_path / "report.html", n_components=4, n_folds=0)
    with Opened(browser, tmp_path / "report.html") as opened:
        first = opened.page.locator("#graph .pair svg").nth(0)
        assert first.locator("text").all_text_contents() == ["C", "C", "O", "O"]
        assert first.locator("line").count() == 4  # one of three bonds is double
        opened.assert_content()
