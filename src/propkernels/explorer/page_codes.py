"""Code functions: settings and arrays from which a page computes the same codes as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.randomness import label_keys, mix
from propkernels.codes.attribute_codes import AttributeCoder
from propkernels.codes.codes import in_key_order, stream_numbers
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.propagation_kernel import PropagationCoder
from propkernels.kernels.shortest_path import TripletCoder
from propkernels.kernels.weisfeiler_lehman import RefinementCoder
from propkernels.propagation.attributes import FixedAttributes
from propkernels.propagation.initial import UNKNOWN, initial_distributions, neighbor_counts
from propkernels.propagation.schemes import Diffusion, EdgeFactors
from propkernels.propagation.walks import LabelPropagation

Arrays = dict[str, NDArray[Any]]
Settings = dict[str, Any]
EXPONENTS = 31  # of degrees, which are 32-bit integers in the page
SPARE_DEGREES = 64  # degrees that edits may reach, in addition to twice the largest degree
_LABELS = 0  # number of the hash of labels among the uses of a seed


class NotLive(ValueError):
    """Raised if a page cannot compute the codes or decisions of a model."""


def code_function(counter: Any, graphs: GraphDatabase) -> tuple[Settings, Arrays]:
    """Return the settings and arrays from which ``coder.js`` computes the codes of a counter.

    Parameters
    ----------
    counter : Counter
    graphs : GraphDatabase
        The graphs of the page.

    Returns
    -------
    dict
        Settings.
    dict of arrays
        Keys or projections of labels.

    Raises
    ------
    NotLive
        If the page does not support the counter.
    """
    functions: dict[type, Any] = {
        RefinementCoder: _refinement,
        PropagationCoder: _propagation,
        TripletCoder: _paths,
    }
    describe = functions.get(type(counter))
    if describe is None:
        raise NotLive(f"the page has no code function for {type(counter).__name__}")
    values = start_values(counter.source, graphs)
    settings, arrays = describe(counter, values, graphs)
    common = {"source": counter.source, "unknown": len(values), "unknownEdge": len(_edge_values(graphs)) - 1}
    return common | settings, arrays


def start_values(source: str | None, graphs: GraphDatabase) -> tuple[Any, ...]:
    """Return all initial node labels, including degrees that edits may reach."""
    if source is None:
        return (0,)
    if source != "node":
        if graphs.has_parallel_edges:
            raise NotLive("it counts neighbors over parallel edges, which edits cannot update")
        if source == "log_degree":
            return (*range(EXPONENTS), "isolated")
        return tuple(range(2 * int(neighbor_counts(graphs).max(initial=0)) + SPARE_DEGREES))
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        raise NotLive("the node labels are missing or uncertain")
    return column.values


def _edge_values(graphs: GraphDatabase) -> tuple[Any, ...]:
    column = graphs.edge_label_column
    return (UNKNOWN,) if column is None else (*column.values, UNKNOWN)


def _keys(counter: Any, tables: list[tuple[Any, ...]], graphs: GraphDatabase) -> Arrays:
    """Return the keys of labels, table after table, and of edge labels if the counter uses them."""
    arrays = {"keys": words(np.concatenate([label_keys((*values, UNKNOWN)) for values in tables]))}
    if counter.edge_labels:
        arrays["edgeKeys"] = words(label_keys(_edge_values(graphs)))
    return arrays


def _refinement(
    counter: RefinementCoder, values: tuple[Any, ...], graphs: GraphDatabase
) -> tuple[Settings, Arrays]:
    """Return a refinement with one table of keys, or with one per entry of the labels."""
    if counter.width is None:
        return _refined(counter, [values], graphs)
    if any(not isinstance(value, tuple) or len(value) != counter.width for value in values):
        raise NotLive(f"it needs node labels that are tuples of {counter.width} entries")
    return _refined(counter, [tuple(value[e] for value in values) for e in counter.entries], graphs)


def _refined(
    counter: RefinementCoder, tables: list[tuple[Any, ...]], graphs: GraphDatabase
) -> tuple[Settings, Arrays]:
    if counter.edge_weights:
        raise NotLive("it distinguishes edges by their weights")
    settings = {
        "kind": "refinement",
        "steps": counter.t_max,
        "entries": len(tables),
        "iterations": np.repeat(np.arange(counter.t_max + 1), len(tables)).tolist(),
    }
    return settings, _keys(counter, tables, graphs)


def _paths(counter: TripletCoder, values: tuple[Any, ...], graphs: GraphDatabase) -> tuple[Settings, Arrays]:
    if counter.weighted and not graphs.is_unweighted:
        raise NotLive("it measures paths by edge weights, which edits cannot update")
    entry = counter.entry
    if entry is not None:
        if any(not isinstance(value, tuple) or len(value) <= entry for value in values):
            raise NotLive(f"it needs node labels that are tuples with an entry {entry}")
        values = tuple(value[entry] for value in values)
    return {"kind": "paths", "iterations": [0]}, _keys(counter, [values], graphs)


def _propagation(
    counter: PropagationCoder, values: tuple[Any, ...], graphs: GraphDatabase
) -> tuple[Settings, Arrays]:
    if counter.lsh.takes_root:
        raise NotLive("the Hellinger metric takes square roots of distributions")
    if not graphs.is_unweighted:
        raise NotLive("it propagates labels along weighted edges")
    streams = stream_numbers(counter.t_max, counter.n_hashes)
    every = LabelColumn(np.array([*range(len(values)), -1], dtype=np.int32), values)
    initial, keys = in_key_order(initial_distributions(every, counter.prior))
    projected = (initial.table @ counter.lsh.vectors(keys, streams))[initial.rows]
    arrays = {"projected": np.asarray(projected).ravel(), "offsets": counter.lsh.offsets(streams)}
    if counter.edge_labels:
        factors = EdgeFactors(counter.lsh.seed, _LABELS)
        drawn = factors.draw(label_keys(_edge_values(graphs)), streams, np.arange(1, counter.t_max + 1))
        arrays["factors"] = drawn.ravel()
    settings: Settings = {
        "kind": "propagation",
        "scheme": scheme_settings(counter.scheme),
        "streams": len(streams),
        "hashes": counter.n_hashes,
        "byKey": np.argsort(label_keys(values)).tolist()
        if counter.fills and counter.source == "node"
        else None,
    }
    iterations, per_hash = np.repeat(np.arange(counter.t_max + 1), counter.n_hashes), 1
    if counter.attributes is not None:
        settings["attributes"], attribute_arrays = _attributes(counter.attributes, counter, graphs)
        arrays |= attribute_arrays
        per_hash = settings["attributes"]["widths"] * settings["attributes"]["columns"]
    settings["iterations"] = np.repeat(iterations, per_hash).tolist()
    return settings, arrays


def scheme_settings(scheme: Any) -> Settings:
    """Return the settings of a propagation scheme for ``affineStep`` of ``coder.js``."""
    if getattr(scheme, "direction", "follow") == "follow":
        if type(scheme) is Diffusion and scheme.normalization != "symmetric" and scheme.isolated != "vanish":
            return {
                "name": "diffusion",
                "laziness": float(scheme.laziness),
                "normalization": scheme.normalization,
            }
        if type(scheme) is LabelPropagation and scheme.clamp == "after":
            return {"name": "absorption"}
    raise NotLive(f"the page has no step for the propagation scheme {scheme}")


def _attributes(
    coder: AttributeCoder, counter: PropagationCoder, graphs: GraphDatabase
) -> tuple[Settings, Arrays]:
    """Return the hashes of fixed attributes: vectors and offsets by iteration, bin width and hash."""
    if type(coder.learned) is not FixedAttributes:
        raise NotLive(f"it propagates attributes ({type(coder.learned).__name__})")
    if coder.combine == "joint" or coder.lsh.takes_root:
        raise NotLive("it hashes attributes jointly, or takes their square roots")
    n_columns = len(coder.standardizer.mean)
    if graphs.node_attributes is None or graphs.node_attributes.shape[1] != n_columns:
        raise NotLive(f"it needs {n_columns} node attributes")
    keys = mix(np.arange(n_columns))
    vectors, offsets = [], []
    for t in range(counter.t_max + 1):
        for lsh in (coder.lsh, *coder.further):
            for h in range(counter.n_hashes):
                stream = np.array([(t << 32) + h])
                vectors.append(lsh.vectors(keys, stream)[:, 0])
                offsets.append(lsh.own_offsets(keys, int(stream[0])))
    settings = {
        "combine": coder.combine,
        "width": n_columns,
        "hashes": counter.n_hashes,
        "widths": 1 + len(coder.further),
        "columns": n_columns if coder.combine == "sum" else 1,
    }
    arrays = {
        "mean": coder.standardizer.mean,
        "deviation": coder.standardizer.deviation,
        "vectors": np.concatenate(vectors),
        "attributeOffsets": np.concatenate(offsets),
    }
    return settings, arrays


def words(codes: NDArray[Any]) -> NDArray[np.uint32]:
    """Return 64-bit codes as pairs of 32-bit words, lower word first."""
    return np.ascontiguousarray(codes).astype("<u8" if codes.dtype.kind == "u" else "<i8").view("<u4")
