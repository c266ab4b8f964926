"""Decoder: from a tree of JSON values to objects, with all values checked."""

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

from propkernels.storage.archive import sparse_matrix
from propkernels.storage.classes import class_of, make
from propkernels.storage.invariants import check_fields, check_object


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
BY_TAG = {codec.tag: codec for codec in CODECS.values()}


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


def array_number(number: Any) -> int:
    """Return the number of an array; refuse what is not an integer."""
    if not isinstance(number, int):
        raise TypeError("the number of an array is not an integer")
    return number


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
            **{tag: codec.read for tag, codec in BY_TAG.items()},
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
            self._arrays[number] = self._read_array(array_number(number))
        return self._arrays[number]

    def _unshared_array(self, number: Any) -> NDArray[Any]:
        """Return an array that no other object shares: sparse matrices sort their arrays in place."""
        shared = self._arrays.get(number)
        return self._read_array(array_number(number)) if shared is None else shared.copy()

    def _objects(self, content: Any) -> NDArray[Any]:
        values = self._list(content["values"])
        array = np.empty(len(values), dtype=object)
        for place, value in enumerate(values):
            array[place] = value
        return array.reshape(content["shape"])

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
        return self._keep(sparse_matrix(content["format"], content["shape"], data, indices, indptr))

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
