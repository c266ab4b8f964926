// Products and smaller counts of two sets of graphs, sums of rows, ratios, and scaling of kernel matrices.
#include "common.hpp"

namespace {
// Counts X, (graphs, bins), as CSR or CSC arrays.
template <class Index>
struct Counts {
    In<Index> ptr, numbers;
    In<double> data;
    auto parts() { return std::tie(ptr, numbers, data); }
};

// What two graphs share in a bin.
template <bool minimum>
double shared_of(double count, double other) {
    return minimum ? std::min(count, other) : count * other;
}

// gram (m, n) += X Y^T, or the sums of the smaller counts, for X by rows (CSR) and Y by bins (CSC, rows ascending).
template <bool minimum, class Index, class Other>
void add_rows(const Counts<Index> &rows, const Counts<Other> &bins, int64_t i, Alone<double> row) {
    const Alone<const Other> bin_ptr = bins.ptr.data(), bin_rows = bins.numbers.data();
    const Alone<const double> counts = bins.data.data();
    for (Index entry = rows.ptr[i]; entry < rows.ptr[i + 1]; entry++) {
        const double value = rows.data[entry];
        const Index b = rows.numbers[entry];
        for (Other other = bin_ptr[b]; other < bin_ptr[b + 1]; other++)
            row[bin_rows[other]] += shared_of<minimum>(value, counts[other]);
    }
}

template <class Index, class Other>
void add_products(Counts<Index> rows, Counts<Other> bins, bool minimum, Out<double, 2> gram, int threads) {
    const auto add = minimum ? add_rows<true, Index, Other> : add_rows<false, Index, Other>;
    share(gram.shape[0], threads, [&](int, int64_t i) { add(rows, bins, i, gram.row(i)); });
}

// sums (streams, n): the sums of the rows of CSR matrices, or of their squares, entry by entry.
template <class Index>
void sum_rows(Lists<Index> indptr, Lists<double> data, bool squared, Out<double, 2> sums, int threads) {
    share(sums.shape[0], threads, [&](int, int64_t s) {
        const Ptr<const Index> ptr = indptr[s].data();
        const Ptr<const double> values = data[s].data();
        for (int64_t i = 0; i < sums.shape[1]; i++) {
            double total = 0.0;
            for (Index entry = ptr[i]; entry < ptr[i + 1]; entry++)
                total += squared ? values[entry] * values[entry] : values[entry];
            sums(s, i) = total;
        }
    });
}

// ---- Ratios ----
// s / (l + r - s) for the sum s of what two graphs share and those of each graph with itself, l and r; 0 / 0 is 0.
inline double ratio_of(double shared, double left, double right) {
    const double all = left + right - shared;
    return all > 0.0 ? shared / all : 0.0;
}

// to[j] = weight * ratio, j < n; or it is added.
template <bool adds>
void write_ratios(Ptr<const double> shared, double left, Alone<const double> right, double weight, int64_t n, Ptr<double> to) {
    for (int64_t j = 0; j < n; j++) to[j] = (adds ? to[j] : 0.0) + ratio_of(shared[j], left, right[j]) * weight;
}

// total (m, n) = weight * ratio; or it is added. total may be shared (m, n) itself.
void weigh_ratios(In<double, 2> shared, In<double> left, In<double> right, double weight, bool adds,
                  Out<double, 2> total, int threads) {
    const auto write = adds ? write_ratios<true> : write_ratios<false>;
    share(total.shape[0], threads, [&](int, int64_t i) {
        write(shared.row(i), left[i], right.data(), weight, right.size(), total.row(i));
    });
}

// The graphs of each bin with their counts: those of bin b are starts[b] .. starts[b + 1] - 1, rows ascending.
struct Bins {
    std::vector<int64_t> starts, graphs;
    std::vector<double> counts, own;  // own: the sum of each graph with itself

    template <bool minimum, class Index>
    void list(Ptr<const Index> indptr, Ptr<const Index> indices, Ptr<const double> data, int64_t n, int64_t width) {
        const int64_t n_entries = indptr[n];
        starts.assign(width + 2, 0), own.assign(n, 0.0), graphs.resize(n_entries), counts.resize(n_entries);
        for (int64_t entry = 0; entry < n_entries; entry++) starts[indices[entry] + 2]++;
        for (size_t b = 2; b < starts.size(); b++) starts[b] += starts[b - 1];
        for (int64_t i = 0; i < n; i++)
            for (Index entry = indptr[i]; entry < indptr[i + 1]; entry++) {
                const int64_t at = starts[indices[entry] + 1]++;
                graphs[at] = i, counts[at] = data[entry];
                own[i] += shared_of<minimum>(data[entry], data[entry]);
            }
    }
};

// total (n, n) += the ratios of streams, one after the other, times their weights. For many streams of few graphs:
// threads take runs of rows, bounds, and each lists the bins of all streams.
template <bool minimum, class Index>
void add_ratios_of(const Lists<Index> &indptr, const Lists<Index> &indices, const Lists<double> &data,
                   In<int64_t> widths, In<double> weights, In<int64_t> bounds, Out<double, 2> total, int threads) {
    share(bounds.size() - 1, threads, [&](int, int64_t k) {
        const int64_t last = bounds[k + 1];
        Bins bins;
        const Rooms<double> room(1, last);
        const Ptr<double> shared = room[0];
        for (size_t s = 0; s < data.size(); s++) {
            const Ptr<const Index> ptr = indptr[s].data(), columns = indices[s].data();
            const Ptr<const double> values = data[s].data();
            bins.list<minimum>(ptr, columns, values, last, widths[s]);
            for (int64_t i = bounds[k]; i < last; i++) {
                fill(shared, i + 1, 0.0);
                for (Index entry = ptr[i]; entry < ptr[i + 1]; entry++) {
                    const Index b = columns[entry];
                    for (int64_t other = bins.starts[b]; other < bins.starts[b + 1]; other++) {
                        const int64_t j = bins.graphs[other];
                        if (j > i) break;
                        shared[j] += shared_of<minimum>(values[entry], bins.counts[other]);
                    }
                }
                write_ratios<true>(shared, bins.own[i], pointer_to<const double>(bins.own.data(), last), weights[s], i + 1,
                                   total.row(i));
            }
        }
    });
    share(bounds.size() - 1, threads, [&](int, int64_t k) {  // the columns below the diagonal are rows above it
        const int64_t n = total.shape[0];
        for (int64_t j0 = bounds[k]; j0 < bounds[k + 1]; j0 += 64)  // the lines of 64 rows stay in the cache
            for (int64_t i = j0 + 1; i < n; i++)
                for (int64_t j = j0; j < std::min({j0 + 64, bounds[k + 1], i}); j++) total(j, i) = total(i, j);
    });
}

template <class Index>
void add_stream_ratios(Lists<Index> indptr, Lists<Index> indices, Lists<double> data, In<int64_t> widths,
                       In<double> weights, bool minimum, In<int64_t> bounds, Out<double, 2> total, int threads) {
    const auto add = minimum ? add_ratios_of<true, Index> : add_ratios_of<false, Index>;
    add(indptr, indices, data, widths, weights, bounds, total, threads);
}

// ---- Scaling ----
// kernel[i, j] *= left[i] right[j]. The product of the factors comes first, so that rounding keeps a symmetric matrix
// symmetric.
WIDE void scale_row(Alone<double> row, double own, Alone<const double> others, int64_t n) {
    for (int64_t j = 0; j < n; j++) row[j] *= own * others[j];
}
void scale_rows(Out<double, 2> kernel, In<double> left, In<double> right, int threads) {
    share(kernel.shape[0], threads,
          [&](int, int64_t i) { scale_row(kernel.row(i), left[i], right.data(), right.size()); });
}
}  // namespace

void bind_products(nb::module_ &m) {
    BIND_INDICES(add_products);
    BIND_INDEX(sum_rows);
    BIND(weigh_ratios);
    BIND_INDEX(add_stream_ratios);
    BIND(scale_rows);
}
