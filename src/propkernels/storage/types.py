"""Runtime checks of values against type annotations.

:func:`check_of` supports all annotations of savable classes (tested), and raises TypeError for others.
"""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from propkernels.storage.classes import is_named_tuple, name_of, required_names

Check = Callable[[Any], bool]


def is_int(value: Any) -> bool:
    """Whether a value is an integer of Python or numpy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_float(value: Any) -> bool:
    """Whether a value is a real number."""
    return is_int(value) or isinstance(value, (float, np.floating))


def is_hashable(value: Any) -> bool:
    """Whether a value, with its items, is hashable."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


_PLAIN: dict[Any, Check] = {
    Any: lambda value: True,
    int: is_int,
    float: is_float,
    bool: lambda value: isinstance(value, (bool, np.bool_)),
    str: lambda value: isinstance(value, str),
    type(None): lambda value: value is None,
    Hashable: is_hashable,
}


@cache
def check_of(annotation: Any) -> Check:
    """Return a predicate: whether a value has the type of an annotation.

    Raises
    ------
    TypeError
        If the annotation is not supported.

    Examples
    --------
    >>> check = check_of(dict[str, int | None])
    >>> check({"a": 1, "b": None}), check({"a": 1.5}), check([])
    (True, False, False)
    """
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if hasattr(origin, "__value__"):  # a type alias with parameters, as NDArray is from numpy 2.5 on
        return check_of(origin.__value__[arguments])
    if origin is typing.Literal:
        return lambda value: any(type(value) is type(choice) and value == choice for choice in arguments)
    if origin in (types.UnionType, typing.Union):
        parts = [check_of(argument) for argument in arguments]
        return lambda value: any(part(value) for part in parts)
    if origin is np.ndarray:
        scalar = get_args(arguments[1])[0]
        if scalar is Any:
            return lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
        return lambda value: isinstance(value, np.ndarray) and value.dtype == np.dtype(scalar)
    if origin in (Callable, os.PathLike):
        return lambda value: False  # functions and paths are never written to a file
    if origin in (list, tuple, dict, Sequence, Collection, Iterable):
        return _container_check(origin, arguments)
    if isinstance(annotation, type):
        return _class_check(annotation)
    raise TypeError(f"storage does not support the annotation {annotation!r}")


def _container_check(origin: Any, arguments: tuple[Any, ...]) -> Check:
    if origin is dict:
        key, item = map(check_of, arguments)
        return lambda value: isinstance(value, dict) and all(key(k) and item(v) for k, v in value.items())
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        parts = [check_of(argument) for argument in arguments]
        return lambda value: (
            isinstance(value, tuple)
            and len(value) == len(parts)
            and all(part(item) for part, item in zip(parts, value, strict=True))
        )
    kinds = {list: (list,), tuple: (tuple,)}.get(origin, (list, tuple, range, set, frozenset, np.ndarray))
    part = check_of(arguments[0])
    return lambda value: isinstance(value, kinds) and all(part(item) for item in value)


def _class_check(cls: type) -> Check:
    """Return a predicate: instance of a class, or savable object with all methods of a protocol."""
    if not getattr(cls, "_is_protocol", False):
        return lambda value: isinstance(value, cls)
    methods = [name for base in cls.__mro__ for name in vars(base) if not name.startswith("_")]
    return lambda value: name_of(value) is not None and all(hasattr(value, name) for name in methods)


# scikit-learn's class has no annotations
NOT_ANNOTATED: dict[str, dict[str, Any]] = {"Pipeline": {"steps": list[tuple[str, Any]], "verbose": bool}}


def is_estimator(cls: Any) -> bool:
    """Whether a class is an estimator, with parameters."""
    return hasattr(cls, "_get_param_names") and not is_named_tuple(cls)


@cache
def declared_types(cls: Any) -> dict[str, Any]:
    """Return annotations of the fields of a dataclass or named tuple, or of an estimator's parameters."""
    if cls.__name__ in NOT_ANNOTATED:
        return NOT_ANNOTATED[cls.__name__]
    if cls.__module__.startswith("sklearn."):  # without annotations, see check_linear
        return dict.fromkeys(required_names(cls), Any)
    hints = get_type_hints(cls if is_dataclass(cls) or not is_estimator(cls) else cls.__init__)
    return {name: hints[name] for name in required_names(cls)}


@cache
def fitted_types(cls: Any) -> dict[str, Any]:
    """Return annotations of learned attributes: names that begin or end in an underscore, without a value."""
    if not is_estimator(cls):
        return {}
    hints = get_type_hints(cls)
    is_learned = {name: name.startswith("_") or name.endswith("_") for name in hints}
    return {name: hints[name] for name in hints if is_learned[name] and not hasattr(cls, name)}
