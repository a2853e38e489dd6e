"""A unit from its rows in the source to its part in the folder; what a worker does."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmover import __version__
from graphmover.distributed.embedder import Embedder, RowReader
from graphmover.distributed.manifest import MODEL, is_of_run
from graphmover.distributed.part import Footer, PartWriter, sound_part
from graphmover.distributed.source import opened_unit
from graphmover.distributed.storage import Place
from graphmover.distributed.unit import Job, SourceFile, Unit
from graphmover.io.model_file import FittedViews, fingerprint, opened_model
from graphmover.io.reading import BadGraphs, Skipped

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

    Model = RandomGraphEmbedding | GraphVectorizer

_loading = threading.Lock()


class Done(NamedTuple):
    """What a worker reports of a unit that is committed."""

    footer: Footer
    process: str  # which did it
    seconds: float
    peak_bytes: int  # of memory, of the process so far


class Task:
    """Computes and commits units; any engine can send it, for it holds plain values only."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __call__(self, unit: Unit, file: SourceFile) -> Done:
        """Compute the rows of a unit, and commit them as a part, unless that is done already.

        It may be: a worker may be lost after the commit, before it could say so.
        """
        started = time.perf_counter()
        try:
            footer = committed(self.job, unit) or self.compute(unit, file)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{error}: is it gone, or does {_process()} not see it? Every worker has to see "
                f"the source and the output under the same names"
            ) from error
        return Done(footer, _process(), time.perf_counter() - started, peak_bytes())

    def compute(self, unit: Unit, file: SourceFile) -> Footer:
        """Compute the rows of a unit, and commit them as a part."""
        return run_unit(self.job, unit, file)


def committed(job: Job, unit: Unit) -> Footer | None:
    """Return the footer of the part of a unit if it is there, and of this run."""
    folder, name = Place(job.folder), job.part_name(unit.number)
    try:
        footer = sound_part(folder, name, job.layout, verify=False)
    except (FileNotFoundError, ValueError):
        return None
    return footer if (footer.run, footer.unit) == (job.run, unit.number) else None


def run_unit(job: Job, unit: Unit, source: SourceFile) -> Footer:
    """Compute the rows of a unit, and commit them as a part."""
    if job.version != __version__:
        raise RuntimeError(
            f"{_process()} has graphmover {__version__}, but the driver has {job.version}: install "
            f"the same version on all workers"
        )
    folder = Place(job.folder)
    skipped: list[Skipped] = []
    bad = job.options.bad_graphs(None if job.is_one_file else source.path, skipped)
    embedder, batches = opened(job, unit, source, job.batch_size, bad)
    with folder.replacing(job.part_name(unit.number)) as file:
        part = PartWriter(file, job.layout)
        try:
            for rows in batches:
                part.append(embedder(rows))
            footer = Footer(
                job.run,
                job.model,
                unit.number,
                part.n_rows,
                len(skipped),
                embedder.n_empty,
                embedder.unknown.n_unknown,
            )
            part.finish(footer, skipped)
            if not is_of_run(folder, job.run):  # a run that was given up may have workers left
                raise RuntimeError(
                    f"{folder} was started over as another run, or removed: unit {unit.number} is "
                    f"not committed"
                )
        except BaseException:
            part.abandon()
            raise
    return footer


def opened(
    job: Job, unit: Unit, source: SourceFile, batch_size: int, bad: BadGraphs
) -> tuple[Embedder, Iterator[Any]]:
    """Return what embeds the graphs of a unit, and its rows as record batches."""
    file = job.file(source)
    how = job.options.reading(file, source.size, batch_size, bad)
    wanted, batches = opened_unit(file, unit, job.ending, how, job.layout.id)
    reader = RowReader(wanted, file, how, unit.first)
    model = loaded_model(job.folder, job.model, job.n_jobs)
    return Embedder(model, job.layout, reader), batches


def loaded_model(folder: str, model: str, n_jobs: int) -> Model:
    """Return the model of a run, which a process loads once."""
    with _loading:
        return _loaded_model(folder, model, n_jobs)


@lru_cache(maxsize=2)
def _loaded_model(folder: str, model: str, n_jobs: int) -> Model:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

    place = Place(folder)
    content = BytesIO(place.read(MODEL))
    with opened_model(place.at(MODEL), content=content) as fitted:
        loaded: Model
        if isinstance(fitted, FittedViews):
            loaded = GraphVectorizer._from_fitted_model(fitted)
        else:
            loaded = RandomGraphEmbedding._from_fitted_model(fitted)
    loaded.set_params(n_jobs=n_jobs, verbose=False)
    if fingerprint(loaded._fitted_model()) != model:
        raise ValueError(f"{place.at(MODEL)} is not the model that the run was started with")
    return loaded


def _process() -> str:
    import socket

    return f"{socket.gethostname()}:{os.getpid()}"


def peak_bytes() -> int:
    """Return the most memory that this process has held, or 0 where that is not known."""
    try:  # not ru_maxrss, which a process inherits from the one that started it
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0
