// Entries, the bins of new graphs in a vocabulary of training graphs, and sums over them: decisions, contributions.
//
// Sums over entries go stream by stream and, in a stream, entry by entry: a decision has the same bits in any batch.
#include "common.hpp"

namespace {
// ---- Entries ----
// A vocabulary: the codes of all columns, stream by stream, and for each stream a hash table of its columns in
// slots[first[s]] .. slots[first[s + 1] - 1].
template <class Slot>
struct Vocabulary {
    In<int64_t> codes, first;
    Array<Slot> slots;
    auto parts() { return std::tie(codes, first, slots); }
    Table<Slot> table(int64_t s) const { return Table<Slot>(slots.data() + first[s], first[s + 1] - first[s]); }
};

// Fill the tables: stream s has the columns starts[s] .. starts[s + 1] - 1. Slots are -1 before.
void fill_tables(Vocabulary<int32_t> vocabulary, In<int64_t> starts) {
    for (int64_t s = 0; s + 1 < starts.size(); s++) {
        const Table<int32_t> table = vocabulary.table(s);
        for (int64_t column = starts[s]; column < starts[s + 1]; column++) {
            const uint64_t slot = table.find(vocabulary.codes[column], vocabulary.codes.data());
            if (table.slots[slot] < 0) table.slots[slot] = int32_t(column);
        }
    }
}

// columns[i]: the column of codes[i] in a stream; -1: none.
void find_columns(Vocabulary<const int32_t> vocabulary, int64_t stream, In<int64_t> codes, Out<int32_t> columns) {
    const Table<const int32_t> table = vocabulary.table(stream);
    const Ptr<const int64_t> known = vocabulary.codes.data();
    for (int64_t i = 0; i < codes.size(); i++) columns[i] = table.slots[table.find(codes[i], known)];
}

// The entries of one graph with the items first .. last - 1, as in enter_codes; returns their number. slots and keys
// are workspaces: a hash table of the codes of the graph, and these codes in order of appearance.
int64_t enter_graph(Table<const int32_t> known, Alone<const int64_t> known_codes, int64_t first, int64_t last,
                    Alone<const int64_t> codes, Alone<int32_t> slots, Alone<int64_t> keys, Alone<int32_t> columns,
                    Alone<double> counts, Alone<int32_t> places) {
    Table<int32_t> own(slots, power_of_two(2 * (last - first) + 1));
    own.clear();
    fill(counts + first, last - first, 0.0);
    int32_t size = 0;
    for (int64_t i = first; i < last; i++) {
        if (codes[i] == NO_BIN) {
            places[i] = -1;
            continue;
        }
        places[i] = int32_t(first) + own.enter(codes[i], keys, size);
        counts[places[i]] += 1.0;
    }
    for (int32_t e = 0; e < size; e++) columns[first + e] = known.slots[known.find(keys[e], known_codes)];
    return size;
}

// Count the codes (rows, items) of each graph by bin, and look up the columns of the bins; row r is stream
// first_stream + r, and graph g has the items ptr[g] .. ptr[g + 1] - 1. Its entries, in order of appearance, are
// written from ptr[g] on to columns and counts (streams, items), and their number to sizes (streams, graphs). places
// (streams, items) is the entry of each item; -1: the item is not counted.
void enter_codes(Vocabulary<const int32_t> vocabulary, In<int64_t, 2> codes, int64_t first_stream, In<int64_t> ptr,
                 Out<int64_t, 2> sizes, Out<int32_t, 2> columns, Out<double, 2> counts, Out<int32_t, 2> places,
                 int threads) {
    const int64_t most = largest_of(ptr);
    const Rooms<int32_t> slots(threads, power_of_two(2 * most + 1));
    const Rooms<int64_t> keys(threads, most);
    share(codes.shape[0], threads, [&](int thread, int64_t row) {
        const int64_t s = first_stream + row;
        for (int64_t g = 0; g + 1 < ptr.size(); g++)
            sizes(s, g) = enter_graph(vocabulary.table(s), vocabulary.codes.data(), ptr[g], ptr[g + 1], codes.row(row),
                                      slots[thread], keys[thread], columns.row(s), counts.row(s), places.row(s));
    });
}

// Entries of graph g in stream s: sizes[s, g] slots of columns (-1: not in the vocabulary) and counts, from
// starts[s, g] on.
struct Entries {
    In<int64_t, 2> starts, sizes;
    In<int32_t> columns;
    In<double> counts;
    auto parts() { return std::tie(starts, sizes, columns, counts); }
    int64_t n_streams() const { return starts.shape[0]; }
    int64_t n_graphs() const { return starts.shape[1]; }
    int64_t first(int64_t s, int64_t g) const { return starts(s, g); }
    int64_t last(int64_t s, int64_t g) const { return starts(s, g) + sizes(s, g); }
    // The agreement of graph g with itself in stream s: the sum of its counts (minimum), or of their squares.
    double own_sum(int64_t s, int64_t g, bool minimum) const {
        double own = 0.0;
        for (int64_t e = first(s, g); e < last(s, g); e++) own += minimum ? counts[e] : counts[e] * counts[e];
        return own;
    }
};

// squares[g] = k(x, x), the sum over streams of weight times agreement of graph g with itself.
void square_lengths(Entries entries, In<double> weights, bool minimum, Out<double> squares) {
    for (int64_t g = 0; g < entries.n_graphs(); g++) {
        double total = 0.0;
        for (int64_t s = 0; s < weights.size(); s++) total += weights[s] * entries.own_sum(s, g, minimum);
        squares[g] = total;
    }
}

// ---- Folded weights ----
// Weights of columns, (columns, sums); or of levels, (levels, sums), of which column c has level_ptr[c] ..
// level_ptr[c + 1] - 1.
template <bool levels>
struct Weights {
    Ptr<const int64_t> level_ptr;
    Ptr<const double> weights;
    int64_t width;

    // Add the contribution of an entry to ``n`` sums from number d on: count * weight, or the weights of the first
    // ``count`` levels of its column.
    template <int n>
    void add(double count, int32_t column, int64_t d, double *sums) const {
        if constexpr (levels) {
            double totals[n] = {};
            const int64_t last = std::min(level_ptr[column + 1], level_ptr[column] + int64_t(count));
            for (int64_t level = level_ptr[column]; level < last; level++)
                for (int k = 0; k < n; k++) totals[k] += weights[level * width + d + k];
            for (int k = 0; k < n; k++) sums[k] += totals[k];
        } else {
            for (int k = 0; k < n; k++) sums[k] += count * weights[column * width + d + k];
        }
    }
};

template <class F>
void with_weights(Maybe<int64_t> level_ptr, In<double, 2> weights, F &&f) {
    if (level_ptr)
        f(Weights<true>{level_ptr.data(), weights.data(), weights.shape[1]});
    else
        f(Weights<false>{nullptr, weights.data(), weights.shape[1]});
}

// Call f(n, d) for decisions d .. d + n - 1: four sums side by side hide latency.
template <class F>
void side_by_side(int64_t n_decisions, F &&f) {
    int64_t d = 0;
    for (; d + 4 <= n_decisions; d += 4) f(std::integral_constant<int, 4>{}, d);
    for (; d < n_decisions; d++) f(std::integral_constant<int, 1>{}, d);
}

// Write ``n`` sums of graph g from number d on, over its entries in the first streams.
template <int n, bool levels>
void sum_entries(const Entries &entries, int64_t n_streams, const Weights<levels> weights, int64_t g, int64_t d,
                 Alone<double> sums) {
    const Alone<const int32_t> columns = entries.columns.data();
    const Alone<const double> counts = entries.counts.data();
    double totals[n] = {};
    for (int64_t s = 0; s < n_streams; s++) {
        double parts[n] = {};
        for (int64_t e = entries.first(s, g); e < entries.last(s, g); e++)
            if (columns[e] >= 0) weights.template add<n>(counts[e], columns[e], d, parts);
        for (int k = 0; k < n; k++) totals[k] += parts[k];
    }
    for (int k = 0; k < n; k++) sums[d + k] = totals[k];
}

// sums (graphs, decisions): the weights of each graph's entries in the first streams.
void decide_folded(Entries entries, int64_t n_streams, Maybe<int64_t> level_ptr, In<double, 2> table,
                   Out<double, 2> sums) {
    with_weights(level_ptr, table, [&](auto weights) {
        for (int64_t g = 0; g < sums.shape[0]; g++)
            side_by_side(sums.shape[1], [&](auto n, int64_t d) {
                sum_entries<n>(entries, n_streams, weights, g, d, sums.row(g));
            });
    });
}

// values[e]: the contribution of entry e to the sum of its graph with the number chosen[graph]; 0 in other streams.
void folded_values(Entries entries, int64_t n_streams, Maybe<int64_t> level_ptr, In<double, 2> table,
                   In<int64_t> chosen, Out<double> values) {
    with_weights(level_ptr, table, [&](auto weights) {
        for (int64_t s = 0; s < n_streams; s++)
            for (int64_t g = 0; g < entries.n_graphs(); g++)
                for (int64_t e = entries.first(s, g); e < entries.last(s, g); e++) {
                    double value = 0.0;
                    if (const int32_t column = entries.columns[e]; column >= 0)
                        weights.template add<1>(entries.counts[e], column, chosen[g], &value);
                    values[e] = value;
                }
    });
}

// ---- Ratios of counts to those of kept training graphs ----
// Counts of kept training graphs, column by column: column c occurs in graphs[ptr[c]] .. graphs[ptr[c + 1] - 1] with
// the counts numbers. Popular columns (row[c] >= 0) also have a row of bytes, rows[row[c]], with the counts in all
// kept graphs, zeros included: a loop over a row is faster. own (streams, kept graphs) is the agreement of each kept
// graph with itself. Agreements are sums of smaller counts if numbers are integers, and of products of counts if not.
template <class Number>
struct Kept {
    In<int64_t> ptr;
    In<int32_t> graphs;
    In<Number> numbers;
    In<int64_t> row;
    In<uint8_t, 2> rows;
    In<double, 2> own;
    auto parts() { return std::tie(ptr, graphs, numbers, row, rows, own); }
    int64_t size() const { return own.shape[1]; }
};

template <class Number>
Number agreement(Number count, Number number) {
    return std::is_integral_v<Number> ? std::min(count, number) : count * number;
}

// shared[i] += the agreement of an entry with each kept graph, whose counts are line.
template <class Number>
WIDE void add_row(Number count, Alone<const uint8_t> line, int64_t n, Alone<Number> shared) {
    for (int64_t i = 0; i < n; i++) shared[i] += agreement(count, Number(line[i]));
}

// f(i, s, l + r - s) for the sum s of what a graph and the kept graph i share, and their agreements with themselves,
// l and r. The sum is whole; it is 0 if both have no bins, and a denominator 1 then avoids 0 / 0.
template <class Number, class F>
WIDE void call_all(const F f, double own, int64_t n, Alone<const double> other, Alone<Number> shared) {
    for (int64_t i = 0; i < n; i++) {
        const double both = double(shared[i]), all = own + other[i] - both;
        f(i, both, all + double(all < 1.0));
        shared[i] = 0;
    }
}

// What one graph and each kept graph share in one stream.
template <class Number>
class Shared {
  public:
    Shared(const Entries &entries, const Kept<Number> &kept)
        : entries_(entries), kept_(kept), sums_(size_t(kept.size()), 0), touched_(size_t(kept.size())) {}

    // Call f(i, s, l + r - s) for the sum s of what graph g and the kept graph i share in a stream, and their
    // agreements with themselves, l and r; only for kept graphs that share something if that is faster, unless for
    // every one.
    template <class F>
    void for_each(int64_t stream, int64_t g, bool every, const F &f) {
        const int64_t n = kept_.size(), n_touched = add(entries_.first(stream, g), entries_.last(stream, g));
        const double own = entries_.own_sum(stream, g, std::is_integral_v<Number>);
        const Ptr<const double> other = kept_.own.row(stream);
        const Ptr<Number> sums = pointer_to(sums_.data(), n);
        if (n_touched < 0 || every) return call_all<Number, F>(f, own, n, other, sums);
        for (int64_t k = 0; k < n_touched; k++) {
            const int32_t i = touched_[size_t(k)];
            f(i, double(sums[i]), own + other[i] - double(sums[i]));
            sums[i] = 0;
        }
    }

  private:
    const Entries &entries_;
    const Kept<Number> &kept_;
    std::vector<Number> sums_;      // 0 between calls
    std::vector<int32_t> touched_;  // kept graphs with a common bin

    // Add the agreements of entries with each kept graph to the sums. Return the number of kept graphs with a common
    // bin, or -1 if these are not listed.
    int64_t add(int64_t first, int64_t last) {
        const int64_t n = kept_.size();
        const Alone<const int64_t> ptr = kept_.ptr.data();
        const Alone<const int32_t> columns = entries_.columns.data(), graphs = kept_.graphs.data();
        const Alone<const Number> numbers = kept_.numbers.data();
        const Alone<Number> sums = pointer_to(sums_.data(), n);
        const Alone<int32_t> touched = pointer_to(touched_.data(), n);
        int64_t n_postings = 0, n_touched = 0;
        for (int64_t e = first; e < last; e++)
            if (columns[e] >= 0) n_postings += ptr[columns[e] + 1] - ptr[columns[e]];
        const bool is_listed = 2 * n_postings < n;
        for (int64_t e = first; e < last; e++) {
            const int32_t c = columns[e];
            if (c < 0) continue;
            const Number count = Number(entries_.counts[e]);
            if (!is_listed && kept_.row[c] >= 0) {
                add_row<Number>(count, kept_.rows.row(kept_.row[c]), n, sums);
                continue;
            }
            for (int64_t p = ptr[c]; p < ptr[c + 1]; p++) {
                const int32_t i = graphs[p];
                if (is_listed && sums[i] == 0) touched[n_touched++] = i;
                sums[i] += agreement(count, numbers[p]);
            }
        }
        return is_listed ? n_touched : -1;
    }
};

// sums (graphs, decisions) = sum_i a_i sum_s w_s shared / (own + other - shared), for the coefficients a (kept graphs,
// decisions) and the weights w of streams.
template <class Number>
void decide_ratios(Entries entries, Kept<Number> kept, In<double> weights, In<double, 2> coefficients,
                   Out<double, 2> sums) {
    Shared<Number> shared(entries, kept);
    const Rooms<double> room(1, kept.size());
    const Ptr<double> kernel = room[0];
    for (int64_t g = 0; g < sums.shape[0]; g++) {
        fill<double>(kernel, kept.size(), 0.0);
        for (int64_t s = 0; s < weights.size(); s++)
            shared.for_each(s, g, false, [kernel, weight = weights[s]](int64_t i, double both, double all) {
                kernel[i] += weight * (both / all);
            });
        side_by_side(sums.shape[1], [&](auto n, int64_t d) {
            double totals[n] = {};
            for (int64_t i = 0; i < kept.size(); i++)
                for (int k = 0; k < n; k++) totals[k] += coefficients(i, d + k) * kernel[i];
            for (int k = 0; k < n; k++) sums(g, d + k) = totals[k];
        });
    }
}

// The sum over kept graphs, graphs[0 .. n - 1] with the counts numbers, of factor times agreement with an entry; four
// sums hide latency.
template <class Number>
double weight_of(Number count, int64_t n, Alone<const int32_t> graphs, Alone<const Number> numbers,
                 Alone<const double> factors) {
    double sums[4] = {};
    int64_t p = 0;
    for (; p + 4 <= n; p += 4)
        for (int k = 0; k < 4; k++) sums[k] += factors[graphs[p + k]] * agreement(count, numbers[p + k]);
    for (; p < n; p++) sums[0] += factors[graphs[p]] * agreement(count, numbers[p]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The same for a popular column. Sum j takes every 32nd kept graph from the j-th on.
template <class Number>
WIDE double weight_of_row(Number count, int64_t n, Alone<const uint8_t> line, Alone<const double> factors) {
    constexpr int64_t N_SUMS = 32;
    double sums[N_SUMS] = {}, total = 0.0;
    for (int64_t first = 0; first < n; first += N_SUMS)
        for (int64_t j = 0; j < std::min(N_SUMS, n - first); j++)
            sums[j] += factors[first + j] * agreement(count, Number(line[first + j]));
    for (const double sum : sums) total += sum;
    return total;
}

// values[e]: the contribution of entry e to the sum of decide_ratios with the number chosen[graph]. The quotient is
// the sum of the agreements of entries, times a factor a_i / (own + other - shared) of the two graphs. coefficients is
// (sums, kept graphs).
template <class Number>
void ratio_values(Entries entries, Kept<Number> kept, In<double> weights, In<double, 2> coefficients,
                  In<int64_t> chosen, Out<double> values) {
    Shared<Number> shared(entries, kept);
    const Rooms<double> room(1, kept.size(), true);
    const Ptr<double> factors = room[0];
    for (int64_t g = 0; g < entries.n_graphs(); g++)
        for (int64_t s = 0; s < weights.size(); s++) {
            shared.for_each(s, g, false, [factors, a = coefficients.row(chosen[g])](int64_t i, double, double all) {
                factors[i] = a[i] / all;
            });
            for (int64_t e = entries.first(s, g); e < entries.last(s, g); e++) {
                const int32_t c = entries.columns[e];
                const Number count = Number(entries.counts[e]);
                double total = 0.0;
                if (c >= 0 && kept.row[c] >= 0)
                    total = weight_of_row<Number>(count, kept.size(), kept.rows.row(kept.row[c]), factors);
                else if (c >= 0)
                    total = weight_of<Number>(count, kept.ptr[c + 1] - kept.ptr[c], kept.graphs.data() + kept.ptr[c],
                                              kept.numbers.data() + kept.ptr[c], factors);
                values[e] = c < 0 ? 0.0 : weights[s] * total;
            }
        }
}

// total (streams, kept graphs) += a_i w_s / (own + other - shared) of all graphs.
template <class Number>
void sum_factors(Entries entries, Kept<Number> kept, In<double> weights, In<double> coefficients,
                 Out<double, 2> total) {
    Shared<Number> shared(entries, kept);
    for (int64_t g = 0; g < entries.n_graphs(); g++)
        for (int64_t s = 0; s < weights.size(); s++)
            shared.for_each(s, g, true,
                            [sums = total.row(s), a = coefficients.data(), weight = weights[s]](
                                int64_t i, double, double all) { sums[i] += weight * (a[i] / all); });
}

// ---- Values of entries, shared among items ----
// contributions (nodes, iterations) += the value of each entry, split equally among its nodes: places[s, i] is the
// entry of node i in the slots of stream s, -1: none.
void share_out(In<int32_t, 2> places, In<int64_t> iterations, In<double> counts, In<double> values,
               Out<double, 2> contributions) {
    const int64_t width = places.shape[1];
    for (int64_t s = 0; s < places.shape[0]; s++)
        for (int64_t i = 0; i < width; i++)
            if (const int64_t place = places(s, i); place >= 0)
                contributions(i, iterations[s]) += values[s * width + place] / counts[s * width + place];
}

// The same for entries of pairs of nodes: half of a pair's share for each node, shares (nodes,). Pair (u, v) of graph g
// with n nodes has the number pair_ptr[g] + u * n + v.
void share_out_pairs(In<int64_t> ptr, In<int64_t> pair_ptr, In<int32_t> places, In<double> counts, In<double> values,
                     Out<double> shares) {
    for (int64_t g = 0; g + 1 < ptr.size(); g++) {
        const int64_t n = ptr[g + 1] - ptr[g];
        for (int64_t u = 0; u < n; u++)
            for (int64_t v = 0; v < n; v++)
                if (const int32_t place = places[pair_ptr[g] + u * n + v]; place >= 0) {
                    const double half = 0.5 * values[place] / counts[place];
                    shares[ptr[g] + u] += half;
                    shares[ptr[g] + v] += half;
                }
    }
}
}  // namespace

void bind_entries(nb::module_ &m) {
    BIND(fill_tables);
    BIND(find_columns);
    BIND(enter_codes);
    BIND(square_lengths);
    BIND(decide_folded);
    BIND(folded_values);
    BIND_TYPES(decide_ratios, int32_t, double);
    BIND_TYPES(ratio_values, int32_t, double);
    BIND_TYPES(sum_factors, int32_t, double);
    BIND(share_out);
    BIND(share_out_pairs);
}
