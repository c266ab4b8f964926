// The kernel matrix among graphs, the sum over streams of Phi Phi^T (Algorithm 1), by the popularity of bins.
//
// Bins of one graph touch the diagonal only. Bins of many graphs are popular: they are rows of a dense matrix, which
// BLAS multiplies. The rest are added pair by pair. All numbers are whole and exact: float32 up to 2^24, float64
// beyond, so that no order of sums, and no number of threads, changes a bit.
#include "common.hpp"

namespace {
constexpr int64_t PRODUCTS_OF_A_STEP = 64;      // of counts in a dense product
constexpr int64_t ENTRIES_OF_A_SHARE = 1 << 17; // least entries of a stream that threads share: each reads all
constexpr int64_t ENTRIES_IN_CACHE = 1 << 19;   // of the rows of a block, which then fit the L2 cache
constexpr int64_t LEAST_ROWS = 32;              // of a product that threads share: BLAS copies the other factor
constexpr int64_t APART = 16;                   // entries between two that different threads write often

// ---- Streams, and how their matrix is computed ----
// Counts Phi of streams, (graphs, bins) each: CSR arrays, numbers of bins, and how often each stream counts.
template <class Index>
struct Streams {
    Lists<Index> indptr, indices;
    Lists<double> data;
    In<int64_t> widths, copies;
    auto parts() { return std::tie(indptr, indices, data, widths, copies); }
};

// None of it changes the matrix.
struct Rules {
    int64_t popular_from;     // graphs from which a bin is popular
    double exact_float32;     // whole numbers below it are exact in float32: 2^24
    int64_t entries_of_a_tile;
    int64_t rows_of_a_tile;   // most rows of a product
    int64_t most_threads, work_of_a_thread;
    auto parts() {
        return std::tie(popular_from, exact_float32, entries_of_a_tile, rows_of_a_tile, most_threads, work_of_a_thread);
    }
    int threads_for(int64_t work) const {
        if (work < 2 * work_of_a_thread) return 1;
        return int(std::max<int64_t>(std::min(most_threads, work / work_of_a_thread), 1));
    }
    // A power of two: several tiles for each thread, and no tile beyond a few megabytes.
    int64_t tile_length(int64_t n, int threads) const {
        int64_t most = std::min(rows_of_a_tile, entries_of_a_tile / std::max<int64_t>(n, 1));
        if (threads > 1) most = std::min(most, std::max(n / (4 * threads), LEAST_ROWS));
        return std::max<int64_t>(power_of_two(most + 1) / 2, 8);
    }
};

// Those bins of a stream whose remainder modulo 2^shift is rest: threads share the bins of a large stream. The width
// is the number of these bins.
template <class Index>
struct Share {
    Ptr<const Index> indptr, indices;
    Ptr<const double> data;
    int64_t n_entries, width, copies, rest, shift;
};

// All shares, sorted by how often they count, so that products of popular bins have few different factors.
template <class Index>
std::vector<Share<Index>> shares_of(const Streams<Index> &streams, int threads) {
    int64_t total = 0;
    for (const auto &data : streams.data) total += data.size();
    const int64_t most = std::max(total / threads, ENTRIES_OF_A_SHARE);
    std::vector<Share<Index>> shares;
    for (size_t s = 0; s < streams.data.size(); s++) {
        const int64_t size = streams.data[s].size(), width = streams.widths[int64_t(s)];
        int64_t shift = 0;
        while (threads > 1 && (size >> shift) > most) shift++;
        for (int64_t rest = 0; rest < int64_t(1) << shift; rest++)
            shares.push_back({streams.indptr[s].data(), streams.indices[s].data(), streams.data[s].data(), size,
                              ((width - 1 - rest) >> shift) + 1, streams.copies[int64_t(s)], rest, shift});
    }
    std::stable_sort(shares.begin(), shares.end(), [](const auto &a, const auto &b) { return a.copies < b.copies; });
    return shares;
}

// ---- Bins of one share ----
// A graph and its count, adjacent in memory, so that one cache line holds both.
template <class T>
struct Entry {
    int32_t row;
    T count;
};

// Numbers of popular bins, of the rest, and of the entries of the rest.
struct Numbers {
    int64_t popular = 0, rest = 0, entries = 0;
};

// Count the graphs of each bin: sizes (width,), zeros before; and sum the squared counts of each graph: squares (n,).
template <class Index>
Numbers count_bins(const Share<Index> &share, int64_t n, int64_t popular_from, Alone<Index> sizes,
                   Alone<double> squares) {
    const Alone<const Index> indptr = share.indptr, indices = share.indices;
    const Alone<const double> data = share.data;
    const Index rest = Index(share.rest), mask = (Index(1) << share.shift) - 1;
    const int shift = int(share.shift);
    for (int64_t i = 0; i < n; i++) {
        double total = 0.0;
        for (Index entry = indptr[i]; entry < indptr[i + 1]; entry++) {
            if (shift > 0 && (indices[entry] & mask) != rest) continue;
            sizes[indices[entry] >> shift] += 1;
            total += data[entry] * data[entry];
        }
        squares[i] = total;
    }
    Numbers numbers;
    for (int64_t b = 0; b < share.width; b++) {
        const bool is_popular = sizes[b] >= popular_from, is_rest = (sizes[b] > 1) & !is_popular;
        numbers.popular += is_popular, numbers.rest += is_rest;
        numbers.entries += is_rest ? sizes[b] : 0;
    }
    return numbers;
}

// Write popular bins as rows of dense (bins, n), from row column; and the entries of the rest by bin, then by row,
// from place. starts (rest + 1,) are the first entries of the rest, and the end. Entries of bins of one graph go to
// the place nowhere, near which no other thread writes. sizes are overwritten.
template <class Index, class T>
void place_bins(const Share<Index> &share, int64_t n, int64_t popular_from, Alone<Index> sizes, int64_t column,
                Alone<T> dense, Index place, Alone<Index> starts, Alone<Entry<T>> entries, Index nowhere) {
    const Alone<const Index> indptr = share.indptr, indices = share.indices;
    const Alone<const double> data = share.data;
    const Index rest = Index(share.rest), mask = (Index(1) << share.shift) - 1;
    const int shift = int(share.shift);
    // From here, sizes[b] is the place of the bin's next entry, or -1 - row of a popular bin. Starts are written for
    // all bins, and overwritten until a bin is kept: a branch that cannot be predicted is slower.
    starts[0] = place;
    for (int64_t b = 0, at = 0; b < share.width; b++) {
        const Index size = sizes[b];
        const bool is_popular = size >= popular_from, is_rest = (size > 1) & !is_popular;
        sizes[b] = is_popular ? Index(-1 - column) : is_rest ? place : nowhere;
        if (is_popular) fill(dense + column * n, n, T(0));
        place += is_rest ? size : 0;
        column += is_popular, at += is_rest;
        starts[at] = place;
    }
    for (int64_t i = 0; i < n; i++)  // rows ascend, so the entries of each bin are sorted by row
        for (Index entry = indptr[i]; entry < indptr[i + 1]; entry++) {
            if (shift > 0 && (indices[entry] & mask) != rest) continue;
            const Index own = indices[entry] >> shift, to = sizes[own];
            if (to < 0) {
                dense[(-1 - int64_t(to)) * n + i] = T(data[entry]);
            } else {
                sizes[own] = to + 1;
                entries[to] = Entry<T>{int32_t(i), T(data[entry])};
            }
        }
}

// ---- Products of popular bins ----
template <class T>
using Gemm = void (*)(char *, char *, int *, int *, int *, T *, T *, int *, T *, int *, T *, T *, int *);

// tile[i, j] = times * sum over bins of dense[b, first + i] dense[b, j] + kept * tile[i, j], i < rows, j < columns.
template <class T>
void multiply(Gemm<T> gemm, Ptr<const T> dense, int64_t n, int64_t n_bins, int64_t first, int64_t rows,
              int64_t columns, T times, T kept, Ptr<T> tile, int64_t tile_width) {
    if (n_bins == 0 || rows == 0) return;
    char plain_letter = 'N', turned = 'T';
    int m = int(columns), k = int(rows), bins = int(n_bins), width = int(n), step = int(tile_width);
    T *right = const_cast<T *>(plain(dense, (n_bins - 1) * n + columns)), *left = right + first;
    gemm(&plain_letter, &turned, &m, &k, &bins, &times, right, &width, left, &width, &kept,
         plain(tile, (rows - 1) * tile_width + columns), &step);
}

// ---- Rows of the matrix ----
// Write the rows first, first + 1, ... of a symmetric matrix below its diagonal, the same as columns, and the
// diagonal; or add them. tile (rows, width) has their entries.
template <bool adds, class T>
void write_rows(Alone<const T> tile, int64_t width, int64_t first, int64_t rows, Alone<const double> diagonal,
                Alone<double> gram, int64_t n) {
    for (int64_t i = 0; i < rows; i++) {
        const int64_t at = (first + i) * n;
        for (int64_t j = 0; j < first + i; j++)
            gram[at + j] = (adds ? gram[at + j] : 0.0) + double(tile[i * width + j]);
        gram[at + first + i] = (adds ? gram[at + first + i] : 0.0) + diagonal[first + i];
    }
    // A row of the tile is read along memory but written down a column. Eight rows of the tile fill a cache line of
    // the matrix; those of 64 of its rows stay in the L1 cache.
    const auto turn = [&](int64_t i, int64_t j, int64_t n_rows) {
        const Ptr<double> to = gram + (j * n + first + i);
        const Ptr<const T> from = tile + (i * width + j);
        for (int64_t k = 0; k < n_rows; k++) to[k] = (adds ? to[k] : 0.0) + double(from[k * width]);
    };
    for (int64_t j0 = 0; j0 < first + rows; j0 += 64) {
        int64_t i = std::max<int64_t>(j0 - first, 0);
        for (; i < rows && first + i < j0 + 64; i++)  // rows that end at the diagonal
            for (int64_t j = j0; j < first + i; j++) turn(i, j, 1);
        for (; i + 8 <= rows; i += 8)
            for (int64_t j = j0; j < j0 + 64; j++) turn(i, j, 8);
        for (; i < rows; i++)
            for (int64_t j = j0; j < j0 + 64; j++) turn(i, j, 1);
    }
}

// ---- The matrix ----
// Its rows are cut into blocks that fit the cache; each block processes all bins. A visit is a bin with entries in a
// block: the first entry of the bin, and the first entry and end of its entries in the block. With blocks of two rows
// (0 1 | 2 3) and a bin whose entries 10, 11, 12 belong to the graphs 0, 2, 3:
//     visit of block 0: begin 10, start 10, stop 11     adds nothing: diagonals are known
//     visit of block 1: begin 10, start 11, stop 13     adds k(2, 0), k(3, 0), k(3, 2)
// Entries of a bin are sorted by row: those from begin up to an entry are below the diagonal.
template <class Index, class T>
struct Visit {
    Index begin, start, stop;
    T times;
};

// List the visits of each block of 2^shift rows by the rest of the bins of a share, in order.
template <class Index, class T>
void list_visits(Alone<const Index> starts, int64_t n_bins, Alone<const Entry<T>> entries, T times, int shift,
                 std::vector<std::vector<Visit<Index, T>>> &visits) {
    for (int64_t b = 0; b < n_bins; b++) {
        const Index begin = starts[b], end = starts[b + 1];
        for (Index entry = begin; entry < end;) {
            const int32_t block = entries[entry].row >> shift;
            const Index start = entry;
            entry = entries[end - 1].row >> shift == block ? end : entry + 1;
            while (entry < end && entries[entry].row >> shift == block) entry++;
            visits[size_t(block)].push_back({begin, start, entry, times});
        }
    }
}

// Add the products of counts of a visit below the diagonal to rows of a matrix. tile (rows, width) begins with
// first_row.
template <class Index, class T>
inline void add_pairs(Visit<Index, T> visit, Alone<const Entry<T>> entries, int64_t first_row, Alone<T> tile,
                      int64_t width) {
    for (Index place = visit.start; place < visit.stop; place++) {
        const Ptr<T> row = tile + (entries[place].row - first_row) * width;
        const T count = entries[place].count * visit.times;
        for (Index entry = visit.begin; entry < place; entry++)
            row[entries[entry].row] += count * entries[entry].count;
    }
}

// Offsets of consecutive ranges of some lengths.
template <class Length>
std::vector<int64_t> offsets(size_t n, Length &&length) {
    std::vector<int64_t> firsts{0};
    for (size_t k = 0; k < n; k++) firsts.push_back(firsts.back() + length(k));
    return firsts;
}

// The bins of all shares, counted; and the matrix from them.
template <class Index>
struct Counted {
    std::vector<Share<Index>> shares;
    std::vector<int64_t> widths;  // where the sizes of each share begin
    Ptr<Index> sizes;
    std::vector<Numbers> numbers;
    std::vector<double> diagonal;
};

template <class T, class Index>
void fill_matrix(const Counted<Index> &counted, const Rules &rules, Gemm<T> gemm, bool adds, Out<double, 2> gram,
                 int threads) {
    const int64_t n = gram.shape[0];
    const auto &shares = counted.shares;
    const auto &numbers = counted.numbers;
    const size_t n_shares = shares.size();
    const auto columns = offsets(n_shares, [&](size_t k) { return numbers[k].popular; });
    const auto places = offsets(n_shares, [&](size_t k) { return numbers[k].entries; });
    const auto firsts = offsets(n_shares, [&](size_t k) { return numbers[k].rest + 1; });
    const int64_t n_popular = columns.back(), n_entries = places.back();
    const Rooms<T> dense(1, n_popular * n);
    const Rooms<Entry<T>> entry_room(1, n_entries + APART * int64_t(n_shares));
    const Ptr<Entry<T>> entries = entry_room[0];
    const Rooms<Index> starts(1, firsts.back());

    threads = std::max(threads, rules.threads_for(n_popular * n / PRODUCTS_OF_A_STEP * n));
    const int64_t length = rules.tile_length(n, threads);
    int shift = 3;  // blocks that fit the cache, parts of tiles
    while (int64_t(2) << shift <= std::min(ENTRIES_IN_CACHE / n, length)) shift++;
    const int64_t n_blocks = ((n - 1) >> shift) + 1;
    // one thread adds the bins of a share to a matrix that fits the cache before it places those of the next
    const bool is_small = threads == 1 && n * n <= rules.entries_of_a_tile;
    const Rooms<T> matrix(1, is_small ? n * n : 0, true);
    const Ptr<T> whole = matrix[0];
    std::vector<std::vector<std::vector<Visit<Index, T>>>> visits(n_shares);
    share(int64_t(n_shares), threads, [&](int, int64_t k) {
        const size_t s = size_t(k);
        const Ptr<Index> own = starts[0] + firsts[s];
        const T times = T(shares[s].copies);
        place_bins<Index, T>(shares[s], n, rules.popular_from, counted.sizes + counted.widths[s], columns[s], dense[0],
                             Index(is_small ? 0 : places[s]), own, entries, Index(n_entries + APART * k));
        visits[s].resize(size_t(n_blocks));
        if (is_small)
            for (int64_t b = 0; b < numbers[s].rest; b++)
                add_pairs<Index, T>({own[b], own[b], own[b + 1], times}, entries, 0, whole, n);
        else
            list_visits<Index, T>(own, numbers[s].rest, entries, times, shift, visits[s]);
    });

    const Rooms<T> tiles(threads, is_small ? 0 : length * n);
    const auto write = adds ? write_rows<true, T> : write_rows<false, T>;
    share((n + length - 1) / length, threads, [&](int thread, int64_t k) {
        const int64_t first = ((n - 1) / length - k) * length;  // longest rows first
        const int64_t last = std::min(first + length, n), rows = last - first;
        const int64_t width = is_small ? n : last;  // rows without gaps are faster
        const Ptr<T> tile = is_small ? whole + first * n : tiles[thread];
        T kept = is_small;
        for (size_t s = 0, end; s < n_shares; s = end) {  // shares that count equally often
            for (end = s; end < n_shares && shares[end].copies == shares[s].copies;) end++;
            if (columns[end] == columns[s]) continue;
            multiply<T>(gemm, dense[0] + columns[s] * n, n, columns[end] - columns[s], first, rows, last,
                        T(shares[s].copies), kept, tile, width);
            kept = 1;
        }
        if (kept == 0) fill(tile, rows * width, T(0));
        // visit by visit: the rows of a block stay in the cache while all of its bins are processed
        for (size_t block = size_t(first >> shift); block <= size_t((last - 1) >> shift); block++)
            for (const auto &own : visits)
                for (const auto &visit : own[block]) add_pairs<Index, T>(visit, entries, first, tile, width);
        write(tile, width, first, rows, pointer_to(counted.diagonal.data(), n), gram.data(), n);
    });
}

// gram (n, n) = the sum over streams of copies * Phi Phi^T; or it is added. sgemm and dgemm are those of scipy.
template <class Index>
void square_gram(Streams<Index> streams, Rules rules, const nb::capsule &sgemm, const nb::capsule &dgemm, bool adds,
                 Out<double, 2> gram) {
    const int64_t n = gram.shape[0];
    const auto narrow = reinterpret_cast<Gemm<float>>(sgemm.data());
    const auto wide = reinterpret_cast<Gemm<double>>(dgemm.data());
    int64_t n_entries = 0;
    for (const auto &data : streams.data) n_entries += data.size();
    const int threads = rules.threads_for(n * n / 4 + n_entries);
    if (threads > 1 && !adds)  // a number per page: threads that share new pages would clear them twice
        share(n, threads, [&](int, int64_t i) {
            for (int64_t j = 0; j < n; j += 512) gram(i, j) = 0.0;
        });
    Counted<Index> counted;
    counted.shares = shares_of(streams, threads);
    counted.widths = offsets(counted.shares.size(), [&](size_t k) { return counted.shares[k].width; });
    counted.numbers.resize(counted.shares.size());
    counted.diagonal.resize(size_t(n));
    const Rooms<Index> sizes(1, counted.widths.back(), true);
    const Rooms<double> squares(threads, n), sums(threads, n, true);
    counted.sizes = sizes[0];
    share(int64_t(counted.shares.size()), threads, [&](int thread, int64_t k) {
        const auto &own = counted.shares[size_t(k)];
        counted.numbers[size_t(k)] =
            count_bins(own, n, rules.popular_from, sizes[0] + counted.widths[size_t(k)], squares[thread]);
        for (int64_t i = 0; i < n; i++) sums[thread][i] += double(own.copies) * squares[thread][i];
    });
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        for (int thread = 0; thread < threads; thread++) counted.diagonal[size_t(i)] += sums[thread][i];
        largest = std::max(largest, counted.diagonal[size_t(i)]);
    }
    if (largest < rules.exact_float32)  // no sum exceeds the largest entry of the diagonal
        fill_matrix<float>(counted, rules, narrow, adds, gram, threads);
    else
        fill_matrix<double>(counted, rules, wide, adds, gram, threads);
}
}  // namespace

void bind_gram(nb::module_ &m) {
    BIND_INDEX(square_gram);
}
