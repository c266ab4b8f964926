"""Simple types that fields of dataclasses and named tuples declare, checked on loading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from propkernels.storage.classes import required_names


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_float(value: Any) -> bool:
    return _is_int(value) or isinstance(value, (float, np.floating))


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _array_of(dtype: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, np.ndarray) and value.dtype == dtype


_BY_ANNOTATION: dict[str, Callable[[Any], bool]] = {
    "int": _is_int,
    "float": _is_float,
    "bool": _is_bool,
    "str": lambda value: isinstance(value, str),
    "str | None": lambda value: value is None or isinstance(value, str),
    "int | None": lambda value: value is None or _is_int(value),
    "Matrix": _array_of(np.float64),
    "NDArray[np.float64]": _array_of(np.float64),
    "NDArray[np.int64]": _array_of(np.int64),
    "NDArray[np.int32]": _array_of(np.int32),
    "NDArray[np.uint64]": _array_of(np.uint64),
    "NDArray[np.bool_]": _array_of(np.bool_),
}


def check_fields(thing: Any) -> None:
    """Refuse a field whose value is not what its class declares; annotations that say more are passed over.

    Raises
    ------
    ValueError
    """
    cls = type(thing)
    declared = {name: text for base in reversed(cls.__mro__) for name, text in _annotations(base).items()}
    for name in required_names(cls):
        check = _BY_ANNOTATION.get(str(declared.get(name)))
        if check is not None and not check(getattr(thing, name)):
            raise ValueError(f"{cls.__name__}.{name} is no {declared[name]}")


def _annotations(cls: type) -> dict[str, Any]:
    return {
        name: getattr(text, "__forward_arg__", text)
        for name, text in vars(cls).get("__annotations__", {}).items()
    }
