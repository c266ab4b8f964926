"""What all estimators that count codes share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from propkernels.counting.counts import StreamCounts, count_blocks
from propkernels.graphs.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import CodeStreams
from propkernels.kernels.options import check_options


class Coder(Protocol):
    """Gives any graph its codes, with what was learned in fit."""

    def codes(self, graphs: GraphDatabase, n_jobs: int | None) -> CodeStreams | Iterable[CodeStreams]:
        """Codes of all nodes; or block after block of streams, where all at once would fill the memory."""


class CountEstimator(TransformerMixin, BaseEstimator, ABC):
    """Graphs in, codes counted: subclasses say how graphs get their codes, by ``_learn_coder``."""

    n_jobs: int | None

    @abstractmethod
    def _learn_coder(self, graphs: GraphDatabase) -> Coder:
        """Check the parameters and learn how to code graphs."""

    def _count(
        self, coder: Coder, graphs: GraphDatabase, known: Sequence[NDArray[np.int64]] | None = None
    ) -> list[StreamCounts]:
        return count_blocks(coder.codes(graphs, self.n_jobs), graphs.graph_ptr, known, self.n_jobs)

    def _count_training(self, graphs: Any) -> tuple[Coder, list[StreamCounts]]:
        check_options(self)
        database = check_graphs(graphs)
        coder = self._learn_coder(database)
        return coder, self._count(coder, database)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        return tags
