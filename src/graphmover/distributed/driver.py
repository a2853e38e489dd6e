"""A source into a folder of vectors, by any number of workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from graphmover._utils.checks import require_integer
from graphmover._utils.messages import warn
from graphmover._utils.progress import progress_bar
from graphmover.distributed.engines.choice import engine_of
from graphmover.distributed.engines.protocol import Engine, Runs, Work
from graphmover.distributed.layout import Layout
from graphmover.distributed.lease import only_driver_of
from graphmover.distributed.manifest import SKIPPED, Manifest
from graphmover.distributed.output import OutputFolder
from graphmover.distributed.part import Footer
from graphmover.distributed.running import Done, Task
from graphmover.distributed.source import Source, cut_source
from graphmover.distributed.storage import Place
from graphmover.distributed.unit import Job, Options
from graphmover.distributed.warming import warm
from graphmover.io.estimator_files import batch_size_for
from graphmover.io.limits import check_limits
from graphmover.io.model_file import fingerprint
from graphmover.io.other_columns import not_lined_up
from graphmover.io.reading import Errors, unread
from graphmover.nodes.input_warnings import warn_about_zero_rows

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

#: A unit has at most this many graphs, and its part about this many features, or 256 MB.
_UNIT_GRAPHS = 100_000
_UNIT_FEATURES = 2**25


class Written(NamedTuple):
    """What a run has written.

    Attributes
    ----------
    n_rows, n_features : int
        The shape of the matrix in the folder.
    n_units : int
        Units of work, and parts in the folder.
    n_computed : int
        Units that this call computed; the others were there already.
    n_skipped : int
        Graphs that could not be read.
    peak_bytes : int
        The peak memory of a worker; 0 if it is not known.
    """

    n_rows: int
    n_features: int
    n_units: int
    n_computed: int
    n_skipped: int
    peak_bytes: int


def transform_to(
    model: RandomGraphEmbedding | GraphVectorizer,
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    engine: str | None = None,
    client: Any = None,
    workers: int | None = None,
    resources: dict[str, float] | None = None,
    num_gpus: float = 0,
    n_jobs: int = 1,
    unit_rows: int | None = None,
    batch_size: int | None = None,
    target_column: str | None = None,
    id_column: str | None = None,
    errors: Errors = "raise",
    max_bytes: int | None = None,
    max_smiles: int | None = None,
    keep_direction: bool = False,
    overwrite: bool = False,
    verify: bool = True,
    progress: bool | None = None,
) -> Written:
    """Embed a collection of any size on many workers, and write the vectors to a folder.

    The source is cut into units of work. A worker reads the graphs of a unit, embeds them, and
    writes their vectors as one Parquet file, such as ``part-000017.parquet``, which appears once it
    is complete. After a crash, a kill or Ctrl-C the same call computes only what is missing. The
    rows are those of ``model.transform_to``, to the last bit, whatever the engine is.

    Parameters
    ----------
    model : RandomGraphEmbedding or GraphVectorizer
        A fitted model, whose ``node_embedding`` has a name; `fit` fits one to a sample.
    source : str or path
        A ``.parquet``, ``.jsonl``, ``.ndjson`` or ``.smi`` file, a folder of such files or a
        pattern: a path that all workers see, or a URI such as ``"s3://bucket/graphs"`` of a file
        system that pyarrow or fsspec knows.
    folder : str or path
        The output folder, which is created: a path that all workers see, or a URI.
    engine : {"processes", "dask", "ray", "serial"}, optional
        What runs the units: processes of this machine, a cluster, or the calling process. By
        default "dask" if there is a ``client``, and "processes" otherwise.
    client : dask.distributed.Client, optional
        The Dask cluster. By default the current client.
    workers : int, optional
        Number of processes, or of Ray actors; by default one per core, or per GPU.
    resources : dict, optional
        What a unit takes of the resources of a Dask worker, such as ``{"GPU": 1}``.
    num_gpus : float
        Number of GPUs that a Ray actor takes.
    n_jobs : int
        Number of threads within a unit.
    unit_rows : int, optional
        Graphs in a unit; by default 100,000, or fewer if their vectors would take more than
        256 MB. A unit of a Parquet file is at least a row group.
    batch_size : int, optional
        Graphs in memory at a time, see ``model.transform_to``.
    target_column, id_column, errors, max_bytes, max_smiles, keep_direction
        See `iter_batches`. With ``errors="skip"`` or ``"empty"``, ``folder + "/_skipped.csv"``
        lists the graphs that could not be read.
    overwrite : bool
        Discard what is in the folder.
    verify : bool
        Read parts that are there and compare their checksums, so that a damaged one is
        computed again. False looks at their footers only.
    progress : bool, optional
        Show a progress bar; by default ``model.verbose``.

    Returns
    -------
    Written
        The numbers of rows, features, units and graphs skipped.

    Raises
    ------
    ValueError
        The folder belongs to another model, source or option; another process is writing to it; or
        it holds files that are not graphmover's.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> model = gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     n_graphs = gm.write_graphs(data, f"{home}/graphs.parquet", batch_size=20)
    ...     written = gm.distributed.transform_to(
    ...         model, f"{home}/graphs.parquet", f"{home}/vectors", engine="serial", unit_rows=20
    ...     )
    ...     table = pd.read_parquet(f"{home}/vectors")
    >>> written.n_rows, written.n_units, table.shape
    (60, 3, (60, 2))
    """
    return run(
        model,
        source,
        folder,
        engine_of(engine, client=client, workers=workers, resources=resources, num_gpus=num_gpus),
        Options(target_column, id_column, errors, max_bytes, max_smiles, keep_direction),
        n_jobs=n_jobs,
        unit_rows=unit_rows,
        batch_size=batch_size,
        overwrite=overwrite,
        verify=verify,
        progress=model.verbose if progress is None else progress,
    )


def run(
    model: RandomGraphEmbedding | GraphVectorizer,
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    engine: Engine,
    options: Options,
    *,
    n_jobs: int = 1,
    unit_rows: int | None = None,
    batch_size: int | None = None,
    overwrite: bool = False,
    verify: bool = True,
    progress: bool = False,
    task_of: Callable[[Job], Runs] = Task,
) -> Written:
    """Do what `transform_to` promises; ``task_of`` makes a function of a unit from a `Job`."""
    check_is_fitted(model)
    check_limits(options.max_bytes, options.max_smiles)
    fitted, n_features = model._fitted_model(), len(model.get_feature_names_out())
    if unit_rows is None:
        unit_rows = max(1, min(_UNIT_GRAPHS, _UNIT_FEATURES // n_features))
    require_integer("unit_rows", unit_rows, least=1)
    if batch_size is None:
        batch_size = batch_size_for(n_features)
    require_integer("batch_size", batch_size, least=1)
    place = Place(folder)
    place.require_folder_above()
    with only_driver_of(place):
        found = cut_source(source, options, unit_rows)
        _require_apart(place, found)
        layout = Layout(n_features, *found.columns)
        manifest = Manifest.of(
            found, options, layout, model=fingerprint(fitted), unit_rows=unit_rows
        )
        output = OutputFolder(place)
        output.prepare(manifest, fitted, overwrite=overwrite)
        job = manifest.job(place.name, options=options, batch_size=batch_size, n_jobs=n_jobs)
        footers = output.sound_parts(job, len(found.units), verify=verify)
        work = [(u, found.files[u.file]) for u in found.units if u.number not in footers]
        done: list[Done] = []
        if work:
            warm(job, *work[0])
            n_there = sum(u.rows for u in found.units if u.number in footers)
            done = _run_all(engine, task_of(job), work, n_there, found.n_rows, progress=progress)
            footers |= {one.footer.unit: one.footer for one in done}
        output.finish(job, footers)
    has_ids = layout.id is not None
    _warn(model, options, footers, place, source=source, has_ids=has_ids)
    return Written(
        sum(footer.rows for footer in footers.values()),
        n_features,
        len(found.units),
        len(work),
        sum(footer.skipped for footer in footers.values()),
        max((one.peak_bytes for one in done), default=0),
    )


def _require_apart(place: Place, source: Source) -> None:
    """Reject a source in the output folder, where its files could be taken for parts."""
    of = Place(source.name)
    for file in source.files:
        if place.holds(file.path, of):
            raise ValueError(
                f"cannot write {place}: it holds the source {of.file(file.path)}, expected another "
                f"folder"
            )
    if of.takes_in(place, "part-000000.parquet"):
        raise ValueError(
            f"cannot write {place}: {of} would match its parts, so that the run could not resume, "
            f"expected another folder"
        )


def _run_all(
    engine: Engine,
    task: Runs,
    work: Sequence[Work],
    n_there: int,
    n_rows: int,
    *,
    progress: bool,
) -> list[Done]:
    rows_of = {unit.number: unit.rows for unit, _ in work}
    done = []
    title = "embedding graphs" if progress else None
    with progress_bar(title, n_rows, done=n_there) as bar:
        for one in engine.run(task, work):
            done.append(one)
            bar.advance(rows_of[one.footer.unit])
    return done


def _warn(
    model: RandomGraphEmbedding | GraphVectorizer,
    options: Options,
    footers: dict[int, Footer],
    place: Place,
    *,
    source: str | os.PathLike[str],
    has_ids: bool,
) -> None:
    n_skipped = sum(footer.skipped for footer in footers.values())
    if n_skipped:
        what = unread(n_skipped, are_left_out=options.errors == "skip")
        warn(f"{what}: see {place.at(SKIPPED)}")
        if options.errors == "skip" and not has_ids:
            warn(not_lined_up(source, options.target_column))
    warn_about_zero_rows(sum(footer.empty for footer in footers.values()))
    unknown = model._unknown_labels()
    unknown.n_graphs = sum(footer.rows for footer in footers.values())
    unknown.n_unknown = sum(footer.unknown for footer in footers.values())
    unknown.warn()
