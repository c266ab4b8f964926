"""Decision columns: one per class, a single one for two classes, or one per label; their explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import shown
from propkernels._utils.parallel import workers
from propkernels._utils.stored import require
from propkernels._utils.typing import Estimator, Matrix, Values
from propkernels.convert.check import check_graphs
from propkernels.counts.bins import Bin, Bins, ChosenBin, Shown, describe_bins
from propkernels.counts.columns import hashed_column, numbered
from propkernels.counts.counters import StreamCounts
from propkernels.counts.entries import split_by_node
from propkernels.counts.products import inverse_length
from propkernels.explain.explanation import Explanation
from propkernels.explain.rule import Rule, WeightedBins
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.kernels.count_features import CountFeatures


@dataclass(frozen=True)
class DecisionLayout:
    """Meaning of decision columns.

    Attributes
    ----------
    n_classes : int
        Number of classes; 0 for numbers.
    multilabel : bool
        One column per label, positive if the graph has the label. Otherwise one column per class, whose
        largest one is predicted; with two classes a single column that is positive for the second class.
    """

    n_classes: int
    multilabel: bool = False

    def check_classes(self, classes: Any) -> None:
        """Raise ValueError unless classes of a stored model are those of the decisions."""
        require(np.ndim(classes) == 1 and self.n_classes == len(classes) >= 2, "classes differ")

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return 1 if self.n_classes == 2 and not self.multilabel else self.n_classes

    def predictions(self, decisions: Matrix) -> NDArray[np.int64]:
        """Return the class number of each row; with several labels, 0 or 1 per label."""
        if self.multilabel:
            return (decisions > 0).astype(np.int64)
        return by_class(decisions).argmax(axis=1)

    def margins(self, decisions: Matrix) -> Matrix:
        """Return how far each class is ahead of its strongest rival: (graphs, classes).

        With several labels, (graphs, labels, 2): the margins of 0 and of 1.

        Examples
        --------
        >>> DecisionLayout(3).margins(np.array([[0.5, 2.0, -1.0]]))
        array([[-1.5,  1.5, -3. ]])
        """
        if self.multilabel:
            return np.stack([-decisions, decisions], axis=2)
        if self.n_classes == 2:
            return np.hstack([-decisions, decisions])
        ordered = np.sort(decisions, axis=1)
        is_first = np.arange(self.n_classes) == decisions.argmax(axis=1)[:, None]
        return decisions - np.where(is_first, ordered[:, -2:-1], ordered[:, -1:])


def by_class(decisions: Matrix) -> Matrix:
    """Return one column per class; the single column f of two classes becomes -f and f."""
    return np.hstack([-decisions, decisions]) if decisions.shape[1] == 1 else decisions


class Comparison(NamedTuple):
    """A weighted sum of decision columns.

    Attributes
    ----------
    weights : ndarray, (columns,)
    speaks_for : Any
        Class favored by a positive sum.
    against : Any
        Class whose decision is subtracted; None: the sum is the decision of one class.
    """

    weights: NDArray[np.float64]
    speaks_for: Any
    against: Any


def compare_decisions(layout: DecisionLayout, names: Sequence[Any], classes: Any) -> Comparison:
    """Return the comparison selected by the parameter ``classes`` of ``explain``.

    Parameters
    ----------
    layout : DecisionLayout
    names : sequence
        All classes, sorted, or the numbers of labels.
    classes : class, pair of classes, or None
        The class whose column is explained; of a pair, the difference of two columns; None: the second of
        two classes. With several labels, the number of one.

    Examples
    --------
    >>> compare_decisions(DecisionLayout(2), ["cup", "pan"], None).weights
    array([1.])
    >>> compare_decisions(DecisionLayout(3), ["cup", "jar", "pan"], ("jar", "cup")).weights
    array([-1.,  1.,  0.])
    """
    known, columns = list(names), np.eye(len(names))
    if layout.multilabel:
        if classes not in known:
            last = len(known) - 1
            raise ValueError(f"classes must be the number of one label, 0 to {last}; got {shown(classes)}")
        return Comparison(columns[classes], classes, None)
    if layout.n_decisions == 1:
        columns = np.array([[-1.0], [1.0]])
        classes = (known[1], known[0]) if classes is None else classes
    pair = list(classes) if isinstance(classes, (tuple, list)) and len(classes) == 2 else [classes]
    if any(one not in known for one in pair) or len(set(pair)) < len(pair):
        raise ValueError(f"classes must be one, or two different ones, of {known}; got {shown(classes)}")
    places = [known.index(one) for one in pair]
    if layout.n_decisions == 1:
        return Comparison(columns[places[0]], pair[0], known[1 - places[0]])
    if len(pair) == 1:
        return Comparison(columns[places[0]], pair[0], None)
    return Comparison(columns[places[0]] - columns[places[1]], *pair)


def explain_rule(
    rule: Rule,
    graphs: GraphDatabase,
    weights: Any,
    intercepts: Any,
    speaks_for: Any = None,
    against: Any = None,
) -> Explanation:
    """Return the explanation of a weighted sum of a rule's decisions, as a sum over nodes and iterations.

    Each node contributes the weight of its bin. If bins count items other than nodes, the weight of an item
    is divided equally among its nodes: among the two ends of a shortest path, or among all nodes of a
    subgraph; a position on a path (GraphHopper) belongs to the node at that position.

    For ratios of counts (Tanimoto, Jaccard), weights of bins differ from graph to graph. There, the
    similarity to each training graph is divided among the nodes whose bins also occur in that training graph.

    Parameters
    ----------
    rule : Rule
        A rule on counts of bins.
    graphs : GraphDatabase or GridDatabase
    weights : array-like, (decisions,), or None
        Weight of each decision; ``[1.0]`` for a rule with one decision. None: the largest decision of each
        graph, and ``speaks_for`` are the classes.
    intercepts : array-like, (decisions,)
        Intercept of each decision.
    speaks_for, against : Any
        The classes compared, if any; see :class:`~propkernels.explain.Explanation`.
    """
    known = np.asarray(intercepts, dtype=np.float64)
    rows = np.eye(len(known)) if weights is None else np.asarray(weights, dtype=np.float64)[None, :]
    largest = None if weights is not None else lambda decisions: (decisions + known).argmax(axis=1)
    found = rule.terms(graphs, rows, largest)
    intercept: Any = known[found.chosen] if weights is None else float(rows[0] @ known)
    speaks_for = speaks_for[found.chosen] if weights is None else speaks_for
    terms = 0.0 if rule.compares_bins else found.descriptors
    return Explanation(
        found.nodes, graphs.graph_ptr, intercept, graphs, speaks_for, against, descriptor_terms=terms
    )


def strongest_bins(
    members: Sequence[WeightedBins],
    n: int,
    graphs: Any,
    target: NDArray[np.float64] | None,
    molecules: Any,
    label_names: Mapping[Any, str] | None,
    subject: str,
) -> Bins:
    """Return descriptions of the bins with the largest absolute weights.

    Parameters
    ----------
    members : sequence of WeightedBins
        Weights of the bins of each member of a rule.
    n : int
    graphs : GraphDatabase or GridDatabase
        Source of examples.
    target : ndarray of float64, (n,), or None
    molecules : sequence of rdkit.Chem.Mol, or None
    label_names : mapping or None
    subject : str
    """
    member = np.repeat(np.arange(len(members)), [len(one.codes) for one in members])
    stream, codes, values = (
        np.concatenate([getattr(one, name) for one in members]) for name in ("stream", "codes", "weights")
    )
    # ties are broken by stream, member and code, so the order of training graphs does not matter
    sizes = np.abs(values)
    large = np.flatnonzero(sizes >= np.partition(sizes, -n)[-n]) if n < len(sizes) else np.arange(len(sizes))
    order = large[np.lexsort((codes[large], member[large], stream[large], -sizes[large]))[:n]]
    shown = Shown(graphs, target, molecules, label_names or {})
    described: dict[int, Bin] = {}
    for number, one in enumerate(members):
        own = order[member[order] == number]
        chosen = [ChosenBin(int(stream[i]), int(codes[i]), None, float(values[i])) for i in own]
        found = describe_bins(one.counter, chosen, shown) if chosen else []
        described |= {i: replace(bin_, member=number) for i, bin_ in zip(own.tolist(), found, strict=True)}
    return Bins([described[i] for i in order.tolist()], subject)


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
        vocabulary = None if fitted._n_columns is not None else fitted._stream_codes
        streams = fitted._counter.count(database, vocabulary)
        weights = _bin_weights(fitted, streams, np.asarray(coef, dtype=np.float64))
        codes = [stream.codes for stream in streams]
        contributions = split_by_node(fitted._counter, database, codes, weights)
        if fitted.normalize:
            scale = inverse_length(fitted._lengths(streams, fitted._joined(streams)))
            contributions *= scale[database.graph_ids][:, None]
    return Explanation(contributions, database.graph_ptr, start.item(), database, speaks_for, against)


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
