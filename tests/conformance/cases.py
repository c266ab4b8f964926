"""Cases for all executors of code functions: C++, JavaScript and CUDA.

Each executor gets the same kernels and the same graphs, and must give the same codes, bit by bit.
"""

import numpy as np

import propkernels as pk
from propkernels.propagation import (
    AbsorbingWalk,
    Diffusion,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
)

SUMMED = Diffusion(0.5, "none")
CODERS = {
    "walk": pk.PropagationKernel(t_max=4, random_state=0),
    "lazy walk, vanishing": pk.PropagationKernel(
        propagation=Diffusion(0.25, isolated="vanish"), t_max=3, n_hashes=2, random_state=0
    ),
    "sums": pk.PropagationKernel(propagation=SUMMED, t_max=3, random_state=0),
    "sums over labeled edges": pk.PropagationKernel(
        propagation=SUMMED, t_max=3, edge_labels=True, random_state=0
    ),
    "symmetric": pk.PropagationKernel(
        propagation=Diffusion(0.2, "symmetric"), t_max=3, bin_width=1e-3, random_state=0
    ),
    "label propagation": pk.PropagationKernel(propagation="label_propagation", t_max=3, random_state=0),
    "labels pushed back": pk.PropagationKernel(
        propagation=LabelPropagation(clamp="before"), t_max=3, random_state=0
    ),
    "absorption at labels": pk.PropagationKernel(
        propagation=AbsorbingWalk({"N", "O"}), t_max=3, random_state=0
    ),
    "partial absorption": pk.PropagationKernel(propagation=PartialAbsorption(0.3), t_max=3, random_state=0),
    "partial absorption by degree": pk.PropagationKernel(
        propagation=PartialAbsorption(rate=1.5), t_max=3, random_state=0
    ),
    "spreading": pk.PropagationKernel(
        propagation=LabelSpreading(0.7), t_max=3, bin_width=1e-3, random_state=0
    ),
    "degrees": pk.PropagationKernel(labels="degree", t_max=3, random_state=0),
    "magnitudes of degrees": pk.PropagationKernel(
        labels="log_degree", bin_width=1.0, t_max=2, random_state=0
    ),
    "no labels": pk.PropagationKernel(labels=None, propagation=SUMMED, t_max=3, random_state=0),
    "attributes, summed": pk.PropagationKernel(attributes="sum", t_max=2, n_hashes=2, random_state=0),
    "attributes, all equal": pk.PropagationKernel(
        attributes="product", t_max=1, attribute_bin_width=(1.0, 4.0), random_state=0
    ),
    "attributes, jointly": pk.PropagationKernel(
        attributes="joint", attribute_metric="l2", t_max=1, random_state=0
    ),
    "square roots of attributes": pk.PropagationKernel(
        attributes="sum", attribute_metric="hellinger", t_max=1, random_state=0
    ),
    "refinement": pk.WeisfeilerLehman(t_max=3),
    "refinement over labeled edges": pk.WeisfeilerLehman(t_max=3, edge_labels=True),
    "refinement of degrees": pk.WeisfeilerLehman(t_max=2, labels="degree"),
    "refinement of entries": pk.WeisfeilerLehman(t_max=2, labels="entries", edge_labels=True),
    "refinement of one entry": pk.WeisfeilerLehman(t_max=2, labels=1),
    "paths": pk.ShortestPath(),
    "paths of labeled edges": pk.ShortestPath(edge_labels=True),
}

NOT_ON_PAGES = {  # JavaScript refuses them
    "lazy walk, vanishing",
    "symmetric",
    "labels pushed back",
    "absorption at labels",
    "partial absorption",
    "partial absorption by degree",
    "spreading",
    "attributes, jointly",
    "square roots of attributes",
}


def carrying(kernel):
    """Molecules with what a kernel needs, some of it missing, and two classes."""
    data = pk.datasets.make_molecules(50, random_state=1)
    needs_views = getattr(kernel, "labels", None) in ("entries", 1)
    graphs = with_gaps(with_views(data.graphs) if needs_views else data.graphs)
    if getattr(kernel, "edge_labels", False):
        graphs = graphs.with_edge_labels(edge_labels_of(graphs))
    if getattr(kernel, "attributes", None) is not None:
        graphs = graphs.with_attributes(attributes_of(graphs))
    return graphs, data.target


def carrying_everything(graphs):
    """Graphs with labels of two entries, edge labels and attributes: enough for all kernels."""
    graphs = with_gaps(with_views(graphs))
    return graphs.with_edge_labels(edge_labels_of(graphs)).with_attributes(attributes_of(graphs))


def with_views(graphs):
    """Labels that are tuples of two."""
    return graphs.with_labels(
        [(label, "ring" if i % 3 else "chain") for i, label in enumerate(graphs.node_labels)]
    )


def with_gaps(graphs):
    """One label in ten is not observed."""
    gaps = np.random.default_rng(0).random(graphs.n_nodes) < 0.1
    labels = zip(graphs.node_labels, gaps.tolist(), strict=True)
    return graphs.with_labels([None if is_gap else label for label, is_gap in labels])


def attributes_of(graphs):
    """Three attributes per node, some of them missing."""
    rng = np.random.default_rng(0)
    attributes = rng.normal(size=(graphs.n_nodes, 3))
    attributes[rng.random(attributes.shape) < 0.05] = np.nan
    return attributes


def edge_labels_of(graphs):
    """A label per stored edge, the same both ways."""
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(graphs.adjacency.indptr))
    ends = zip(rows.tolist(), graphs.adjacency.indices.tolist(), strict=True)
    return ["single" if (a + b) % 3 else "double" for a, b in ends]


def codes_in_python(counter, graphs):
    """Words of the codes of all items, stream by stream: the lower half of each, then the upper one."""
    blocks = counter.listed(graphs).blocks
    return [codes.astype("<i8").view("<u4").tolist() for block in blocks for _, _, codes in block.streams()]
