"""The launch schedule: sizes to bins, bytes, chunks. It needs no GPU."""

import numpy as np
import pytest

from graphmover.transport.cuda import engine, schedule


def schedule_for(x_sizes, y_sizes, mass=2):
    x_sizes, y_sizes = np.asarray(x_sizes), np.asarray(y_sizes)
    return schedule.launches(x_sizes, y_sizes, mass * x_sizes, y_sizes)


def pairs_of(launch):
    """The graphs of x and of y of all problems of a launch, in the order of their numbers."""
    if not len(launch.rectangles):
        return launch.x_graphs, launch.y_graphs
    x, y = [], []
    for first, x_start, n_x, y_start, n_y in launch.rectangles:
        assert first == sum(map(len, x))
        x.append(np.tile(launch.x_graphs[x_start : x_start + n_x], n_y))
        y.append(np.repeat(launch.y_graphs[y_start : y_start + n_y], n_x))
    return np.concatenate(x), np.concatenate(y)


def test_every_pair_with_nodes_is_in_one_launch():
    rng = np.random.default_rng(0)
    x_sizes, y_sizes = rng.integers(0, 300, 200), rng.integers(0, 70, 90)
    covered = np.zeros((200, 90), int)
    for launch in schedule_for(x_sizes, y_sizes):
        x, y = pairs_of(launch)
        assert len(x) == launch.n_problems
        np.add.at(covered, (x, y), 1)
    np.testing.assert_array_equal(covered, np.outer(x_sizes > 0, y_sizes > 0))


@pytest.mark.parametrize("partial", [False, True])
def test_chosen_pairs_with_nodes_are_each_in_one_launch(partial):
    rng = np.random.default_rng(0)
    x_sizes, y_sizes = rng.integers(0, 100, 20), rng.integers(0, 70, 90)
    rows, columns = rng.integers(0, 20, 500), rng.integers(0, 90, 500)
    sizes = x_sizes, y_sizes, x_sizes, y_sizes
    launches, order = schedule.launches_of_pairs(rows, columns, *sizes, partial=partial)
    x, y = (np.concatenate(part) for part in zip(*map(pairs_of, launches), strict=True))
    np.testing.assert_array_equal(x, rows[order])
    np.testing.assert_array_equal(y, columns[order])
    with_nodes = np.flatnonzero((x_sizes[rows] > 0) & (y_sizes[columns] > 0))
    np.testing.assert_array_equal(np.sort(order), with_nodes)
    nothing = schedule.launches_of_pairs(rows[:0], columns[:0], *sizes)
    assert (nothing[0], len(nothing[1])) == ([], 0)


@pytest.mark.parametrize("partial", [False, True])
def test_the_solver_of_a_pair_does_not_depend_on_other_pairs(partial):
    """Nor whether the pair is in a table or on a list."""
    rng = np.random.default_rng(3)
    x_sizes, y_sizes = rng.integers(1, 1500, 60), rng.integers(1, 90, 50)
    sizes = x_sizes, y_sizes, x_sizes, y_sizes

    def solvers(launches):
        return {
            pair: (launch.solver, launch.numbered)
            for launch in launches
            for pair in zip(*(graphs.tolist() for graphs in pairs_of(launch)), strict=True)
        }

    together = solvers(schedule.launches(*sizes, partial=partial))
    rows, columns = (side.ravel() for side in np.indices((60, 50)))
    listed = schedule.launches_of_pairs(rows, columns, *sizes, partial=partial)[0]
    assert solvers(listed) == together
    for (i, j), solver in list(together.items())[::37]:
        one = [sizes[side][k : k + 1] for side, k in enumerate((i, j, i, j))]
        assert solvers(schedule.launches(*one, partial=partial)) == {(0, 0): solver}


def test_each_launch_holds_its_largest_problem():
    rng = np.random.default_rng(1)
    x_sizes, y_sizes = rng.integers(0, 3000, 200), rng.integers(0, 70, 90)
    for launch in schedule_for(x_sizes, y_sizes):
        x, y = pairs_of(launch)
        sources, sinks = np.maximum(x_sizes[x], y_sizes[y]), np.minimum(x_sizes[x], y_sizes[y])
        assert (launch.sinks, launch.rows) == (sinks.max(), sources.max())
        nodes, costs, together = launch.simplex_bytes
        node_bytes = 16 * (sources + sinks)
        cost_bytes = np.maximum(4 * sources * sinks, 8 * (sources + sinks))
        assert nodes >= node_bytes.max() and costs >= cost_bytes.max()
        assert together >= (node_bytes + cost_bytes).max()
        assert launch.numbered == (sources.max() <= 1015)
        if launch.solver is schedule.Solver.FEW_SINKS:
            assert launch.width >= launch.sinks
            assert launch.places * launch.width <= 32
            assert launch.n_warps * launch.places >= launch.n_problems
        else:
            assert (launch.width, launch.places) == (0, 1)


def test_counts_leave_room_for_a_further_node():
    sizes, totals = np.array([16]), np.array([60_000])
    (shares,) = schedule.launches(sizes, sizes, totals, totals)
    (counts,) = schedule.launches(sizes, sizes, totals, totals, partial=True)
    assert (shares.width, shares.sinks, shares.rows, shares.short) == (16, 16, 16, False)
    assert (counts.width, counts.sinks, counts.rows, counts.short) == (0, 17, 17, True)


def test_flows_of_16_bits_only_where_every_total_fits():
    assert all(launch.short for launch in schedule_for([30], [10], mass=200))
    assert not any(launch.short for launch in schedule_for([30], [10], mass=300))


def test_tables_in_shared_memory_only_where_they_fit():
    (small,) = schedule_for([32], [10])
    (large,) = schedule_for([5000], [16])
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
    assert schedule.scratch_slots(1000, 10**6, 4, 10**9) == 96
    with pytest.raises(MemoryError, match=r'one transport problem needs 2\.0 GiB.*device="cpu"'):
        schedule.scratch_slots(2**31, 1, 132, 2**30)


@pytest.mark.parametrize(
    "free, pooled, one, all_of_them, budget",
    [
        (800, 900, 10, 100, 100),  # all warps fit: nothing is reclaimed
        (800, 700, 10, 200, 100),  # half of them do, and there is little to reclaim
        (800, 900, 10, 200, 212),  # much
        (800, 300, 120, 2400, 137),  # not even one fits
        (80, 0, 120, 2400, 10),  # and never will
    ],
)
def test_scratch_memory_of_other_streams_is_reclaimed(
    monkeypatch, free, pooled, one, all_of_them, budget
):
    memory = {"free": free, "pooled": pooled}

    def reclaim():
        memory.update(free=free + pooled, pooled=0)

    monkeypatch.setattr(engine, "free_memory", lambda: memory["free"])
    monkeypatch.setattr(engine, "pooled_memory", lambda: memory["pooled"])
    monkeypatch.setattr(engine, "reclaim_memory", reclaim)
    assert engine._scratch_budget(one, all_of_them) == budget


def test_chunks_grow_with_nodes_and_with_random_graphs():
    counts = np.array([10, 20])
    work, most = schedule.chunking(counts, 100, free_bytes=8 * 2**20)
    assert most == 2**20
    assert work.tolist() == [1600 + 4400, 1600 + 8400]
    assert schedule.chunking(counts, 100, free_bytes=2**45)[1] == 2**28
