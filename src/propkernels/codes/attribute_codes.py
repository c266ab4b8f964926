"""Attribute codes, joined with label codes: h = h_l and h_a (Algorithm 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.parallel import run_threads, threads_for
from propkernels._utils.randomness import mix
from propkernels._utils.stored import require
from propkernels.codes.codes import NO_BIN, CodeStreams, LocalitySensitiveHash, join_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.attributes import LearnedAttributes, Spread, Standardizer

N_REMEMBERED = 2**10  # hash functions of attributes; drawing one takes longer than hashing a molecule
MISSING = 0x6D697373696E67  # the code of a missing value: two of them agree


class SpreadStreams(NamedTuple):
    """Streams of attributes whose columns spread independently, before anything is computed.

    Attributes
    ----------
    spread : Spread
        The columns.
    vectors, offsets : ndarray of float64, (iterations, hash functions, columns)
        v / w and b / w; functions are ordered by bin width, then by label hash.
    labels : CodeStreams
        Label codes.
    """

    spread: Spread
    vectors: NDArray[np.float64]
    offsets: NDArray[np.float64]
    labels: CodeStreams

    @property
    def n_hashes(self) -> int:
        """Number of label hashes per iteration."""
        return len(self.labels.codes) // len(self.vectors)

    @property
    def scales(self) -> NDArray[np.float64]:
        """Divisors of the values, (iterations, columns)."""
        scales, (n_steps, _, n_columns) = self.spread.scales, self.vectors.shape
        return np.ones((n_steps, n_columns)) if scales is None else scales[:n_steps]


@dataclass(frozen=True)
class AttributeCoder:
    """Maps attributes to codes; state learned by fit.

    Attributes
    ----------
    standardizer : Standardizer
    learned : LearnedAttributes
        Yields the matrix to hash at each t.
    combine : {"sum", "product", "joint"}
    lsh : LocalitySensitiveHash
        Family with one hash function per iteration, repetition and column.
    further : tuple of LocalitySensitiveHash
        Families with other bin widths, which give further streams.
    """

    standardizer: Standardizer
    learned: LearnedAttributes
    combine: str
    lsh: LocalitySensitiveHash
    further: tuple[LocalitySensitiveHash, ...] = ()

    def _check_parts(self) -> None:
        """Raise an error if ``combine`` is unknown."""
        require(self.combine in ("sum", "product", "joint"), "dimensions are combined in an unknown way")

    def join(self, graphs: GraphDatabase, labels: CodeStreams) -> Iterator[CodeStreams]:
        """Yield label codes joined with attribute codes, one block per iteration and bin width."""
        attributes = self.standardizer(graphs)
        iterations = np.unique(labels.iterations)
        matrices = islice(self.learned.matrices(graphs, attributes), len(iterations))
        for t, matrix in zip(iterations, matrices, strict=True):
            streams = np.flatnonzero(labels.iterations == t)
            weight = float(labels.weights[streams[0]])
            for lsh in (self.lsh, *self.further):
                coder = replace(self, lsh=lsh)
                yield coder._block(int(t), matrix, labels.codes[streams], weight)

    @property
    def spreads(self) -> bool:
        """Whether each stream depends on one column that spreads along edges by itself."""
        is_alone = self.combine == "sum" and not self.lsh.takes_root
        return is_alone and bool(getattr(self.learned, "spreads", False))

    def spread(self, graphs: GraphDatabase, labels: CodeStreams) -> SpreadStreams:
        """Return what the streams of :meth:`join` are computed from, if it ``spreads``."""
        learned: Any = self.learned
        spread = learned.spread(graphs, self.standardizer(graphs))
        iterations, n_hashes = np.unique(labels.iterations, return_counts=True)
        functions = [
            _hash_function(lsh, int(t), h, spread.start.shape[1])
            for t in iterations
            for lsh in (self.lsh, *self.further)
            for h in range(n_hashes[0])
        ]
        shape = len(iterations), -1, spread.start.shape[1]
        vectors, offsets = (np.array([f[k] for f in functions]).reshape(shape) for k in (0, 2))
        return SpreadStreams(spread, vectors, offsets, labels)

    def _block(
        self, t: int, matrix: NDArray[np.float64], label_codes: NDArray[np.int64], weight: float
    ) -> CodeStreams:
        """Return the streams of one iteration: per label hash, one per column ("sum") or one in all.

        The label codes are the first rows. Streams with a constant attribute code share the row of their
        label hash and leave their row unused.
        """
        if self.lsh.takes_root:
            matrix = np.sqrt(np.maximum(matrix, 0.0))
        n_labels, width = len(label_codes), matrix.shape[1] if self.combine == "sum" else 1
        codes = np.empty((n_labels * (1 + width), len(matrix)), dtype=np.int64)
        codes[:n_labels] = label_codes
        rows, salts = np.arange(n_labels, len(codes)), np.full(n_labels * width, NO_BIN)

        def one_hash(h: int) -> None:
            joined = codes[n_labels + h * width : n_labels + (h + 1) * width]
            single = self._hash(t, h, matrix, joined, label_codes[h])
            salts[h * width : (h + 1) * width] = single
            rows[h * width + np.flatnonzero(single != NO_BIN)] = h

        run_threads(one_hash, range(n_labels), work=n_labels * matrix.size)
        iterations, weights = np.full(len(rows), t), np.full(len(rows), weight)
        return CodeStreams(codes, iterations, weights, rows, salts)

    def _hash(
        self,
        t: int,
        h: int,
        matrix: NDArray[np.float64],
        codes: NDArray[np.int64],
        labels: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Write attribute codes, one row per stream, joined with the codes of ``labels``, if given.

        Return the attribute code of each stream that has only one; ``NO_BIN`` for other streams.
        """
        vectors, offset, offsets = _hash_function(self.lsh, t, h, matrix.shape[1])
        if self.combine == "joint":
            total = np.zeros(len(matrix))
            for column, weight in enumerate(vectors):  # so that other rows do not change the rounding
                total += matrix[:, column] * weight
            return _hash_columns(total[:, None], np.ones(1), offset, codes, labels)
        if self.combine == "sum":
            return _hash_columns(matrix, vectors, offsets, codes, labels)
        # one code per node, equal if and only if the codes of all columns are (Eq. attr_kernel)
        threads = threads_for(matrix.size)
        bounds, is_constant = np.arange(threads + 1) * len(matrix) // threads, np.empty(threads, dtype=bool)
        values = np.ascontiguousarray(matrix), vectors, offsets
        _core.hash_product(*values, MISSING, bounds, codes[0], is_constant, threads)
        if is_constant.all():
            return codes[:, 0].copy() if len(matrix) else np.zeros(1, dtype=np.int64)
        if labels is not None:
            codes[0] = join_codes(labels, codes[0])
        return np.array([NO_BIN])


@lru_cache(maxsize=N_REMEMBERED)
def _hash_function(
    lsh: LocalitySensitiveHash, t: int, h: int, n_columns: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the vector of a hash function, its offset, and offsets for separate columns."""
    stream, keys = np.array([(t << 32) + h]), mix(np.arange(n_columns))
    return lsh.vectors(keys, stream)[:, 0], lsh.offsets(stream), lsh.own_offsets(keys, int(stream[0]))


def _hash_columns(
    matrix: NDArray[np.float64],
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    codes: NDArray[np.int64],
    labels: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Hash each column to a row of ``codes``, in threads, joined with the codes of ``labels``, if given.

    Return the attribute code of each column that has only one; ``NO_BIN`` for other columns.
    """
    threads, single = threads_for(matrix.size), np.empty(len(codes), dtype=np.int64)
    bounds = np.arange(threads + 1) * len(codes) // threads
    values = np.ascontiguousarray(matrix), None, vectors, offsets
    _core.hash_columns(*values, MISSING, labels, bounds, codes, single, threads)
    return single
