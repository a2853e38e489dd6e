"""Rows as a data frame with the ids of graphs as its index, where scikit-learn is asked for one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._set_output import _get_output_config

from graphmover.graphs.arrow import ID
from graphmover.graphs.batch import GraphBatch


def with_index(rows: NDArray[np.float64], batch: GraphBatch, estimator: object) -> Any:
    """Return rows as they are, or as ``set_output(transform="pandas")`` of an estimator wants.

    scikit-learn names the columns, but takes an index only from data frames, which graphs are not.
    """
    if batch.ids is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return rows
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "set_output(transform=\"pandas\") needs pandas: pip install 'graphmover[pandas]'"
        ) from None
    return pd.DataFrame(rows, index=pd.Index(batch.ids, name=ID), copy=False)
