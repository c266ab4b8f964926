"""The bins that a model rests on most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.bins import Bin, Bins, ChosenBin, Shown, describe_bins
from propkernels.learn.machines.decisions import FoldedRule

__all__ = ["Bin", "Bins", "strongest_bins"]


def strongest_bins(
    rule: FoldedRule,
    share: NDArray[np.float64],
    n: int,
    graphs: Any,
    target: NDArray[np.float64] | None,
    molecules: Any,
    label_names: Mapping[Any, str] | None,
    n_jobs: int | None,
    subject: str,
) -> Bins:
    """Describe the bins with the largest weights, for or against, in a weighted sum of a rule's decisions.

    Parameters
    ----------
    rule : FoldedRule
    share : ndarray, (decisions,)
        What each decision counts.
    n : int
    graphs : GraphDatabase or GridDatabase
        Where examples are taken from.
    target : ndarray of float64, (n,), or None
    molecules : sequence of rdkit.Chem.Mol, or None
    label_names : mapping or None
    n_jobs : int or None
    subject : str
    """
    weights = [table @ share for table in rule.weights]
    stream = np.repeat(np.arange(len(weights)), [len(part) for part in weights])
    values, codes = np.concatenate(weights), np.concatenate(rule.codes)
    # equal weights in the order of stream and code, so that the order of training graphs does not matter
    order = np.lexsort((codes, stream, -np.abs(values)))[:n]
    chosen = [ChosenBin(int(stream[i]), int(codes[i]), None, float(values[i])) for i in order]
    shown = Shown(graphs, target, molecules, label_names or {})
    return Bins(describe_bins(rule.counter, chosen, shown, n_jobs), subject)
