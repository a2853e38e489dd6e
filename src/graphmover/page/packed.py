"""Arrays and text inside a page: compressed, and nothing in them can end their element."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Names of JavaScript's typed arrays.
_TYPES = {
    "uint8": "Uint8Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "int32": "Int32Array",
    "float32": "Float32Array",
}


def packed_arrays(arrays: dict[str, NDArray[Any]]) -> tuple[dict[str, list[Any]], str]:
    """Return a directory of arrays, (type, first byte, length) by name, and their bytes as text.

    The bytes are compressed by gzip and written in base 64.
    """
    directory: dict[str, list[Any]] = {}
    content = bytearray()
    for name, array in arrays.items():
        content.extend(b"\0" * (-len(content) % 8))
        flat = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).ravel()
        directory[name] = [_TYPES[array.dtype.name], len(content), len(flat)]
        content.extend(flat.tobytes())
    return directory, base64.b64encode(gzip.compress(bytes(content), 6, mtime=0)).decode()


def smallest_unsigned(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers that are not negative in the smallest type that holds them."""
    most = int(array.max(initial=0))
    return array.astype(np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32)


def json_in_html(value: Any) -> str:
    """Return JSON that may stand in a script element: it holds no <, > or &."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
