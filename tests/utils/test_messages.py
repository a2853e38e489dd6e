"""Texts of the data in a terminal."""

import sys
import unicodedata

import pytest

from graphmover._utils.messages import printable


@pytest.mark.parametrize(
    "text",
    ["10\u00a0mg", "1\u202f000", "a\u2009b", "\U0001f469\u200d\U0001f52c", "a\u00adb", "\ue000"],
)
def test_spaces_and_emoji_are_shown_as_they_are(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", r"a\nb\tc"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J\x7f", r"\x9b2J\x7f"),
        ("x\u202ey\u2066z\u2069", r"x\u202ey\u2066z\u2069"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800\u00a0", "\\ud800\u00a0"),
    ],
)
def test_what_harms_a_terminal_or_a_table_is_escaped(text, shown):
    assert printable(text) == shown


def test_all_characters_are_escaped_by_their_kind():
    controls = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
    for number in range(sys.maxunicode + 1):
        one = chr(number)
        harms = unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") or number in controls
        assert (printable(one) != one) == harms, hex(number)
