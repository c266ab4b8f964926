"""Bins with the largest weights in a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counts.bins import Bin, Bins, ChosenBin, Shown, describe_bins
from propkernels.explain.members import WeightedBins

__all__ = ["Bin", "Bins", "strongest_bins"]


def strongest_bins(
    members: Sequence[WeightedBins],
    n: int,
    graphs: Any,
    target: NDArray[np.float64] | None,
    molecules: Any,
    label_names: Mapping[Any, str] | None,
    subject: str,
) -> Bins:
    """Return descriptions of the bins with the largest absolute weights.

    Parameters
    ----------
    members : sequence of WeightedBins
        Weights of the bins of each member of a rule.
    n : int
    graphs : GraphDatabase or GridDatabase
        Source of examples.
    target : ndarray of float64, (n,), or None
    molecules : sequence of rdkit.Chem.Mol, or None
    label_names : mapping or None
    subject : str
    """
    member = np.repeat(np.arange(len(members)), [len(one.codes) for one in members])
    stream, codes, values = (
        np.concatenate([getattr(one, name) for one in members]) for name in ("stream", "codes", "weights")
    )
    # ties are broken by stream, member and code, so the order of training graphs does not matter
    sizes = np.abs(values)
    large = np.flatnonzero(sizes >= np.partition(sizes, -n)[-n]) if n < len(sizes) else np.arange(len(sizes))
    order = large[np.lexsort((codes[large], member[large], stream[large], -sizes[large]))[:n]]
    shown = Shown(graphs, target, molecules, label_names or {})
    described: dict[int, Bin] = {}
    for number, one in enumerate(members):
        own = order[member[order] == number]
        chosen = [ChosenBin(int(stream[i]), int(codes[i]), None, float(values[i])) for i in own]
        found = describe_bins(one.counter, chosen, shown) if chosen else []
        described |= {i: replace(bin_, member=number) for i, bin_ in zip(own.tolist(), found, strict=True)}
    return Bins([described[i] for i in order.tolist()], subject)
