"""The columns of the output, which are fixed before the first row is computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrow import ID, pyarrow
from graphmover.io.chunks import TARGET

VECTOR = "vector"


class Layout(NamedTuple):
    """Which columns the output has: the id, the vector and the target.

    Types are named as Arrow does.
    """

    n_features: int
    id: str | None  # "int64" or "string"
    target: str | None  # "bool", "int64", "double" or "string"
    target_width: int | None = None  # of targets that are lists

    def schema(self) -> Any:
        """Return the ``pyarrow.Schema``."""
        pa = pyarrow()
        fields = [] if self.id is None else [pa.field(ID, pa.type_for_alias(self.id))]
        fields.append(pa.field(VECTOR, pa.list_(pa.float64(), self.n_features)))
        if self.target is not None:
            kind = pa.type_for_alias(self.target)
            if self.target_width is not None:
                kind = pa.list_(kind, self.target_width)
            fields.append(pa.field(TARGET, kind))
        return pa.schema(fields)

    def rows(
        self, vectors: NDArray[np.float64], ids: NDArray[Any] | None, target: NDArray[Any] | None
    ) -> Any:
        """Return rows as a ``pyarrow.RecordBatch``; an id or target that is missing is null."""
        pa = pyarrow()
        for what, column, values in (("an id", self.id, ids), ("a target", self.target, target)):
            if column is None and values is not None:
                raise ValueError(
                    f"a graph has {what}, but the graphs that determined the columns have none: "
                    f"write the graphs to Parquet first, as `graphmover convert` does"
                )
        columns = {
            VECTOR: pa.FixedSizeListArray.from_arrays(
                pa.array(np.ascontiguousarray(vectors).ravel()), self.n_features
            )
        }
        if self.id is not None:
            names = [None] * len(vectors) if ids is None else ids.tolist()
            names = list(map(_text, names)) if self.id == "string" else names
            columns[ID] = _array(names, self.id, "an id")
        if self.target is not None:
            columns[TARGET] = self._targets(target, len(vectors))
        schema = self.schema()
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)

    def _targets(self, target: NDArray[Any] | None, n_rows: int) -> Any:
        pa = pyarrow()
        assert self.target is not None
        width = self.target_width
        if target is None:
            target = np.full((n_rows,) if width is None else (n_rows, width), np.nan)
        if (1 if width is None else width) != (1 if target.ndim == 1 else target.shape[1]):
            raise ValueError(f"targets of the shape {target.shape[1:]}, expected {width} a graph")
        values = target.ravel().tolist()
        if self.target != "double":  # among integers and texts, a missing one is NaN or None
            values = [None if value != value else value for value in values]  # noqa: PLR0124
        if self.target == "bool":  # beside a missing one they are floats
            values = [bool(value) if value in (0, 1) else value for value in values]
        flat = _array(values, self.target, "a target")
        return flat if width is None else pa.FixedSizeListArray.from_arrays(flat, width)


def _array(values: list[Any], kind: str, what: str) -> Any:
    pa = pyarrow()
    try:
        return pa.array(values, pa.type_for_alias(kind))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise ValueError(
            f"{what} is of another type than in the graphs that determined the columns, "
            f"{kind} ({error}): write the graphs to Parquet first, as `graphmover convert` does"
        ) from error


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
