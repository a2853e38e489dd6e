"""Sums of segments: no bit depends on the segments before and after."""

import numpy as np

from graphmover._utils.segments import offsets_from_counts, segment_sums


def test_a_sum_does_not_depend_on_what_follows():
    rng = np.random.default_rng(0)
    for length in range(1, 40):
        values = rng.random(2 * length)
        first, _ = segment_sums(values, np.array([0, length, 2 * length]))
        assert segment_sums(values[:length], np.array([0, length])).tolist() == [first]


def test_empty_segments_sum_to_nothing():
    counts = np.array([0, 2, 0, 0, 3, 0])
    values = np.array([1, 2, 3, 4, 5, 100])  # the last one belongs to none
    assert segment_sums(values, offsets_from_counts(counts)).tolist() == [0, 3, 0, 0, 12, 0]
    assert segment_sums(values[:0], np.zeros(1, np.int64)).tolist() == []
    assert segment_sums(values[:0].astype(float), np.zeros(3, np.int64)).tolist() == [0.0, 0.0]
