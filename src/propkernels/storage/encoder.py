"""Encoder: from objects to a tree of JSON values and a list of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.storage.archive import FORMATS, KINDS
from propkernels.storage.classes import name_of, state_of
from propkernels.storage.decoder import CODECS, write_float

SPARSE = {kind: name for name, kind in FORMATS.items()}
INSTEAD = {
    "sklearn.svm": "end it in PropagationClassifier(kernel=...) or PropagationRegressor(kernel=...)",
    "sklearn.kernel_ridge": "end it in PropagationRegressor(kernel=...)",
}
OTHERWISE = "use the models of this library, or skops.io for the whole pipeline"
MANY = 64  # lists of this many integers or more are written as arrays


class Encoder:
    """Encode values as JSON; every array is stored once and referred to by number.

    Attributes
    ----------
    arrays : list of ndarray
        Arrays by number.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._array_numbers: dict[int, int] = {}
        self._done: dict[int, int] = {}
        self._begun: set[int] = set()
        self._kept: list[Any] = []  # keeps encoded objects alive, so that their ids stay unique

    def encode(self, value: Any, path: str) -> Any:
        """Return the tree of a value; ``path`` names the value in errors.

        Raises
        ------
        TypeError
            If a value has a type that is not savable.
        """
        kind = type(value)
        if value is None or kind in (bool, str, int):
            return value
        if kind is float:
            return write_float(value)
        if kind in CODECS:
            return self._plain(value, path)
        if kind is np.ndarray:
            return self._array(value, path)
        if isinstance(value, np.generic):
            return {"scalar": self._number(np.asarray(value), path)}
        if kind in (list, tuple, set, frozenset, dict):
            return self._container(value, path)
        return self._shared(value, path)

    def _plain(self, value: Any, path: str) -> Any:
        codec = CODECS[type(value)]
        tree = codec.write(value)
        if repr(codec.read(tree)) != repr(value):  # for example, a time with a named zone
            raise TypeError(f"{path} is {value!r}, which cannot be saved without loss")
        return {codec.tag: tree}

    def _container(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            pairs = [
                [self.encode(key, f"a key of {path}"), self.encode(part, f"{path}[{key!r}]")]
                for key, part in value.items()
            ]
            return {"dict": pairs}
        if isinstance(value, (set, frozenset)):
            return {type(value).__name__: [self.encode(part, path) for part in sorted(value, key=repr)]}
        if len(value) >= MANY and all(type(part) is int and -(2**63) <= part < 2**63 for part in value):
            return {f"int {type(value).__name__}": self._number(np.array(value, dtype=np.int64), path)}
        parts = [self.encode(part, f"{path}[{i}]") for i, part in enumerate(value)]
        return {"tuple": parts} if isinstance(value, tuple) else parts

    def _array(self, array: NDArray[Any], path: str) -> Any:
        if array.dtype.kind == "O":
            values = [self.encode(part, f"{path}[{i}]") for i, part in enumerate(array.ravel())]
            return {"objects": {"shape": list(array.shape), "values": values}}
        return {"array": self._number(array, path)}

    def _number(self, array: NDArray[Any], path: str) -> int:
        if array.dtype.kind not in KINDS or array.dtype.itemsize == 0:
            raise TypeError(f"{path} is an array of type {array.dtype}, which cannot be saved")
        if id(array) not in self._array_numbers:
            self._array_numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return self._array_numbers[id(array)]

    def _shared(self, value: Any, path: str) -> Any:
        """Return the tree of an object, or a reference if it was encoded before."""
        if id(value) in self._done:
            return {"same": self._done[id(value)]}
        if id(value) in self._begun:
            raise TypeError(f"{path} refers to itself, which cannot be saved")
        self._begun.add(id(value))
        tree = self._object(value, path)
        self._done[id(value)] = len(self._done)
        self._kept.append(value)
        return tree

    def _object(self, value: Any, path: str) -> Any:
        if type(value) in SPARSE:
            parts = {name: self._number(getattr(value, name), path) for name in ("data", "indices", "indptr")}
            return {"sparse": {"format": SPARSE[type(value)], "shape": list(map(int, value.shape)), **parts}}
        if isinstance(value, np.random.RandomState):
            return {"random state": self.encode(value.get_state(legacy=False), path)}
        value = value.stored() if hasattr(value, "stored") else value
        name = name_of(value)
        if name is None:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            instead = next((text for part, text in INSTEAD.items() if part in kind), OTHERWISE)
            raise TypeError(
                f"{path} is a {kind}: only objects of this library, arrays, plain values and linear models "
                f"of scikit-learn can be saved; {instead}"
            )
        state = state_of(value)
        tree = {key: self.encode(part, f"{path}.{key}") for key, part in state.items()}
        return {"object": {"class": name, "state": tree}}
