"""Attribute codes, joined with label codes: h = h_l and h_a (Algorithm 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import CodeStreams
from propkernels.hashing.lsh import NO_BIN, LocalitySensitiveHash, join_codes
from propkernels.parallel import run_threads, threads_for
from propkernels.propagation.attributes import LearnedAttributes
from propkernels.propagation.standardize import Standardizer
from propkernels.randomness import mix

MISSING = 0x6D697373696E67  # the code of a missing value: two of them agree


@dataclass(frozen=True)
class AttributeCoder:
    """What fit learned about turning attributes into codes.

    Attributes
    ----------
    standardizer : Standardizer
    learned : LearnedAttributes
        Gives the matrix to be hashed at each t.
    combine : {"sum", "product", "joint"}
    lsh : LocalitySensitiveHash
        A fresh hash for each iteration, repetition and column.
    """

    standardizer: Standardizer
    learned: LearnedAttributes
    combine: str
    lsh: LocalitySensitiveHash

    def join(
        self, graphs: GraphDatabase, labels: CodeStreams, n_jobs: int | None = None
    ) -> Iterator[CodeStreams]:
        """Join each label stream with the attribute codes of its iteration; one block an iteration."""
        attributes = self.standardizer(graphs)
        iterations = np.unique(labels.iterations)
        matrices = islice(self.learned.matrices(graphs, attributes), len(iterations))
        for t, matrix in zip(iterations, matrices, strict=True):
            streams = np.flatnonzero(labels.iterations == t)
            weight = float(labels.weights[streams[0]])
            yield self._block(int(t), matrix, labels.codes[streams], weight, n_jobs)

    def _block(
        self,
        t: int,
        matrix: NDArray[np.float64],
        label_codes: NDArray[np.int64],
        weight: float,
        n_jobs: int | None,
    ) -> CodeStreams:
        """Streams of one iteration: for each label hash, one for each column, or one for all columns."""
        if self.lsh.takes_root:
            matrix = np.sqrt(np.maximum(matrix, 0.0))
        parts = [self._streams(t, h, matrix, row, n_jobs) for h, row in enumerate(label_codes)]
        rows, salts, start = [], [], len(label_codes)
        for h, (codes, constant, salt) in enumerate(parts):
            numbers = start + np.cumsum(~constant) - 1
            rows.append(np.where(constant, h, numbers))
            salts.append(np.where(constant, salt, NO_BIN))
            start += len(codes)
        codes = np.concatenate([label_codes, *(part[0] for part in parts)])
        several = np.concatenate(rows)
        iterations, weights = np.full(len(several), t), np.full(len(several), weight)
        return CodeStreams(codes, iterations, weights, several, np.concatenate(salts))

    def _streams(
        self,
        t: int,
        h: int,
        matrix: NDArray[np.float64],
        label_codes: NDArray[np.int64],
        n_jobs: int | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
        """Joined codes of the streams that tell nodes apart, which streams do not, and the code of those."""
        from propkernels.hashing.compiled import join_rows

        stream = np.array([(t << 32) + h])
        keys = mix(np.arange(matrix.shape[1]))
        vectors = self.lsh.vectors(keys, stream)[:, 0]
        if self.combine == "joint":
            matrix, vectors = _projected(matrix, vectors)[:, None], np.ones(1)
            offsets = self.lsh.offsets(stream)
        else:
            offsets = self.lsh.own_offsets(keys, int(stream[0]))
        codes, constant = _hashed_columns(matrix, vectors, offsets, n_jobs)
        if self.combine == "product":
            codes, constant = _product(codes), np.array([bool(constant.all())])
        salt = codes[:, 0] if codes.shape[1] else np.zeros(len(codes), dtype=np.int64)
        distinct = codes[~constant]
        join_rows(label_codes, distinct)
        return distinct, constant, salt


def _hashed_columns(
    matrix: NDArray[np.float64],
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_jobs: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Hash each column by itself, (columns, N), in threads; tell which columns have one code only."""
    from propkernels.hashing.compiled import hash_columns

    matrix = np.ascontiguousarray(matrix)
    codes = np.empty((matrix.shape[1], len(matrix)), dtype=np.int64)
    bounds = np.linspace(0, len(codes), threads_for(matrix.size, n_jobs) + 1).astype(int)

    def one_run(run: int) -> Any:
        return hash_columns(matrix, vectors, offsets, MISSING, bounds[run], bounds[run + 1], codes)

    return codes, np.concatenate(run_threads(one_run, range(len(bounds) - 1), n_jobs))


def _projected(matrix: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """V . x for each row, column after column: the rows beside it change no rounding."""
    total = np.zeros(len(matrix))
    for column, weight in enumerate(vectors):
        total += matrix[:, column] * weight
    return total


def _product(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """One code that is equal where all columns' codes are (Eq. attr_kernel)."""
    joined = np.zeros(codes.shape[1], dtype=np.int64)
    for row in codes:
        joined = join_codes(joined, row)
    return joined[None, :]
