"""The search of shards: between its steps the disk reads for many shards at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.retrieval.search import Query, Search, Spans
from propkernels.learn.retrieval.shard_file import Shard
from propkernels.utils.arrays import MOST_THINGS

Item = TypeVar("Item")
CALM = 32  # steps without the disk, after which pages are no longer asked for


class ReadAhead:
    """Whether the disk has to be asked for pages: not while all that is looked at is in memory anyway."""

    def __init__(self) -> None:
        self.n_reads, self.n_calm = n_reads(), 0

    def look(self) -> None:
        """Note whether the disk was read since the last time."""
        now = n_reads()
        self.n_calm = self.n_calm + 1 if now == self.n_reads else 0
        self.n_reads = now

    @property
    def is_needed(self) -> bool:
        """Whether the disk was read in the last steps."""
        return self.n_calm < CALM


def n_reads() -> int:
    """How often the disk was read for this process, as far as the system tells."""
    try:
        import resource
    except ImportError:  # not on Windows, where pages cannot be asked for either
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_inblock + used.ru_majflt


class ShardSearch(Search):
    """The search of a segment in a file: each step tells the system which pages the next one will look at.

    Parameters
    ----------
    shard : Shard
    query : Query
    ahead : ReadAhead
    first : int, default=0
        Number of the first graph of the shard's plan.
    """

    def __init__(self, shard: Shard, query: Query, ahead: ReadAhead, first: int = 0) -> None:
        if not np.array_equal(shard.arrays["weights"], query.weights):
            raise ValueError(f"{shard.path} was built with another kernel")
        super().__init__(shard.segment, shard.arrays["squares"], query, first)
        self.shard, self.ahead = shard, ahead
        ahead.look()
        if ahead.is_needed:
            shard.announce_front()

    def expect(self, spans: Callable[[], Spans]) -> None:
        """Have the system read what the next step looks at, without waiting for it."""
        self.ahead.look()
        if self.ahead.is_needed:
            self.shard.announce(spans())

    def best(self, k: int, least: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """As in memory; whether the disk was read for it is noted."""
        found = super().best(k, least)
        self.ahead.look()
        return found

    def numbers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of graphs of the shard: those of their plan, behind those of earlier plans."""
        found = self.shard.ids[places]
        if ((found < 0) | (found >= MOST_THINGS)).any():
            raise self.damaged()
        return self.first + found

    def damaged(self) -> ValueError:
        """Return the error of numbers that lead nowhere."""
        return ValueError(f"{self.shard.path} is damaged: remove it, and build the index again")


def ahead(items: Iterable[Item], n: int) -> Iterator[Item]:
    """Give items n later than they come, so that n of them are under way.

    Examples
    --------
    >>> for i in ahead(map(print, "abc"), 1):
    ...     print(i)
    a
    b
    None
    c
    None
    None
    """
    waiting: deque[Item] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > n:
            yield waiting.popleft()
    yield from waiting
