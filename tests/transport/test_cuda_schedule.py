"""The launch schedule: sizes to bins, bytes, chunks. It needs no GPU."""

import numpy as np
import pytest

from graphmover.transport.cuda import engine, schedule


def schedule_for(x_sizes, y_sizes, mass=2):
    x_sizes, y_sizes = np.asarray(x_sizes), np.asarray(y_sizes)
    return schedule.launches(x_sizes, y_sizes, mass * x_sizes, y_sizes)


def test_every_pair_with_nodes_is_in_one_launch():
    rng = np.random.default_rng(0)
    x_sizes, y_sizes = rng.integers(0, 300, 200), rng.integers(0, 70, 90)
    covered = np.zeros((200, 90), int)
    for launch in schedule_for(x_sizes, y_sizes):
        covered[np.ix_(launch.x_graphs, launch.y_graphs)] += 1
    np.testing.assert_array_equal(covered, np.outer(x_sizes > 0, y_sizes > 0))


def test_chosen_pairs_with_nodes_are_each_in_one_launch():
    rng = np.random.default_rng(0)
    x_sizes, y_sizes = rng.integers(0, 100, 20), rng.integers(0, 70, 90)
    chosen = rng.random((20, 90)) < 0.2
    chosen[[0, 5]] = False
    rows, columns = np.nonzero(chosen)
    columns = np.concatenate([rng.permutation(columns[rows == row]) for row in range(20)])
    covered = np.zeros((20, 90), int)
    for launch in schedule.launches(x_sizes, y_sizes, x_sizes, y_sizes, pairs=(rows, columns)):
        covered[np.ix_(launch.x_graphs, launch.y_graphs)] += 1
        largest = x_sizes[launch.x_graphs].max(), y_sizes[launch.y_graphs].max()
        assert (launch.sinks, launch.rows) == tuple(sorted(largest))
    np.testing.assert_array_equal(covered, chosen & (np.outer(x_sizes, y_sizes) > 0))


def test_each_launch_holds_its_largest_problem():
    rng = np.random.default_rng(1)
    x_sizes, y_sizes = rng.integers(0, 3000, 200), rng.integers(0, 70, 90)
    for launch in schedule_for(x_sizes, y_sizes):
        largest = x_sizes[launch.x_graphs].max(), y_sizes[launch.y_graphs].max()
        assert (launch.sinks, launch.rows) == tuple(sorted(largest))
        if launch.sinks <= 32:
            assert launch.width >= launch.sinks
            assert launch.places * launch.width <= 32
            assert launch.n_warps * launch.places >= launch.n_problems
        else:
            assert (launch.width, launch.places) == (0, 1)


def test_counts_leave_room_for_a_further_node():
    sizes, totals = np.array([32]), np.array([60_000])
    (shares,) = schedule.launches(sizes, sizes, totals, totals)
    (counts,) = schedule.launches(sizes, sizes, totals, totals, partial=True)
    assert (shares.width, shares.sinks, shares.rows, shares.short) == (32, 32, 32, False)
    assert (counts.width, counts.sinks, counts.rows, counts.short) == (0, 33, 33, True)


def test_flows_of_16_bits_only_where_every_total_fits():
    assert all(launch.short for launch in schedule_for([30], [10], mass=200))
    assert not any(launch.short for launch in schedule_for([30], [10], mass=300))


def test_tables_in_shared_memory_only_where_they_fit():
    (small,) = schedule_for([32], [10])
    (large,) = schedule_for([5000], [30])
    for available in (48 * 1024, 99 * 1024, 163 * 1024, 227 * 1024):
        assert small.can_be_packed(available)
        assert not large.can_be_packed(available)
        assert not schedule.fits_shared_memory(available + 1, available)
    assert not small.can_be_packed(small.guess_bytes(packed=True) - 1)
    sizes = small.guess_bytes(packed=True), small.guess_bytes(packed=False), small.exact_bytes()
    assert list(sizes) == sorted(sizes)


def test_only_as_many_sources_are_packed_as_low_bits_tell_apart():
    (within,), (beyond,) = schedule_for([1024], [2]), schedule_for([1025], [2])
    assert within.can_be_packed(10**9)
    assert not beyond.can_be_packed(10**9)
    assert beyond.guess_bytes(packed=True) < 100 * 1024


def test_scratch_memory_stays_within_its_budget():
    assert schedule.scratch_slots(1000, 10**6, 132, 50_000) == 50
    assert schedule.scratch_slots(1000, 7, 132, 50_000) == 7
    assert schedule.scratch_slots(1000, 10**6, 4, 10**9) == 64
    with pytest.raises(MemoryError, match=r'one transport problem needs 2\.0 GiB.*device="cpu"'):
        schedule.scratch_slots(2**31, 1, 132, 2**30)


@pytest.mark.parametrize(
    "free, pooled, n_bytes, n_warps, budget",
    [
        (800, 900, 10, 10, 100),  # all warps fit: nothing is reclaimed
        (800, 700, 10, 20, 100),  # half of them do, and there is little to reclaim
        (800, 900, 10, 20, 212),  # much
        (800, 300, 120, 20, 137),  # not even one fits
        (80, 0, 120, 20, 10),  # and never will
    ],
)
def test_scratch_memory_of_other_streams_is_reclaimed(
    monkeypatch, free, pooled, n_bytes, n_warps, budget
):
    memory = {"free": free, "pooled": pooled}

    def reclaim():
        memory.update(free=free + pooled, pooled=0)

    monkeypatch.setattr(engine, "free_memory", lambda: memory["free"])
    monkeypatch.setattr(engine, "pooled_memory", lambda: memory["pooled"])
    monkeypatch.setattr(engine, "reclaim_memory", reclaim)
    assert engine._scratch_budget(n_bytes, n_warps) == budget


def test_chunks_grow_with_nodes_and_with_random_graphs():
    counts = np.array([10, 20])
    work, most = schedule.chunking(counts, 100, free_bytes=8 * 2**20)
    assert most == 2**20
    assert work.tolist() == [1600 + 4400, 1600 + 8400]
    assert schedule.chunking(counts, 100, free_bytes=2**45)[1] == 2**28
