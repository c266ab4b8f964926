"""GraKeL 0.1.11: the same problems in its terms, as the reproduction of the paper poses them.

- Its ``t_max`` is the number of hashed distributions, P_0 to P_{t_max - 1}; ours is the last t, so our
  t_max = 10 is its t_max = 11. Its ``n_iter`` of WL is the number of refinements, as in ours.
- Its walk loses a node without edges (a row of zeros); ours stays where it is. A self loop on such nodes
  makes the two walks the same, and changes no speed.
- It multiplies dense matrices, so graphs go in as dense float arrays, which is its fastest way for these
  sizes. Its ``Graph`` objects are made before the timing; they are not changed by a fit, so repeats measure
  the same work.
- w = 1e-5 and total variation on both sides. Random vectors differ, so that kernels agree only up to
  collisions of the hash: the report shows the relative difference of the matrices.
"""

from benchmarks.grakel_kernels import BIN_WIDTH, PEERS

propagation, weisfeiler_lehman, shortest_path = (PEERS[method] for method in ("PK", "WL", "SP"))
graph_hopper, subgraph_matching = PEERS["GH"], PEERS["CSM"]

__all__ = [
    "BIN_WIDTH",
    "graph_hopper",
    "propagation",
    "shortest_path",
    "subgraph_matching",
    "weisfeiler_lehman",
]
