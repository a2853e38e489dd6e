"""``graphmover embed`` with --workers and --cluster, as a user runs it."""

import json
import os
import sys

import commands
import pytest
from distributed_runs import interrupted, rows_of


def embed(source, folder, *options):
    return commands.run("embed", source, "-o", folder, "--components", 8, *options)


@pytest.mark.slow
def test_workers_write_what_one_process_writes(source, tmp_path):
    folder = tmp_path / "z"
    options = ("--workers", 1, "--unit-rows")
    answer = json.loads(embed(source, folder, *options, 60, "--json").stdout)
    assert (answer["graphs"], answer["units"], answer["computed"]) == (240, 5, 5)
    assert embed(source, tmp_path / "one.parquet").returncode == 0
    assert rows_of(folder) == rows_of(tmp_path / "one.parquet")
    refused = embed(source, folder, *options, 30)
    assert refused.returncode == 1
    assert "--unit-rows 30, it was --unit-rows 60" in refused.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "localhost:8786"], "expected tcp://HOST:PORT"),
        (["--cluster", "tcp://127.0.0.1:1", "--workers", "2"], "leave out --workers"),
        (["--unit-rows", "2"], "leave out --unit-rows"),
    ],
)
def test_options_that_do_not_go_together(source, tmp_path, options, message):
    answer = embed(source, tmp_path / "z.npy", *options)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert os.listdir(tmp_path) == []


def test_an_output_that_cannot_be_written_is_an_error_before_the_fit(source, tmp_path):
    answer = embed(source, tmp_path / "above" / "z", "--workers", 1, "-m", tmp_path / "model.npz")
    assert answer.returncode == 1
    assert "there is no folder" in answer.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, where even root creates no files")
def test_a_read_only_folder_is_an_error_before_the_fit(source, tmp_path):
    for output, *options in (["/proc/z", "--workers", 1], ["/proc/z.csv"]):
        answer = embed(source, output, *options, "-m", tmp_path / "model.npz")
        assert answer.returncode == 1
        expected = f"graphmover: cannot write {output}: the folder /proc is read-only\n"
        assert answer.stderr == expected
        assert os.listdir(tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_leaves_a_state_that_resumes(source, expected, tmp_path, model):
    model.save(tmp_path / "model.npz")
    folder = tmp_path / "z"
    command = ["embed", source, "-o", folder, "-m", tmp_path / "model.npz", "--unit-rows", 4]
    command += ["--workers", 1]
    n_done = interrupted(command, folder)
    answer = commands.run(*command, "--json")
    assert json.loads(answer.stdout)["computed"] == 60 - n_done
    assert rows_of(folder) == rows_of(expected)
