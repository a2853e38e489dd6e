"""``graphmover search``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result, hinting_at_resume
from graphmover.cli.options import OPTIONS, Force, Jobs, Restart, Source, reads_graphs
from graphmover.cli.words import checking_options

#: Where distances are computed, as in all commands.
_Device: Any = OPTIONS["device"].annotation


@reads_graphs
def search(
    context: typer.Context,
    library: Annotated[
        Path, typer.Argument(help="An index that `graphmover index` wrote.", metavar="INDEX")
    ],
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            help="A .parquet, .csv or .jsonl file; - writes CSV to standard output.",
        ),
    ],
    reading: dict[str, Any],
    neighbors: Annotated[
        int | None,
        typer.Option(
            *("--neighbors", "-k"),
            min=1,
            help="How many nearest graphs to find.",
            show_default="10",
        ),
    ] = None,
    device: _Device = OPTIONS["device"].default,
    jobs: Jobs = -1,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Queries that are processed, and committed, at a time.")
    ] = 1_000,
    restart: Restart = False,
    force: Force = False,
) -> Result:
    """Find the nearest graphs in an index, exactly.

    The output has a row for each graph of SOURCE and each of its neighbours: query,
    rank, neighbour, distance, and ids where graphs have them. A graph that is in the index, too,
    finds itself first, at distance 0.

    After a crash, a kill or Ctrl-C the same command resumes where it stopped.
    With --errors skip or empty, OUTPUT.skipped.csv lists the graphs that could not be read.
    """
    import numpy as np

    from graphmover._utils.files import require_new, require_other_file, require_writable
    from graphmover.io.formats import count_graphs, iter_batches
    from graphmover.io.hits import HitsWriter, as_row
    from graphmover.io.index_file import index_fingerprint
    from graphmover.io.skipped_file import listing_skipped
    from graphmover.io.streaming import write_rows
    from graphmover.neighbors import NearestGraphs
    from graphmover.nodes.input_warnings import warn_about_zero_rows

    is_file = str(output) != "-"
    if not is_file and context.params["as_json"]:
        raise typer.BadParameter("leave out --json: standard output has the neighbours, in CSV")
    if is_file:  # fail on an unwritable output before the work
        with checking_options():
            HitsWriter(None).finisher_of(output)
        for read in (library, source):
            require_other_file(read, output)
        require_writable(output)
        require_new(output, overwrite=force)
    near = NearestGraphs.load(library)
    near.set_params(device=getattr(device, "value", device), n_jobs=jobs)
    wanted = near.n_neighbors if neighbors is None else neighbors
    if wanted > near.n_samples_fit_:
        raise typer.BadParameter(
            f"{library} holds {counted(near.n_samples_fit_, 'graph')}, not {wanted}",
            param_hint="-k",
        )
    n_solved = n_pairs = n_empty = 0
    unknown = near._unknown_labels()

    def rows_of(batch: Any, first: int, bar: Any) -> Any:
        nonlocal n_solved, n_pairs, n_empty
        distances, indices = near._kneighbors(batch, wanted, bar, unknown)
        n_solved, n_pairs = n_solved + near.n_solved_, n_pairs + near.n_pairs_
        n_empty += int((batch.node_counts == 0).sum())
        return as_row(distances, indices)

    names = np.array([f"{what}{i}" for what in ("distance", "neighbour") for i in range(wanted)])
    listed = listing_skipped(output if is_file else None, reading["errors"], overwrite=force)
    with hinting_at_resume(output), listed as skipped:
        n_queries = write_rows(
            iter_batches(source, batch_size, skipped=skipped, **reading),
            rows_of,
            output,
            names=names,
            model=f"{index_fingerprint(library)}, {counted(wanted, 'neighbour')}",
            resume=not restart,
            skipped=skipped,
            progress="searching",
            total=count_graphs(source),
            writer=HitsWriter(near.ids_),
        )
    warn_about_zero_rows(n_empty)
    unknown.warn()
    where = output if is_file else "standard output"
    share = 100 * n_solved / n_pairs if n_pairs else 0.0
    logger.info(
        "%s x %s -> %s; distances computed for %.3g %% of pairs",
        counted(n_queries, "query", "queries"),
        counted(wanted, "neighbour"),
        where,
        share,
    )
    values = {"output": str(output), "queries": n_queries, "neighbours": wanted}
    return Result({**values, "graphs": near.n_samples_fit_, "solved": n_solved, "pairs": n_pairs})
