"""The compiled reader against a plain one, on every kind of text that could be a table."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphmover.datasets.numbers import BadLineError, line_of_row, read_table

INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
REAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def naive_table(text, kind, n_columns):
    """Rows, or the number of the first bad line."""
    rows = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip(b" \t"):
            continue
        fields = [field.strip(b" \t") for field in line.split(b",")]
        n_columns = n_columns or len(fields)
        pattern = REAL if kind == "real" else INTEGER
        if len(fields) != n_columns or not all(map(pattern.fullmatch, fields)):
            return number
        row = [float(field) if kind == "real" else int(field) for field in fields]
        if not all(abs(x) < {"real": np.inf, "integer": 2**63, "id": 2**31}[kind] for x in row):
            return number
        rows.append(row)
    return rows


def check(text, kind, n_columns=None, cuts=()):
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    expected = naive_table(text, kind, n_columns)
    try:
        table = read_table(pieces, kind, n_columns)
    except BadLineError as error:
        assert str(error).startswith(f"line {expected}: ")
        return
    assert table.tolist() == expected
    for row in range(len(table)):
        line = text.removeprefix(b"\xef\xbb\xbf").splitlines()[line_of_row(pieces, row) - 1]
        assert line.count(b",") == table.shape[1] - 1


characters = st.text(alphabet="0123456789019 ,,,\n\n\r\t+-.eExn\x00\xff", max_size=60)
cuts = st.lists(st.integers(0, 60), max_size=4)
kinds = st.sampled_from(["integer", "id", "real"])


@settings(max_examples=1000, deadline=None)
@given(text=characters, kind=kinds, n_columns=st.sampled_from([None, 1, 2]), cuts=cuts)
@example(text="1\r\n\r\n2\r3\n\r4", kind="integer", n_columns=1, cuts=[2, 3, 4])
@example(text="\ufeff1,2\n3", kind="real", n_columns=None, cuts=[1, 2])
@example(text="1\n" * 9 + ",,,,,,,,,", kind="integer", n_columns=None, cuts=[])
@example(text="2147483647\n-2147483647\n2147483648", kind="id", n_columns=1, cuts=[])
@example(
    text="9" * 18 + "\n" + "-" + "9" * 18 + "\n" + "0" * 19, kind="integer", n_columns=1, cuts=[]
)
def test_any_text(text, kind, n_columns, cuts):
    check(text.encode("utf-8"), kind, n_columns, cuts)


numerals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.17g}"),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.6f}"),
    st.from_regex(r"[+-]?[0-9]{1,25}\.[0-9]{0,25}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"0{0,30}\.?0{1,30}[1-9]e[+-]?[0-9]{1,2}", fullmatch=True),
)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(rows=st.lists(st.tuples(numerals, numerals), min_size=1))
@example(rows=[("1e22", "1e23"), ("9007199254740991", "9007199254740993"), ("-0.0", "5e-324")])
@example(rows=[("1e-22", "1e-23"), ("0.1", ".1"), ("1.", "1e999"), ("0e99999999999", "1e-999")])
def test_numbers_are_what_python_reads(rows):
    check("\n".join(map(", ".join, rows)).encode(), "real")


def test_blocks_are_no_larger_than_they_must_be():
    lines = 50_000
    wide = b",".join([b"7"] * 20_000) + b"\n" + b"7\n" * lines
    with pytest.raises(BadLineError, match="line 2: 1 numbers, expected 20000 as in the lines"):
        read_table([wide], "real")  # as a table it would be 8 GB


def test_signs_of_zeros():
    assert np.signbit(read_table([b"-0\n0.0\n-.0e5"], "real")).ravel().tolist() == [1, 0, 1]


def test_nothing():
    for pieces in ([], [b""], [b"\n\r\n \t"]):
        assert read_table(pieces, "integer", 2).shape == (0, 2)
        assert read_table(pieces, "real").shape == (0, 1)
