// Single steps of propagation with all columns, and what surrounds them.
#include "common.hpp"

namespace {
// following_i = spread_i * sum_j A_ij x_j + keep_i x_i for some rows i, all columns at once. total (columns,) holds the
// sums over the neighbors of one node and stays in the cache. Rows of neighbors lie anywhere in memory: those of later
// entries are on their way meanwhile.
template <class Index>
WIDE void step_rows(Alone<const Index> indptr, Alone<const Index> indices, int64_t n_entries, Alone<const double> weights,
                    Alone<const double> spread, Alone<const double> keep, Alone<const double> current, int64_t width,
                    Alone<const int64_t> rows, int64_t n_rows, Alone<double> total, Alone<double> following) {
    constexpr int64_t AHEAD = 16, LINE = 8;  // entries between a request and its use; numbers per cache line
    for (int64_t k = 0; k < n_rows; k++) {
        const int64_t i = rows[k];
        for (int64_t c = 0; c < width; c++) total[c] = 0.0;
        for (int64_t entry = indptr[i], last = indptr[i + 1]; entry < last; entry++) {
            if (entry + AHEAD < n_entries)
                for (int64_t c = 0; c < width; c += LINE) prefetch(&current[indices[entry + AHEAD] * width + c]);
            const double weight = weights[entry];
            const Ptr<const double> from = current + indices[entry] * width;
            for (int64_t c = 0; c < width; c++) total[c] += weight * from[c];
        }
        const double share_of_others = spread[i], stay = keep[i];
        for (int64_t c = 0; c < width; c++)
            following[i * width + c] = share_of_others * total[c] + stay * current[i * width + c];
    }
}

// An affine step of current (N, columns) at some rows, into following (N, columns); indptr, indices and weights are the
// CSR arrays of A. Threads take runs of rows: bounds.
template <class Index>
void affine_step(In<Index> indptr, In<Index> indices, In<double> weights, In<double> spread, In<double> keep,
                 In<double, 2> current, Out<double, 2> following, In<int64_t> rows, In<int64_t> bounds, int threads) {
    const Rooms<double> totals(threads, current.shape[1]);
    share(bounds.size() - 1, threads, [&](int thread, int64_t k) {
        step_rows(indptr.data(), indices.data(), indices.size(), weights.data(), spread.data(), keep.data(),
                  current.data(), current.shape[1], rows.data() + bounds[k], bounds[k + 1] - bounds[k], totals[thread],
                  following.data());
    });
}

}  // namespace

void bind_steps(nb::module_ &m) {
    BIND_INDEX(affine_step);
}
