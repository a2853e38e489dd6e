"""Readers and writers by file format, and collections of graphs read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import require_integer
from graphmover._utils.files import replacing, require_new, require_other_file
from graphmover._utils.messages import logger, warn
from graphmover._utils.progress import progress_bar
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset, as_target
from graphmover.graphs.interop import (
    as_graph_batch,
    each_graph,
    index_of,
    is_edge_list,
    is_one_graph,
)
from graphmover.io.chunks import Record, chunks_of, joined, name_of, naming
from graphmover.io.edge_csv import (
    EDGES,
    TABLES,
    is_edge_table,
    is_folder_of_tables,
    read_edge_csv,
    read_edge_table,
)
from graphmover.io.edge_list_files import read_edge_list
from graphmover.io.graph6 import read_graph6
from graphmover.io.limits import PER_OBJECT, Limit
from graphmover.io.many_files import files_of, is_pattern
from graphmover.io.networkx_files import (
    read_gexf,
    read_gml,
    read_graphml,
    read_json_lines,
    write_json_lines,
)
from graphmover.io.other_columns import not_lined_up
from graphmover.io.parquet import count_parquet, read_parquet, write_parquet
from graphmover.io.reading import BadGraphs, Errors, Reading, ReadingOptions, Sink
from graphmover.io.skipped_file import SkippedFile, listing_skipped
from graphmover.io.smiles import read_smiles, read_smiles_table

#: Reads a file or folder.
Reader = Callable[[Path, Reading], Iterator[Dataset]]
#: Writes batches to an open file and returns the number of graphs.
Writer = Callable[[IO[bytes], Iterator[Dataset]], int]


class Format(NamedTuple):
    """How files of one format are read, and written if they can be."""

    what: str
    read: Reader
    write: Writer | None = None


def _read_csv(path: Path, how: Reading) -> Iterator[Dataset]:
    is_edges = path.is_file() and is_edge_table(path)
    return read_edge_table(path, how) if is_edges else read_smiles_table(path, how)


#: By file extension.
FILES: dict[str, Format] = {
    ".parquet": Format("a row per graph", read_parquet, write_parquet),
    ".jsonl": Format("a node-link object per line", read_json_lines, write_json_lines),
    ".ndjson": Format("a node-link object per line", read_json_lines, write_json_lines),
    ".graphml": Format("one graph", read_graphml),
    ".gml": Format("one graph", read_gml),
    ".gexf": Format("one graph", read_gexf),
    ".edgelist": Format("an edge per line", partial(read_edge_list, ending="edgelist")),
    ".edges": Format("an edge per line", partial(read_edge_list, ending="edges")),
    ".g6": Format("a graph per line", read_graph6),
    ".s6": Format("a graph per line", read_graph6),
    ".smi": Format("a SMILES per line", read_smiles),
    ".csv": Format("a SMILES per line, or an edge and its graph", _read_csv),
}

#: By what a folder holds; a folder with none of these is in the TU format.
FOLDERS: dict[str, Format] = {
    EDGES: Format("nodes.csv, edges.csv and optionally graphs.csv", read_edge_csv),
    "*.graphml": Format("a graph per file", read_graphml),
    "*.gml": Format("a graph per file", read_gml),
    "*.gexf": Format("a graph per file", read_gexf),
    "*.edgelist": Format("a graph per file", FILES[".edgelist"].read),
    "*.edges": Format("a graph per file", FILES[".edges"].read),
}

#: Files that hold one graph each: their readers take folders and patterns, too.
_ONE_GRAPH = (".graphml", ".gml", ".gexf", ".edgelist", ".edges")


#: Graphs in a batch, unless the caller says otherwise.
_BATCH_GRAPHS = 10_000


def iter_batches(
    source: Any,
    batch_size: int = _BATCH_GRAPHS,
    *,
    target_column: str | None = None,
    id_column: str | None = None,
    errors: Errors = "raise",
    skipped: Sink | None = None,
    max_bytes: int | None = None,
    max_smiles: int | None = None,
    keep_direction: bool = False,
) -> Iterator[Dataset]:
    """Read a collection of graphs in batches.

    Parquet, JSON lines, SMILES, graph6, folders and patterns of files, and iterables of graphs
    are read lazily; TU data sets and folders of CSV tables are read into memory first.

    Parameters
    ----------
    source : str, path, Dataset, GraphBatch, iterable of graphs or mapping of ids to graphs
        A file or folder in any supported format, a glob pattern such as ``"runs/*.g6"``, whose
        files are read in the natural order of their names, what `load_dataset` takes (the name,
        folder or zip of a TU data set), or graphs that `as_graph_batch` takes.
    batch_size : int
        The largest number of graphs in a batch.
    target_column : str, optional
        The column, or attribute of a graph, that is the target. By default ``"target"`` if
        it exists.
    id_column : str, optional
        The column, or attribute of a graph, with the ids. By default ``"id"``, or else
        ``"name"``, if it exists and holds strings or integers; the titles of a SMILES file;
        the names of graphs in CSV tables, and of files that hold one graph in a folder or
        pattern.
    errors : {"raise", "skip", "empty"}
        What to do about a graph that cannot be read: raise an error that names it, leave it
        out, or put a graph without nodes in its place, so that rows line up with those of the
        source. With the last two, a missing target is NaN, or None among strings. TU data sets and
        CSV tables of nodes and edges are read as a whole: their errors are raised in any case.
    skipped : list, or another object with ``append``, optional
        Gets a ``(position, id, reason)`` for each such graph. Without it, a warning at the end
        tells their number.
    max_bytes : int, optional
        The maximum memory, in bytes, that reading a file is estimated to take. By default 1 GB, or
        1000 times the size of the file if that is more: a small file that declares more raises a
        ValueError.
    max_smiles : int, optional
        The maximum number of characters in a SMILES, by default 50,000: the time that RDKit takes
        grows with the square of the length.
    keep_direction : bool
        Keep the direction of edges as their labels, by the rules of `GraphBatch.from_edges`:
        of directed graphs, and from ``source`` to ``target`` in tables and lists of edges.
        SMILES, graph6 and TU data sets have none, which is an error.

    Yields
    ------
    Dataset
        ``graphs``, with their ids if they have any, and ``target`` of consecutive graphs.

    Examples
    --------
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(50, random_state=0)
    >>> [len(batch.graphs) for batch in gm.iter_batches(data, 20)]
    [20, 20, 10]
    """
    options = ReadingOptions(
        target_column, id_column, errors, skipped, max_bytes, max_smiles, keep_direction
    )
    return batches_of(source, batch_size, options)


def batches_of(source: Any, batch_size: int, options: ReadingOptions) -> Iterator[Dataset]:
    """Do what `iter_batches` does, with its options in one object."""
    require_integer("batch_size", batch_size, least=1)
    options.check()
    bad = BadGraphs(options.errors, options.skipped)
    if isinstance(source, str | os.PathLike):
        limit = Limit(Path(source).expanduser(), options.max_bytes, options.max_smiles)
        columns = options.target_column, options.id_column
        how = Reading(batch_size, *columns, limit, bad, options.keep_direction)
        return _reporting(_from_path(source, how, options.max_bytes), bad, source, options)
    for name, column in options.columns.items():
        if column is not None:
            raise ValueError(f"{name}={column!r} is for files, got a {type(source).__name__}")
    if isinstance(source, Dataset | GraphBatch) or is_one_graph(source) or is_edge_list(source):
        graphs = as_graph_batch(source, keep_direction=options.keep_direction)
        data = source if isinstance(source, Dataset) else Dataset("graphs", graphs)
        return _slices(data, batch_size)
    no_file = Limit(Path(os.devnull))  # what is in memory is not limited
    how = Reading(batch_size, None, None, no_file, bad, options.keep_direction, is_file=False)
    bad.counted = "graph"
    return _reporting(_from_iterable(source, how), bad, source, options)


def _reporting(
    batches: Iterator[Dataset], bad: BadGraphs, source: Any, options: ReadingOptions
) -> Iterator[Dataset]:
    """Yield batches, then warn of graphs that could not be read."""
    has_ids = False
    for batch in batches:
        has_ids = has_ids or batch.ids is not None
        yield batch
    bad.warn()
    writes_rows = isinstance(options.skipped, SkippedFile)
    if writes_rows and bad.n_graphs and options.errors == "skip" and not has_ids:
        warn(not_lined_up(source, options.target_column))


def read_graphs(
    source: Any,
    *,
    target_column: str | None = None,
    id_column: str | None = None,
    errors: Errors = "raise",
    skipped: Sink | None = None,
    max_bytes: int | None = None,
    max_smiles: int | None = None,
    keep_direction: bool = False,
) -> Dataset:
    """Read a collection of graphs into memory.

    Parameters
    ----------
    source, target_column, id_column, errors, skipped, max_bytes, max_smiles, keep_direction
        See `iter_batches`.

    Examples
    --------
    >>> import tempfile
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gm.write_graphs(data, f"{folder}/families.parquet")
    ...     gm.read_graphs(f"{folder}/families.parquet")
    60
    Dataset('families', 60 graphs, 6 classes)
    """
    options = ReadingOptions(
        target_column, id_column, errors, skipped, max_bytes, max_smiles, keep_direction
    )
    parts, n_graphs, n_bytes = [], 0, 0
    limit = None
    for part in batches_of(source, _BATCH_GRAPHS, options):
        parts.append(part)
        n_graphs += len(part.graphs)
        n_bytes += _joined_bytes(part)
        if isinstance(source, str | os.PathLike) and len(parts) > 1:
            limit = limit or Limit(Path(source).expanduser(), max_bytes)
            limit.require(n_bytes, f"the first {n_graphs} graphs")
    if not parts:
        raise ValueError(f"{source} holds no graphs")
    with naming(name_of(source)):
        return parts[0] if len(parts) == 1 else joined(parts, allow_missing=errors != "raise")


def _joined_bytes(part: Dataset) -> int:
    """Return the memory for a batch, and for its copy among the graphs of all batches."""
    graphs = part.graphs
    arrays = [getattr(graphs, name) for name in GraphBatch.__slots__] + [part.target]
    objects = [a for a in arrays if a is not None and a.dtype == object]
    n_bytes = 2 * sum(array.nbytes for array in arrays if array is not None)
    return int(n_bytes + PER_OBJECT * sum(array.size for array in objects))


def write_graphs(
    source: Any,
    path: str | os.PathLike[str],
    *,
    target: ArrayLike | None = None,
    target_column: str | None = None,
    id_column: str | None = None,
    errors: Errors = "raise",
    overwrite: bool = False,
    batch_size: int = _BATCH_GRAPHS,
    max_bytes: int | None = None,
    max_smiles: int | None = None,
    keep_direction: bool = False,
    progress: bool = False,
) -> int:
    """Write graphs, and their ids and targets if there are any, to a file, atomically.

    Parameters
    ----------
    source, target_column, id_column, max_bytes, max_smiles, keep_direction
        See `iter_batches`: a `Dataset`, a `GraphBatch`, an iterable of graphs, or a file in
        another format, which is converted batch by batch.
    path : path
        It must end in ``.parquet``, ``.jsonl`` or ``.ndjson``, and must not be the source.
    target : array-like of shape (N,) or (N, k), optional
        The targets of graphs that are not in a file, in place of any that they have.
    errors : {"raise", "skip", "empty"}
        See `iter_batches`. With the last two, ``path + ".skipped.csv"`` lists the graphs that
        could not be read: the line or index, the id and the reason.
    overwrite : bool
        Replace a file that exists.
    batch_size : int
        Graphs held in memory at once, and in each row group of a Parquet file.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    int
        The number of graphs written.

    Examples
    --------
    >>> import tempfile
    >>> import graphmover as gm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gm.write_graphs([gm.Graph(2, [(0, 1)])], f"{folder}/one.jsonl")
    1
    """
    write = writer_of(path)
    require_other_file(source, path)
    require_new(path, overwrite=overwrite)
    if target is not None:
        if isinstance(source, str | os.PathLike):
            raise ValueError(
                "target is for graphs in memory: name the column of a file by target_column"
            )
        if errors == "skip":
            raise ValueError("target would not line up with errors='skip': use errors='empty'")
    with listing_skipped(path, errors, overwrite=overwrite) as skipped:
        options = ReadingOptions(
            target_column, id_column, errors, skipped, max_bytes, max_smiles, keep_direction
        )
        batches = batches_of(source, batch_size, options)
        if target is not None:
            batches = _with_target(batches, as_target(target))
        title = "writing graphs" if progress else None
        with replacing(path) as file:
            return write(file, with_progress(batches, source, title))


def _with_target(batches: Iterator[Dataset], target: NDArray[Any]) -> Iterator[Dataset]:
    n_graphs = 0
    for batch in batches:
        rows = target[n_graphs : n_graphs + len(batch)]
        n_graphs += len(batch)
        if len(rows) < len(batch):
            raise ValueError(f"target has {len(target)} rows for {n_graphs} graphs or more")
        yield Dataset(batch.name, batch.graphs, rows)
    if n_graphs < len(target):
        raise ValueError(f"target has {len(target)} rows for {n_graphs} graphs")


def writer_of(path: str | os.PathLike[str]) -> Writer:
    """Return the writer for a file's extension."""
    written = {ending: known.write for ending, known in FILES.items() if known.write}
    ending = Path(path).suffix.lower()
    if ending not in written:
        raise ValueError(
            f"cannot write graphs to {os.fspath(path)}: it must end in {', '.join(written)}"
        )
    return written[ending]


def count_graphs(source: Any) -> int | None:
    """Return the number of graphs if it is known without reading them."""
    if isinstance(source, Dataset):
        return len(source.graphs)
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        return count_parquet(path) if _format(path) is FILES[".parquet"] else None
    is_counted = isinstance(source, GraphBatch | list | tuple | dict) and not is_one_graph(source)
    return len(source) if is_counted else None


def with_progress(
    batches: Iterator[Dataset], source: Any, progress: str | None
) -> Iterator[Dataset]:
    """Yield the batches of a source, with a progress bar if it has a title."""
    total = None if progress is None else count_graphs(source)
    with progress_bar(progress, total) as bar:
        for batch in batches:
            bar.advance(len(batch.graphs))
            yield batch


def _format(path: Path) -> Format | None:
    """Return the format of a file, folder or pattern, or None for `load_dataset` to decide."""
    if is_pattern(path):
        return _format_of_files(path)
    if not path.is_dir():
        return FILES.get(path.suffix.lower())
    found = next((FOLDERS[holds] for holds in FOLDERS if any(path.glob(holds))), None)
    if found is not None or _is_tu(path):
        return found
    return _format_of_files(path) if _known_files(path) else None


def _known_files(path: Path) -> list[Path]:
    """Return the files of a folder whose format is known, or all files of a pattern."""
    files = files_of(path)
    return [file for file in files if is_pattern(path) or file.suffix.lower() in FILES]


def _format_of_files(path: Path) -> Format:
    """Return the format of several files that are one source."""
    files = _known_files(path)
    if not files:
        raise FileNotFoundError(f"there is no file that matches {path}")
    ending = files[0].suffix.lower()
    other = next((file for file in files if file.suffix.lower() != ending), None)
    if other is not None:
        raise ValueError(
            f"{path} has files of several formats, {files[0].name} and {other.name}, expected one: "
            f"name those to read, as in {files[0].parent / '*'}{ending}"
        )
    if ending not in FILES:
        raise ValueError(_unknown(files[0]))
    read = FILES[ending].read if ending in _ONE_GRAPH else _read_each
    return Format("graphs of several files", read)


def _read_each(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graphs of several files, those that are there now, one after the other."""
    files = _known_files(path)

    def read(file: Path) -> Iterator[Dataset]:
        how.bad.file = file.name  # a line alone would not tell which
        return FILES[file.suffix.lower()].read(file, how)

    return chain.from_iterable(map(read, files))


def _from_path(
    source: str | os.PathLike[str], how: Reading, max_bytes: int | None
) -> Iterator[Dataset]:
    from graphmover.datasets.home import is_known_name
    from graphmover.datasets.tu import load_dataset

    path = Path(source).expanduser()
    found = _format(path)
    if found is None:
        if path.exists() and not _is_tu(path) and not is_known_name(source):
            raise ValueError(_unknown(path))
        has_other_ending = path.suffix.lower() not in ("", ".zip")
        if has_other_ending and not path.exists() and not is_known_name(source):
            raise FileNotFoundError(f"there is no file {path}, and {_unknown_ending(path)}")
        if how.target_column is not None:
            raise ValueError(
                f"{path} is a TU data set, whose target has no name: leave out target_column"
            )
        if how.id_column is not None:
            raise ValueError(f"{path} is a TU data set, without ids: leave out id_column")
        how.require_no_direction(f"{path}: TU data sets")
        logger.debug("reading %s (a TU data set)", source)
        here = path.is_dir() and _is_tu(path)  # before a data set of that name elsewhere
        return _slices(load_dataset(path if here else source, max_bytes=max_bytes), how.batch_size)
    if not path.exists() and not is_pattern(path):
        raise FileNotFoundError(f"there is no file {path}")
    if path.name in TABLES and is_folder_of_tables(path.parent):
        raise ValueError(f"{path} is one of several tables: pass their folder, {path.parent}")
    logger.debug("reading %s (%s)", path, found.what)
    return found.read(path, how)


def _is_tu(path: Path) -> bool:
    return any(path.glob("*_A.txt")) if path.is_dir() else path.suffix.lower() == ".zip"


def _unknown(path: Path) -> str:
    """Describe what was expected of an existing file or folder."""
    if path.is_dir():
        known = ", ".join(dict.fromkeys([*FOLDERS, *(f"*{ending}" for ending in FILES)]))
        return f"the folder {path} holds no {known} or *_A.txt (a TU data set)"
    return f"cannot tell the format of {path}: {_unknown_ending(path)}"


def _unknown_ending(path: Path) -> str:
    known = f"{', '.join(FILES)} or .zip (a TU data set)"
    return f"{path.suffix or 'no extension'} is not a known extension, expected {known}"


def _slices(data: Dataset, batch_size: int) -> Iterator[Dataset]:
    if len(data.graphs) <= batch_size:
        yield data
        return
    for start in range(0, len(data.graphs), batch_size):
        yield data[start : start + batch_size]


def _from_iterable(source: Any, how: Reading) -> Iterator[Dataset]:
    if not hasattr(source, "__iter__"):
        raise TypeError(
            f"got an object of type {type(source).__name__}, expected a path, a Dataset, or graphs"
        )
    ids = index_of(source)
    items: Iterable[tuple[Any, Any]]
    if isinstance(source, Mapping):
        items = source.items()
    elif ids is not None:
        items = zip(ids, source, strict=True)
    else:
        items = ((None, graph) for graph in each_graph(source))
    records = (Record(graph, None, id, index) for index, (id, graph) in enumerate(items))
    is_named = ids is not None or isinstance(source, Mapping)
    return chunks_of(records, Path("graphs"), how, own_ids=not is_named)
