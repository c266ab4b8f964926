"""Weisfeiler-Lehman subtree kernel, and counts of labels, its first iteration; features, and their coder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propkernels._utils.checks import check_choice, check_streams
from propkernels._utils.stored import is_whole, require
from propkernels._utils.typing import BaseKernelLike
from propkernels.codes.codes import CodeStreams, multiset_codes
from propkernels.counts.counters import Coder
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import entry_of, number_of_entries
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.count_kernel import IteratedKernel, learn_in_time
from propkernels.propagation.initial import (
    ENTRIES,
    KNOWN_SOURCES,
    LABEL_SOURCES,
    check_edge_labels,
    edge_keys,
    entries_of,
    is_entry,
    label_column_keys,
    node_keys,
    plain_labels,
    resolve_source,
)


@dataclass(frozen=True)
class RefinementCoder(Coder):
    """Settings of a fitted Weisfeiler-Lehman kernel, from which codes of any graph are computed.

    Attributes
    ----------
    source : {"node", "degree", None}
        Source of labels.
    edge_labels, edge_weights : bool
        Whether edge labels, and edge weights, distinguish neighbors.
    t_max : int
    width : int or None
        Number of entries of every label, if entries are refined; None: labels are refined as a whole.
    entries : tuple of int
        Entries that are refined.
    """

    source: str | None
    edge_labels: bool
    edge_weights: bool
    t_max: int
    width: int | None = None
    entries: tuple[int, ...] = ()

    def _check_parts(self) -> None:
        """Raise if the number of iterations, the source of labels or an entry is out of range."""
        require(is_whole(self.t_max, 0), "the number of iterations is out of range")
        require(self.source in KNOWN_SOURCES, "the source of labels is unknown")
        are_known = all(is_whole(entry, 0) and entry < (self.width or 0) for entry in self.entries)
        require(are_known and (self.width is None or self.entries), "an entry is out of range")

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> RefinementCoder:
        """Return a coder from validated parameters of an estimator and the training graphs."""
        labels = parameters.labels
        of_entries = is_entry(labels) or (isinstance(labels, str) and labels == ENTRIES)
        if not of_entries:
            check_choice(labels, LABEL_SOURCES, "labels")
        t_max, _ = check_streams(parameters.t_max, 1)
        check_edge_labels(graphs, parameters.edge_labels)
        source = resolve_source(graphs, "node" if of_entries else labels)
        settings = source, bool(parameters.edge_labels), bool(parameters.edge_weights), t_max
        return cls(*settings, *entries_of(graphs, labels)) if of_entries else cls(*settings)

    def restricted(self, t_max: int) -> RefinementCoder:
        """Return a coder for the first iterations."""
        return replace(self, t_max=t_max)

    def codes(self, graphs: GraphDatabase) -> list[CodeStreams]:
        """Return codes of all nodes, ordered by t = 0..t_max, then by entry."""
        edges = edge_keys(graphs, self.edge_labels, self.edge_weights)
        if self.width is None:
            return [multiset_codes(graphs, node_keys(graphs, self.source), edges, self.t_max)]
        column = plain_labels(graphs, "node")
        if len(graphs) and number_of_entries(column, self.width) != self.width:
            raise ValueError(
                f"node labels have {number_of_entries(column)} entries, but labels of the training graphs "
                f"have {self.width}"
            )
        parts = [
            multiset_codes(graphs, label_column_keys(entry_of(column, entry)), edges, self.t_max).codes
            for entry in self.entries
        ]
        codes = np.stack(parts, axis=1).reshape(self.n_streams, graphs.n_nodes)
        iterations = np.repeat(np.arange(self.t_max + 1), len(self.entries))
        return [CodeStreams(codes, iterations, np.ones(len(iterations)))]

    def device_streams(self, graphs: GraphDatabase, runtime: Any) -> Any:
        """Return codes on a GPU; None for entries, which are coded on the CPU only."""
        if self.width is not None:
            return None
        from propkernels.gpu.device_codes import refinement_streams

        edges = edge_keys(graphs, self.edge_labels, self.edge_weights)
        return refinement_streams(graphs, node_keys(graphs, self.source), edges, self.t_max, runtime)

    @property
    def n_streams(self) -> int:
        """Number of codes per node."""
        return (self.t_max + 1) * max(len(self.entries), 1)


@dataclass(kw_only=True, eq=False, repr=False)
class WeisfeilerLehmanParameters:
    """Parameters of :class:`WeisfeilerLehman` that the features have, too."""

    t_max: int = 10
    labels: str | int | None = "auto"
    edge_labels: bool = False
    edge_weights: bool = False
    normalize: bool = False
    time: str = "auto"
    n_jobs: int | None = None
    device: str = "cpu"
    output: str = "host"

    def _learn_coder(self, graphs: GraphDatabase) -> Coder:
        return learn_in_time(graphs, self, RefinementCoder.learn)


@dataclass(kw_only=True, eq=False, repr=False)
class WeisfeilerLehman(WeisfeilerLehmanParameters, IteratedKernel):
    """Weisfeiler-Lehman subtree kernel (Shervashidze et al., JMLR 2011, Definition 5).

    In each iteration, the label of a node becomes the pair of its label and the multiset of its neighbors'
    labels; graphs are compared by their numbers of nodes per label in all iterations.

    Parameters
    ----------
    t_max : int, default=10
        Number of refinements; iterations t = 0, ..., t_max contribute.
    labels : {"auto", "node", "degree", "entries", None} or int, default="auto"
        Labels at t = 0: node labels, numbers of neighbors, or one constant label. "auto": node labels if the
        graphs have them, else degrees. Unobserved labels form one more label; to impute them first (LP+WL in
        the paper), use :class:`LabelImputer` in a pipeline: see the second example. For labels that are
        tuples, such as a coarse and a fine label of an atom, "entries" refines each entry separately, and
        the kernel is the sum over the entries; a whole number refines only this entry.
    edge_labels : bool, default=False
        Whether edge labels distinguish neighbors.
    edge_weights : bool, default=False
        Whether edge weights distinguish neighbors; weights are ignored otherwise.
    base_kernel : str or callable, default="linear"
        Kernel between counts; see :class:`PropagationKernel`.
    normalize : bool, default=False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    time : {"auto", "forward", "both", "static"}, default="auto"
        For graphs in time (:func:`from_contacts`): information moves forwards in time, in both directions,
        or times are ignored. "auto": forwards in time if graphs have times.
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
    WeisfeilerLehmanFeatures : The explicit feature vectors.
    PropagationKernel : Propagates distributions instead of multisets of labels.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt (2011).
       Weisfeiler-Lehman graph kernels. Journal of Machine Learning Research 12, 2539-2561. Definition 5 and
       Algorithm 2.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> graphs = [(triangle, ["C", "C", "O"]), (path, ["C", "O", "C"])]
    >>> pk.WeisfeilerLehman(t_max=1).fit_transform(graphs)
    array([[10.,  6.],
           [ 6., 10.]])

    Missing labels are imputed by label propagation, then refined:

    >>> from sklearn.pipeline import make_pipeline
    >>> partial = [(triangle, ["C", None, "O"]), (path, ["C", "O", None])]
    >>> imputer = pk.propagation.LabelImputer()
    >>> make_pipeline(imputer, pk.WeisfeilerLehman(t_max=1)).fit_transform(partial).shape
    (2, 2)
    """

    base_kernel: BaseKernelLike = "linear"


@dataclass(kw_only=True, eq=False, repr=False)
class WeisfeilerLehmanFeatures(WeisfeilerLehmanParameters, CountFeatures):
    """Sparse features whose dot product is the Weisfeiler-Lehman subtree kernel.

    One row per graph, one column per iteration and label (Shervashidze et al., JMLR 2011, Definition 5).

    Parameters
    ----------
    t_max, labels, edge_labels, edge_weights, normalize, time, n_jobs, device
        As in :class:`WeisfeilerLehman`.
    base_kernel : {"linear", "intersection"}, default="linear"
        "linear": one column per bin, which holds its count. "intersection": one column per bin and level,
        which holds 1 if the count is at least the level, so that the dot product adds smaller counts.
    n_features : int or None, default=None
        None: one column per label of the training graphs. A number (2**20 is usual): labels are hashed into
        that many columns, so that labels not seen in fit have columns too.
    output : {"host", "device"}, default="host"
        With a GPU: "device" returns a matrix of CuPy on the GPU, sparse unless ``sparse_output=False``.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    See Also
    --------
    WeisfeilerLehman : The kernel matrix.
    PropagationFeatures : Features of propagated distributions.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt (2011).
       Weisfeiler-Lehman graph kernels. Journal of Machine Learning Research 12, 2539-2561. Definition 5.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> features = pk.WeisfeilerLehmanFeatures(t_max=1)
    >>> features.fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "O"])]).shape
    (2, 7)
    """

    base_kernel: str = "linear"
    n_features: int | None = None
    sparse_output: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class LabelParameters:
    """Parameters of :class:`LabelHistogram` that the features have, too."""

    labels: str | None = "auto"
    normalize: bool = False
    n_jobs: int | None = None

    def _learn_coder(self, graphs: GraphDatabase) -> RefinementCoder:
        check_choice(self.labels, LABEL_SOURCES, "labels")
        return RefinementCoder(resolve_source(graphs, self.labels), False, False, 0)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelHistogram(LabelParameters, IteratedKernel):
    """Kernel on counts of node labels: the baseline LABELS of the paper, a propagation kernel with t_max=0.

    Parameters
    ----------
    labels : {"auto", "node", "degree", None}, default="auto"
        Node labels, numbers of neighbors, or one constant label; "auto": node labels where the graphs have
        them, else degrees. Unobserved labels form one more label.
    base_kernel : str or callable, default="linear"
        Kernel between counts; see :class:`PropagationKernel`.
    normalize : bool, default=False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores.

    Attributes
    ----------
    diagonal_ : ndarray of shape (n,)
        Self-similarity of each training graph, before normalization.

    See Also
    --------
    PropagationKernel : With t_max=0 it counts labels as well.
    propkernels.kernels.AttributeKernel : The baseline for attributes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.4, the baseline LABELS.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.kernels.LabelHistogram().fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "N"])])
    array([[5., 4.],
           [4., 5.]])
    """

    base_kernel: BaseKernelLike = "linear"


@dataclass(kw_only=True, eq=False, repr=False)
class LabelHistogramFeatures(LabelParameters, CountFeatures):
    """Sparse features whose dot product is the label histogram kernel: one column per label.

    Parameters
    ----------
    labels, normalize, n_jobs
        As in :class:`LabelHistogram`.
    base_kernel : {"linear", "intersection"}, default="linear"
        "linear": one column per bin, which holds its count. "intersection": one column per bin and level,
        which holds 1 if the count is at least the level, so that the dot product adds smaller counts.
    n_features : int or None, default=None
        None: one column per label of the training graphs. A number (2**20 is usual): labels are hashed into
        that many columns, so that labels not seen in fit have columns too.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    See Also
    --------
    propkernels.kernels.LabelHistogram : The kernel.
    PropagationFeatures : Features of labels and their neighborhoods.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.4, the baseline LABELS.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> features = pk.kernels.LabelHistogramFeatures(base_kernel="intersection")
    >>> phi = features.fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "C"])])
    >>> (phi @ phi.T).toarray()
    array([[3., 2.],
           [2., 3.]])
    """

    base_kernel: str = "linear"
    n_features: int | None = None
    sparse_output: bool = True
