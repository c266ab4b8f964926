"""Reproducible descriptions of values, as JSON and as SHA-256, to identify results in files."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from propkernels._utils.checks import shown


def digest_of(value: Any, name: str) -> str:
    """Return the SHA-256 of a description; stored in files, so it must never change."""
    return hashlib.sha256(repr(described(value, name)).encode("utf-8", "surrogatepass")).hexdigest()


def described(value: Any, name: str) -> Any:
    """Return a parameter as JSON, equal in every process.

    Examples
    --------
    >>> import propkernels as pk
    >>> described(pk.propagation.Diffusion(laziness=0.5), "propagation")["parameters"]["laziness"]
    0.5
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (list, tuple)):
        return [described(item, name) for item in value]
    if isinstance(value, Mapping):
        pairs = [[described(key, name), described(item, name)] for key, item in value.items()]
        return {"mapping": sorted(pairs, key=repr)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        array = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(array.tobytes()).hexdigest(), "type": f"{array.dtype} {array.shape}"}
    state = _state(value)
    if state is None:
        raise TypeError(
            f"{name}={shown(value)} cannot be written down, so results could not be distinguished"
        )
    return {"class": type(value).__name__, "parameters": {k: described(v, k) for k, v in state.items()}}


def _state(value: Any) -> dict[str, Any] | None:
    """Return parameters of an estimator or fields of a dataclass; None for other objects."""
    if isinstance(value, BaseEstimator):
        parameters: dict[str, Any] = value.get_params(deep=False)
        return parameters
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return None
