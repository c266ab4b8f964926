"""Base class of sparse count features, with a fitted vocabulary or hashed columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import SPARSE, check_room, sum_in_order
from propkernels._utils.checks import check_integer, shown
from propkernels._utils.parallel import active_device, run_threads, running_on, threaded
from propkernels._utils.stored import ANY_NUMBER, require
from propkernels._utils.typing import Array, LabelNames, Molecules, Target
from propkernels.convert.check import check_graphs
from propkernels.counts.base_kernels import resolve_base_kernel
from propkernels.counts.bins import Bins, ChosenBin, Shown, describe_bins
from propkernels.counts.columns import hashed_codes, hashed_column, hashed_columns, join_streams, numbered
from propkernels.counts.counters import Coder, Counter, StreamCounts, rank_bins
from propkernels.counts.products import inverse_length, self_products
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.kernels.count_kernel import CountEstimator, check_options

MOST_COLUMNS = 2**31 - 1  # column indices are 32-bit integers
NOT_FITTED = (
    "This %(name)s instance is not fitted yet. Call 'fit' first; only hashed columns (n_features) with an "
    "integer random_state and without attributes need no fit."
)


class CountFeatures(CountEstimator):
    """Sparse count features with a fitted vocabulary, or with ``n_features`` hashed columns."""

    _coder: Any
    _n_columns: int | None
    _stream_codes: Annotated[list[NDArray[np.int64]], ANY_NUMBER]
    _stream_iterations: Annotated[NDArray[np.int64], ANY_NUMBER]
    base_kernel: Any
    n_features: int | None
    normalize: bool
    sparse_output: bool

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream_codes")

    @threaded
    def fit(self, X: Graphs, y: object = None) -> Self:
        """Learn the bins of the training graphs; with ``n_features``, only the hash functions."""
        database = check_graphs(X)
        with running_on(self._device(database)):
            self._fit(database, counts=self.n_features is None)
        return self

    @threaded
    def fit_transform(self, X: Graphs, y: object = None, **fit_params: object) -> csr_array | Any:
        """Fit, and return the features of the training graphs.

        Returns
        -------
        csr_array of shape (n, columns), or ndarray with ``sparse_output=False``
        """
        database = check_graphs(X)
        if self.n_features is not None:
            with running_on(self._device(database)):
                self._fit(database, counts=False)
            return self.transform(database)
        with running_on(self._device(database)):
            return self._placed(self._features(self._fit(database)))

    @threaded
    def transform(self, X: Graphs) -> csr_array | Any:
        """Return the features of new graphs.

        Bins that were not seen in fit have no column (unless ``n_features`` is set), but they count in the
        length by which ``normalize`` divides. Hashed columns need no fit if ``random_state`` is an integer
        and nothing is learned from attributes.
        """
        if self._needs_no_fit() and not hasattr(self, "_stream_codes"):
            return clone(self).fit_transform(X)
        check_is_fitted(self, "_stream_codes", msg=NOT_FITTED)
        database = check_graphs(X)
        with running_on(self._device(database)):
            device, width = active_device(), self._n_columns
            if width is None or not isinstance(self._coder, Coder):
                vocabulary = self._stream_codes if width is None else None
                return self._placed(self._features(self._coder.count(database, vocabulary)))
            # codes are hashed into columns without numbering bins
            if device is None:
                return self._finished(hashed_codes(self._coder.codes(database), database.graph_ptr, width))
            if self._stays_on_device and self.sparse_output and not self.normalize:
                return device.features_on_device(self._coder, database, width)
            return self._placed(self._finished(device.hashed_features(self._coder, database, width)))

    def _needs_no_fit(self) -> bool:
        """Return whether columns are the same whatever graphs they are fitted to."""
        is_seeded = isinstance(getattr(self, "random_state", 0), (int, np.integer))
        return self.n_features is not None and is_seeded and getattr(self, "attributes", None) is None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = not self._needs_no_fit()
        return tags

    def _placed(self, features: Any) -> Any:
        """Return features of the host, or their copy on the device if they are wanted there."""
        if not self._stays_on_device:
            return features
        device = active_device()
        return device.to_device(features) if not self.sparse_output else device.sparse_to_device(features)

    def _finished(self, features: csr_array, streams: Sequence[StreamCounts] = ()) -> Any:
        """Return features, normalized if requested: sparse or dense."""
        if self.normalize:
            scale = inverse_length(self._lengths(streams, features))
            features.data *= np.repeat(scale, np.diff(features.indptr))
        if self.sparse_output:
            return features
        check_room(*features.shape, ways_out=SPARSE)
        return np.asarray(features.toarray())

    @property
    def _counter(self) -> Counter:
        """Counter of the features."""
        counter: Counter = self._coder
        return counter

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return one name per column: iteration and bin, or the column number if columns are hashed."""
        check_is_fitted(self, "_stream_codes")
        if self._n_columns is not None:
            return np.array([f"column{i}" for i in range(self._n_columns)], dtype=object)
        t = self._stream_iterations
        several = len(np.unique(t)) < len(t)  # streams of one iteration
        hashes = [f"_hash{int(np.sum(t[:s] == t[s]))}" if several else "" for s in range(len(t))]
        names = [
            f"t{t[s]}{hashes[s]}_bin{i}"
            for s, codes in enumerate(self._stream_codes)
            for i in range(len(codes))
        ]
        return np.array(names, dtype=object)

    @threaded
    def describe(
        self,
        column: int,
        X: Graphs,
        y: Target | None = None,
        *,
        molecules: Molecules | None = None,
        label_names: LabelNames | None = None,
    ) -> Bins:
        """Describe a column: an example of its bin, and the graphs that have it.

        Parameters
        ----------
        column : int
        X : GraphDatabase or sequence of graphs
            Training graphs (which are not stored in the features), or others.
        y : array-like of shape (n,), optional
            One number per graph; its mean is compared between graphs with and without the bin.
        molecules : sequence of rdkit.Chem.Mol, optional
            Molecules of the graphs; if given, the SMARTS of the bin is included.
        label_names : mapping, optional
            Names of labels, such as ``{0: "C", 1: "N"}``.

        Returns
        -------
        Bins
            One bin; with ``n_features``, all bins of these graphs that are hashed to the column.
        """
        check_is_fitted(self, "_stream_codes")
        graphs = check_graphs(X)
        target = None if y is None else np.asarray(y, dtype=np.float64)
        if target is not None and target.shape != (len(graphs),):
            raise ValueError(
                f"y must hold one number for each of {len(graphs)} graphs, got shape {target.shape}"
            )
        mols = None if molecules is None else list(molecules)
        shown = Shown(graphs, target, mols, label_names or {})
        return Bins(describe_bins(self._counter, self._bins_of(column, graphs), shown))

    def _bins_of(self, column: int, graphs: GraphDatabase) -> list[ChosenBin]:
        """Return the bins of a column."""
        ends = np.cumsum([len(codes) for codes in self._stream_codes])
        width = int(ends[-1]) if self._n_columns is None else self._n_columns
        column = check_integer(column, "column", 0, width - 1)
        if self._n_columns is None:
            stream = int(np.searchsorted(ends, column, side="right"))
            codes = self._stream_codes[stream]
            return [ChosenBin(stream, int(codes[column - int(ends[stream])]), column)]
        streams = self._counter.count(graphs, None)
        return [
            ChosenBin(number, int(code), column)
            for number, (t, h) in enumerate(numbered(streams))
            for code in streams[number].codes[
                hashed_column(t, h, streams[number].codes, width) == np.uint64(column)
            ]
        ]

    def _fit(self, graphs: Any, counts: bool = True) -> list[StreamCounts]:
        """Fit, and return the counts of the graphs; an empty list with ``counts=False``."""
        n_columns = self.n_features
        if n_columns is not None:
            n_columns = check_integer(n_columns, "n_features", 1, MOST_COLUMNS)
        base_kernel = resolve_base_kernel(self.base_kernel)
        if not base_kernel.is_dot_product:
            raise ValueError(
                "features need a base kernel that is their dot product, "
                f"base_kernel='linear' or 'intersection'; got {shown(self.base_kernel)}"
            )
        check_options(self)
        coder = self._learn_coder(graphs)
        streams = coder.count(graphs, None) if counts else []
        if n_columns is None:
            streams = run_threads(rank_bins, streams)
        streams = base_kernel.features(streams)
        self._coder = base_kernel.counter(coder)
        self._n_columns = n_columns
        self._stream_codes = [s.codes if n_columns is None else s.codes[:0] for s in streams]
        self._stream_iterations = np.array([s.iteration for s in streams], dtype=np.int64)
        return streams

    def _features(self, streams: Sequence[StreamCounts]) -> Any:
        """Return features whose dot product is the kernel, from the counts of all streams."""
        return self._finished(self._joined(streams), streams)

    def _joined(self, streams: Sequence[StreamCounts]) -> csr_array:
        """Return the columns of all streams, or hashed columns, before normalization."""
        if self._n_columns is not None:
            return hashed_columns([_scaled(stream) for stream in streams], self._n_columns)
        widths = [len(codes) for codes in self._stream_codes]
        scales = [float(np.sqrt(stream.weight)) for stream in streams]
        return join_streams(streams, widths, scales)

    def _lengths(self, streams: Sequence[StreamCounts], features: csr_array) -> NDArray[np.float64]:
        """Return the squared length of each graph's features over all bins, with or without a column."""
        if self._n_columns is not None:
            return self_products(features)
        return sum_in_order(stream.weight * self_products(stream.counts) for stream in streams)

    def _check_parts(self) -> None:
        """Raise if codes, iterations and columns do not match."""
        if hasattr(self, "_stream_codes"):
            require(isinstance(self._coder, Counter), "_coder must be a counter")
            require(all(codes.ndim == 1 for codes in self._stream_codes), "every stream needs codes")
            require(self._n_columns is None or self._n_columns >= 1, "there must be at least one column")
            fits = self._stream_iterations.shape == (len(self._stream_codes),)
            require(fits, "every stream needs an iteration")


def _scaled(stream: StreamCounts) -> StreamCounts:
    """Return the stream with counts times the square root of its weight, and weight 1."""
    if stream.weight == 1.0:
        return stream
    return replace(stream, counts=csr_array(stream.counts * np.sqrt(stream.weight)), weight=1.0)
