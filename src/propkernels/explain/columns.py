"""explain_columns: what each node adds to the decision of a linear model on features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import shown
from propkernels._utils.parallel import workers
from propkernels._utils.typing import Estimator
from propkernels.convert.check import check_graphs
from propkernels.counts.columns import hashed_column, numbered
from propkernels.counts.counters import StreamCounts
from propkernels.counts.entries import split_by_node
from propkernels.counts.products import inverse_length
from propkernels.explain.explanation import Explanation
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures

Values = NDArray[np.float64]


def explain_columns(
    features: Estimator,
    coef: ArrayLike,
    graphs: Graphs,
    intercept: ArrayLike = 0.0,
    *,
    speaks_for: object = None,
    against: object = None,
) -> Explanation:
    """Explain decisions ``features.transform(graphs) @ coef + intercept`` by node and iteration.

    A node contributes the coefficient of its bin's column, times the square root of the stream's weight,
    divided by the length of its graph's features if they are normalized. Bins hashed to the same column
    share its coefficient; bins without a column contribute 0.

    Parameters
    ----------
    features : estimator
        Features that the model was trained on: PropagationFeatures, WeisfeilerLehmanFeatures,
        ShortestPathFeatures or LabelHistogramFeatures. They must be fitted, unless columns are hashed.
    coef : array-like of shape (columns,) or (1, columns)
        Coefficients of one decision, such as ``coef_`` of a linear model of scikit-learn for two classes, or
        ``coef_[k]`` for class k of several.
    graphs : GraphDatabase or sequence of graphs
    intercept : float or array-like with one number, default=0.0
        Such as ``intercept_``, or ``intercept_[k]``.
    speaks_for, against : object, optional
        Class that positive contributions favor, and the class that it is compared with. None: a number is
        predicted.

    Returns
    -------
    Explanation
        Contributions and intercept add up to the decision of each graph.

    See Also
    --------
    PropagationFeatures : Rows of features for linear models.
    propkernels.scale.open_features : Features in files; its ``estimator()`` gives ``features``.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = pk.datasets.make_molecules(200, random_state=0)
    >>> features = pk.PropagationFeatures(n_features=2**12, t_max=3, random_state=0)
    >>> X = features.fit_transform(data.graphs)
    >>> model = LogisticRegression(max_iter=1000).fit(X, data.target)
    >>> explanation = pk.explain.explain_columns(features, model.coef_, data.graphs[:3], model.intercept_)
    >>> np.allclose(explanation.decisions, model.decision_function(X[:3]), rtol=0, atol=1e-9)
    True
    """
    if not isinstance(features, CountFeatures):
        raise TypeError(f"features must be like PropagationFeatures, got {shown(features)}")
    database = check_graphs(graphs)
    fitted: CountFeatures = features
    if features._needs_no_fit() and not hasattr(features, "_stream_codes"):
        fitted = clone(features).fit(database)  # hashed features learn nothing from graphs
    check_is_fitted(fitted, "_stream_codes")
    start = np.asarray(intercept, dtype=np.float64)
    if start.size != 1:
        raise ValueError(f"intercept must be one number, got shape {start.shape}")
    with workers(fitted.n_jobs):
        contributions = _contributions(fitted, database, np.asarray(coef, dtype=np.float64))
    return Explanation(contributions, database.graph_ptr, start.item(), database, speaks_for, against)


def _contributions(features: CountFeatures, graphs: GraphDatabase, coef: Values) -> Values:
    """Return the contribution of each node and iteration to ``features @ coef``, (nodes, iterations)."""
    vocabulary = None if features._n_columns is not None else features._stream_codes
    streams = features._counter.count(graphs, vocabulary)
    weights = _bin_weights(features, streams, coef)
    codes = [stream.codes for stream in streams]
    contributions = split_by_node(features._counter, graphs, codes, weights)
    if features.normalize:
        scale = inverse_length(features._lengths(streams, features._joined(streams)))
        contributions *= scale[graphs.graph_ids][:, None]
    return contributions


def _bin_weights(features: CountFeatures, streams: Sequence[StreamCounts], coef: Values) -> list[Values]:
    """Return the weights of the bins of each stream; 0 for bins without a column."""
    ends = np.cumsum([len(codes) for codes in features._stream_codes])
    width = int(ends[-1]) if features._n_columns is None else features._n_columns
    if coef.shape not in ((width,), (1, width)):
        raise ValueError(
            f"coef must have shape ({width},), one coefficient per column, got shape {coef.shape}: of "
            "several classes, explain one by its row coef_[k] and intercept_[k]"
        )
    coef = coef.reshape(width)
    if features._n_columns is not None:
        columns = [
            hashed_column(t, h, stream.codes, width)
            for stream, (t, h) in zip(streams, numbered(streams), strict=True)
        ]
        return [np.sqrt(s.weight) * coef[c] for s, c in zip(streams, columns, strict=True)]
    weights = []
    for stream, part in zip(streams, np.split(coef, ends[:-1]), strict=True):
        no_column = np.zeros(len(stream.codes) - len(part))
        weights.append(np.sqrt(stream.weight) * np.concatenate([part, no_column]))
    return weights
