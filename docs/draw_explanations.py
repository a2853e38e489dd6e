"""Draw the pictures of docs/explain.md and docs/report.md: `python docs/draw_explanations.py`.

Needs MUTAG, Playwright and Chromium.
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphmover as gm

HERE = Path(__file__).parent / "pictures"

molecules = gm.as_graph_batch(["OC(=O)c1ccccc1O salicylic acid", "CC(=O)Oc1ccccc1C(=O)O aspirin"])
vectorizer = gm.GraphVectorizer(64, random_state=0).fit(molecules)
alignment = gm.explain(molecules[0], molecules[1], vectorizer, view="counts")
alignment.plot().savefig(HERE / "alignment.png", dpi=80)

data = gm.load_dataset("MUTAG")
model = make_pipeline(gm.GraphVectorizer(128, random_state=0), LogisticRegression(max_iter=1000))
model.fit(data.graphs, data.target)
found = gm.explain_weights(model, data.graphs)
found.plot(1, molecules=False).savefig(HERE / "anchors.png", dpi=70)

gm.report(data, HERE / "report.html", overwrite=True, n_jobs=-1)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
    )
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto((HERE / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.locator("#map").screenshot(path=HERE / "report.png")
(HERE / "report.html").unlink()
