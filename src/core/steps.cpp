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

// The weights of a walk that stays with probability l, on edges of weight 1: spread = (1 - l) / degree and keep = l; 0 and
// 1 without edges.
template <class Index>
WIDE void weigh_walk(Alone<const Index> indptr, int64_t n, double laziness, Alone<double> spread, Alone<double> keep) {
    for (int64_t node = 0; node < n; node++) {
        const double degree = double(indptr[node + 1] - indptr[node]);
        const double moved = (1.0 - laziness) * (1.0 / degree);
        spread[node] = degree > 0.0 ? moved : 0.0;
        keep[node] = degree > 0.0 ? laziness : 1.0;
    }
}
template <class Index>
void walk_weights(In<Index> indptr, double laziness, Out<double> spread, Out<double> keep) {
    nb::gil_scoped_release release;
    weigh_walk(indptr.data(), spread.size(), laziness, spread.data(), keep.data());
}

// Mean, standard deviation (ddof = 1) and largest absolute value of the columns first .. last - 1 of values (n, width),
// in the order of the sums of numpy.std.
WIDE void moments_of(Alone<const double> values, int64_t n, int64_t width, int64_t first, int64_t last,
                     Alone<double> means, Alone<double> deviations, Alone<double> largest) {
    for (int64_t c = first; c < last; c++) means[c] = deviations[c] = largest[c] = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = first; c < last; c++) means[c] += values[i * width + c];
    for (int64_t c = first; c < last; c++) means[c] /= double(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = first; c < last; c++) {
            const double value = values[i * width + c], difference = value - means[c];
            deviations[c] += difference * difference;
            largest[c] = std::max(largest[c], std::fabs(value));
        }
    for (int64_t c = first; c < last; c++) deviations[c] = std::sqrt(deviations[c] / double(std::max(n - 1, int64_t(1))));
}

// The same in threads, which take runs of columns: bounds.
void column_moments(In<double, 2> values, In<int64_t> bounds, Out<double> means, Out<double> deviations,
                    Out<double> largest, int threads) {
    share(bounds.size() - 1, threads, [&](int, int64_t k) {
        moments_of(values.data(), values.shape[0], values.shape[1], bounds[k], bounds[k + 1], means.data(),
                   deviations.data(), largest.data());
    });
}
}  // namespace

void bind_steps(nb::module_ &m) {
    BIND_INDEX(affine_step);
    BIND_INDEX(walk_weights);
    m.def("column_moments", column_moments);
}
