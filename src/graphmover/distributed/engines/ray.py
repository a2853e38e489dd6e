"""Units on a Ray cluster: actors that hold the model, each with one unit at a time."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from graphmover._utils.checks import require_integer
from graphmover._utils.messages import logger
from graphmover.distributed.engines.protocol import MOST_LOSSES, Runs, Work, lost_too_often
from graphmover.distributed.engines.sending import unpickler
from graphmover.distributed.running import Done
from graphmover.io.chunks import library


class Ray:
    """Runs units on a Ray cluster; `ray.init` connects to it, and starts one here if need be.

    Parameters
    ----------
    workers : int, optional
        Number of actors; by default as many as the cluster has cores, or room for ``num_gpus``
        each. Actors for which there is no room yet wait for it, as on a cluster that is scaling up.
    num_gpus : float
        Number of GPUs that an actor takes.
    """

    def __init__(self, workers: int | None = None, num_gpus: float = 0) -> None:
        try:
            import ray
        except ImportError:
            raise library("Ray", 'engine="ray"', "ray") from None
        if workers is not None:
            require_integer("workers", workers, least=1)
        self._workers, self._num_gpus = workers, num_gpus
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)

    def run(self, task: Runs, work: Sequence[Work]) -> Iterator[Done]:
        """Yield units as they are committed, in any order."""
        import ray

        waiting = deque(work)
        losses: dict[int, int] = {}
        running: dict[Any, tuple[Any, Work]] = {}  # actor and unit of each result to come
        sent = ray.put(pickle.dumps(task))  # once, and not with each actor
        kind = ray.remote(num_cpus=1, num_gpus=self._num_gpus)(_worker())

        def give(actor: Any) -> None:
            if waiting:
                one = waiting.popleft()
                with _connected():
                    running[actor.run.remote(pickle.dumps(one))] = actor, one

        self._tell_if_nodes_are_lacking()
        actors = [kind.remote(sent) for _ in range(min(self._n_workers(), len(work)))]
        try:
            for actor in actors:
                give(actor)
            while running:
                with _connected():
                    (ready,), _ = ray.wait(list(running))
                actor, (unit, file) = running.pop(ready)
                try:
                    with _connected():
                        done: Done = ray.get(ready)
                except _lost():
                    losses[unit.number] = losses.get(unit.number, 0) + 1
                    if losses[unit.number] >= MOST_LOSSES:
                        raise lost_too_often(unit, file, losses[unit.number]) from None
                    waiting.appendleft((unit, file))
                    actors.remove(actor)
                    actors.append(kind.remote(sent))
                    give(actors[-1])
                    continue
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                give(actor)
                yield done
        finally:
            for actor in actors if ray.is_initialized() else ():  # else Ray would start a cluster
                with suppress(Exception):  # of a cluster that is gone
                    ray.kill(actor)

    def _tell_if_nodes_are_lacking(self) -> None:
        """Log what actors silently wait for."""
        import ray

        needed = {"CPU": 1, "GPU": self._num_gpus}
        if any(
            node["Alive"] and all(node["Resources"].get(name, 0) >= needed[name] for name in needed)
            for node in ray.nodes()
        ):
            return
        gpus = f" and num_gpus={self._num_gpus:g}" if self._num_gpus else ""
        logger.info("no node of the Ray cluster has a core%s: waiting for one", gpus)

    def _n_workers(self) -> int:
        import ray

        if self._workers is not None:
            return self._workers
        there = ray.cluster_resources()
        if self._num_gpus:
            return max(1, int(there.get("GPU", 0) / self._num_gpus))
        return max(1, int(there.get("CPU", 1)))


def _lost() -> tuple[type[Exception], ...]:
    """Return what Ray raises when an actor is gone: some causes are no ``RayActorError``."""
    from ray.exceptions import NodeDiedError, OutOfMemoryError, RayActorError

    return RayActorError, OutOfMemoryError, NodeDiedError


@contextmanager
def _connected() -> Iterator[None]:
    """Say in errors that the cluster is gone; those of units are raised as they are."""
    from ray.exceptions import RayTaskError

    try:
        yield
    except ConnectionError as error:
        if isinstance(error, RayTaskError):  # Ray makes errors of units that are both
            raise
        raise ConnectionError(
            "the connection to the Ray cluster is lost: finished units are kept, and the same call "
            "resumes"
        ) from error


def _worker() -> type:
    """Return the class of actors, whose processes load the model with their first unit."""
    unpickled = unpickler()

    class Worker:
        def __init__(self, task: bytes) -> None:
            self._content = task
            self._task: Runs | None = None

        def run(self, work: bytes) -> Done:
            """Compute and commit a unit."""
            self._task = self._task or unpickled(self._content)
            return self._task(*unpickled(work))

    return Worker
