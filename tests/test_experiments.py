"""Every experiment has a quick form that runs, and the page of results matches its tables."""

import csv
import json
import math
import os
import re
import sys
from pathlib import Path

import commands
import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent.parent / "experiments"
FIGURES = {
    "varying_r": ["varying_r-families"],
    "scaling": ["scaling"],
    "convergence": ["convergence"],
    "speedup": ["speedup"],
}
TABLES = {
    "tables": "accuracy",
    "vectorizer": "accuracy",
    **{name: name for name in [*FIGURES, "selection", "options", "rivals"]},
}


def run(name, *options):
    environment = {**os.environ, "MPLBACKEND": "agg"}
    answer = commands.run(*options, script=FOLDER / f"{name}.py", env=environment)
    assert answer.returncode == 0, answer.stderr


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("results")
    for name in TABLES:
        run(name, "--quick", "--jobs", "1", "--results", folder)
    return folder


def rows(results, name):
    with open(results / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_and_figures_are_written(results):
    for name in TABLES.values():
        assert rows(results, name)
    for names in FIGURES.values():
        for name in names:
            assert (results / f"{name}.png").read_bytes().startswith(b"\x89PNG")
            assert "<svg" in (results / f"{name}.svg").read_text()


def test_accuracies_have_all_columns_and_are_above_chance(results):
    found = {row["method"]: row for row in rows(results, "accuracy")}
    wanted = ("dataset", "mean", "std", "fold_std", "repeats", "folds", "n_components", "seconds")
    assert set(wanted) < set(found["EMD"])
    assert len(found) == 9
    assert float(found["GraphVectorizer"]["mean"]) > 0.6
    for name in ("RGE(RF)", "RGE(ASG)", "EMD"):
        assert float(found[name]["mean"]) > 0.6 > 0.4 > float(found["bag of nodes"]["mean"])


def test_the_kernels_error_falls_and_stays_below_the_bound(results):
    found = sorted(rows(results, "convergence"), key=lambda row: int(row["R"]))
    errors = [float(row["sup_error"]) for row in found]
    assert errors[-1] < errors[0] / 2
    for row in found:
        assert float(row["mean_error"]) <= float(row["sup_error"]) <= float(row["bound"])


def test_a_second_run_adds_to_a_table(results):
    before = rows(results, "accuracy")
    run("tables", "--quick", "--results", results, "--methods", "EMD")
    assert rows(results, "accuracy") == before


def test_the_page_matches_the_tables():
    page = FOLDER.parent / "docs" / "results.md"
    sys.path.insert(0, str(FOLDER))
    try:
        import report
    finally:
        sys.path.remove(str(FOLDER))
    assert report.report(FOLDER / "results", page) == page.read_text(), (
        "python experiments/report.py writes it"
    )


def test_the_readme_counts_what_the_page_counts():
    page = (FOLDER.parent / "docs" / "results.md").read_text()
    numbers = r"Cells of RGE: (\d+). Run: (\d+). Within: (\d+); with.* run: (\d+)\."
    counts = re.search(numbers, page).groups()
    readme = " ".join((FOLDER.parent / "README.md").read_text().split())
    words = (
        r"reports (\d+) accuracies of RGE. All (\d+) were .*?\. (\d+) of them .*? this to (\d+)\."
    )
    assert re.search(words, readme).groups() == counts
    both = re.search(r"(\d+) cells were run with both", page)[1]
    assert f"tried in {both} cases" in readme


def test_rivals_are_paired_with_the_folds_that_vectorizer_has(tmp_path):
    sys.path.insert(0, str(FOLDER))
    try:
        import _paired
    finally:
        sys.path.remove(str(FOLDER))

    def write(name, method, accuracies):
        lines = [
            {"key": f"{method} 0a1b #{k} [1]", "result": [{"accuracy": accuracy}]}
            for k, accuracy in enumerate(accuracies)
        ]
        text = "\n".join(map(json.dumps, [{"format": 2}, *lines]))
        (tmp_path / f"{name}-X.checkpoint").write_text(text + "\n")

    write("rivals", "SP", [0.5] * 20)
    write("vectorizer", "GraphVectorizer", [0.6] * 15 + [0.9] * 5)
    found = _paired.beside_reference(tmp_path, "X", "SP", 1)
    assert found == pytest.approx((-0.1, 0.0, 0.6))
    error = math.sqrt(0.3375 / 19 * (1 / 20 + 1 / 9))
    found = _paired.beside_reference(tmp_path, "X", "SP", 2)
    assert found == pytest.approx((-0.175, error, 0.675))
    assert _paired.beside_reference(tmp_path, "X", "SP+labels", 1) is None
    write("vectorizer", "GraphVectorizer", [0.6] * 5)  # a repetition that is not finished
    assert _paired.beside_reference(tmp_path, "X", "SP", 1) is None


def test_finished_rivals_are_not_run_again(results):
    before = rows(results, "rivals")
    columns = ["dataset", "method", "mean", "std", "repeats", "folds", "fit_seconds"]
    columns += ["transform_seconds", "peak_mb", "implementation", "note"]
    assert list(before[0])[: len(columns)] == columns
    run("rivals", "--quick", "--jobs", "1", "--results", results)
    assert rows(results, "rivals") == before  # seconds would differ


def test_fewer_repetitions_do_not_replace_more(tmp_path):
    line = {"dataset": "families", "method": "EMD", "n_components": "", "repeats": "10"}
    table = ",".join(line) + "\n" + ",".join(line.values()) + "\n"
    (tmp_path / "accuracy.csv").write_text(table)
    with pytest.raises(AssertionError, match="has more repetitions of EMD on families"):
        run("tables", "--quick", "--methods", "EMD", "--results", tmp_path)
    assert (tmp_path / "accuracy.csv").read_text() == table
