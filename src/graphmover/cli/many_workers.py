"""``graphmover embed`` on many workers: --cluster and --workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result
from graphmover.cli.words import checking_options

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

#: If a token is missing or wrong, all that Ray reports is a time-out.
_TOKEN = (
    "; if it asks for a token, set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to that of the cluster"
)

_DASK = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


class Workers(NamedTuple):
    """Who computes, and how much at a time."""

    cluster: str | None
    workers: int | None
    gpus: float
    unit_rows: int | None
    batch_size: int | None
    jobs: int | None


def embed_on_workers(
    embedding: GraphVectorizer | RandomGraphEmbedding,
    source: str,
    output: str,
    reading: dict[str, Any],
    workers: Workers,
    *,
    model: Path | None,
    fit_graphs: int,
    overwrite: bool,
) -> Result:
    """Embed a source unit by unit, into a folder."""
    from graphmover.distributed import transform_to
    from graphmover.distributed.storage import Place

    with checking_options():
        _check(workers)
    Place(output).require_folder_above()  # before the work, too
    try:
        with _engine(workers) as engine:  # first: an address that is wrong costs no work
            _fit(embedding, source, fit_graphs, model, reading)
            written = transform_to(
                embedding,
                source,
                output,
                **engine,
                n_jobs=workers.jobs or 1,
                unit_rows=workers.unit_rows,
                batch_size=workers.batch_size,
                overwrite=overwrite,
                progress=True,
                **reading,
            )
    except KeyboardInterrupt:
        logger.info("run the same command again to resume")
        raise
    shape = f"{counted(written.n_rows, 'graph')} x {counted(written.n_features, 'feature')}"
    units = f"{written.n_computed} of {counted(written.n_units, 'unit')} computed"
    logger.info("%s -> %s (%s)", shape, output, units)
    values = {
        "output": output,
        "graphs": written.n_rows,
        "features": written.n_features,
        "units": written.n_units,
        "computed": written.n_computed,
        "skipped": written.n_skipped,
        "peak_bytes": written.peak_bytes,
    }
    return Result({**values, "seed": embedding.random_state})


def _check(workers: Workers) -> None:
    """Reject options that contradict each other, before the work."""
    address = workers.cluster
    is_dask = address is not None and address.startswith(_DASK)
    if address is not None and not is_dask and not address.startswith("ray://"):
        raise ValueError(
            f"--cluster is {address!r}, expected tcp://HOST:PORT (a Dask scheduler) or "
            f"ray://HOST:PORT"
        )
    if is_dask and workers.workers is not None:
        raise ValueError("leave out --workers: a Dask cluster has workers of its own")
    if address is None and workers.gpus:
        raise ValueError("leave out --gpus: it is for --cluster")


@contextmanager
def _engine(workers: Workers) -> Iterator[dict[str, Any]]:
    """Connect to the cluster for the block; yield what `transform_to` needs to know of it."""
    from graphmover.io.chunks import library

    if workers.cluster is None:
        yield {"workers": workers.workers}
    elif workers.cluster.startswith("ray://"):
        try:
            import grpc  # noqa: F401 - `ray` alone comes without it, and then says so late
            import ray
        except ImportError:
            raise library("Ray", "--cluster ray://", "ray") from None
        with _connecting("Ray", workers.cluster, ray.exceptions.RayError, hint=_TOKEN):
            context = ray.init(workers.cluster, log_to_driver=False)
        with context:
            yield {"engine": "ray", "workers": workers.workers, "num_gpus": workers.gpus}
    else:
        try:
            from distributed import Client
        except ImportError:
            raise library("Dask", "--cluster tcp://", "dask") from None
        with _connecting("Dask", workers.cluster):
            client = Client(workers.cluster, set_as_default=False)
        with client:
            resources = {"GPU": workers.gpus} if workers.gpus else None
            yield {"engine": "dask", "client": client, "resources": resources}


@contextmanager
def _connecting(
    kind: str, address: str, *errors: type[Exception], hint: str = ""
) -> Iterator[None]:
    """Name, in errors, the cluster that does not answer."""
    kinds: tuple[type[Exception], ...] = (OSError, RuntimeError, ValueError, *errors)
    try:
        yield
    except kinds as error:
        raise ConnectionError(
            f"no {kind} cluster answers at {address} ({error}): check --cluster, and that the "
            f"cluster is running and can be reached from here{hint}"
        ) from error


def _fit(
    embedding: GraphVectorizer | RandomGraphEmbedding,
    source: str,
    n_graphs: int,
    model: Path | None,
    reading: dict[str, Any],
) -> None:
    """Fit to a uniform sample of the source, unless fitted; save the model if it has a name."""
    from graphmover._utils.files import require_writable
    from graphmover.distributed.sampling import even_sample
    from graphmover.distributed.unit import Options
    from graphmover.io.model_file import require_model_name

    if any(hasattr(embedding, name) for name in ("random_graphs_", "views_")):
        return
    if model is not None:
        with checking_options():
            require_model_name(model)
        require_writable(model)
    sample, n_found = even_sample(source, n_graphs, Options(**reading), embedding.random_state)
    embedding.fit(sample.graphs)
    if model is not None:
        embedding.save(model)
    where = "" if model is None else f" -> {model}"
    logger.info("fitted to %d of %s%s", len(sample.graphs), counted(n_found, "graph"), where)
