"""Choosing t_max and C on the training part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.evaluation.result import Choice
from propkernels.learn.machines.svm import SupportVectorClassification
from propkernels.learn.machines.tasks import Classification
from propkernels.learn.selection.candidates import Candidate
from propkernels.learn.selection.folds import Fold
from propkernels.learn.selection.kernels_by_t import KernelStack
from propkernels.learn.selection.search import choose_among
from propkernels.learn.selection.sources import GramSource


def choose(
    kernels: KernelStack,
    target: NDArray[np.int64],
    fold: Fold,
    costs: Sequence[float],
    is_exact: bool = True,
) -> Choice:
    """Return the t_max and C that classify most validation graphs correctly.

    Only graphs of ``fold.train`` are looked at. Ties go to the smaller t_max, then to the smaller C; with
    one candidate, or no inner folds, nothing is computed. What cannot win is left out, which changes nothing;
    with ``is_exact=False`` candidates race (see ``race``).
    """
    values, maker = tuple(costs), SupportVectorClassification()
    arms = [
        Candidate(None, t, None, GramSource(matrix, False), None, maker, values, True)
        for t, matrix in kernels.items()
    ]
    is_only_one = len(arms) * len(values) == 1
    found = choose_among(arms, target, () if is_only_one else fold.inner, Classification(), is_exact)
    assert found is not None
    return Choice(arms[found.arm].t_max, values[found.cost])
