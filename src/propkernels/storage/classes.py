"""Table of savable classes: no other class is ever imported or created."""

from __future__ import annotations

import importlib
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Any

from propkernels import propagation
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.packing import pack, unpack

_BY_MODULE = {
    "propkernels.graphs.database": ("GraphDatabase",),
    "propkernels.propagation.attributes": ("FixedAttributes", "SpreadingAttributes", "Standardizer"),
    "propkernels.propagation.gaussian_mixtures": ("GaussianFamily", "SpreadingMixtures"),
    "propkernels.propagation.initial": ("Prior",),
    "propkernels.propagation.edge_labels": ("EdgeFactors",),
    "propkernels.codes.attribute_codes": ("AttributeCoder",),
    "propkernels.codes.codes": ("LocalitySensitiveHash",),
    "propkernels.counts.counters": ("StreamCounts",),
    "propkernels.counts.entries": ("Vocabulary",),
    "propkernels.counts.levels": ("LevelCounter",),
    "propkernels.counts.base_kernels": ("Intersection", "Jaccard", "Linear", "RadialBasis", "Tanimoto"),
    "propkernels.kernels.baselines": (
        "AttributeKernel",
        "LabelHistogram",
        "LabelHistogramFeatures",
        "MeanOverPairs",
    ),
    "propkernels.kernels.descriptor_kernel": ("DescriptorKernel", "Ranks"),
    "propkernels.kernels.propagation_kernel": (
        "P2K",
        "PropagationCoder",
        "PropagationFeatures",
        "PropagationKernel",
    ),
    "propkernels.kernels.pairs": ("NodeComparison", "Nodes"),
    "propkernels.kernels.shortest_path": (
        "EqualLengths",
        "Paths",
        "ShortestPath",
        "ShortestPathFeatures",
        "TripletCoder",
    ),
    "propkernels.kernels.graph_hopper": ("GraphHopper", "HopComparison", "HopCounter", "Hops"),
    "propkernels.kernels.weisfeiler_lehman": (
        "EntryCoder",
        "RefinementCoder",
        "WeisfeilerLehman",
        "WeisfeilerLehmanFeatures",
    ),
    "propkernels.kernels.neighborhoods": ("NeighborhoodCoder", "Neighborhoods"),
    "propkernels.kernels.sum_kernel": ("JoinedCounter", "SumKernel"),
    "propkernels.kernels.count_kernel": ("TimeCoder",),
    "propkernels.kernels.subgraph_matching": (
        "SizesWeighed",
        "SubgraphComparison",
        "SubgraphCounter",
        "SubgraphMatching",
        "Wired",
    ),
    "propkernels.models.classifier": ("PropagationClassifier",),
    "propkernels.nodes.coinciding_walks": ("CoincidingWalkKernel",),
    "propkernels.nodes.estimators": ("NodeClassifier", "NodeRegressor"),
    "propkernels.nodes.features": ("NodeFeatures",),
    "propkernels.nodes.inputs": ("AttributeInputs", "NodeInputs", "StructureInputs"),
    "propkernels.nodes.members": ("LinearMember", "NodeRule", "RadialMember", "Scaling"),
    "propkernels.nodes.views": ("Block",),
    "propkernels.models.calibrate": ("Calibration", "Conformal"),
    "propkernels.novelty.detector": ("NoveltyDetector",),
    "propkernels.search.index": ("GraphIndex",),
    "propkernels.explain.decisions": ("DecisionLayout",),
    "propkernels.explain.rule": ("FoldedMember", "KernelMember", "RatioMember", "Rule"),
    "propkernels.models.solvers": ("Posterior",),
    "propkernels.search.inverted_file": ("InvertedFile", "Segment"),
    "propkernels.models.regressor": ("PropagationRegressor",),
    "propkernels.images.quantizers": ("GrayLevels", "KMeansColors"),
    "propkernels.molecules.transformer": ("MoleculesToGraphs",),
    "propkernels.sets.clusters": ("MaxMinPicker", "SphereExclusion"),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.linear_model._base": ("LinearRegression",),
    "sklearn.linear_model._logistic": ("LogisticRegression",),
    "sklearn.linear_model._ridge": ("Ridge",),
    "sklearn.svm._classes": ("LinearSVC", "LinearSVR"),
}
_HOME = {name: module for module, names in _BY_MODULE.items() for name in names} | {
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
    return cls.__name__ if _HOME.get(cls.__name__) == cls.__module__ else None


@cache
def class_of(name: str) -> type:
    """Return a savable class by name; raise ValueError for other names."""
    if name not in _HOME:
        raise ValueError(f"{name!r} is not a savable class")
    cls: type = getattr(importlib.import_module(_HOME[name]), name)
    return cls


def known_names() -> list[str]:
    """Return the names of all savable classes."""
    return list(_HOME)


def is_named_tuple(cls: type) -> bool:
    """Whether a class is a named tuple, which is created by calling the class."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


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
    is_estimator = hasattr(cls, "_get_param_names")
    for name in set(state) - set(required):
        if (
            (is_dataclass(cls) and not is_estimator)
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
    if hasattr(cls, "_get_param_names"):
        return tuple(cls._get_param_names())
    return ()


def defaults_of(cls: Any) -> dict[str, Any]:
    """Return default values of attributes, for files written before an attribute existed."""
    if is_dataclass(cls):
        given = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        made = {f.name: f.default_factory() for f in fields(cls) if f.default_factory is not MISSING}
        return given | made
    if not hasattr(cls, "_get_param_names"):
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
