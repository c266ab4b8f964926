"""The search for connected subgraphs: in threads, within a time limit, and resumable."""

from __future__ import annotations

from dataclasses import dataclass
from threading import local
from time import monotonic
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.progress import ProgressBar
from propkernels.parallel import run_threads, threads_for, whole_runs

# of each graph the number of its kinds; of each of them its code, count, number of nodes and of symmetries
Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
STEPS_OF_A_NODE = 2**8  # an estimate
NODES_OF_A_BATCH = 2**9


class Searcher(Protocol):
    """What a search needs to know."""

    @property
    def k(self) -> int:
        """Largest number of nodes."""

    def prepare(self, graphs: GraphDatabase) -> tuple[NDArray[Any], ...]:
        """Arrays for ``count_subgraphs``."""


@dataclass
class SubgraphTally:
    """What was found in those graphs that were searched; batches of graphs are searched one by one.

    Attributes
    ----------
    graphs : GraphDatabase
    bounds : ndarray of int64
        Boundaries of the batches.
    batches : list
        Of each batch the number of kinds of each graph, their codes, counts, sizes and symmetries; None
        where it was not searched.
    """

    graphs: GraphDatabase
    bounds: NDArray[np.int64]
    batches: list[Found | None]

    @classmethod
    def begin(cls, graphs: GraphDatabase) -> SubgraphTally:
        """Nothing is found yet."""
        bounds = whole_runs(graphs.graph_ptr, NODES_OF_A_BATCH)
        return cls(graphs, bounds, [None] * (len(bounds) - 1))

    @property
    def searched(self) -> NDArray[np.bool_]:
        """Whether each graph was searched."""
        return np.repeat([batch is not None for batch in self.batches], np.diff(self.bounds)).astype(bool)

    @property
    def completed(self) -> float:
        """Share of the kernel matrix that can be computed."""
        searched = self.searched
        return float(searched.mean() ** 2) if len(searched) else 1.0

    def search(
        self, counter: Searcher, n_jobs: int | None, time_limit: float | None = None, text: str = ""
    ) -> None:
        """Search what was not searched, until the time is up; batches that have begun are finished.

        Each thread keeps what it learned about kinds of subgraphs for its next batch.
        """
        from propkernels.kernels.subgraph_compiled import Kinds

        deadline = np.inf if time_limit is None else monotonic() + time_limit
        missing = [number for number, batch in enumerate(self.batches) if batch is None]
        arrays, own = counter.prepare(self.graphs), local()
        with ProgressBar(text, len(self.batches), len(self.batches) - len(missing)) as bar:

            def one_batch(number: int) -> None:
                if monotonic() >= deadline:
                    return
                ptr = self.graphs.graph_ptr[self.bounds[number] : self.bounds[number + 1] + 1]
                known = getattr(own, "kinds", None) or Kinds.none()
                self.batches[number], own.kinds = _search(arrays, ptr, counter.k, known)
                bar.step()

            threads = threads_for(self.graphs.n_nodes * STEPS_OF_A_NODE, n_jobs)
            run_threads(one_batch, missing, threads)

    def found(self) -> Found:
        """Results of all batches in turn; graphs that were not searched have no subgraphs."""
        batches = [batch or self._nothing(number) for number, batch in enumerate(self.batches)]
        if not batches:
            return self._nothing(0)
        lengths, codes, counts, sizes, symmetries = zip(*batches, strict=True)
        joined = [np.concatenate(arrays) for arrays in (lengths, codes, counts, sizes, symmetries)]
        return joined[0], joined[1], joined[2], joined[3], joined[4]

    def _nothing(self, number: int) -> Found:
        size = int(np.diff(self.bounds[number : number + 2]).sum())
        none = np.empty(0, dtype=np.int64)
        return np.zeros(size, dtype=np.int64), none, np.empty(0), none, none


def _search(
    arrays: tuple[NDArray[Any], ...], ptr: NDArray[np.int64], k: int, kinds: Any
) -> tuple[Found, Any]:
    """Search a batch of graphs, in one compiled call; return what was found, and the kinds known by now."""
    from propkernels.kernels.subgraph_compiled import Scratch, Subgraph, count_subgraphs

    lengths = np.zeros(len(ptr) - 1, dtype=np.int64)
    room = Subgraph.room(k, int(np.diff(ptr).max())), Scratch.room(k)
    met, counts, kinds = count_subgraphs(*arrays, ptr, k, *room, kinds, lengths)
    codes = kinds.codes[met].view(np.int64)
    return (lengths, codes, counts, kinds.sizes[met], kinds.symmetries[met]), kinds
