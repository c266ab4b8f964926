"""Views of nodes: which columns a model sees, at which steps; features of some nodes of one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from propkernels._utils.arrays import index_dtype
from propkernels._utils.checks import MOST_STREAMS
from propkernels._utils.locks import cached_property
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_whole, require
from propkernels._utils.typing import Indices, Matrix
from propkernels.codes.codes import CodeStreams
from propkernels.graphs.database import GraphDatabase
from propkernels.nodes.inputs import NodeInputs
from propkernels.nodes.spreading import WALKS, Hops, TargetHops, Walks, hops_at, spread_back
from propkernels.propagation.schemes import reciprocal

SOURCES = ("attributes", "structure", "targets", "crossed", "codes")


@dataclass(frozen=True)
class Block:
    """Columns of one source, propagated for some steps.

    Attributes
    ----------
    source : {"attributes", "structure", "targets", "crossed", "codes"}
        "crossed" are targets two steps away, times attributes of the node in between.
    walk : {"row", "renormalized"}
        Normalization of the steps.
    last : int
        Steps are t = 0..last; targets and codes have their own steps.
    summed : bool
        The steps are added, and each row is divided by its norm; otherwise steps are side by side.
    """

    source: str
    walk: str = "row"
    last: int = 0
    summed: bool = False

    def _check_parts(self) -> None:
        """Raise if a value is out of range."""
        known = self.source in SOURCES and self.walk in WALKS
        require(known and is_whole(self.last, 0) and self.last < MOST_STREAMS, "a block is unknown")

    def __str__(self) -> str:
        steps = f" to step {self.last}" if self.is_moved and self.last else ""
        walk = " by row" if self.summed and self.walk == "row" else ""
        return f"{self.source}{' summed' if self.summed else ''}{steps}{walk}"

    def width(self, inputs: NodeInputs, n_targets: int) -> int:
        """Return the number of columns of a model with ``n_targets`` columns of targets."""
        if self.source == "codes":
            return inputs.n_codes
        if self.source == "targets":
            return self.last * (n_targets + 1)
        if self.source == "structure":
            own = len(inputs.structure.names)
        else:
            own = 0 if inputs.attributes is None else inputs.attributes.n_columns
        return own * (n_targets + 1 if self.source == "crossed" else 1 if self.summed else self.last + 1)

    @property
    def uses_targets(self) -> bool:
        """Whether targets of other nodes are seen."""
        return self.source in ("targets", "crossed")

    @property
    def is_moved(self) -> bool:
        """Whether columns are propagated by walks that start at all nodes."""
        return self.source in ("attributes", "structure")


@dataclass(frozen=True)
class View:
    """Blocks that a model sees.

    Attributes
    ----------
    blocks : tuple of Block
    gamma : float
        Nodes are compared by exp(-gamma |x - z|^2); 0: by a dot product.
    """

    blocks: tuple[Block, ...]
    gamma: float = 0.0

    @property
    def uses_targets(self) -> bool:
        """Whether targets of other nodes are seen."""
        return any(block.uses_targets for block in self.blocks)

    def __str__(self) -> str:
        steps = [str(block) for block in self.blocks]
        return " + ".join(steps) + (f" (radial, gamma {self.gamma:g})" if self.gamma else "")


class Sheet:
    """Columns of one graph, propagated on demand.

    Parameters
    ----------
    graphs : GraphDatabase
    inputs : NodeInputs
    structure : ndarray, optional
        Standardized positional statistics, if they are known already.
    """

    def __init__(self, graphs: GraphDatabase, inputs: NodeInputs, structure: Matrix | None = None) -> None:
        self.graphs, self.inputs = graphs, inputs
        self.walks = Walks(graphs, inputs.direction)
        self._columns: dict[str, Any] = {} if structure is None else {"structure": structure}
        self._norms: dict[tuple[str, str, int], Matrix] = {}

    def columns(self, source: str) -> Any:
        """Return attributes or positional statistics of all nodes."""
        if source not in self._columns:
            inputs = self.inputs.attributes if source == "attributes" else self.inputs.structure
            assert inputs is not None
            self._columns[source] = inputs.columns(self.graphs)
        return self._columns[source]

    @cached_property
    def streams(self) -> list[CodeStreams]:
        """Codes of all nodes, by stream."""
        assert self.inputs.coder is not None
        return list(self.inputs.coder.codes(self.graphs))

    @cached_property
    def codes(self) -> csr_array:
        """Hashed codes of all nodes, one entry per node and stream."""
        return hashed_codes(self.streams, self.inputs.n_codes, slice(None))

    def between(self, blocks: Sequence[Block]) -> Matrix | None:
        """Return the attributes of all nodes for crossed targets, if a block has them."""
        if not any(block.source == "crossed" for block in blocks):
            return None
        columns = self.columns("attributes")
        return np.asarray(columns.toarray() if issparse(columns) else columns)

    @cached_property
    def full_attributes(self) -> Any:
        """Attributes of all nodes before the projection on directions."""
        assert self.inputs.attributes is not None
        return self.inputs.attributes.full_columns(self.graphs)

    def code_columns(self, node: int) -> tuple[Indices, Indices]:
        """Return the hashed column of each code of a node, and its step; each entry is ``code_value``."""
        columns, steps = code_table(self.streams, self.inputs.n_codes, np.array([node]))
        return columns[0], steps

    @property
    def code_value(self) -> float:
        """Entry of each code in its column."""
        return float(1 / np.sqrt(sum(1 for block in self.streams for _ in block.streams())))

    def at(self, nodes: Indices, blocks: Sequence[Block]) -> Rows:
        """Propagate the columns of all blocks once, and keep their rows at some nodes."""
        hops: dict[tuple[str, str], Hops] = {}
        for source, walk in sorted({(b.source, b.walk) for b in blocks if b.is_moved}):
            wanted = [b for b in blocks if (b.source, b.walk) == (source, walk)]
            last = max((b.last for b in wanted if not b.summed), default=-1)
            summed = sorted({b.last for b in wanted if b.summed})
            found = hops_at(self.walks, self.columns(source), walk, nodes, last, summed)
            hops[source, walk] = found
            for t, norms in found.norms.items():
                self._norms[source, walk, t] = norms
        has_codes = any(b.source == "codes" for b in blocks)
        return Rows(
            nodes, hops, hashed_codes(self.streams, self.inputs.n_codes, nodes) if has_codes else None
        )

    def norms(self, block: Block) -> Matrix:
        """Return the norms of the rows of a summed block, for all nodes."""
        key = (block.source, block.walk, block.last)
        if key not in self._norms:
            self.at(np.arange(0), [block])
        return self._norms[key]

    def project(
        self, blocks: Sequence[Block], weights: Sequence[Matrix], targets: TargetHops | None
    ) -> Matrix:
        """Return the features of all nodes times weights, (N, decisions), without forming the features.

        Steps side by side of all sources take the same walk together.
        """
        found, together = [], dict[str, list[Matrix]]()
        for block, w in zip(blocks, weights, strict=True):
            if not block.is_moved or block.summed:
                found.append(self._project_one(block, w, targets))
                continue
            steps = together.setdefault(block.walk, [])
            for t, part in enumerate(np.split(w, block.last + 1)):
                values = np.asarray(self.columns(block.source) @ part)
                steps[t : t + 1] = [steps[t] + values if t < len(steps) else values]
        found += [spread_back(self.walks, walk, steps) for walk, steps in together.items()]
        return sum(found[1:], start=found[0])

    def _project_one(self, block: Block, weights: Matrix, targets: TargetHops | None) -> Matrix:
        """Return the features of one block times weights, for codes, targets, and sums of steps."""
        if block.source == "codes":
            return np.asarray(self.codes @ weights)
        if block.uses_targets:
            assert targets is not None
            return targets.project(block.source, weights)
        values = np.asarray(self.columns(block.source) @ weights)
        total = spread_back(self.walks, block.walk, [values] * (block.last + 1))
        return total * reciprocal(self.norms(block))[:, None]


@dataclass(frozen=True)
class Rows:
    """Propagated columns at some nodes.

    Attributes
    ----------
    nodes : ndarray of int64
    hops : dict
        Source and walk -> propagated columns.
    codes : csr_array or None
    """

    nodes: Indices
    hops: dict[tuple[str, str], Hops]
    codes: csr_array | None

    def at(self, places: Indices) -> Rows:
        """Return the columns at ``nodes[places]``."""
        hops = {key: value.at(places) for key, value in self.hops.items()}
        return Rows(self.nodes[places], hops, None if self.codes is None else self.codes[places])

    def block(self, block: Block, places: Indices, targets: TargetHops | None) -> Any:
        """Return the features of a block at ``nodes[places]``; targets are those at ``nodes``."""
        if block.source == "codes":
            assert self.codes is not None
            return self.codes[places]
        if block.uses_targets:
            assert targets is not None
            return targets.columns(block.source, places)
        hops = self.hops[block.source, block.walk]
        if not block.summed:
            return np.hstack([hops.steps[t][places] for t in range(block.last + 1)])
        total = hops.sums[block.last][places]
        return total * reciprocal(np.linalg.norm(total, axis=1))[:, None]


def hashed_codes(streams: Sequence[CodeStreams], n_codes: int, nodes: Indices | slice) -> csr_array:
    """Return codes of neighborhoods as sparse columns: one entry per node and stream, of equal norm."""
    n, width = (table := code_table(streams, n_codes, nodes)[0]).shape
    values = np.full(n * width, 1 / np.sqrt(width))
    index = index_dtype(n * width, n_codes)
    ptr = (np.arange(n + 1) * width).astype(index)
    matrix = csr_array((values, table.ravel().astype(index), ptr), shape=(n, n_codes))
    matrix.sum_duplicates()
    return matrix


def code_table(
    streams: Sequence[CodeStreams], n_codes: int, nodes: Indices | slice
) -> tuple[Indices, Indices]:
    """Return the hashed column of each node and stream, (nodes, streams), and the step of each stream.

    A code is hashed together with the number of its stream.
    """
    columns: list[Indices] = []
    iterations: list[int] = []
    for block in streams:
        for t, _, codes in block.streams():
            mixed = mix(np.uint64(len(columns)), codes[nodes].view(np.uint64))
            columns.append((mixed % np.uint64(n_codes)).astype(np.int64))
            iterations.append(t)
    return np.stack(columns, axis=1), np.array(iterations)


GAMMAS = (0.2, 1.0)
SUMS = (
    ("row", 0),
    ("renormalized", 2),
    ("renormalized", 4),
    ("renormalized", 10),
    ("row", 4),
)  # of attributes
RADIAL_SUMS, SUM_GAMMA = (("row", 0), ("row", 4), ("renormalized", 4)), 1.0
MOST_JOINED = 300  # attribute columns with two steps side by side; wider ones take one
MOST_CROSSED = 200  # columns of crossed targets
MOST_RADIAL = 2000  # columns that radial views compare
MOST_RADIAL_NUMBERS = 2**26  # nodes times those columns


def default_views(inputs: NodeInputs, n_nodes: int, label_steps: int, n_targets: int) -> list[View]:
    """Return the views that a model tries, depending on the data of the graph.

    Parameters
    ----------
    inputs : NodeInputs
    n_nodes : int
    label_steps : int
        Steps of targets.
    n_targets : int
        Columns of targets; 0: views without targets.
    """
    structure, codes = Block("structure", last=3), Block("codes")
    seen = (Block("targets", last=label_steps),) if n_targets else ()
    tables = [(structure, *seen), *([seen] if seen else []), (codes, Block("structure", last=1), *seen)]
    if inputs.attributes is None:
        return [*_linear_and_radial((structure, *seen)), *map(View, tables[1:])]
    width = inputs.attributes.n_columns
    steps = 2 if width <= MOST_JOINED else 1
    near = Block("attributes", last=steps)
    if n_targets and width * (n_targets + 1) <= MOST_CROSSED:
        seen = (*seen, Block("crossed"))
    views = [View((Block("attributes"),))]
    views += [View((Block("attributes", *summed, True),)) for summed in SUMS]
    views.append(View((Block("attributes", summed=True), Block("attributes", last=1, summed=True))))
    if n_nodes * width <= MOST_RADIAL_NUMBERS:
        views += [View((Block("attributes", *summed, True),), SUM_GAMMA) for summed in RADIAL_SUMS]
    fits = width * (steps + 1) <= MOST_RADIAL and n_nodes * width * (steps + 1) <= MOST_RADIAL_NUMBERS
    for blocks in ((near, *seen), (near, structure, *seen)):
        views += _linear_and_radial(blocks) if fits else [View(blocks)]
    return views + [View(table) for table in tables]


def _linear_and_radial(blocks: tuple[Block, ...]) -> list[View]:
    return [View(blocks, gamma) for gamma in (0.0, *GAMMAS)]
