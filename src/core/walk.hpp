// A step of propagation along edges, LANES columns at a time.
#pragma once
#include "common.hpp"

constexpr int LANES = 8;  // columns propagated together

// The affine step x'_i = spread_i * sum_j A_ij f_ij x_j + keep_i x_i + restart_i x0_i.
template <class Index>
struct Step {
    In<Index> indptr, indices;  // CSR structure of A
    Maybe<double> weights;      // CSR values of A; None: all 1
    In<double> spread, keep;    // (N,)
    Maybe<double> restart;      // (N,); None: all 0
    Maybe<bool> pushed_back;    // (N,): nodes that are reset to x0 before each step; None: none
    Maybe<int32_t> kinds;       // number of the edge label of each entry of A; None without edge labels
    Maybe<double, 4> factors;   // f of (column group, step, edge label, lane)
    auto parts() { return std::tie(indptr, indices, weights, spread, keep, restart, pushed_back, kinds, factors); }
};

// Nodes first .. last - 1; those of the block begin with base, which has row 0 of its values.
struct Place {
    int64_t base, first, last;
};

// x'_i = spread_i * sum_j A_ij f_ij x_j + keep_i x_i of some nodes, in this order and without fused multiply-adds:
// the sum begins with 0 and grows by (weight * factor) * value; it is multiplied by spread, and keep * value is added.
// A node whose spread is 0 has no neighbors' sum, and one whose keep is 0 no own term. now and then are (nodes, LANES).
template <bool weighted, bool labeled, class Index>
void walk_lanes(Alone<const Index> indptr, Alone<const Index> indices, Alone<const double> weights,
                Alone<const double> spreads, Alone<const double> keeps, Alone<const int32_t> kinds,
                Alone<const double> factors, Place at, Alone<const double> now, Alone<double> then) {
    for (int64_t i = at.first; i < at.last; i++) {
        double sums[LANES] = {};
        const double spread = spreads[i], keep = keeps[i];
        if (spread != 0.0) {
            const Index last = indptr[i + 1];
            for (Index entry = indptr[i]; entry < last; entry++) {
                const Ptr<const double> from = now + (indices[entry] - at.base) * LANES;
                const double weight = weighted ? weights[entry] : 1.0;
                for (int lane = 0; lane < LANES; lane++)
                    sums[lane] += weight * (labeled ? factors[kinds[entry] * LANES + lane] : 1.0) * from[lane];
            }
            for (int lane = 0; lane < LANES; lane++) sums[lane] *= spread;
        }
        if (keep != 0.0)
            for (int lane = 0; lane < LANES; lane++) sums[lane] += keep * now[(i - at.base) * LANES + lane];
        for (int lane = 0; lane < LANES; lane++) then[(i - at.base) * LANES + lane] = sums[lane];
    }
}

// The same, for the factors of a group of columns after some steps.
template <class Index>
void walk(const Step<Index> &step, Place at, int64_t group, int64_t made, Ptr<const double> now, Ptr<double> then) {
    Ptr<const double> factors = nullptr;
    if (step.factors)
        factors = step.factors.data() + (group * step.factors.shape[1] + made) * step.factors.shape[2] * LANES;
    const auto chosen = step.weights ? (step.factors ? walk_lanes<true, true, Index> : walk_lanes<true, false, Index>)
                                     : (step.factors ? walk_lanes<false, true, Index> : walk_lanes<false, false, Index>);
    chosen(step.indptr.data(), step.indices.data(), step.weights.data(), step.spread.data(), step.keep.data(),
           step.kinds.data(), factors, at, now, then);
}
