"""Explanations of linear models on columns of features: which nodes are in the bins behind a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from propkernels.counting.columns import hashed_column, numbered
from propkernels.counting.counters import StreamCounts
from propkernels.gram.linear import inverse_length, self_products
from propkernels.kernels.features import CountFeatures
from propkernels.learn.explain.explanation import Explanation
from propkernels.utils.arrays import sum_in_order
from propkernels.utils.checks import shown

Values = NDArray[np.float64]


def explain_columns(
    features: Any,
    graphs: Any,
    coefficients: Values,
    intercept: float,
    speaks_for: Any = None,
    against: Any = None,
) -> Explanation:
    """Write ``features @ coefficients + intercept`` as a sum over nodes and iterations.

    A node adds the coefficient of its bin's column, times the square root of the stream's weight, divided by
    the length of its graph's features where they are normalized. Bins that meet in one column share its
    coefficient.

    Parameters
    ----------
    features : CountFeatures
        Fitted, or with ``n_features``.
    graphs : GraphDatabase or GridDatabase
    coefficients : ndarray, (columns,)
    intercept : float
    speaks_for, against : Any
        See :class:`Explanation`.
    """
    features = _fitted(features, graphs)
    counter = features.counter_
    known = None if features.n_columns_ is not None else features.stream_codes_
    streams = counter.count(graphs, known, features.n_jobs)
    weights = [
        np.sqrt(s.weight) * w for s, w in zip(streams, _weights(features, streams, coefficients), strict=True)
    ]
    contributions = counter.contributions(graphs, [s.codes for s in streams], weights, features.n_jobs)
    if features.normalize:
        contributions *= _scales(features, graphs, streams)[graphs.graph_ids][:, None]
    return Explanation(contributions, graphs.graph_ptr, intercept, graphs, speaks_for, against)


def _fitted(features: Any, graphs: Any) -> CountFeatures:
    """Features that can be used; hashed ones need not be fitted, since they learn nothing from graphs."""
    if not isinstance(features, CountFeatures):
        raise TypeError(f"features must be an estimator of features of this library, got {shown(features)}")
    if not hasattr(features, "stream_codes_") and features.n_features is not None:
        return clone(features).fit(graphs)
    check_is_fitted(features, "stream_codes_")
    return features


def _weights(features: CountFeatures, streams: Sequence[StreamCounts], coefficients: Values) -> list[Values]:
    """For each stream, the coefficient of each bin; 0 for bins that have no column."""
    n_columns, found = features.n_columns_, []
    if n_columns is not None:
        _check_width(n_columns, coefficients)
        for stream, (t, h) in zip(streams, numbered(streams), strict=True):
            found.append(coefficients[hashed_column(t, h, stream.codes, n_columns)])
        return found
    widths = [len(codes) for codes in features.stream_codes_]
    _check_width(sum(widths), coefficients)
    parts = np.split(coefficients, np.cumsum(widths)[:-1])
    for stream, part in zip(streams, parts, strict=True):
        found.append(np.concatenate([part, np.zeros(len(stream.codes) - len(part))]))
    return found


def _check_width(n_columns: int, coefficients: Values) -> None:
    if n_columns != len(coefficients):
        raise ValueError(f"the features have {n_columns} columns, and the model {len(coefficients)}")


def _scales(features: CountFeatures, graphs: Any, streams: Sequence[StreamCounts]) -> Values:
    """1 / length of each graph's features, as the features were divided by it."""
    if features.n_columns_ is None:
        return inverse_length(sum_in_order(s.weight * self_products(s.counts) for s in streams))
    plain = clone(features).set_params(normalize=False, sparse_output=True)
    return inverse_length(self_products(plain.fit_transform(graphs)))
