import pytest

from graphmover._utils.checks import require_integer, shown
from graphmover._utils.random_state import random_generator

HUGE = 10**5000  # Python does not write so many digits


def test_integers_within_limits():
    require_integer("size", 3, least=3, most=3)
    for value, message in ((2, "at least 3, got 2"), (5, "at most 4, got 5")):
        with pytest.raises(ValueError, match=f"size must be {message}"):
            require_integer("size", value, least=3, most=4)
    with pytest.raises(TypeError, match="size must be an integer, got True"):
        require_integer("size", True, least=0)


def test_integers_too_long_to_write_are_described():
    assert shown(12) == "12"
    for value, limits in ((-HUGE, {"least": 0}), (HUGE, {"least": 0, "most": 9})):
        with pytest.raises(ValueError, match=r"size must be .* got an integer of 16610 bits"):
            require_integer("size", value, **limits)
    with pytest.raises(ValueError, match="random_state must not be negative, got an integer of"):
        random_generator(-HUGE)
