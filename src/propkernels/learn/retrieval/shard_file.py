"""A shard in a file: postings of some graphs as plain arrays, one behind the other, to be memory-mapped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import StreamCounts
from propkernels.learn.retrieval.inverted_file import InvertedFile
from propkernels.learn.retrieval.postings import Postings
from propkernels.utils.checks import reason_of

MAGIC = b"propkernels shard 1\n"
ALIGNED = 64  # bytes that arrays begin at multiples of
LONGEST_HEAD = 2**16
KINDS = {  # arrays of a shard, in their order, and the types that they may have
    "weights": ("<f8",),
    "stream_ptr": ("<i8",),
    "codes": ("<i8",),
    "bin_ptr": ("<i8",),
    "ids": ("<i8",),
    "squares": ("<f8",),
    "graphs": ("<i4",),
    "counts": ("|u1", "<u2", "<f4", "<f8"),
}


def write_shard(stream: IO[bytes], file: InvertedFile, ids: NDArray[np.int64]) -> None:
    """Write the graphs of an inverted file that has one segment.

    The file is a line that names the format, a line of JSON that says which arrays follow, and the arrays,
    little-endian, each at a multiple of 64 bytes.
    """
    (part,) = file.segments
    arrays: dict[str, NDArray[Any]] = {
        "weights": file.weights,
        "stream_ptr": part.stream_ptr,
        "codes": part.codes,
        "bin_ptr": part.bin_ptr,
        "ids": ids,
        "squares": file.squares,
        "graphs": part.graphs,
        "counts": _compact(part.counts),
    }
    ready = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    head = MAGIC + json.dumps({name: [a.dtype.str, len(a)] for name, a in ready.items()}).encode() + b"\n"
    stream.write(_padded(head))
    for array in ready.values():
        stream.write(_padded(array.tobytes()))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNED)


def _compact(counts: NDArray[Any]) -> NDArray[Any]:
    """The shortest type in which counts are exact."""
    for kind in (np.uint8, np.uint16):
        limits = np.iinfo(kind)
        if len(counts) == 0 or (counts.min() >= 0 and counts.max() <= limits.max):
            short = counts.astype(kind)
            if np.array_equal(short, counts):
                return short
    return counts


@dataclass(frozen=True)
class Shard:
    """Postings of some graphs in a file; arrays are mapped when they are first looked at.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, as the disk has them."""
        try:
            return dict(_mapped(self.path))
        except (ValueError, KeyError, TypeError, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise ValueError(
                f"{self.path} is not a shard of an index, or it is damaged ({reason_of(error)})"
            ) from None

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.arrays["ids"])

    @property
    def ids(self) -> NDArray[np.int64]:
        """Numbers of the graphs in their plan."""
        return self.arrays["ids"]

    @cached_property
    def postings(self) -> Postings:
        """Counts by bin."""
        names = ("stream_ptr", "codes", "bin_ptr", "graphs", "counts")
        return Postings(self.n_graphs, *(self.arrays[name] for name in names))

    def similarities(self, streams: Sequence[StreamCounts], query: int, square: float) -> NDArray[np.float64]:
        """Normalized kernel between one of the queries and every graph, with the bits of ``InvertedFile``."""
        arrays = self.arrays
        if not np.array_equal(arrays["weights"], [stream.weight for stream in streams]):
            raise ValueError(f"{self.path} was built with another kernel")
        total = np.zeros(self.n_graphs)
        for weight in dict.fromkeys(arrays["weights"].tolist()):
            shared = np.zeros(self.n_graphs)
            for s in np.flatnonzero(arrays["weights"] == weight).tolist():
                self._add(s, streams[s], query, shared)
            total += weight * shared
        length = np.sqrt(square * arrays["squares"])
        np.divide(total, length, out=total, where=length > 0)
        return total

    def _add(self, s: int, stream: StreamCounts, query: int, scores: NDArray[np.float64]) -> None:
        from propkernels.learn.retrieval.postings_compiled import add_checked

        row = slice(stream.counts.indptr[query], stream.counts.indptr[query + 1])
        part = self.postings
        bins = part.find(s, stream.codes[stream.counts.indices[row]])
        arrays = (part.bin_ptr, part.graphs, part.counts)
        if not add_checked(bins, stream.counts.data[row], *arrays, scores):
            raise ValueError(f"{self.path} is damaged: remove it, and build the index again")


def _mapped(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Map the arrays of a file, whose head must fit the file and itself."""
    with path.open("rb") as stream:
        head = stream.read(LONGEST_HEAD)
    if not head.startswith(MAGIC):
        raise ValueError("it does not begin as one")
    text, end, _ = head[len(MAGIC) :].partition(b"\n")
    known = json.loads(text)
    if not end or list(known) != list(KINDS):
        raise ValueError("its head is not whole")
    raw, first = np.memmap(path, dtype=np.uint8, mode="r"), len(_padded(MAGIC + text + b"\n"))
    arrays = {}
    for name, (kind, length) in known.items():
        if kind not in KINDS[name] or type(length) is not int or length < 0:
            raise ValueError(f"{name} cannot be {kind!r} x {length!r}")
        size = length * np.dtype(kind).itemsize
        if first + size > len(raw):
            raise ValueError(f"{name} is cut off")
        arrays[name] = np.asarray(raw[first : first + size]).view(kind)
        first += size + -size % ALIGNED
    _check(arrays)
    yield from arrays.items()


def _check(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not fit together; what is inside long ones is checked where it is used."""
    stream_ptr, n_bins = arrays["stream_ptr"], len(arrays["codes"])
    fits = (
        len(stream_ptr) == len(arrays["weights"]) + 1
        and stream_ptr[0] == 0
        and stream_ptr[-1] == n_bins
        and bool((np.diff(stream_ptr) >= 0).all())
        and len(arrays["bin_ptr"]) == n_bins + 1
        and len(arrays["squares"]) == len(arrays["ids"])
        and len(arrays["counts"]) == len(arrays["graphs"])
    )
    if not fits:
        raise ValueError("its arrays do not fit together")
