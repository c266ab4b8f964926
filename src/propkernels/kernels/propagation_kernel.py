"""Propagation kernels: PropagationKernel, P2K, PropagationFeatures, and their common coder."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import check_choice, check_streams, check_width, format_table
from propkernels._utils.randomness import draw_seed
from propkernels._utils.stored import is_whole, require
from propkernels._utils.typing import BaseKernelLike, Floats, PriorLike, Seed
from propkernels.codes.attribute_codes import AttributeCoder
from propkernels.codes.codes import METRICS, CodeStreams, LocalitySensitiveHash, label_codes
from propkernels.convert.check import check_graphs
from propkernels.counts.counters import Coder, Known, StreamCounts, count_spread, numbered
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs, GridDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.count_kernel import IteratedKernel, learn_in_time
from propkernels.propagation.attributes import (
    AttributeTreatment,
    GaussianMixtures,
    Standardizer,
    Training,
    resolve_attributes,
    way_of,
)
from propkernels.propagation.imputer import fill_labels
from propkernels.propagation.initial import (
    KNOWN_SOURCES,
    LABEL_SOURCES,
    UNKNOWN,
    InitialDistributions,
    Prior,
    check_edge_labels,
    initial_distributions,
    label_column,
    label_source,
    learn_prior,
)
from propkernels.propagation.schemes import EdgeFactors, PropagationScheme, SchemeLike, resolve_scheme

_LABELS, _ATTRIBUTES = 0, 1


@dataclass(frozen=True)
class PropagationCoder(Coder):
    """Settings of a fitted propagation kernel, from which codes of any graph are computed.

    Attributes
    ----------
    scheme : PropagationScheme
    source : {"node", "degree", "log_degree", None}
        Source of labels.
    prior : Prior
        Initial distribution of unobserved nodes.
    lsh : LocalitySensitiveHash
    t_max, n_hashes : int
    attributes : AttributeCoder or None
        Coder of attributes, if there are any.
    edge_labels : bool
        Whether propagated values depend on edge labels.
    fills : bool
        Whether missing labels are filled before anything propagates.
    """

    scheme: PropagationScheme
    source: str | None
    prior: Prior
    lsh: LocalitySensitiveHash
    t_max: int
    n_hashes: int
    attributes: AttributeCoder | None = None
    edge_labels: bool = False
    fills: bool = False

    def _check_parts(self) -> None:
        """Raise if t_max, n_hashes or the source of labels is out of range."""
        require(is_whole(self.t_max, 0) and is_whole(self.n_hashes, 1), "t_max or n_hashes is out of range")
        require(self.source in KNOWN_SOURCES, "the source of labels is unknown")

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any, attributes: Any) -> PropagationCoder:
        """Return a coder from validated parameters of an estimator and the training graphs."""
        check_choice(parameters.labels, LABEL_SOURCES, "labels")
        check_choice(parameters.metric, METRICS, "metric")
        t_max, n_hashes = check_streams(parameters.t_max, parameters.n_hashes)
        bin_width = check_width(parameters.bin_width, "bin_width")
        edge_labels = bool(parameters.edge_labels)
        check_edge_labels(graphs, edge_labels)
        if edge_labels and parameters.metric == "hellinger":
            raise ValueError("edge_labels=True needs a metric that projects: tv, l1 or l2; got 'hellinger'")
        source = label_source(graphs, parameters.labels)
        column = label_column(graphs, source)
        scheme = resolve_scheme(parameters.propagation, isinstance(graphs, GridDatabase))
        fills = isinstance(parameters.propagation, str) and parameters.propagation == "auto"
        seed = draw_seed(parameters.random_state)
        lsh = LocalitySensitiveHash(parameters.metric, bin_width, seed, _LABELS)
        factors = EdgeFactors(seed, _ATTRIBUTES) if edge_labels else None
        attribute_coder = _learn_attributes(graphs, parameters, attributes, scheme, t_max, seed, factors)
        prior = learn_prior(column, parameters.prior)
        return cls(scheme, source, prior, lsh, t_max, n_hashes, attribute_coder, edge_labels, fills)

    def restricted(self, t_max: int) -> PropagationCoder:
        """Return a coder for the first iterations."""
        return replace(self, t_max=t_max)

    def codes(self, graphs: GraphDatabase) -> Iterable[CodeStreams]:
        """Return codes of all nodes for t = 0..t_max; with attributes, one block per iteration."""
        labels = label_codes(*self.label_arguments(graphs))
        return [labels] if self.attributes is None else self.attributes.join(graphs, labels)

    def counted_directly(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts] | None:
        """Return the counts of attributes that spread along edges; None for other kernels."""
        if self.attributes is None or not self.attributes.spreads:
            return None
        labels = label_codes(*self.label_arguments(graphs))
        return count_spread(self.attributes.spread(graphs, labels), graphs.graph_ptr, known)

    def label_arguments(self, graphs: GraphDatabase) -> tuple[Any, ...]:
        """Return the arguments of ``label_codes`` for all nodes."""
        factors = EdgeFactors(self.lsh.seed, _LABELS) if self.edge_labels else None
        initial = self.initial(graphs)
        return graphs, self.scheme, initial, self.lsh, self.t_max, self.n_hashes, factors

    def initial(self, graphs: GraphDatabase) -> InitialDistributions:
        """Return P_0 of all nodes."""
        column = label_column(graphs, self.source)
        return initial_distributions(fill_labels(graphs, column) if self.fills else column, self.prior)

    def device_streams(self, graphs: GraphDatabase, runtime: Any) -> Any:
        """Return codes on a GPU; None if only the CPU can compute them, as those of attributes."""
        if self.attributes is not None:
            return None
        from propkernels.gpu.device_codes import label_streams

        return label_streams(runtime, *self.label_arguments(graphs))

    @property
    def known_labels(self) -> list[Any]:
        """Labels of the training graphs."""
        return [value for value in self.prior.values if value != UNKNOWN] if self.reads_labels else []

    @property
    def n_streams(self) -> int:
        """Number of codes per node; with attributes, an estimate."""
        return (self.t_max + 1) * self.n_hashes * (1 if self.attributes is None else 8)


def _learn_attributes(
    graphs: GraphDatabase,
    parameters: Any,
    attributes: Any,
    scheme: PropagationScheme,
    t_max: int,
    seed: int,
    edge_factors: EdgeFactors | None,
) -> AttributeCoder | None:
    """Validate the parameters of attributes, and return their coder; None without attributes."""
    check_choice(parameters.attribute_metric, METRICS, "attribute_metric")
    widths = parameters.attribute_bin_width
    widths = widths if isinstance(widths, (list, tuple)) else [widths]
    if not widths:
        raise ValueError("attribute_bin_width must be a number or several numbers, got none")
    widths = list(map(partial(check_width, name="attribute_bin_width"), widths))
    if attributes is None:
        return None
    treatment = resolve_attributes(attributes)
    standardizer = Standardizer.learn(graphs, bool(parameters.standardize))
    way = way_of(scheme, graphs)
    learned = treatment.learn(Training(graphs, standardizer(graphs), t_max, way, seed, edge_factors))
    lsh, *further = (
        LocalitySensitiveHash(parameters.attribute_metric, width, seed, _ATTRIBUTES + number)
        for number, width in enumerate(widths)
    )
    return AttributeCoder(standardizer, learned, treatment.combine, lsh, tuple(further))


class Trace(NamedTuple):
    """P_t, codes and bins of all nodes, as :meth:`PropagationKernel.trace` returns them.

    Attributes
    ----------
    labels : tuple of length k
        Labels of the columns of P_t.
    nodes : ndarray of shape (N, 2)
        Graph of each node, and its number in the graph.
    distributions : ndarray of shape (t_max + 1, N, k)
        P_t.
    codes : ndarray of int64, shape (t_max + 1, N)
        Values of the (first) hash function at each t.
    bins : ndarray of int64, shape (t_max + 1, N)
        The same, numbered from 0 at each t in order of appearance.
    """

    labels: tuple[Hashable, ...]
    nodes: NDArray[np.int64]
    distributions: NDArray[np.float64]
    codes: NDArray[np.int64]
    bins: NDArray[np.int64]

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per t and node, for example for ``pandas.DataFrame``."""
        names = [f"P({label})" for label in self.labels]
        return [
            {"t": t, "graph": graph, "node": node}
            | dict(zip(names, self.distributions[t, i].tolist(), strict=True))
            | {"code": int(self.codes[t, i]), "bin": int(self.bins[t, i])}
            for t in range(len(self.codes))
            for i, (graph, node) in enumerate(self.nodes.tolist())
        ]

    def __str__(self) -> str:
        records = self.rows()
        head = list(records[0]) if records else []
        cells = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()] for row in records]
        return format_table(head, cells)


@dataclass(kw_only=True, eq=False, repr=False)
class PropagationParameters:
    """Parameters of :class:`PropagationKernel` that the features have, too."""

    propagation: SchemeLike = "auto"
    labels: str | None = "auto"
    prior: PriorLike = "uniform"
    attributes: str | AttributeTreatment | None = None
    edge_labels: bool = False
    t_max: int = 10
    metric: str = "tv"
    bin_width: float = 1e-5
    n_hashes: int = 1
    attribute_metric: str = "l1"
    attribute_bin_width: Floats | str = 1.0
    standardize: bool = True
    normalize: bool = False
    time: str = "auto"
    random_state: Seed = None
    n_jobs: int | None = None
    device: str = "cpu"
    output: str = "host"

    def _learn_coder(self, graphs: GraphDatabase) -> Coder:
        return learn_in_time(graphs, self, partial(PropagationCoder.learn, attributes=self.attributes))

    def trace(self, X: Graphs) -> Trace:
        """Return what the fitted kernel computes step by step: P_t, codes and bins of all nodes.

        For small graphs: P_t is formed at every t. Codes are those of the labels and of the first hash.
        ``print`` shows a table, ``rows()`` gives records for pandas.

        Examples
        --------
        >>> import numpy as np, propkernels as pk
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> kernel = pk.PropagationKernel(t_max=1, bin_width=0.1, random_state=0)
        >>> print(kernel.fit([(path, ["C", "O", "C"])]).trace([(path, ["C", "O", "C"])]))
        t  graph  node   P(C)   P(O)  code  bin
        0      0     0  1.000  0.000    -6    0
        0      0     1  0.000  1.000     3    1
        0      0     2  1.000  0.000    -6    0
        1      0     0  0.000  1.000    -4    0
        1      0     1  1.000  0.000     5    1
        1      0     2  0.000  1.000    -4    0
        """
        check_is_fitted(self, "_coder")
        coder = self._coder  # type: ignore[attr-defined]
        if not isinstance(coder, PropagationCoder):
            raise ValueError("graphs in time have no single trace: use time='static'")
        graphs = check_graphs(X)
        initial = coder.initial(graphs)
        order = sorted(range(len(initial.values)), key=lambda i: repr(initial.values[i]))
        prepared, start = coder.scheme.prepare(graphs, initial), initial.to_dense()
        steps = [start]
        for _ in range(coder.t_max):
            steps.append(np.asarray(coder.scheme.step(prepared, steps[-1], start), dtype=np.float64))
        codes = label_codes(*coder.label_arguments(graphs)).codes[:: coder.n_hashes]
        bins = np.array([numbered(row)[0] for row in codes], dtype=np.int64)
        places = np.arange(graphs.n_nodes) - graphs.graph_ptr[graphs.graph_ids]
        nodes = np.stack([graphs.graph_ids.astype(np.int64), places], axis=1)
        labels = tuple(initial.values[i] for i in order)
        return Trace(labels, nodes, np.stack(steps)[:, :, order], codes, bins)


@dataclass(kw_only=True, eq=False, repr=False)
class PropagationKernel(PropagationParameters, IteratedKernel):
    """Propagation kernel between graphs (Algorithms 1 to 3).

    Label distributions propagate along the edges; after each step, a locality sensitive hash puts nodes with
    similar distributions into the same bin, and graphs are compared by their numbers of nodes per bin.

    A fitted kernel does not change until the next ``fit``, and may be used by several threads.

    Parameters
    ----------
    propagation : str, PropagationScheme or callable, default="auto"
        Propagation scheme. "auto": diffusion, Eq. (1) of [1]_, or convolution on grids. Where node labels are
        missing, five steps of Eq. (3) first give each such node the label that is most probable inside
        its own graph, so that a missing label changes nothing between other graphs; a graph without any
        label starts from the ``prior``. The paper's schemes as they are: "diffusion", Eq. (1) from the
        prior; "label_propagation", Eq. (3); "push_back", Eq. (14). Other names: "lazy_diffusion",
        "absorbing_walk", "partial_absorption", "label_spreading", "belief_propagation", "convolution". Or
        an object such as ``Diffusion(laziness=0.5)`` or ``Convolution((1, 8))``; or a scheme of your own: a
        function of P_t and T = D^{-1} A that returns P_{t+1}, ``lambda P, T: (P + T @ P) / 2``, or a class
        (see :class:`PropagationScheme`), which is faster.
    labels : {"auto", "node", "degree", "log_degree", None}, default="auto"
        Initial labels: node labels; numbers of neighbors d ("degree": weights change the walk, not labels);
        their orders of magnitude (``floor(log2 d)``, for graphs in which they differ widely); or one constant
        label (None). "auto": node labels if the graphs have them, else degrees.
    prior : {"uniform", "frequency"}, mapping or sequence, default="uniform"
        Initial distribution of nodes without a label (with ``propagation="auto"``, of graphs without any):
        uniform over the labels of the training graphs, their frequencies, a mapping from labels to weights,
        or one weight for each of ``graphs.label_values``. :class:`LabelDistributions` has one per node.
    attributes : None, {"sum", "product", "joint"} or object, default=None
        Treatment of continuous node attributes. The label bin of a node is combined with attribute bins of a
        new hash per iteration. "sum": one kernel contribution per attribute dimension, as in the authors'
        program; "product": nodes must agree in all dimensions, Eq. (11); "joint": one hash of the whole
        vector. In these three, missing values (NaN) have a separate bin, so that missing
        agrees with missing only; for "joint", a vector with any missing value is missing.
        :class:`PropagatedAttributes` diffuses attributes along the edges, :class:`GaussianMixtures`
        diffuses their distributions (P2K); both fill missing values.
    edge_labels : bool, default=False
        Whether propagated values depend on edge labels. If so, two nodes are equal at iteration t if their
        walks have the same distribution over (labels of the edges, in order; label of the last node), where
        a step without a move counts as a step. Missing edge labels form one more label, and labels not seen
        in fit are distinguished like all others. Requires a metric other than "hellinger" and a scheme that
        walks along edges (diffusion, label propagation, absorbing walks, label spreading). Distances between
        unequal nodes are preserved up to a factor of the order of 1. Propagated attributes depend on edge
        labels as well: see :class:`PropagatedAttributes` and :class:`GaussianMixtures`.
    t_max : int, default=10
        Number of propagation steps; iterations t = 0, ..., t_max contribute.
    metric : {"tv", "hellinger", "l1", "l2"}, default="tv"
        Distance between distributions that the hash preserves.
    bin_width : float, default=1e-5
        Width w of the bins of the hash; wider bins merge more different distributions.
    n_hashes : int, default=1
        Independent hashes per iteration; their kernels are averaged, which lowers the variance.
    attribute_metric : {"l1", "l2", "tv", "hellinger"}, default="l1"
        Distance that the hash of attributes preserves. "tv" is the same as "l1"; "hellinger" takes square
        roots and is meant for densities (P2K): negative values count as 0.
    attribute_bin_width : float or sequence of float, default=1.0
        Bin width of attributes, in standard deviations. With several widths, their kernels are added.
    standardize : bool, default=True
        Scale each attribute to mean 0 and standard deviation 1 over the nodes of the training graphs.
    base_kernel : str or callable, default="linear"
        Kernel between counts: "linear", "rbf", "intersection", "tanimoto", "jaccard", or a function of two
        sparse count matrices; applied per iteration, and summed.
    normalize : bool, default=False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    time : {"auto", "forward", "both", "static"}, default="auto"
        For graphs in time (:func:`from_contacts`): information moves forwards in time, in both directions,
        or times are ignored. "auto": forwards in time if graphs have times.
    random_state : int, RandomState or None, default=None
        Seed of the hash functions. The same integer gives the same kernel for any order or batch of graphs,
        process or number of threads.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Device for codes, counts and kernel matrices; all devices give the same bits. "cuda" needs an NVIDIA
        GPU and the extra ``gpu``; "auto" uses a GPU if there is one and the graphs are large enough.
    output : {"host", "device"}, default="host"
        With a GPU: "device" returns kernel matrices as arrays of CuPy on the GPU.

    Attributes
    ----------
    diagonal_ : ndarray of shape (n,)
        Self-similarity of each training graph, before normalization.

    See Also
    --------
    PropagationFeatures : The explicit feature vectors of the linear base kernel.
    P2K : The kernel for continuous attributes of Algorithm 4.
    PropagationClassifier : A classifier that chooses t_max, C and normalization.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithms 1 to 3; attributes: Section 6.3.
    .. [2] M. Datar, N. Immorlica, P. Indyk and V. S. Mirrokni (2004). Locality-sensitive hashing scheme based
       on p-stable distributions. Symposium on Computational Geometry, 253-262. doi:10.1145/997817.997857.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> graphs = [(triangle, ["C", "C", "O"]), (path, ["C", "O", "C"])]
    >>> kernel = pk.PropagationKernel(t_max=1, random_state=0)
    >>> kernel.fit_transform(graphs)
    array([[10.,  6.],
           [ 6., 10.]])
    >>> kernel.transform([(path, ["C", "C", "N"])])
    array([[6., 6.]])
    """

    base_kernel: BaseKernelLike = "linear"


class P2K(PropagationKernel):
    """Propagation kernel with propagated attribute distributions (P2K, Algorithm 4).

    Equal to :class:`PropagationKernel` with ``attributes=GaussianMixtures()``. Other treatments are options
    of the mixtures: with many attributes, ``GaussianMixtures(scale="initial", ridge=1)`` is worth a try.

    Parameters
    ----------
    attributes : GaussianMixtures or None, default=None
        Mixtures and their sample points; None: ``GaussianMixtures()``.
    propagation, labels, prior, edge_labels, t_max, metric, bin_width, n_hashes, attribute_metric, \
    attribute_bin_width, standardize, base_kernel, normalize, time, random_state, n_jobs, device
        As in :class:`PropagationKernel`.

    See Also
    --------
    PropagationKernel : Other treatments of attributes, and graphs without attributes.
    propkernels.propagation.GaussianMixtures : The mixtures, with their parameters.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 4.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> graphs = [(path, ["C", "O", "C"], [0.1, 0.2, 0.3]), (path, ["C", "O", "C"], [0.1, 0.2, 0.9])]
    >>> pk.P2K(t_max=2, random_state=0).fit_transform(graphs).shape
    (2, 2)
    """

    def _learn_coder(self, graphs: GraphDatabase) -> Coder:
        mixtures = GaussianMixtures() if self.attributes is None else self.attributes
        return learn_in_time(graphs, self, partial(PropagationCoder.learn, attributes=mixtures))


@dataclass(kw_only=True, eq=False, repr=False)
class PropagationFeatures(PropagationParameters, CountFeatures):
    """Sparse features whose dot product is the propagation kernel.

    One row per graph, one column per bin, columns grouped by iteration: for linear models on many graphs,
    for inspection, and for any scikit-learn estimator that accepts a sparse matrix.

    Parameters
    ----------
    propagation, labels, prior, attributes, edge_labels, t_max, metric, bin_width, n_hashes, \
    attribute_metric, attribute_bin_width, standardize, normalize, time, random_state, n_jobs, device
        As in :class:`PropagationKernel`.
    base_kernel : {"linear", "intersection"}, default="linear"
        "linear": one column per bin, which holds its count. "intersection": one column per bin and level,
        which holds 1 if the count is at least the level, so that the dot product adds smaller counts.
    n_features : int or None, default=None
        None: one column per bin of the training graphs. A number (2**20 is usual): bins are hashed into that
        many columns, so that no vocabulary is stored and bins not seen in fit have columns too.
    output : {"host", "device"}, default="host"
        With a GPU: "device" returns a matrix of CuPy on the GPU, sparse unless ``sparse_output=False``.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    See Also
    --------
    PropagationKernel : The kernel matrix; its linear base kernel is the product of these features.
    WeisfeilerLehmanFeatures : Features of exact refinement.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 1, Phi_t.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> features = pk.PropagationFeatures(t_max=1, random_state=0)
    >>> phi = features.fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "O"])])
    >>> phi.shape
    (2, 5)
    >>> (phi @ phi.T).toarray()
    array([[10.,  7.],
           [ 7., 10.]])
    """

    base_kernel: str = "linear"
    n_features: int | None = None
    sparse_output: bool = True
