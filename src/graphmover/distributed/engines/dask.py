"""Units on a Dask cluster.

Units are independent, so Dask's own scheduler does everything: it gives a unit whose worker is lost
to another one. A result stays with the worker that has it, and is computed again if that is lost
before the client has fetched it. So units have none: what there is to tell goes to the client as an
event, which precedes the news that the unit is done.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from uuid import uuid4

from graphmover._utils.messages import logger
from graphmover.distributed.engines.protocol import MOST_LOSSES, Runs, Work, lost_too_often
from graphmover.distributed.engines.sending import unpickler
from graphmover.distributed.part import Footer
from graphmover.distributed.running import Done
from graphmover.io.chunks import library

#: Units that the scheduler knows at a time: enough for thousands of workers.
_WINDOW = 10_000

_UNIT = Footer._fields.index("unit")


class Dask:
    """Runs units on a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client, optional
        By default the current one.
    resources : dict, optional
        What a unit takes of the resources of a worker, such as ``{"GPU": 1}``.
    """

    def __init__(self, client: Any = None, resources: dict[str, float] | None = None) -> None:
        try:
            from distributed import Client, get_client
        except ImportError:
            raise library("Dask", 'engine="dask"', "dask") from None
        if client is None:
            try:
                client = get_client()
            except ValueError:
                raise ValueError(
                    'engine="dask" needs a client: client = dask.distributed.Client(address), and '
                    "pass client=client"
                ) from None
        if not isinstance(client, Client) or client.asynchronous:
            raise TypeError(f"client must be a synchronous dask.distributed.Client, got {client!r}")
        self._client, self._resources = client, resources

    def run(self, task: Runs, work: Sequence[Work]) -> Iterator[Done]:
        """Yield units as they are committed, in any order."""
        from distributed import as_completed

        waiting = iter(work)
        topic = f"graphmover-{uuid4().hex}"
        told: dict[int, Done] = {}  # by unit
        of_future: dict[Any, Work] = {}
        losses: dict[int, int] = {}
        call = _call()

        def hear(event: tuple[float, Any]) -> None:
            footer, *rest = event[1]
            told[footer[_UNIT]] = Done(Footer(*footer), *rest)

        def submit(one: Work) -> Any:
            number = one[0].number
            future = self._client.submit(
                call,
                pickle.dumps((task, one)),
                topic,
                key=f"{topic}-unit-{number}-{losses.get(number, 0)}",
                resources=self._resources,
                pure=False,
            )
            of_future[future] = one
            return future

        self._tell_if_workers_are_lacking()
        self._client.subscribe_topic(topic, hear)
        try:
            first = map(submit, islice(waiting, _WINDOW))
            running = as_completed(first, loop=self._client.loop)
            for future in running:
                unit, file = one = of_future.pop(future)
                n_lost = self._n_lost(future)
                future.release()
                if not n_lost:
                    for following in islice(waiting, 1):
                        running.add(submit(following))
                    yield told.pop(unit.number)
                    continue
                losses[unit.number] = losses.get(unit.number, 0) + n_lost
                if losses[unit.number] >= MOST_LOSSES:
                    raise lost_too_often(unit, file, losses[unit.number])
                running.add(submit(one))
        finally:
            with suppress(Exception):  # of a cluster that is gone
                self._client.unsubscribe_topic(topic)
                self._client.cancel(list(of_future), force=True)

    def _tell_if_workers_are_lacking(self) -> None:
        """Log what the scheduler silently waits for."""
        try:
            found = self._client.scheduler_info(n_workers=-1)["workers"].values()
        except TypeError:  # before distributed 2025.4, which tells of all workers
            found = self._client.scheduler_info()["workers"].values()
        needed = self._resources or {}
        if any(
            all(worker["resources"].get(name, 0) >= needed[name] for name in needed)
            for worker in found
        ):
            return
        cluster = f"the Dask cluster at {self._client.scheduler.address}"
        if found:
            options = ",".join(f"{name}={amount:g}" for name, amount in needed.items())
            logger.info(
                "%s has no worker started with --resources %s: waiting for one", cluster, options
            )
        else:
            logger.info("%s has no workers: waiting for the first", cluster)

    def _n_lost(self, future: Any) -> int:
        """Return how many workers a unit has lost, once Dask gives it up; raise its error."""
        from distributed import KilledWorker

        if future.status == "finished":
            return 0
        if future.status != "error":
            raise ConnectionError(
                f"the connection to the Dask scheduler {self._client.scheduler.address} is lost: "
                f"finished units are kept, and the same call resumes"
            )
        error = future.exception()
        if isinstance(error, KilledWorker):
            return 1 + int(error.allowed_failures)
        raise error


def _call() -> Callable[[bytes, str], None]:
    """Return what workers call with a pickled unit, and the topic to report to."""
    unpickled = unpickler()

    def call(content: bytes, topic: str) -> None:
        from distributed import get_worker

        task, work = unpickled(content)
        footer, *rest = task(*work)
        get_worker().log_event(topic, [list(footer), *rest])

    return call
