"""Label histograms: a baseline that counts node labels, as a kernel and as features."""

from __future__ import annotations

from dataclasses import dataclass

from propkernels._utils.checks import check_choice
from propkernels._utils.typing import BaseKernelLike
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.weisfeiler_lehman import RefinementCoder
from propkernels.propagation.initial import LABEL_SOURCES, resolve_source


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
