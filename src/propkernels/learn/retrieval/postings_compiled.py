"""Compiled loops of the inverted file: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

from propkernels.utils.jit import compiled

# Postings are counts by bin: those of bin b are the places bin_ptr[b] .. bin_ptr[b + 1] - 1 of ``graphs`` and
# ``counts``. Three graphs with the bins {4: 2}, {4: 1, 5: 3}, {5: 1} have, from bin 4 on,
#     bin_ptr 0 2 4    graphs 0 1 | 1 2    counts 2 1 | 3 1


@compiled
def move_postings(
    bin_ptr: Any,
    graphs: Any,
    counts: Any,
    targets: Any,
    number: Any,
    filled: Any,
    to_graphs: Any,
    to_counts: Any,
) -> None:
    """Append each bin's postings to its target bin, of which ``filled`` is the next free place.

    Graphs get the numbers that ``number`` says; those with -1 are left out.
    """
    # Several bins may have one target: ``filled`` goes on where the last of them stopped.
    for b in range(len(targets)):
        place = filled[targets[b]]
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            graph = number[graphs[entry]]
            if graph >= 0:
                to_graphs[place] = graph
                to_counts[place] = counts[entry]
                place += 1
        filled[targets[b]] = place


@compiled
def count_postings(bin_ptr: Any, graphs: Any, targets: Any, number: Any, lengths: Any) -> None:
    """Add to ``lengths`` how many postings each target bin will get."""
    # The first of two passes: cumulative sums of the lengths are where move_postings starts to fill each bin.
    for b in range(len(targets)):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            if number[graphs[entry]] >= 0:
                lengths[targets[b]] += 1
