"""The workflows of GitHub Actions: valid, and made of commands that exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
yaml = pytest.importorskip("yaml")


def steps():
    for file in FILES:
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            yield from job["steps"]


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_matrix_has_all_platforms_and_versions():
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    matrix = jobs["quick"]["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    listed = project()["classifiers"]
    versions = [name.split(":: ")[-1] for name in listed if "Python :: 3." in name]
    assert matrix["python"] == versions == ["3.11", "3.12", "3.13", "3.14"]


def test_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    extras = project()["optional-dependencies"]
    ran = [step["run"] for step in steps() if "run" in step]
    assert {"make test", "make release-check", "make docs"} <= set(ran)
    for command in ran:
        for target in re.findall(r"make ([a-z-]+)", command):
            assert f"\n{target}:" in makefile
        for named in re.findall(r"\.\[([\w,-]+)\]", command):
            assert set(named.split(",")) <= set(extras)


def test_the_extra_of_everything_has_no_torch():
    extras = project()["optional-dependencies"]
    [names] = re.findall(r"\[(.*?)\]", " ".join(extras["all"]))
    packages = [one for name in names.split(",") for one in extras[name]]
    assert not [package for package in packages if "torch" in package]


def test_workflows_are_valid():
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    answer = subprocess.run(
        [*command, "vendor.github-workflows", *map(str, FILES)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout
