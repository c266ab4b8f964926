"""Baselines of the paper: kernels of node attributes alone, and of counts of node labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.checks import check_choice
from propkernels._utils.typing import BaseKernelLike
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.pairs import (
    ATTRIBUTE_KERNELS,
    NodeComparison,
    Nodes,
    TiledComparison,
)
from propkernels.kernels.weisfeiler_lehman import RefinementCoder
from propkernels.propagation.initial import LABEL_SOURCES, resolve_source


@dataclass(kw_only=True, eq=False, repr=False)
class AttributeKernel(CountKernel):
    """Mean of a node kernel over all pairs of nodes, without edges: the baseline A of the paper.

    Parameters
    ----------
    attributes : {"gaussian", "linear", "truncated"}, default="gaussian"
        Kernel between attributes: ``exp(-gamma |x - y|^2)``; x . y; or the Gaussian if ``|x - y| <= 1``,
        else 0.
    labels : {"auto", "node", "degree", None}, default=None
        Labels that must be equal; None: labels are not compared.
    gamma : float or None, default=None
        Factor in the exponent; None: 1 / (number of attribute dimensions).
    standardize : bool, default=True
        Scale attributes to mean 0 and variance 1 over the training nodes. Missing values are replaced by the
        mean of the graph, or of the training nodes.
    normalize : bool, default=False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores.

    See Also
    --------
    PropagationKernel : Compares labels, structure and attributes.
    propkernels.kernels.LabelHistogram : The baseline for labels.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.4, the baseline A.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> graphs = [(edge, None, [[0.0], [0.0]]), (edge, None, [[0.0], [1.0]])]
    >>> pk.kernels.AttributeKernel(standardize=False).fit_transform(graphs).round(3)
    array([[1.   , 0.684],
           [0.684, 0.684]])
    """

    attributes: str = "gaussian"
    labels: str | None = None
    gamma: float | None = None
    standardize: bool = True
    normalize: bool = False
    n_jobs: int | None = None

    _is_dot_product = False

    def _learn_coder(self, graphs: GraphDatabase) -> MeanOverPairs:
        check_choice(self.attributes, ATTRIBUTE_KERNELS[1:], "attributes")
        return MeanOverPairs(NodeComparison.learn(graphs, self))


@dataclass(frozen=True)
class MeanOverPairs(TiledComparison):
    """Mean node kernel over all pairs of nodes."""

    nodes: NodeComparison
    data_type: ClassVar[type] = Nodes

    def count(self, graphs: GraphDatabase, known: None) -> Nodes:
        """Return labels and attributes of the nodes."""
        return self.nodes.nodes(graphs)

    def tile(self, left: Nodes, rows: slice, right: Nodes, columns: slice) -> NDArray[np.float64]:
        """Return the kernel between two runs of graphs, (rows, columns)."""
        a, b = left.some(rows), right.some(columns)
        out = np.empty((len(a.ptr) - 1, len(b.ptr) - 1))
        _core.sum_blocks(self.nodes.matrix(a, b), a.ptr, b.ptr, out)
        return out / np.maximum(np.outer(np.diff(a.ptr), np.diff(b.ptr)), 1)


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
class LabelHistogram(LabelParameters, CountKernel):
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
