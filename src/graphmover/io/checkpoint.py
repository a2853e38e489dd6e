"""The checkpoint of unfinished output: how many rows are committed, and what they must be."""

from __future__ import annotations

import json
from typing import NamedTuple

#: Format 1 had no checksums, format 2 no ids.
_FORMAT = 3
_COUNTS = ("columns", "rows", "target_bytes", "id_bytes")
_CHECKSUMS = ("vectors_checksum", "target_checksum")
_IDS = ("id_bytes", "id_checksum")
_LACKING = {1: {*_CHECKSUMS, *_IDS}, 2: set(_IDS), _FORMAT: set[str]()}

#: A checkpoint takes less than 1 kB.
MAX_BYTES = 10_000


class Checkpoint(NamedTuple):
    """What identifies the committed rows."""

    model: str  # fingerprint of the model that computes the rows
    columns: int
    rows: int
    source: str  # fingerprint of the graphs whose rows are committed
    target_bytes: int  # committed bytes of the targets
    vectors_checksum: str | None = None  # of the committed bytes; None in format 1
    target_checksum: str | None = None
    id_bytes: int = 0  # committed bytes of the ids
    id_checksum: str | None = None

    def to_json(self) -> bytes:
        """Return the content of the file."""
        return json.dumps({"format": _FORMAT, **self._asdict()}).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Checkpoint:
        """Read the content of the file; raise ValueError if it is damaged."""
        if len(content) > MAX_BYTES:
            raise ValueError(f"expected at most {MAX_BYTES} bytes")
        try:
            values = json.loads(content)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(values, dict) or type(values.get("format")) is not int:
            raise ValueError("it has no format number")
        number = values.pop("format")
        if number not in _LACKING:
            raise ValueError(f"it has the format {number}, expected 1 to {_FORMAT}")
        fields = set(cls._fields) - _LACKING[number]
        if set(values) != fields:
            raise ValueError(f"expected the fields {', '.join(sorted(fields))}")
        for name, value in values.items():
            expected = int if name in _COUNTS else str
            if type(value) is not expected:
                raise ValueError(f"{name} is {value!r}, expected {expected.__name__}")
            if isinstance(value, int) and value < 0:
                raise ValueError(f"{name} is {value}, expected at least 0")
        return cls(**values)
