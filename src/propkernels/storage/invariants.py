"""What compiled loops rely on, checked before anything from a file reaches them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from propkernels.storage.archive import is_partition
from propkernels.storage.classes import name_of, required_names


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


def check_object(thing: Any) -> None:
    """Refuse an object whose arrays do not fit together.

    Raises
    ------
    ValueError
    """
    name = name_of(thing)
    check = CHECKS.get(str(name))
    if check is not None:
        try:
            fits = check(thing)
        except (AttributeError, TypeError, IndexError):
            fits = False
        if not fits:
            raise ValueError(f"the parts of {name} do not fit together")


def _is(array: Any, kinds: str, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in kinds and array.ndim == ndim


def _whole(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _prior(prior: Any) -> bool:
    return _is(prior.weights, "f", 1) and len(set(prior.values)) == len(prior.values) == len(prior.weights)


def _propagation_coder(coder: Any) -> bool:
    return (
        _whole(coder.t_max, 0)
        and _whole(coder.n_hashes, 1)
        and name_of(coder.prior) == "Prior"
        and name_of(coder.lsh) == "LocalitySensitiveHash"
    )


def _refinement_coder(coder: Any) -> bool:
    return _whole(coder.n_iter, 0)


def _stream_counts(stream: Any) -> bool:
    fits = stream.counts.format == "csr" and stream.counts.shape[1] == len(stream.codes)
    return fits and stream.counts.dtype == np.float64 and stream.codes.ndim == 1


def _postings(postings: Any) -> bool:
    graphs = postings.graphs
    return (
        _whole(postings.n_graphs, 0)
        and _is(postings.codes, "i", 1)
        and is_partition(postings.stream_ptr, len(postings.codes))
        and len(postings.bin_ptr) == len(postings.codes) + 1
        and is_partition(postings.bin_ptr, len(graphs))
        and _is(graphs, "i", 1)
        and bool(((graphs >= 0) & (graphs < postings.n_graphs)).all())
        and _is(postings.counts, "f", 1)
        and len(postings.counts) == len(graphs)
    )


def _inverted_file(file: Any) -> bool:
    n_graphs = sum(part.n_graphs for part in file.segments)
    return (
        all(name_of(part) == "Postings" for part in file.segments)
        and _is(file.weights, "f", 1)
        and all(len(part.stream_ptr) == len(file.weights) + 1 for part in file.segments)
        and _is(file.squares, "f", 1)
        and _is(file.alive, "b", 1)
        and len(file.squares) == len(file.alive) == n_graphs
    )


def _graph_index(index: Any) -> bool:
    if not hasattr(index, "file_"):
        return True
    return name_of(index.file_) == "InvertedFile" and len(index.names_) == len(index.file_.alive)


def _nodes(nodes: Any) -> bool:
    fits = _is(nodes.keys, "u", 1) and _is(nodes.points, "f", 2) and len(nodes.keys) == len(nodes.points)
    return fits and is_partition(nodes.ptr, len(nodes.keys))


def _pairs(nodes: Any, pair_ptr: Any, values: Any) -> bool:
    """Whether there is one value for each ordered pair of nodes of each graph."""
    if name_of(nodes) != "Nodes" or not is_partition(pair_ptr, len(values)) or values.ndim != 1:
        return False
    return bool(np.array_equal(np.diff(pair_ptr), np.diff(nodes.ptr) ** 2))


def _hops(hops: Any) -> bool:
    fits = name_of(hops.nodes) == "Nodes" and all(_is(counts, "f", 2) for counts in hops.counts)
    return fits and [len(counts) for counts in hops.counts] == np.diff(hops.nodes.ptr).tolist()


def _node_comparison(nodes: Any) -> bool:
    """Attributes are compared if and only if it is known how they are standardised."""
    standardizer = None if nodes.kind == 0 else "Standardizer"
    return nodes.kind in range(4) and name_of(nodes.standardizer) == standardizer


def _subgraph_comparison(comparison: Any) -> bool:
    return comparison.lambdas.ndim == 1 and len(comparison.lambdas) >= 1


def _subgraph_counts(comparison: Any) -> bool:
    counter = comparison.counter
    fits = name_of(counter) == "SubgraphCounter" and _whole(counter.k, 1)
    return fits and _is(comparison.lambdas, "f", 1) and len(comparison.lambdas) == counter.k


def _streams_of_subgraphs(comparison: Any, streams: Any) -> bool:
    """Whether there are counts of every size, of kinds with so many symmetries."""
    kinds = [(stream.iteration, stream.weight) for stream in streams]
    sizes = {size for size, _ in kinds}
    whole = all(weight >= 1 and float(weight).is_integer() for _, weight in kinds)
    return whole and len(set(kinds)) == len(kinds) and sizes == set(range(comparison.counter.k))


PREPARED = {
    "MeanOverPairs": "Nodes",
    "EqualLengths": "Paths",
    "HopComparison": "Hops",
    "SubgraphComparison": "Wired",
}


def _pairwise_kernel(kernel: Any) -> bool:
    """Whether training graphs are prepared as the comparison expects, with as many attributes as new ones."""
    if not hasattr(kernel, "comparison_"):
        return True
    comparison, prepared = kernel.comparison_, kernel.prepared_
    if name_of(comparison) in ("CountedComparison", "SubgraphCounts"):
        counted = all(name_of(stream) == "StreamCounts" for stream in prepared)
        is_plain = name_of(comparison) == "CountedComparison"
        return counted and (is_plain or _streams_of_subgraphs(comparison, prepared))
    if name_of(prepared) != PREPARED.get(str(name_of(comparison))):
        return False
    nodes = prepared if name_of(prepared) == "Nodes" else prepared.nodes
    standardizer = comparison.nodes.standardizer
    dimensions = 0 if standardizer is None else len(standardizer.mean)
    return name_of(comparison.nodes) == "NodeComparison" and nodes.points.shape[1] == dimensions


def _standardizer(standardizer: Any) -> bool:
    return standardizer.mean.ndim == 1 and standardizer.mean.shape == standardizer.deviation.shape


CHECKS: dict[str, Callable[[Any], bool]] = {
    "Prior": _prior,
    "PropagationCoder": _propagation_coder,
    "RefinementCoder": _refinement_coder,
    "ExactCoder": _refinement_coder,
    "StreamCounts": _stream_counts,
    "Postings": _postings,
    "InvertedFile": _inverted_file,
    "GraphIndex": _graph_index,
    "Nodes": _nodes,
    "NodeComparison": _node_comparison,
    "Standardizer": _standardizer,
    "SubgraphComparison": _subgraph_comparison,
    "SubgraphCounts": _subgraph_counts,
    "Paths": lambda paths: _pairs(paths.nodes, paths.pair_ptr, paths.distances),
    "Wired": lambda wired: _pairs(wired.nodes, wired.pair_ptr, wired.edges),
    "Hops": _hops,
    "AttributeKernel": _pairwise_kernel,
    "ShortestPath": _pairwise_kernel,
    "GraphHopper": _pairwise_kernel,
    "SubgraphMatching": _pairwise_kernel,
}
