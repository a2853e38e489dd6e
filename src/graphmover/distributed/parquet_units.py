"""Parquet files as units of row groups."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from graphmover.distributed.columns import Columns
from graphmover.distributed.storage import File
from graphmover.distributed.unit import Cut, Unit
from graphmover.graphs.arrow import pyarrow
from graphmover.io.chunks import naming
from graphmover.io.parquet import (
    Wanted,
    metadata_of,
    naming_broken,
    record_batches,
    wanted_columns,
)
from graphmover.io.parquet_footer import footer_of, row_groups
from graphmover.io.reading import Reading


def cut(file: File, number: int, most_rows: int, how: Reading) -> Cut:
    """Cut a file into units of consecutive row groups, of at most ``most_rows`` rows if possible.

    Only the footer is read, and one row if targets are lists of any length.
    """
    with naming_broken(file):
        metadata = metadata_of(file)
        schema = metadata.schema.to_arrow_schema()
        wanted = wanted_columns(schema, file, how)
        groups = [group.n_rows for group in row_groups(file)]
        with naming(file):
            columns = _columns(schema, wanted, file, metadata, how)
    digest = digest_of(file)
    units: list[Unit] = []
    start = first = n_rows = 0
    for index, rows in enumerate([*groups, None]):
        if rows is None or (n_rows and n_rows + rows > most_rows):
            if n_rows:
                units.append(Unit(0, number, start, index, first, n_rows, digest))
            start, first, n_rows = index, first + n_rows, 0
        n_rows += rows or 0
    return Cut(units, columns)


def digest_of(file: File) -> str:
    """Return a fingerprint of the footer, which tells where all pages are and how large."""
    return hashlib.blake2b(footer_of(file), digest_size=16).hexdigest()


def batches(file: File, unit: Unit, how: Reading) -> tuple[Wanted, Iterator[Any]]:
    """Return which columns hold what, and the rows of a unit as record batches."""
    with naming_broken(file):
        if digest_of(file) != unit.digest:
            raise ValueError(f"{file} has changed since the run was started")
        metadata = metadata_of(file)
        wanted = wanted_columns(metadata.schema.to_arrow_schema(), file, how)
    return wanted, _rows(file, metadata, wanted, range(unit.start, unit.stop), how)


def _rows(file: File, metadata: Any, wanted: Wanted, groups: range, how: Reading) -> Iterator[Any]:
    with naming_broken(file):
        yield from record_batches(file, metadata, wanted.columns, how, groups)


def _columns(schema: Any, wanted: Wanted, file: File, metadata: Any, how: Reading) -> Columns:
    pa = pyarrow()
    id = None
    if wanted.id is not None:
        kind = schema.field(wanted.id).type
        id = "int64" if pa.types.is_integer(kind) else "string"
    if wanted.target is None:
        return Columns(id, None, None)
    kind, width = schema.field(wanted.target).type, None
    if pa.types.is_fixed_size_list(kind):
        kind, width = kind.value_type, kind.list_size
    elif pa.types.is_nested(kind) and not pa.types.is_struct(kind):
        one = next(
            record_batches(file, metadata, [wanted.target], how._replace(batch_size=1)), None
        )
        value = None if one is None else one.column(0)[0].as_py()
        kind, width = kind.value_type, 1 if value is None else len(value)
    return Columns(id, _kind(kind), width)


def _kind(kind: Any) -> str:
    """Return the type of targets in the output, see `Layout`."""
    types = pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_string(kind) or types.is_large_string(kind):
        return "string"
    if types.is_boolean(kind):
        return "bool"
    if types.is_integer(kind):
        return "int64"
    if types.is_floating(kind):
        return "double"
    raise TypeError(f"the target holds {kind}, expected numbers or strings")
