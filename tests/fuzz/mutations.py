"""Mutations of text and bytes, and what must hold when the result is read."""

import resource
import sys
import warnings

import numpy as np

import graphmover as gm

#: A mutated file is small: reading it may take this much more than reading took before.
MOST_GROWTH = 1e9

TOKENS = [b"", b"0", b"-1", b"1.5", b"nan", b"-inf", b"1e999", b"9" * 400, b"2147483648"]
TOKENS += [b"9223372036854775808", b"-9223372036854775809", b"1000000007", b"01", b"0x1F", b"+1"]
TOKENS += [
    b"\0",
    b"\xff\xfe",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
]
TOKENS += [b'"', b"'", b",", b",,,,", b"<", b"&", b"]]>", b"[", b"]", b"{", b"}", b":", b"#", b"\\"]
TOKENS += [b"[" * 3000, b"(" * 500, b"<a>" * 900, b"true", b"null", b"NA", b"x" * 5000, b" " * 999]


def one_of(rng, values):
    return values[int(rng.integers(len(values)))]


def mutated_bytes(rng, content):
    """Flip bits, cut, insert, repeat, or overwrite bytes."""
    content = bytearray(content)
    for _ in range(int(one_of(rng, [1, 1, 2, 3, 8]))):
        at = int(rng.integers(len(content) + 1))
        length = int(rng.integers(1, 40))
        kind = rng.integers(8)
        if kind <= 2 and at < len(content):
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == 3:
            content[at : at + length] = rng.bytes(length)
        elif kind == 4:
            del content[at : at + length]
        elif kind == 5:
            content[at:at] = content[at : at + length] * int(rng.integers(1, 4))
        elif kind == 6 and not rng.integers(3):
            del content[at:]
        else:
            content[at:at] = one_of(rng, TOKENS)
    return bytes(content)


def mutated_text(rng, content, separators=b", \n"):
    """Change fields, lines and columns, or bytes."""
    kind = rng.integers(9)
    if kind <= 1:
        return mutated_bytes(rng, content)
    lines = content.split(b"\n")
    at = int(rng.integers(len(lines)))
    if kind == 2:
        lines[at:at] = [lines[int(rng.integers(len(lines)))]] * int(one_of(rng, [1, 2, 50]))
    elif kind == 3:
        other = int(rng.integers(len(lines)))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 4:
        del lines[at]
    elif kind == 5:  # a column twice, or gone
        rows = [line.split(b",") for line in lines]
        place, copies = int(rng.integers(max(map(len, rows)))), int(rng.integers(3))
        lines = [
            b",".join(row[:place] + row[place : place + 1] * copies + row[place + 1 :])
            for row in rows
        ]
    else:
        for _ in range(int(one_of(rng, [1, 1, 2, 5]))):
            content = with_other_field(rng, content, separators)
        return content
    return b"\n".join(lines)


def with_other_field(rng, content, separators):
    """Replace a field by another one of the file, or by a token."""
    ends = [-1, *(i for i, byte in enumerate(content) if byte in separators), len(content)]
    at = int(rng.integers(len(ends) - 1))
    other = int(rng.integers(len(ends) - 1))
    value = content[ends[other] + 1 : ends[other + 1]] if rng.integers(2) else one_of(rng, TOKENS)
    return content[: ends[at] + 1] + value + content[ends[at + 1] :]


def peak_memory():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def finding(source, read=gm.read_graphs):
    """Read a file or folder; return what went wrong, or None."""
    before = peak_memory()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = read(source)
    except (ValueError, TypeError, OSError) as error:
        if source.name not in str(error) or len(str(error)) > 3_000:
            return f"names no file, or is too long: {error!r:.2000}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.500}"
    else:
        if fault := _fault(data):
            return fault
    grown = peak_memory() - before
    return f"memory grew by {grown} bytes" if grown > MOST_GROWTH else None


def _fault(data):
    """Return what is wrong with graphs that were read."""
    graphs = data.graphs
    offsets, indptr, indices = graphs.offsets, graphs.indptr, graphs.indices
    if (np.diff(offsets) < 0).any() or (np.diff(indptr) < 0).any():
        return "offsets decrease"
    if offsets[0] or indptr[0] or offsets[-1] != len(indptr) - 1 or indptr[-1] != len(indices):
        return "offsets do not fit"
    sizes = np.repeat(graphs.node_counts, np.diff(indptr[offsets]))
    if (indices < 0).any() or (indices >= sizes).any():
        return "a neighbour is out of range"
    for column, length in [(graphs.node_labels, offsets[-1]), (graphs.edge_labels, len(indices))]:
        if column is not None and len(column) != length:
            return "labels do not fit"
    weights = graphs.edge_weights
    if weights is not None and not (np.isfinite(weights) & (weights > 0)).all():
        return "a weight is not positive"
    return (
        "targets do not fit"
        if data.target is not None and len(data.target) != len(graphs)
        else None
    )
