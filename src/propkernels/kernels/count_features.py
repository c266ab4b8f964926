"""Explicit sparse features from counts of codes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from propkernels.checks import check_integer
from propkernels.counting.counts import StreamCounts, rank_bins
from propkernels.counting.hashed import hashed_columns
from propkernels.counting.join import join_streams
from propkernels.gram.linear import self_products
from propkernels.gram.normalize import inverse_length
from propkernels.graphs.check import check_graphs
from propkernels.kernels.count_estimator import CountEstimator
from propkernels.parallel import run_threads


class CountFeatures(CountEstimator):
    """Sparse count features: fit, transform, feature names; with or without a fitted vocabulary."""

    n_features: int | None
    normalize: bool
    sparse_output: bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the bins of the training graphs; with ``n_features``, only the hash functions."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the features of the training graphs.

        Returns
        -------
        csr_array of shape (n, columns), or ndarray with ``sparse_output=False``
        """
        return self._features(self._fit(X))

    def transform(self, X: Any) -> Any:
        """Return the features of new graphs.

        Bins that were not seen in fit have no column (with ``n_features`` every bin has one), but
        they count in the length by which ``normalize`` divides.
        """
        check_is_fitted(self, "stream_codes_")
        database = check_graphs(X)
        known = None if self.n_columns_ is not None else self.stream_codes_
        return self._features(self._count(self.coder_, database, known))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for each column: its iteration and its bin, or its number if columns are hashed."""
        check_is_fitted(self, "stream_codes_")
        if self.n_columns_ is not None:
            return np.array([f"column{i}" for i in range(self.n_columns_)], dtype=object)
        names = [
            f"t{t}{suffix}_bin{i}"
            for t, suffix, codes in zip(
                self.stream_iterations_, self._suffixes(), self.stream_codes_, strict=True
            )
            for i in range(len(codes))
        ]
        return np.array(names, dtype=object)

    def _suffixes(self) -> list[str]:
        """Tell apart the streams of one iteration."""
        t = self.stream_iterations_
        several = len(np.unique(t)) < len(t)
        return [f"_hash{int(np.sum(t[:s] == t[s]))}" if several else "" for s in range(len(t))]

    def _fit(self, graphs: Any) -> list[StreamCounts]:
        n_columns = None if self.n_features is None else check_integer(self.n_features, "n_features", 1)
        coder, streams = self._count_training(graphs)
        if n_columns is None:
            streams = run_threads(rank_bins, streams, self.n_jobs)
        self.coder_, self.n_columns_ = coder, n_columns
        self.stream_codes_ = [s.codes if n_columns is None else s.codes[:0] for s in streams]
        self.stream_iterations_ = np.array([s.iteration for s in streams])
        return streams

    def _features(self, streams: Sequence[StreamCounts]) -> Any:
        """Set streams side by side, so that the features' dot product is the kernel."""
        if self.n_columns_ is None:
            widths = [len(codes) for codes in self.stream_codes_]
            scales = [float(np.sqrt(stream.weight)) for stream in streams]
            features = join_streams(streams, widths, scales, self.n_jobs)
        else:
            features = hashed_columns([_scaled(stream) for stream in streams], self.n_columns_)
            features.sort_indices()
        if self.normalize:
            scale = inverse_length(self._lengths(streams, features))
            features.data *= np.repeat(scale, np.diff(features.indptr))
        return features if self.sparse_output else features.toarray()

    def _lengths(self, streams: Sequence[StreamCounts], features: csr_array) -> NDArray[np.float64]:
        """Squared length of each graph's features, over all bins, also those without a column."""
        if self.n_columns_ is not None:
            return self_products(features)
        return np.sum([stream.weight * self_products(stream.counts) for stream in streams], axis=0)

    @abstractmethod
    def _learn_coder(self, graphs: Any) -> Any: ...


def _scaled(stream: StreamCounts) -> StreamCounts:
    """Give the counts the square root of the stream's weight."""
    if stream.weight == 1.0:
        return stream
    counts = csr_array(stream.counts * np.sqrt(stream.weight))
    return StreamCounts(counts, stream.codes, stream.iteration, 1.0)
