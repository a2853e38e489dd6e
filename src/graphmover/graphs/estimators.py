"""What estimators of graphs share: scikit-learn's manners, where the input is no table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._set_output import _get_output_config

from graphmover.graphs.arrow import ID
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import is_edge_list


class GraphEstimator(BaseEstimator):
    """An estimator whose input is a collection of graphs."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


def with_index(rows: Any, batch: GraphBatch, estimator: object, graphs: Any) -> Any:
    """Return rows as they are, or as ``set_output(transform="pandas")`` of an estimator wants.

    scikit-learn names the columns, but takes an index only from data frames, which graphs are not:
    their ids are the index, unless the graphs were given as a column, which has its own.
    """
    wanted = _get_output_config("transform", estimator)["dense"]
    if batch.ids is None or wanted != "pandas" or not isinstance(rows, np.ndarray):
        return rows
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "set_output(transform=\"pandas\") needs pandas: pip install 'graphmover[pandas]'"
        ) from None
    index = pd.Index(batch.ids, name=ID)
    if hasattr(graphs, "iloc") and not is_edge_list(graphs):
        index = graphs.index
    return pd.DataFrame(rows, index=index, copy=False)
