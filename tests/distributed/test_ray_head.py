"""``--cluster ray://``: the head of a Ray cluster with a token, which is killed once."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed_runs import rows_of

pytest.importorskip("ray")
pytest.importorskip("grpc")

N_UNITS = 60

#: Ray's own limits, for machines that are busy.
PATIENT = {
    "RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "200",
    "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": "200",
}
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}

#: What Ray says when its proxy could not start a server for a client.
NO_SERVER = "Starting Ray client server failed"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs signals"),
]


def environment(**others):
    without = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    return {**without, "PYTHONPATH": os.pathsep.join(sys.path), **others}


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextmanager
def head():
    """Start a cluster; yield its address, and its process, which leads a group."""
    port, for_clients, for_agent = free_ports(3)
    options = {
        "port": port,
        "ray-client-server-port": for_clients,
        "dashboard-agent-listen-port": for_agent,
        "node-ip-address": "127.0.0.1",
        "include-dashboard": "false",
        "num-cpus": 1,
        "object-store-memory": 10**8,
        "min-worker-port": 0,
        "max-worker-port": 0,
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:  # a short path: sockets
        words = [f"--{name}={value}" for name, value in {**options, "temp-dir": home}.items()]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
        process = subprocess.Popen(
            [*command, "--disable-usage-stats", *words],
            env=environment(**TOKEN, **PATIENT),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(lambda: answers(for_clients), process)
            yield f"ray://127.0.0.1:{for_clients}", process
        finally:
            kill(process)


def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_for(is_so, process):
    deadline = time.monotonic() + 300
    while not is_so():
        if process.poll() is not None:
            pytest.fail(f"it has ended: {process.communicate()[1]}")
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kill(process):
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def embedding(model, source, folder, address, **settings):
    path = folder.parent / "model.npz"
    model.save(path)
    words = ["embed", source, "-o", folder, "-m", path, "--unit-rows", 4, "--cluster", address]
    return subprocess.Popen(
        [sys.executable, "-m", "graphmover", *map(str, words), "--json"],
        env=environment(**PATIENT | settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def completed(*arguments):
    """Run to the end; again if Ray, on a busy machine, started no server for the client."""
    for _ in range(3):
        driver = embedding(*arguments, **TOKEN)
        answer, said = driver.communicate(timeout=300)
        if NO_SERVER not in said:
            break
    assert driver.returncode == 0, said
    return json.loads(answer)


def with_parts(n, *arguments):
    """Start a run and wait for n parts; again if Ray started no server for the client."""
    for _ in range(3):
        driver = embedding(*arguments, **TOKEN)
        try:
            wait_for(lambda: n_parts(arguments[2]) >= n, driver)
            break
        except pytest.fail.Exception as failure:
            if NO_SERVER not in str(failure):
                raise
    return driver


def n_parts(folder):
    return len(list(Path(folder).glob("part-*")))


@pytest.fixture(scope="module")
def address():
    with head() as (address, _):
        yield address


def test_rows_are_those_of_one_process(model, source, expected, address, tmp_path):
    assert completed(model, source, tmp_path / "z", address)["computed"] == N_UNITS
    assert rows_of(tmp_path / "z") == rows_of(expected)


@pytest.mark.parametrize("token", [None, "f" * 64])
def test_a_token_that_is_lacking_or_wrong_is_named(model, source, address, tmp_path, token):
    settings = {"HOME": str(tmp_path)}  # where Ray looks for a file with a token
    settings["RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S"] = "1"
    settings["RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S"] = "1"
    if token is not None:
        settings |= TOKEN | {"RAY_AUTH_TOKEN": token}
    driver = embedding(model, source, tmp_path / "z", address, **settings)
    _, said = driver.communicate(timeout=300)
    assert driver.returncode == 1
    assert f"no Ray cluster answers at {address}" in said
    assert "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to that of the cluster" in said
    assert "Traceback" not in said


def test_the_head_is_killed_once_and_the_next_run_resumes(
    model, source, expected, address, tmp_path
):
    folder = tmp_path / "z"
    with head() as (lost, process):
        driver = with_parts(5, model, source, folder, lost)
        kill(process)
        _, said = driver.communicate(timeout=300)
    assert driver.returncode == 1
    assert "the connection to the Ray cluster is lost" in said
    assert "Traceback" not in said
    n_done = n_parts(folder)
    assert 5 <= n_done < N_UNITS
    assert completed(model, source, folder, address)["computed"] == N_UNITS - n_done
    assert rows_of(folder) == rows_of(expected)
