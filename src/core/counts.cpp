// From codes to counts: the bins of each graph (Algorithm 1, "count bin strengths").
#include "attributes.hpp"
#include "common.hpp"
#include "walk.hpp"

namespace {
constexpr int64_t AHEAD = 12;  // codes between a request for a slot and its use

// ---- Counts ----
// Counts of one row of codes: a CSR matrix (graphs, bins), and the codes of the bins.
struct Counted {
    Ptr<int32_t> indptr, indices;
    Ptr<double> counts;
    Ptr<int64_t> codes;
    int64_t n_entries, n_bins;
};

// A bin while codes are counted: its code, and the entry that it was last written to.
struct Bin {
    int64_t code;
    int32_t place;
};

// Workspaces of threads for rows of n codes.
struct CountRooms {
    const int64_t n_slots;
    const Rooms<int32_t> slots;
    const Rooms<Bin> bins;
    CountRooms(int threads, int64_t n) : n_slots(power_of_two(2 * n)), slots(threads, n_slots), bins(threads, n) {}
};

// Count the codes (n,) of each graph. Bins are numbered in order of appearance, and so are the entries of a graph.
//
// Entries of the current graph begin at row_start, so a place that is not before row_start says that this graph has
// met the bin before, and places are never reset:
//     graph 0 has the bins 5 5 7: entries 0 (bin 5, twice) and 1 (bin 7); their places are 0 and 1
//     graph 1 has the bins 7 9:   row_start = 2, so the place 1 of bin 7 is stale: entries 2 (bin 7), 3 (bin 9)
void count_row(Alone<const int64_t> codes, int64_t n, In<int64_t> graph_ptr, const CountRooms &rooms, int thread,
               Counted &counted) {
    Table<int32_t> table(rooms.slots[thread], rooms.n_slots);
    table.clear();
    const Alone<Bin> bins = rooms.bins[thread];
    const Alone<int32_t> indptr = counted.indptr, indices = counted.indices;
    const Alone<double> counts = counted.counts;
    int32_t n_bins = 0, filled = 0;
    indptr[0] = 0;
    for (int64_t graph = 0; graph < graph_ptr.size() - 1; graph++) {
        const int32_t row_start = filled;
        for (int64_t node = graph_ptr[graph]; node < graph_ptr[graph + 1]; node++) {
            if (node + AHEAD < n) prefetch(&table.slots[slot_bits(codes[node + AHEAD]) & table.mask]);
            const int64_t code = codes[node];
            if (code == NO_BIN) continue;
            const uint64_t slot = table.find_by(slot_bits(code), [&](int32_t b) { return bins[b].code == code; });
            int32_t b = table.slots[slot];
            if (b < 0) {
                table.slots[slot] = b = n_bins++;
                bins[b].code = code;
            } else if (bins[b].place >= row_start) {
                counts[bins[b].place] += 1.0;
                continue;
            }
            bins[b].place = filled;
            indices[filled] = b, counts[filled] = 1.0;
            filled++;
        }
        indptr[graph + 1] = filled;
    }
    for (int32_t b = 0; b < n_bins; b++) counted.codes[b] = bins[b].code;
    counted.n_entries = filled, counted.n_bins = n_bins;
}

// Count the codes of each graph, for some rows of codes (all rows, n). Row r of the outputs, (rows, graphs + 1) and
// (rows, n), has the counts of the codes rows[r]; ends (rows, 2) are the numbers of its entries and of its bins.
void count_rows(In<int64_t, 2> codes, In<int64_t> rows, In<int64_t> graph_ptr, Out<int32_t, 2> indptr,
                Out<int32_t, 2> indices, Out<double, 2> counts, Out<int64_t, 2> bins, Out<int64_t, 2> ends,
                int threads) {
    const CountRooms rooms(threads, codes.shape[1]);
    share(rows.size(), threads, [&](int thread, int64_t k) {
        const int64_t r = rows.size() - 1 - k;  // later iterations have more bins: longest first
        Counted counted{indptr.row(r), indices.row(r), counts.row(r), bins.row(r), 0, 0};
        count_row(codes.row(rows[r]), codes.shape[1], graph_ptr, rooms, thread, counted);
        ends(r, 0) = counted.n_entries, ends(r, 1) = counted.n_bins;
    });
}

// Hash and count columns of attributes that spread along edges, at each iteration, with a step between iterations.
//
// start (n, columns) are the first values. vectors, offsets (iterations, hash functions, columns) and scales
// (iterations, columns) are those of Columns. labels (iterations * label hashes, n): hash function f joins the codes of
// label hash f modulo their number. Threads take runs of at most LANES columns: bounds. single (iterations, hash
// functions, columns) are the attribute codes of columns that have only one, which are not counted, and NO_BIN.
// The counts of run k, one row for each iteration, hash function and column, stand one after the other in indptr[k]
// (rows, graphs + 1), indices[k], counts[k] and bins[k]; ends[k] (2, rows + 1) are the ends of their entries and bins.
template <class Index>
void spread_and_count(Step<Index> step, In<double, 2> start, In<double, 2> scales, In<double, 3> vectors,
                      In<double, 3> offsets, int64_t missing, In<int64_t, 2> labels, In<int64_t> graph_ptr,
                      In<int64_t> bounds, std::vector<Out<int32_t, 2>> indptr, std::vector<Out<int32_t>> indices,
                      std::vector<Out<double>> counts, std::vector<Out<int64_t>> bins,
                      std::vector<Out<int64_t, 2>> ends, Out<int64_t, 3> single, int threads) {
    const int64_t n = start.shape[0], n_columns = start.shape[1];
    const int64_t n_steps = vectors.shape[0], n_functions = vectors.shape[1], n_hashes = labels.shape[0] / n_steps;
    const CountRooms rooms(threads, n);
    const Rooms<double> values(threads, 2 * n * LANES);
    const Rooms<int64_t> code_rooms(threads, n * LANES);
    share(bounds.size() - 1, threads, [&](int thread, int64_t k) {
        const int64_t first = bounds[k], width = bounds[k + 1] - first;
        const Ptr<int64_t> codes = code_rooms[thread];
        Ptr<double> now = values[thread], then = now + n * LANES;
        for (int64_t i = 0; i < n; i++)
            for (int64_t lane = 0; lane < LANES; lane++)
                now[i * LANES + lane] = lane < width ? start(i, first + lane) : 0.0;
        int64_t r = 0, n_entries = 0, n_bins = 0;
        for (int64_t t = 0; t < n_steps; t++) {
            for (int64_t f = 0; f < n_functions; f++) {
                const int64_t at = (t * n_functions + f) * n_columns + first;
                const Columns columns{scales.row(t) + first, vectors.data() + at, offsets.data() + at, missing};
                const Ptr<int64_t> found = single.data() + at;
                hash_some(now, n, LANES, columns, labels.row(t * n_hashes + f % n_hashes), 0, width, codes, found);
                for (int64_t c = 0; c < width; c++, r++) {
                    if (found[c] == NO_BIN) {
                        const size_t run = size_t(k);
                        Counted counted{indptr[run].row(r), indices[run].data() + n_entries,
                                        counts[run].data() + n_entries, bins[run].data() + n_bins, 0, 0};
                        count_row(codes + c * n, n, graph_ptr, rooms, thread, counted);
                        n_entries += counted.n_entries, n_bins += counted.n_bins;
                    }
                    ends[size_t(k)](0, r + 1) = n_entries, ends[size_t(k)](1, r + 1) = n_bins;
                }
            }
            if (t + 1 == n_steps) break;
            walk(step, Place{0, 0, n}, 0, 0, now, then);
            std::swap(now, then);
        }
    });
}

// ---- Numbers of codes ----
// Number the codes of several lists in order of appearance: bins are the distinct codes, and numbers[k] those of the
// codes of list k. Returns the number of bins.
int64_t number_codes(Lists<int64_t> lists, Out<int64_t> bins, std::vector<Out<int32_t>> numbers) {
    const int64_t n_slots = power_of_two(2 * bins.size() + 1);
    const Rooms<int32_t> slots(1, n_slots);
    Table<int32_t> table(slots[0], n_slots);
    table.clear();
    const Ptr<int64_t> keys = bins.data();
    int32_t n_bins = 0;
    for (size_t k = 0; k < lists.size(); k++) {
        const int64_t n = lists[k].size();
        const Ptr<const int64_t> codes = lists[k].data();
        const Ptr<int32_t> own = numbers[k].data();
        for (int64_t i = 0; i < n; i++) {
            if (i + AHEAD < n) prefetch(&table.slots[slot_bits(codes[i + AHEAD]) & table.mask]);
            own[i] = table.enter(codes[i], keys, n_bins);
        }
    }
    return n_bins;
}

}  // namespace

void bind_counts(nb::module_ &m) {
    BIND(count_rows);
    BIND_INDEX(spread_and_count);
    BIND(number_codes);
}
