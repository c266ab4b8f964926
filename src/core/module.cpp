// propkernels._core: the compiled loops. Signatures are those of the C++ functions; arguments go by position.
#include "common.hpp"

NB_MODULE(_core, m) {
    bind_threads(m);
    bind_codes(m);
    bind_counts(m);
    bind_columns(m);
    bind_gram(m);
    bind_products(m);
    bind_entries(m);
    bind_transfer(m);
    bind_paths(m);
    bind_node_kernels(m);
    bind_cliques(m);
    bind_subgraphs(m);
    bind_structure(m);
    bind_grids(m);
    bind_steps(m);
    bind_search(m);
    bind_edits(m);
}
