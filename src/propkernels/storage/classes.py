"""Savable classes (no other class is ever imported or created), and checks of loaded objects.

Objects are checked against the annotations of their classes, see :mod:`propkernels._utils.stored`.
"""

from __future__ import annotations

import importlib
import os
import types
import typing
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from propkernels import propagation
from propkernels._utils.stored import NOT_FINITE, SOMETIMES, Indices, Offsets, require
from propkernels.graphs.database import GraphDatabase, pack, unpack

_BY_MODULE = {
    "propkernels.graphs.database": "GraphDatabase",
    "propkernels.propagation.attributes": "FixedAttributes GaussianFamily SpreadingAttributes "
    "SpreadingMixtures Standardizer",
    "propkernels.propagation.initial": "Prior",
    "propkernels.propagation.schemes": "EdgeFactors",
    "propkernels.codes.attribute_codes": "AttributeCoder",
    "propkernels.codes.codes": "LocalitySensitiveHash",
    "propkernels.counts.counters": "StreamCounts",
    "propkernels.counts.entries": "Vocabulary",
    "propkernels.counts.levels": "LevelCounter",
    "propkernels.counts.base_kernels": "Intersection Jaccard Linear RadialBasis Tanimoto",
    "propkernels.kernels.descriptor_kernel": "DescriptorKernel Ranks",
    "propkernels.kernels.propagation_kernel": "P2K PropagationCoder PropagationFeatures PropagationKernel",
    "propkernels.kernels.pairs": "AttributeKernel MeanOverPairs NodeComparison Nodes",
    "propkernels.kernels.shortest_path": "EqualLengths Paths ShortestPath ShortestPathFeatures TripletCoder",
    "propkernels.kernels.graph_hopper": "GraphHopper HopComparison HopCounter Hops",
    "propkernels.kernels.weisfeiler_lehman": "LabelHistogram LabelHistogramFeatures RefinementCoder "
    "WeisfeilerLehman WeisfeilerLehmanFeatures",
    "propkernels.kernels.neighborhoods": "NeighborhoodCoder Neighborhoods",
    "propkernels.kernels.sum_kernel": "JoinedCounter SumKernel",
    "propkernels.kernels.count_kernel": "TimeCoder",
    "propkernels.kernels.subgraph_matching": "SizesWeighed SubgraphComparison SubgraphCounter "
    "SubgraphMatching Wired",
    "propkernels.models.classifier": "PropagationClassifier",
    "propkernels.nodes.coinciding_walks": "CoincidingWalkKernel",
    "propkernels.nodes.estimators": "NodeClassifier NodeRegressor",
    "propkernels.nodes.features": "NodeFeatures",
    "propkernels.nodes.inputs": "AttributeInputs NodeInputs StructureInputs",
    "propkernels.nodes.members": "LinearMember NodeRule RadialMember Scaling",
    "propkernels.nodes.views": "Block",
    "propkernels.models.calibrate": "Calibration Conformal",
    "propkernels.novelty.detector": "NoveltyDetector",
    "propkernels.search.index": "GraphIndex",
    "propkernels.explain.decisions": "DecisionLayout",
    "propkernels.explain.rule": "FoldedMember KernelMember RatioMember Rule",
    "propkernels.models.solvers": "Posterior",
    "propkernels.search.inverted_file": "InvertedFile Segment",
    "propkernels.models.regressor": "PropagationRegressor",
    "propkernels.images.quantizers": "GrayLevels KMeansColors",
    "propkernels.molecules.transformer": "MoleculesToGraphs",
    "propkernels.sets.clusters": "MaxMinPicker SphereExclusion",
    "sklearn.pipeline": "Pipeline",
    "sklearn.linear_model._base": "LinearRegression",
    "sklearn.linear_model._logistic": "LogisticRegression",
    "sklearn.linear_model._ridge": "Ridge",
    "sklearn.svm._classes": "LinearSVC LinearSVR",
}
SAVABLE = {name: module for module, names in _BY_MODULE.items() for name in names.split()} | {
    name: cls.__module__
    for name, cls in ((name, getattr(propagation, name)) for name in propagation.__all__)  # schemes
    if isinstance(cls, type) and cls is not propagation.PropagationScheme
}

# Parameters that are paths: a file must not choose where to read or write, so they are None after loading
# ("memory" of a Pipeline would unpickle).
FORGOTTEN = {"memory"}


def name_of(thing: Any) -> str | None:
    """Return the class name that is written for an object, or None if its class is not savable."""
    cls = type(thing)
    return cls.__name__ if SAVABLE.get(cls.__name__) == cls.__module__ else None


@cache
def class_of(name: str) -> type:
    """Return a savable class by name; raise ValueError for other names."""
    if name not in SAVABLE:
        raise ValueError(f"{name!r} is not a savable class")
    cls: type = getattr(importlib.import_module(SAVABLE[name]), name)
    return cls


def is_named_tuple(cls: type) -> bool:
    """Whether a class is a named tuple, which is created by calling the class."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_estimator(cls: Any) -> bool:
    """Whether a class is an estimator, with parameters."""
    return hasattr(cls, "_get_param_names") and not is_named_tuple(cls)


def state_of(thing: Any) -> dict[str, Any]:
    """Return the attributes of an object by name; paths are None."""
    if type(thing) is GraphDatabase:
        return pack(thing)
    if is_named_tuple(type(thing)):
        return dict(zip(type(thing)._fields, thing, strict=True))
    state = dict(vars(thing))
    return {name: None if name in FORGOTTEN else value for name, value in state.items()}


def check_state(cls: type, state: dict[str, Any]) -> None:
    """Raise ValueError for attributes that are missing, unknown or reserved in a class."""
    required = required_names(cls)
    missing = [name for name in required if name not in state]
    if missing:
        raise ValueError(f"{cls.__name__} lacks {missing[0]}")
    for name in set(state) - set(required):
        if (
            (is_dataclass(cls) and not is_estimator(cls))
            or not name.isidentifier()
            or name.startswith("__")
            or hasattr(cls, name)
        ):
            raise ValueError(f"{cls.__name__} has no attribute {name!r}")


def required_names(cls: Any) -> tuple[str, ...]:
    """Return the required attributes: fields of a dataclass or named tuple, parameters of an estimator."""
    if is_named_tuple(cls):
        return tuple(cls._fields)
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    if is_estimator(cls):
        return tuple(cls._get_param_names())
    return ()


def defaults_of(cls: Any) -> dict[str, Any]:
    """Return default values of attributes, for files written before an attribute existed."""
    if is_dataclass(cls):
        given = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        made = {f.name: f.default_factory() for f in fields(cls) if f.default_factory is not MISSING}
        return given | made
    if not is_estimator(cls):
        return {}
    parameters = signature(cls.__init__).parameters
    defaults = {name: parameters[name].default for name in cls._get_param_names()}
    return {name: value for name, value in defaults.items() if value is not Parameter.empty}


def make(cls: Any, state: dict[str, Any]) -> Any:
    """Return an object with a given state, without running code of its class (except for named tuples).

    A GraphDatabase is created by its constructor, with all checks.
    """
    if cls is GraphDatabase:
        return unpack(state)
    state = defaults_of(cls) | state
    check_state(cls, state)
    if is_named_tuple(cls):
        return cls(**state)
    thing = object.__new__(cls)
    thing.__dict__.update({name: None if name in FORGOTTEN else value for name, value in state.items()})
    return thing


Check = Callable[[Any], bool]


def is_int(value: Any) -> bool:
    """Whether a value is an integer of Python or numpy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


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
    float: lambda value: is_int(value) or isinstance(value, (float, np.floating)),
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
    is_learned = {name: name != "_" and (name[0] == "_" or name[-1] == "_") for name in hints}  # _: KW_ONLY
    return {name: hints[name] for name in hints if is_learned[name] and not hasattr(cls, name)}


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
            kind = annotation.__name__ if isinstance(annotation, type) else annotation
            raise ValueError(f"{cls.__name__}.{name} is not {kind}")
    missing = [name for name in always_learned(cls) if name not in vars(thing)]
    if learned and missing:
        raise ValueError(f"{cls.__name__} lacks {min(missing)}")


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
