"""Shard: a segment in a memory-mapped file, and its search with read-ahead."""

from __future__ import annotations

import json
import mmap
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import MOST_THINGS, check_indices, check_offsets
from propkernels._utils.checks import reason_of
from propkernels._utils.safe_files import n_descriptors, open_regular
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Query, Search, Spans, compact_squares
from propkernels.search.segment import PACKED_BITS, Segment, fence_ptr, fences

MAGIC = b"propkernels shard 2\n"
ALIGNED = 64  # alignment of arrays, in bytes
LONGEST_HEAD = 2**16
KINDS = {  # arrays of a shard, in order, and their allowed types
    "weights": ("<f8",),
    "stream_ptr": ("<i8",),
    "fences": ("<i8",),
    "dense_bins": ("<i8",),
    "squares": ("|u1", "<u2", "<u4", "<f8"),
    "ids": ("<i8",),
    "directory": ("<i8",),
    "dense": ("|u1",),
    "postings": ("<u4", "<f4", "<f8"),
}
Item = TypeVar("Item")
CALM = 32  # steps without disk reads after which read-ahead stops


def write_shard(stream: IO[bytes], file: InvertedFile, ids: NDArray[np.int64]) -> None:
    """Write an inverted file of one segment to a stream.

    The file has a line with the name of the format, a line of JSON that lists the arrays, and the arrays,
    little-endian, each at a multiple of 64 bytes; arrays read by every query come first.
    """
    (part,) = file.segments
    own = {"weights": file.weights, "squares": compact_squares(file.squares), "ids": ids} | part._asdict()
    arrays: dict[str, NDArray[Any]] = {name: own[name] for name in KINDS}
    ready = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    head = MAGIC + json.dumps({name: [a.dtype.str, a.size] for name, a in ready.items()}).encode() + b"\n"
    stream.write(_padded(head))
    for array in ready.values():
        stream.write(_padded(array.tobytes()))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNED)


class Mapped(NamedTuple):
    """A memory-mapped file, and the offset of each array in bytes."""

    memory: mmap.mmap
    places: dict[str, int]
    arrays: dict[str, NDArray[Any]]


class Mappings:
    """The mapped shards: a limited number of the most recently used ones.

    Each mapping holds a file descriptor, of which a process has a limited number, often 1,024. A released
    shard is mapped again on its next use.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[weakref.ref[Shard], Mapped] = OrderedDict()  # its methods are atomic

    def of(self, shard: Shard) -> Mapped:
        """Return the mapping of a shard, and mark it as most recently used."""
        mapped = self._known.pop(weakref.ref(shard), None) or _mapped(shard.path)
        self._known[weakref.ref(shard, self._forget)] = mapped
        while len(self._known) > most_mapped():
            with suppress(KeyError):  # another thread has already released it
                self._known.popitem(last=False)
        return mapped

    def _forget(self, shard: weakref.ref[Shard]) -> None:
        self._known.pop(shard, None)


MAPPINGS = Mappings()


def most_mapped() -> int:
    """Return the largest number of mapped shards: a quarter of the process's limit of open files."""
    return max(n_descriptors() // 4, 1)


@dataclass(frozen=True, eq=False)
class Shard:
    """Postings of some graphs in a file; arrays are mapped on first use.

    Attributes
    ----------
    path : Path
    n_rows : int
        Number of rows of its plan, above all ids.
    """

    path: Path
    n_rows: int = int(MOST_THINGS)

    @property
    def mapped(self) -> Mapped:
        """The mapped file; the system reads pages on access, without read-ahead."""
        try:
            return MAPPINGS.of(self)
        except (ValueError, KeyError, TypeError, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise ValueError(
                f"{self.path} is not a shard of an index, or it is damaged ({reason_of(error)})"
            ) from None

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, memory-mapped."""
        return self.mapped.arrays

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.arrays["ids"])

    def ids(self, places: NDArray[np.int64] | slice) -> NDArray[np.int64]:
        """Return the numbers of graphs in their plan; raise ValueError if the plan has fewer rows."""
        found = self.arrays["ids"][places]
        if ((found < 0) | (found >= self.n_rows)).any():
            raise self.damaged()
        return found

    def damaged(self) -> ValueError:
        """Return the error for invalid offsets or numbers."""
        return ValueError(f"{self.path} is damaged: remove it and build the index again")

    @property
    def segment(self) -> Segment:
        """The postings as a segment."""
        known = self.arrays
        arrays = {name: known[name] for name in Segment._fields if name in KINDS}
        return Segment(len(known["ids"]), fence_ptr=fence_ptr(known["stream_ptr"]), **arrays)

    def check(self, first_id: int, last_id: int) -> None:
        """Check all values: offsets, codes, bins, postings, and ids from first_id to last_id - 1.

        Raises
        ------
        ValueError
            Names the file and the first invalid value.
        """
        arrays = self.arrays
        try:
            _check_bins(arrays, self.segment.n_words)
            _check_postings(arrays["postings"], self.n_graphs)
            check_indices(arrays["ids"], last_id, "ids", least=first_id)
            _check_ascending(arrays["ids"], "ids")
            for name in ("weights", "squares"):
                if not (np.isfinite(arrays[name]) & (arrays[name] >= 0)).all():
                    raise ValueError(f"{name} must be finite and not negative")
        except ValueError as error:
            raise ValueError(
                f"{self.path} is damaged ({error}): remove it and build the index again"
            ) from None

    def announce(self, spans: Spans) -> None:
        """Ask the system to read ranges of arrays in the background."""
        if not hasattr(mmap, "MADV_WILLNEED"):
            return
        starts, ends = zip(*(self._bytes(*span) for span in spans), strict=True)
        advise, need = self.mapped.memory.madvise, mmap.MADV_WILLNEED
        for first, length in _page_runs(np.concatenate(starts), np.concatenate(ends)):
            advise(need, first, length)

    def announce_front(self) -> None:
        """Ask the system to read the arrays that every query needs: all up to the ids."""
        if hasattr(mmap, "MADV_WILLNEED"):
            self.mapped.memory.madvise(mmap.MADV_WILLNEED, 0, self.mapped.places["ids"])

    def _bytes(self, name: str, first: Any, last: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        place, size = self.mapped.places[name], self.arrays[name].dtype.itemsize
        return place + size * np.atleast_1d(first), place + size * np.atleast_1d(last)


def _page_runs(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the fewest page-aligned ranges, (first, length), that cover the given ranges of bytes.

    Examples
    --------
    >>> page = mmap.PAGESIZE
    >>> _page_runs(np.array([9 * page, 5, 8, 3]), np.array([9 * page + 1, 10, page + 1, 3])) == [
    ...     (0, page + 1), (9 * page, 1)]
    True
    """
    starts, ends = starts[ends > starts], ends[ends > starts]
    if len(starts) == 0:
        return []
    order = np.argsort(starts)
    first = starts[order] // mmap.PAGESIZE * mmap.PAGESIZE
    last = np.maximum.accumulate(ends[order])
    apart = first[1:] > last[:-1]
    firsts, lasts = first[np.append(True, apart)], last[np.append(apart, True)]
    return list(zip(firsts.tolist(), (lasts - firsts).tolist(), strict=True))


def _mapped(path: Path) -> Mapped:
    """Map the arrays of a file, after checking its header."""
    with open_regular(path) as stream:
        head = stream.read(LONGEST_HEAD)
        if not head.startswith(MAGIC):
            raise ValueError("it does not start with the header of this version")
        memory = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        memory.madvise(mmap.MADV_RANDOM)
    text, end, _ = head[len(MAGIC) :].partition(b"\n")
    known = json.loads(text)
    if not end or not isinstance(known, dict) or list(known) != list(KINDS):
        raise ValueError("its header is incomplete")
    places, arrays = {}, {}
    first = len(_padded(MAGIC + text + b"\n"))
    for name, entry in known.items():
        kind, length = entry if isinstance(entry, list) and len(entry) == 2 else (entry, None)
        if kind not in KINDS[name] or type(length) is not int or length < 0:
            raise ValueError(f"{name} cannot be {kind!r} x {length!r}")
        size = length * np.dtype(kind).itemsize
        if first + size > len(memory):
            raise ValueError(f"{name} is cut off")
        places[name] = first
        arrays[name] = np.frombuffer(memory, dtype=kind, count=length, offset=first)
        first += size + -size % ALIGNED
    if first != len(memory):
        raise ValueError("its size does not match its arrays")
    return Mapped(memory, places, _shaped(arrays))


def _shaped(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Refuse arrays of inconsistent shapes; values of long arrays are checked on use."""
    n_graphs, n_rows = len(arrays["ids"]), len(arrays["dense_bins"])
    n_bins = len(arrays["directory"]) // 2 - 1
    stream_ptr = check_offsets(
        arrays["stream_ptr"], n_bins, "stream_ptr", pieces=len(arrays["weights"]), piece="stream"
    )
    is_words = arrays["postings"].dtype.kind == "u"
    fits = (
        len(arrays["directory"]) == 2 * (n_bins + 1)
        and len(arrays["fences"]) == fence_ptr(stream_ptr)[-1]
        and len(arrays["squares"]) == n_graphs
        and len(arrays["dense"]) == n_rows * n_graphs
        and (is_words or (len(arrays["postings"]) % 2 == 0 and n_rows == 0))
    )
    if not fits:
        raise ValueError("its arrays do not fit together")
    shapes = {"directory": (-1, 2), "dense": (n_rows, n_graphs)}
    return arrays | {name: arrays[name].reshape(shape) for name, shape in shapes.items()}


def _check_bins(arrays: dict[str, NDArray[Any]], n_words: int) -> None:
    """Refuse an invalid directory, fences or dense bins."""
    codes, ptr, stream_ptr = arrays["directory"][:-1, 0], arrays["directory"][:, 1], arrays["stream_ptr"]
    check_offsets(ptr, n_words, "the directory", piece="bin")
    for first, last in pairwise(stream_ptr.tolist()):
        _check_ascending(codes[first:last], "codes of a stream")
    if not np.array_equal(arrays["fences"], fences(stream_ptr, codes)):
        raise ValueError("fences must be codes of the directory")
    check_indices(arrays["dense_bins"], len(codes), "dense_bins")
    _check_ascending(arrays["dense_bins"], "dense_bins")


def _check_postings(postings: NDArray[Any], n_graphs: int) -> None:
    """Refuse postings with invalid graphs, and counts that are not finite."""
    if postings.dtype.kind == "u":
        check_indices(postings >> np.uint32(PACKED_BITS), n_graphs, "graphs of postings")
        return
    if not (np.isfinite(postings) & (postings >= 0)).all() or (postings[::2] >= n_graphs).any():
        raise ValueError(f"graphs of postings must be numbers from 0 to {n_graphs - 1}, and counts finite")
    if (postings[::2] != np.rint(postings[::2])).any():
        raise ValueError("graphs of postings must be whole numbers")


def _check_ascending(values: NDArray[Any], name: str) -> None:
    if bool((values[1:] <= values[:-1]).any()):
        raise ValueError(f"{name} must ascend")


class ReadAhead:
    """Monitor of disk reads: read-ahead is only requested while the disk is in use."""

    def __init__(self) -> None:
        self.n_reads, self.n_calm = n_reads(), 0

    def look(self) -> None:
        """Record whether the disk was read since the last call."""
        now = n_reads()
        self.n_calm = self.n_calm + 1 if now == self.n_reads else 0
        self.n_reads = now

    @property
    def is_needed(self) -> bool:
        """Whether the disk was read in the last steps."""
        return self.n_calm < CALM


def n_reads() -> int:
    """Return the number of disk reads of this process, as reported by the system."""
    try:
        import resource
    except ImportError:  # not available on Windows, which has no read-ahead requests either
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_inblock + used.ru_majflt


class ShardSearch(Search):
    """Search of a segment in a file; each step requests the pages of the next one.

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
        """Request the pages of the next step, without waiting for them."""
        self.ahead.look()
        if self.ahead.is_needed:
            self.shard.announce(spans())

    def best(self, k: int, least: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the result of ``Search.best``, and record whether the disk was read."""
        found = super().best(k, least)
        self.ahead.look()
        return found

    def numbers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers in the index of graphs of the shard, after those of earlier plans."""
        return self.first + self.shard.ids(places)

    def damaged(self) -> ValueError:
        """Return the error for invalid offsets or numbers."""
        return self.shard.damaged()


def ahead(items: Iterable[Item], n: int) -> Iterator[Item]:
    """Yield items with a delay of n, so that n of them are in progress.

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
