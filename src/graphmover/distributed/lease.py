"""One driver per output: a lock on this machine's files, and elsewhere a file kept fresh."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from graphmover._utils.locks import only_writer_of
from graphmover.distributed.storage import Place

#: Seconds between a driver's signs of life, and without any until it counts as gone.
BEAT, GONE = 10.0, 60.0

_LEASE = re.compile(r"_driver-[0-9a-f]{32}\.json")


def is_lease(name: str) -> bool:
    """Tell the name of the file that a driver keeps fresh."""
    return _LEASE.fullmatch(name) is not None


@contextmanager
def only_driver_of(folder: Place) -> Iterator[None]:
    """Lock out other drivers of an output for the block.

    Object stores have no locks: there each driver writes a file with the time, again and again,
    and looks for those of others. If two start at once, both may give up. If two go on
    nevertheless, after a pause of a minute, they write the same parts: no row is lost or
    duplicated.
    """
    if folder.is_local:
        with only_writer_of(Path(folder.path)):
            yield
        return
    folder.make_folder()
    name = f"_driver-{uuid4().hex}.json"
    stop = threading.Event()
    _write(folder, name)
    try:
        _require_alone(folder, name)
        keeper = threading.Thread(target=_keep, args=(folder, name, stop), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            stop.set()
            keeper.join()
    finally:
        with suppress(OSError):
            folder.remove(name)


def _keep(folder: Place, name: str, stop: threading.Event) -> None:
    while not stop.wait(BEAT):
        with suppress(OSError):  # the next one may succeed
            _write(folder, name)


def _write(folder: Place, name: str) -> None:
    content = {"host": socket.gethostname(), "process": os.getpid(), "time": time.time()}
    with folder.replacing(name) as file:
        file.write(json.dumps(content).encode())


def _require_alone(folder: Place, own: str) -> None:
    for name in folder.listing():
        if not is_lease(name) or name == own:
            continue
        try:
            found = json.loads(folder.read(name))
            host, process, age = found["host"], found["process"], time.time() - found["time"]
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            age = GONE  # it has just ended, or it left half a file
        if age < GONE:
            raise ValueError(
                f"another process is writing {folder}: process {process} on {host} was active "
                f"{age:.0f} seconds ago. Wait for it to end, or, if it was killed, for "
                f"{GONE - age:.0f} seconds"
            )
        folder.remove(name)
