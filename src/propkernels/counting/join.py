"""Streams side by side."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.sparse import csr_array, hstack

from propkernels.counting.counts import StreamCounts


def join_streams(streams: Sequence[StreamCounts], n_bins: Sequence[int] | None = None) -> csr_array:
    """Set the count matrices of streams side by side; ``n_bins`` cuts off bins that are new to fit."""
    parts = [s.counts if n_bins is None else s.counts[:, : n_bins[i]] for i, s in enumerate(streams)]
    return parts[0] if len(parts) == 1 else csr_array(hstack(parts, format="csr"))
