"""What ``graphmover demo`` draws; tests/cli runs it as a whole."""

import numpy as np
import pytest
import threadpoolctl

import graphmover as gm
from graphmover.demo import draw_embedding


def test_the_picture_takes_one_thread(tmp_path, monkeypatch):
    """On busy cores, threads of t-SNE that wait for each other took 20 times as long."""
    pytest.importorskip("matplotlib")
    from sklearn.manifold import TSNE

    threads = []

    def fit_transform(self, points):
        threads.extend(library["num_threads"] for library in threadpoolctl.threadpool_info())
        return points[:, :2]

    monkeypatch.setattr(TSNE, "fit_transform", fit_transform)
    data = gm.make_graph_families(12, random_state=0)
    with threadpoolctl.threadpool_limits(2):
        draw_embedding(np.random.default_rng(0).random((12, 4)), data, tmp_path / "map.png")
    assert set(threads) == {1}
    assert (tmp_path / "map.png").stat().st_size > 0
