"""Base classes of estimators that count codes, and of kernel matrices from counts; views of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import GraphInput, check_choice, shown
from propkernels._utils.parallel import active_device, running_on, threaded
from propkernels._utils.stored import require
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.convert.check import check_graphs
from propkernels.counts.base_kernels import BaseKernel, resolve_base_kernel
from propkernels.counts.counters import Coder, Counter, StreamCounts
from propkernels.counts.products import Counting, normalized, normalized_square
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.moments import VIEWS, last_nodes, seen

BOOLEANS = (
    *("connected", "edge_labels", "edge_weights", "weighted"),
    *("normalize", "normalize_parts", "sparse_output", "standardize"),
)


def check_options(estimator: Any) -> None:
    """Validate boolean parameters, and where results are wanted."""
    check_choice(getattr(estimator, "output", "host"), ("host", "device"), "output")
    for name in BOOLEANS:
        value = getattr(estimator, name, False)
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} must be True or False, got {shown(value)}")


class CountEstimator(GraphInput, TransformerMixin, BaseEstimator, ABC):
    """Base class of estimators that count codes; subclasses define the codes by ``_learn_coder``."""

    n_jobs: int | None
    device: str = "cpu"  # default of estimators without this parameter

    def _device(self, graphs: GraphDatabase) -> Any:
        """Return the GPU to compute on; None for the CPU."""
        if isinstance(self.device, str) and self.device == "cpu":
            return None
        from propkernels.gpu.pipeline import resolve_device

        return resolve_device(self.device, graphs.n_nodes)

    @property
    def _stays_on_device(self) -> bool:
        """Whether results stay on the device; they never do if the CPU computes."""
        return active_device() is not None and getattr(self, "output", "host") == "device"


Matrix = NDArray[np.float64]


class Comparison(ABC):
    """Kernel of graphs that is no function of counts of codes: a counter and a base kernel in one.

    ``count`` returns the data of graphs, in place of counts; the methods of base kernels compare them.
    """

    @abstractmethod
    def count(self, graphs: GraphDatabase, known: None) -> Any:
        """Return the data of graphs that are compared."""

    @abstractmethod
    def square(self, data: Any) -> Matrix:
        """Return the kernel among training graphs."""

    @abstractmethod
    def cross(self, new: Any, train: Any) -> Matrix:
        """Return the kernel of new against training graphs."""

    @abstractmethod
    def diagonal(self, data: Any) -> Matrix:
        """Return k(x, x) of each graph."""

    @abstractmethod
    def check_data(self, data: Any, n_graphs: int) -> None:
        """Raise unless the data are those of training graphs."""

    def matrices_at_once(self, data: Any) -> int:
        """Return the number of matrices of the kernel's shape in memory at a time."""
        return 1

    def diagonal_in(self, kernel: Matrix, data: Any) -> Matrix:
        """Return k(x, x), given the kernel among training graphs."""
        return kernel.diagonal().copy()


class CountKernel(ClassNamePrefixFeaturesOutMixin, CountEstimator):
    """Base class of kernels: of base kernels between counts of codes, or of a :class:`Comparison`."""

    _base_kernel: BaseKernel | Comparison
    _coder: Any
    _counts: Any  # of the training graphs: a list of StreamCounts, or the data of a comparison
    diagonal_: NDArray[np.float64]
    _n_features_out: int
    base_kernel: Any = "linear"  # default of kernels without this parameter
    normalize: bool

    @abstractmethod
    def _learn_coder(self, graphs: GraphDatabase) -> Counter | Comparison:
        """Validate the parameters, and return the counter, or the comparison, of the training graphs."""

    @threaded
    def fit(self, X: Graphs, y: object = None) -> Self:
        """Learn the bins of the training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        database = check_graphs(X)
        with running_on(self._device(database)):
            base_kernel, _, counts = learned = self._learn(database)
            self._keep(*learned, base_kernel.diagonal(counts))
        return self

    @threaded
    def fit_transform(self, X: Graphs, y: object = None, **fit_params: object) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n), of CuPy with ``output="device"``
        """
        database = check_graphs(X)
        n = len(database)
        check_room(n, n)
        device = self._device(database)
        with (
            running_on(device),
            nullcontext() if device is None else device.square(n, not self._stays_on_device),
        ):
            base_kernel, _, counts = learned = self._learn(database)
            on_cpu = device is None or isinstance(base_kernel, Comparison)
            found = None if on_cpu else self._computed_on_device(base_kernel, counts)
            if found is None:
                check_room(n, n, base_kernel.matrices_at_once(counts))
                kernel = base_kernel.square(counts)
                diagonal = base_kernel.diagonal_in(kernel, counts)
                if self.normalize:
                    normalized_square(kernel, diagonal)
                found = self._placed(kernel), diagonal
        self._keep(*learned, found[1])
        return found[0]

    def _computed_on_device(
        self, base_kernel: Any, counts: list[StreamCounts]
    ) -> tuple[Any, NDArray[np.float64]] | None:
        """Return the kernel matrix of the training graphs from a device, and k(x, x) before normalization.

        None if the CPU has to compute them.
        """
        device, products = active_device(), base_kernel.products(counts)
        if products is None:
            return None
        diagonal = base_kernel.diagonal(counts)
        kernel = device.kernel_matrix(products, diagonal if self.normalize else None)
        if self._stays_on_device:
            if kernel is None:
                shape = f"{len(diagonal):,} x {len(diagonal):,}"
                raise ValueError(
                    f'a kernel matrix of {shape} does not fit the memory of the GPU: use output="host"'
                )
            return kernel, diagonal
        if kernel is None:
            return None
        are_whole = not self.normalize and all(weight == 1.0 for weight, _ in products)
        return device.to_host(kernel, diagonal.max(initial=0.0) if are_whole else None), diagonal

    @threaded
    def transform(self, X: Graphs) -> Matrix:
        """Return the kernel of new graphs against the training graphs.

        Labels and bins that were not seen in fit are treated exactly; in particular, normalization uses all
        bins of a new graph.

        Returns
        -------
        ndarray of shape (m, n)
        """
        check_is_fitted(self, "_counts")
        database = check_graphs(X)
        check_room(len(database), len(self.diagonal_), self._base_kernel.matrices_at_once(self._counts))
        new = self._count(database)
        kernel = self._base_kernel.cross(new, self._counts)
        if self.normalize:
            normalized(kernel, self._base_kernel.diagonal(new), self.diagonal_)
        with running_on(self._device(database)):
            return self._placed(kernel)

    def _placed(self, kernel: Matrix) -> Any:
        """Return a kernel matrix of the host, or its copy on the device if it is wanted there."""
        return active_device().to_device(kernel) if self._stays_on_device else kernel

    @threaded
    def self_similarities(self, X: Graphs) -> NDArray[np.float64]:
        """Return k(x, x) of new graphs over all of their bins, before normalization.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "_counts")
        return self._base_kernel.diagonal(self._count(check_graphs(X)))

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts; if so, ``_counter`` exists after fit."""
        return resolve_base_kernel(self.base_kernel).is_dot_product

    @property
    def _has_constant_diagonal(self) -> bool:
        """Whether k(x, x) is the same for all graphs with nodes, without normalization."""
        return resolve_base_kernel(self.base_kernel).has_constant_diagonal

    @property
    def _counter(self) -> Counter | None:
        """Counter of the features, if the kernel is a dot product of counts; else None."""
        base_kernel = self._base_kernel
        return None if isinstance(base_kernel, Comparison) else base_kernel.counter(self._coder)

    @property
    def _training_counts(self) -> list[StreamCounts]:
        """Counts of the training graphs by ``_counter``."""
        base_kernel: Any = self._base_kernel
        counts: list[StreamCounts] = base_kernel.features(self._counts)
        return counts

    @property
    def _counting(self) -> Counting | None:
        """Counts and their comparison, if graphs are compared bin by bin; else None."""
        base_kernel = self._base_kernel
        if isinstance(base_kernel, Comparison) or base_kernel.assigned is None:
            return None
        return Counting(
            self._coder, self._counts, base_kernel.assigned, base_kernel.is_ratio, bool(self.normalize)
        )

    def _count(self, graphs: GraphDatabase) -> Any:
        is_counted = isinstance(self._coder, Counter)
        with running_on(self._device(graphs)):
            return self._coder.count(graphs, [s.codes for s in self._counts] if is_counted else None)

    def _restricted(self, t: int | None, normalize: bool) -> Self:
        """Return a fitted copy with fewer iterations, from the counts of this kernel.

        Parameters
        ----------
        t : int or None
            Last iteration; None: all iterations.
        normalize : bool
            Whether the copy is normalized.

        Returns
        -------
        estimator
            Equal to a kernel with these parameters fitted to the same graphs.
        """
        check_is_fitted(self, "_counts")
        kernel = clone(self).set_params(normalize=normalize)
        if t is None:
            kernel._keep(self._base_kernel, self._coder, self._counts, self.diagonal_)
            return kernel
        kernel.set_params(t_max=t)
        counts = [stream for stream in self._counts if stream.iteration <= t]
        diagonal = self._base_kernel.diagonal(counts)
        kernel._keep(self._base_kernel, self._coder.restricted(t), counts, diagonal)
        return kernel

    def _learn(self, graphs: GraphDatabase) -> tuple[BaseKernel | Comparison, Any, Any]:
        """Compute the fitted state without changing self, so that a failed fit changes nothing."""
        base_kernel = resolve_base_kernel(self.base_kernel)
        check_options(self)
        coder = self._learn_coder(graphs)
        counts = coder.count(graphs, None)
        if isinstance(coder, Comparison):
            return coder, coder, counts
        base_kernel.fit(counts)
        return base_kernel, coder, counts

    def _keep(
        self, base_kernel: BaseKernel | Comparison, coder: Any, counts: Any, diagonal: NDArray[np.float64]
    ) -> None:
        self._base_kernel, self._coder = base_kernel, coder
        self._counts, self.diagonal_ = counts, diagonal
        self._n_features_out = len(diagonal)

    def _check_parts(self) -> None:
        """Raise if streams have counts of different graphs."""
        if hasattr(self, "_counts") and isinstance(self._base_kernel, Comparison):
            require(self._coder is self._base_kernel, "a comparison is its own counter")
            self._base_kernel.check_data(self._counts, len(self.diagonal_))
        elif hasattr(self, "_counts"):
            sizes = {stream.counts.shape[0] for stream in self._counts}
            require(len(sizes) == 1, "all streams must have counts of the same graphs")
            require(isinstance(self._coder, Counter), "_coder must be a counter")
            require(self.diagonal_.shape == (*sizes,), "every graph needs a self-similarity")


class IteratedKernel(CountKernel):
    """Base class of kernels with iterations."""

    @threaded
    def fit_transform_cumulative(self, X: Graphs, y: object = None) -> Matrix:
        """Fit, and return the kernel matrices of t_max = 0, 1, ... from one pass.

        Returns
        -------
        ndarray of shape (t_max + 1, n, n)
            Entry ``t`` is the kernel matrix with ``t_max=t``.
        """
        database = check_graphs(X)
        check_room(len(database), len(database))
        with running_on(self._device(database)):
            base_kernel, _, counts = learned = self._learn(database)
            n_kernels = counts[-1].iteration + 1
            check_room(len(database), len(database), n_kernels + base_kernel.matrices_at_once(counts))
            assert isinstance(base_kernel, BaseKernel)
            kernels = base_kernel.cumulative(counts)
            last_diagonal = base_kernel.diagonal_in(kernels[-1], counts)
        if self.normalize:
            for t, kernel in enumerate(kernels):  # the same rounding as in a fit with t_max=t
                normalized_square(kernel, base_kernel.diagonal([s for s in counts if s.iteration <= t]))
        self._keep(*learned, last_diagonal)
        with running_on(self._device(database)):
            return self._placed(kernels)


TIMES = ("auto", *VIEWS)


@dataclass(frozen=True)
class TimeCoder(Coder):
    """Coder of graphs in time.

    Codes of "forward" and "both" belong to vertices at certain times. Without time, a vertex has one code,
    which its latest node carries; its other nodes are not counted.

    Attributes
    ----------
    coder : Coder
        Coder of the graphs as they are seen.
    view : {"forward", "both", "static"}
    labeled : bool
        Whether labels of contacts count.
    """

    coder: Any
    view: str
    labeled: bool

    def _check_parts(self) -> None:
        """Raise an error if the view is unknown."""
        require(self.view in VIEWS and isinstance(self.coder, Coder), "the view of time is unknown")

    def restricted(self, t_max: int) -> TimeCoder:
        """Return a coder of the first iterations."""
        return replace(self, coder=self.coder.restricted(t_max))

    def codes(self, graphs: GraphDatabase) -> Iterable[CodeStreams]:
        """Return the codes of all nodes, block by block."""
        if not graphs.is_temporal and graphs.n_nodes:
            raise ValueError("the training graphs are graphs in time, these are not: use from_contacts")
        blocks = self.coder.codes(seen(graphs, self.view, self.labeled))
        if self.view != "static" or not graphs.n_nodes:
            return blocks
        last = last_nodes(graphs)

        def at_last(block: CodeStreams) -> CodeStreams:
            codes = np.full((len(block.codes), graphs.n_nodes), NO_BIN, dtype=np.int64)
            codes[:, last] = block.codes
            return replace(block, codes=codes)

        return map(at_last, blocks)

    @property
    def known_labels(self) -> Any:
        """Labels of the training graphs."""
        return self.coder.known_labels

    @property
    def reads_labels(self) -> bool:
        """Whether codes depend on node labels."""
        return bool(self.coder.reads_labels)

    @property
    def n_streams(self) -> int:
        """Number of codes per node."""
        return int(self.coder.n_streams)


def learn_in_time(
    graphs: GraphDatabase, parameters: Any, learn: Callable[[GraphDatabase, Any], Coder]
) -> Coder:
    """Return the coder that a kernel learns from graphs, seen as its parameter ``time`` says.

    Parameters
    ----------
    graphs : GraphDatabase
        Training graphs.
    parameters : estimator
        Has ``time`` and ``edge_labels``.
    learn : callable
        Returns a coder from graphs and parameters.
    """
    check_choice(parameters.time, TIMES, "time")
    if not getattr(graphs, "is_temporal", False):
        if parameters.time != "auto":
            raise ValueError(f"time={parameters.time!r} needs graphs in time: use from_contacts")
        return learn(graphs, parameters)
    view = "forward" if parameters.time == "auto" else parameters.time
    settings, labeled = copy(parameters), bool(parameters.edge_labels)
    settings.edge_labels = labeled or view != "static"  # relations are labels of edges
    return TimeCoder(learn(seen(graphs, view, labeled), settings), view, labeled)
