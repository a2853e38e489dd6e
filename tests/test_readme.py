"""The README is true: its Python examples run, and its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_python_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(block, names)
    first, papers = map(float, capsys.readouterr().out.split())
    assert first > 0.5  # chance is 0.17
    claimed = float(re.search(r"# (0\.\d+) or so", README)[1])
    assert abs(papers - claimed) < 0.03
    assert np.allclose(names["Z"] @ names["Z"].T, names["K"])


def test_the_commands_exist():
    shell = "".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    commands = set(re.findall(r"^graphmover (\w+)", shell, re.MULTILINE))
    assert commands == {
        "demo",
        "embed",
        "fit",
        "evaluate",
        "convert",
        "info",
        "datasets",
        "compile",
    }
    for command in sorted(commands):
        program = f"import sys; sys.argv[1:] = ['{command}', '--help']; "
        subprocess.run(
            [sys.executable, "-c", program + "from graphmover.cli import main; main()"],
            check=True,
            capture_output=True,
        )
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", shell, re.MULTILINE):
        assert f"\n{target}:" in makefile
