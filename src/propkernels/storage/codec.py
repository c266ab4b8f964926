"""Encoder: objects as a tree of JSON values and a list of arrays; Decoder: back, with all values checked."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import check_compressed, object_array
from propkernels.storage.classes import check_fields, check_object, class_of, make, name_of, state_of

KINDS = "biufcUS"  # dtype kinds: booleans, numbers, text and bytes, no objects


class Codec(NamedTuple):
    """Tag, writer and reader of values of one type."""

    tag: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


CODECS: dict[type, Codec] = {
    bytes: Codec(
        "bytes", lambda b: base64.b64encode(b).decode("ascii"), lambda s: base64.b64decode(s, validate=True)
    ),
    complex: Codec(
        "complex", lambda c: [c.real.hex(), c.imag.hex()], lambda p: complex(*map(float.fromhex, p))
    ),
    range: Codec("range", lambda r: [r.start, r.stop, r.step], lambda p: range(*p)),
    Fraction: Codec("fraction", lambda f: [f.numerator, f.denominator], lambda p: Fraction(*p)),
    Decimal: Codec("decimal", str, Decimal),
    datetime: Codec(
        "datetime",
        lambda d: [d.isoformat(), d.fold],
        lambda p: datetime.fromisoformat(p[0]).replace(fold=p[1]),
    ),
    date: Codec("date", date.isoformat, date.fromisoformat),
    UUID: Codec("uuid", str, UUID),
}


def write_float(value: float) -> Any:
    """Return a finite float unchanged, and NaN or infinity as a tagged name.

    Examples
    --------
    >>> write_float(0.1), write_float(float("-inf"))
    (0.1, {'float': '-inf'})
    """
    return value if math.isfinite(value) else {"float": repr(value)}


def read_float(text: Any) -> float:
    """Return NaN or infinity by name, as written by ``write_float``."""
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text!r} is not a float")
    return float(text)


def sparse_matrix(shape: Sequence[int], data: Any, indices: Any, indptr: Any) -> csr_array:
    """Return a sparse matrix by rows from its arrays, with all indices checked.

    scipy's check accepts an index pointer that ends below 0.

    Raises
    ------
    ValueError
        If an index is outside the shape, or lengths of arrays disagree.
    """
    rows, columns = (int(size) for size in shape)
    if min(rows, columns) < 0 or data.ndim != 1 or data.dtype.kind not in "biuf" or len(data) != len(indices):
        raise ValueError("the arrays of a sparse matrix have inconsistent shapes or types")
    check_compressed(indptr, indices, len(data), (rows, columns), ("row", "column"), "a sparse matrix")
    matrix = csr_array((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix


class Decoder:
    """Decode the tree of an Encoder: plain values, arrays and objects of savable classes.

    Parameters
    ----------
    arrays : callable
        Returns an array by its number.
    """

    def __init__(self, arrays: Callable[[int], NDArray[Any]]) -> None:
        self._read_array = arrays
        self._arrays: dict[int, NDArray[Any]] = {}
        self._done: list[Any] = []
        self._by_tag: dict[str, Callable[[Any], Any]] = {
            "float": read_float,
            "array": self._array,
            "scalar": lambda number: self._array(number)[()],
            "objects": self._objects,
            "tuple": lambda parts: tuple(self._list(parts)),
            "set": lambda parts: set(self._list(parts)),
            "frozenset": lambda parts: frozenset(self._list(parts)),
            "int list": lambda number: self._array(number).tolist(),
            "int tuple": lambda number: tuple(self._array(number).tolist()),
            "dict": lambda pairs: {self.decode(key): self.decode(value) for key, value in pairs},
            "same": self._same,
            "sparse": self._sparse,
            "random state": self._random_state,
            "object": self._object,
            **{codec.tag: codec.read for codec in CODECS.values()},
        }

    def decode(self, tree: Any) -> Any:
        """Return the value of a tree.

        Raises
        ------
        Exception
            Of any type, if the tree was not written by an Encoder; the caller converts it to ModelFileError.
        """
        if tree is None or isinstance(tree, (bool, str, int, float)):
            return tree
        if isinstance(tree, list):
            return self._list(tree)
        if not isinstance(tree, dict) or len(tree) != 1 or not self._by_tag.keys() >= tree.keys():
            raise ValueError("it contains a value of unknown type")
        ((tag, content),) = tree.items()
        return self._by_tag[tag](content)

    def _list(self, parts: Sequence[Any]) -> list[Any]:
        if not isinstance(parts, list):
            raise TypeError("expected a list")
        return [self.decode(part) for part in parts]

    def _array(self, number: Any) -> NDArray[Any]:
        if number not in self._arrays:
            self._arrays[number] = self._unshared_array(number)
        return self._arrays[number]

    def _unshared_array(self, number: Any) -> NDArray[Any]:
        """Return an array that no other object shares: sparse matrices sort their arrays in place."""
        if not isinstance(number, int):
            raise TypeError("the number of an array is not an integer")
        return self._arrays[number].copy() if number in self._arrays else self._read_array(number)

    def _objects(self, content: Any) -> NDArray[Any]:
        return object_array(self._list(content["values"])).reshape(content["shape"])

    def _same(self, number: Any) -> Any:
        if type(number) is not int or number < 0:
            raise ValueError(f"{number!r} is not an object number")
        return self._done[number]

    def _keep(self, thing: Any) -> Any:
        self._done.append(thing)
        return thing

    def _sparse(self, content: Any) -> Any:
        names = ("data", "indices", "indptr")
        data, indices, indptr = (self._unshared_array(content[name]) for name in names)
        if content["format"] != "csr":
            raise ValueError("a sparse matrix has an unknown format")
        return self._keep(sparse_matrix(content["shape"], data, indices, indptr))

    def _random_state(self, content: Any) -> np.random.RandomState:
        state = self.decode(content)
        key, position = state["state"]["key"], state["state"]["pos"]
        if state["bit_generator"] != "MT19937" or key.shape != (624,) or key.dtype != np.uint32:
            raise ValueError("a random generator has an unknown state")
        if not (isinstance(position, int) and 0 <= position <= 624):
            raise ValueError("a random generator has a position out of range")
        generator = np.random.RandomState()
        generator.set_state(state)
        return self._keep(generator)

    def _object(self, content: Any) -> Any:
        name = content["class"]
        state = {str(name): self.decode(part) for name, part in content["state"].items()}
        thing = make(class_of(name), state)
        check_fields(thing)
        check_object(thing)
        return self._keep(thing)


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
        if type(value) is csr_array:
            parts = {name: self._number(getattr(value, name), path) for name in ("data", "indices", "indptr")}
            return {"sparse": {"format": "csr", "shape": list(map(int, value.shape)), **parts}}
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
        state = sorted(state_of(value).items())  # in any order of creation, so that copies give equal files
        tree = {key: self.encode(part, f"{path}.{key}") for key, part in state}
        return {"object": {"class": name, "state": tree}}
