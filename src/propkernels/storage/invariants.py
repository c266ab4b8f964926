"""Checks of loaded objects against the annotations of their classes, see :mod:`propkernels._utils.stored`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from propkernels._utils.stored import NOT_FINITE, SOMETIMES, Indices, Offsets, require
from propkernels.storage.classes import FORGOTTEN, name_of
from propkernels.storage.types import check_of, declared_types, fitted_types, is_estimator


def check_fields(thing: Any) -> None:
    """Raise ValueError for attributes of the wrong type, or a partially fitted estimator.

    Raises
    ------
    ValueError
    """
    cls: Any = type(thing)
    learned = {name: kind for name, kind in fitted_types(cls).items() if name in vars(thing)}
    for name, annotation in (declared_types(cls) | learned).items():
        if name not in FORGOTTEN and not check_of(annotation)(getattr(thing, name)):
            raise ValueError(f"{cls.__name__}.{name} is not {_text(annotation)}")
    missing = [name for name in always_learned(cls) if name not in vars(thing)]
    if learned and missing:
        raise ValueError(f"{cls.__name__} lacks {min(missing)}")


def _text(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def check_object(thing: Any) -> None:
    """Raise ValueError for offsets or indices out of range, NaN or infinity, or inconsistent attributes.

    Raises
    ------
    ValueError
    """
    name = name_of(thing)
    cls: Any = type(thing)
    try:
        for field, points_to in pointers(cls).items():
            if getattr(thing, field, None) is not None:
                points_to.check(thing, getattr(thing, field), f"{name}.{field}")
        check_finite(thing)
        if hasattr(thing, "_check_parts"):
            thing._check_parts()
        elif cls.__module__.startswith("sklearn.") and name != "Pipeline":
            check_linear(thing)
    except ValueError as error:
        raise ValueError(f"the attributes of {name} are inconsistent: {error}") from None
    except (AttributeError, TypeError, IndexError):
        raise ValueError(f"the attributes of {name} are inconsistent") from None


def check_finite(thing: Any) -> None:
    """Raise ValueError for NaN or infinity among stored numbers, unless their annotation allows them."""
    cls: Any = type(thing)
    for name in finite_names(cls):
        for numbers in float_arrays(getattr(thing, name, None)):
            require(np.isfinite(numbers).all(), f"{name} contains NaN or infinity")


def float_arrays(value: Any) -> Iterator[NDArray[np.floating[Any]]]:
    """Yield the floats of a number, an array, a sparse matrix, or a list of arrays and matrices."""
    if isinstance(value, (float, np.floating)):
        yield np.asarray(value)
    for part in value if type(value) in (list, tuple) else [value]:
        numbers = part.data if issparse(part) else part
        if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f":
            yield numbers


def check_linear(model: Any) -> None:
    """Raise ValueError unless the coefficients of a linear model of scikit-learn have matching shapes."""
    if "coef_" not in vars(model):
        return
    coefficients, intercept = model.coef_, np.asarray(model.intercept_)
    rows = np.atleast_2d(coefficients)
    require(isinstance(coefficients, np.ndarray) and rows.ndim == 2, "coef_ must be a vector or a matrix")
    require(coefficients.dtype.kind == "f" and intercept.dtype.kind == "f", "coefficients must be floats")
    require(intercept.size in (1, len(rows)), "every decision needs an intercept")
    require(model.n_features_in_ == rows.shape[1], "every column needs a coefficient")
    if "classes_" in vars(model):
        n_classes = len(model.classes_)
        require(len(rows) == (1 if n_classes == 2 else n_classes), "every class needs coefficients")


@cache
def marks(cls: Any) -> dict[str, tuple[Any, ...]]:
    """Return the metadata of the annotation (``Annotated``) of each attribute of a class."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}


@cache
def finite_names(cls: Any) -> tuple[str, ...]:
    """Return the fields of a dataclass, or learned attributes of an estimator, whose numbers are finite."""
    stored = fitted_types(cls) if is_estimator(cls) else declared_types(cls)
    if cls.__module__.startswith("sklearn."):
        return ("coef_", "intercept_")
    return tuple(name for name in stored if NOT_FINITE not in marks(cls).get(name, ()))


@cache
def pointers(cls: Any) -> dict[str, Offsets | Indices]:
    """Return the attributes that are offsets or indices, with their targets."""
    pairs = ((name, mark) for name, metadata in marks(cls).items() for mark in metadata)
    return {name: mark for name, mark in pairs if isinstance(mark, (Offsets, Indices))}


@cache
def always_learned(cls: Any) -> tuple[str, ...]:
    """Return the attributes that ``fit`` always sets: a fitted estimator has all of them."""
    return tuple(name for name in fitted_types(cls) if SOMETIMES not in marks(cls)[name])
