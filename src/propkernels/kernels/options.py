"""Checks of the options that all estimators share."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

SWITCHES = ("normalize", "sparse_output", "standardize")


def check_options(estimator: Any) -> None:
    """Refuse switches that are neither True nor False, and a number of threads that is none."""
    for name in SWITCHES:
        value = getattr(estimator, name, False)
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} must be True or False, got {value!r}")
    n_jobs = estimator.n_jobs
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral)):
        raise TypeError(f"n_jobs must be None or a whole number, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be None, a number of threads, or -1 for all cores; got 0")
