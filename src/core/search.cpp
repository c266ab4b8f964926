// Search: counts of graphs by bin, their packed form, and what the graphs share with a query.
//
// Postings are counts by bin: those of bin b are entries bin_ptr[b] .. bin_ptr[b + 1] - 1 of graphs and counts. Three
// graphs with counts {4: 2}, {4: 1, 5: 3}, {5: 1} of bins have, from bin 4 on,
//     bin_ptr 0 2 4    graphs 0 1 | 1 2    counts 2 1 | 3 1
// A packed count is a sum of bytes: one in the dense row of its bin, if there is one, and one per word
// graph << 8 | byte. With a dense row, a count of 600 is 255 in the row plus the words 255 and 90.
#include "common.hpp"

namespace {
constexpr int PACKED_BITS = 8;  // of the count in a word; the other 24 hold the number of the graph
constexpr int64_t MOST_PACKED = 255;

inline int64_t graph_of(uint32_t word) { return word >> PACKED_BITS; }

// The first place from low to high - 1 for which is_before is false; high if there is none.
template <class Before>
int64_t first_not(int64_t low, int64_t high, Before &&is_before) {
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (is_before(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- All graphs ----
// The bins of a segment: codes ascend within a stream, and stream s has the bins stream_ptr[s] .. stream_ptr[s + 1] - 1.
struct Bins {
    In<int64_t> stream_ptr, codes, bin_ptr, dense_bins;
    auto parts() { return std::tie(stream_ptr, codes, bin_ptr, dense_bins); }
};

// The postings first[i] .. last[i] - 1 and the dense row (-1: none) of each code of a query; no postings and no row if
// no graph has the code.
void find_postings(In<int64_t> codes, In<int64_t> streams, Bins bins, Out<int64_t> first, Out<int64_t> last,
                   Out<int64_t> rows) {
    const auto place_of = [](int64_t value, In<int64_t> values, int64_t low, int64_t high) {
        const int64_t place = first_not(low, high, [&](int64_t k) { return values[k] < value; });
        return place < high && values[place] == value ? place : -1;
    };
    for (int64_t i = 0; i < codes.size(); i++) {
        const int64_t s = streams[i], b = place_of(codes[i], bins.codes, bins.stream_ptr[s], bins.stream_ptr[s + 1]);
        first[i] = b < 0 ? 0 : bins.bin_ptr[b];
        last[i] = b < 0 ? 0 : bins.bin_ptr[b + 1];
        rows[i] = b < 0 ? -1 : place_of(b, bins.dense_bins, 0, bins.dense_bins.size());
    }
}

// scores[g] += count of the query * count of graph g, over packed postings, first[i] .. last[i] - 1 for code i.
void add_packed(In<int64_t> first, In<int64_t> last, In<double> counts, In<uint32_t> postings, Out<double> scores) {
    for (int64_t i = 0; i < first.size(); i++) {
        const double count = counts[i];
        for (int64_t place = first[i]; place < last[i]; place++)
            scores[graph_of(postings[place])] += count * double(postings[place] & MOST_PACKED);
    }
}

// The same over pairs (graph, count).
template <class Number>
void add_pairs(In<int64_t> first, In<int64_t> last, In<double> counts, In<Number, 2> postings, Out<double> scores) {
    for (int64_t i = 0; i < first.size(); i++)
        for (int64_t place = first[i]; place < last[i]; place++)
            scores[int64_t(postings(place, 0))] += counts[i] * double(postings(place, 1));
}

template <class Score>
WIDE void add_row(Score count, int64_t n, Alone<const uint8_t> row, Alone<Score> scores) {
    for (int64_t g = 0; g < n; g++) scores[g] = Score(scores[g] + count * row[g]);
}

// The same over dense rows, for graphs from start on; rows[i] < 0: none.
template <class Score>
void add_rows(In<int64_t> rows, In<Score> counts, In<uint8_t, 2> dense, int64_t start, Out<Score> scores) {
    constexpr int64_t BLOCK = 2048;  // graphs whose scores stay in the cache
    for (int64_t first = 0; first < scores.size(); first += BLOCK)
        for (int64_t i = 0; i < rows.size(); i++)
            if (rows[i] >= 0)
                add_row<Score>(counts[i], std::min(BLOCK, scores.size() - first), dense.row(rows[i]) + start + first,
                               scores.data() + first);
}

// ---- Bounds: levels of counts are 0 or 1, and words are graph << 8 | 1 ----
// The levels of a query in a segment: words first[i] .. last[i] - 1, graphs ascending, or a dense row (-1: none).
struct Levels {
    In<int64_t> first, last, rows;
    auto parts() { return std::tie(first, last, rows); }
};

// Move the begin of each list to its first graph from ``start`` on.
void skip_graphs(Out<int64_t> first, In<int64_t> last, In<uint32_t> postings, int64_t start) {
    for (int64_t i = 0; i < first.size(); i++)
        first[i] = first_not(first[i], last[i], [&](int64_t k) { return graph_of(postings[k]) < start; });
}

// common[g - start] += 1 for each level of a query that graph g has.
void count_common(In<int64_t> first, In<int64_t> last, In<uint32_t> postings, int64_t start, Out<uint16_t> common) {
    for (int64_t i = 0; i < first.size(); i++)
        for (int64_t place = first[i]; place < last[i]; place++) common[graph_of(postings[place]) - start]++;
}

// What a graph must reach: a similarity with the query, which has ``length`` levels; by Jaccard's ratio, or by the
// intersection, normalized. Negative: any graph does.
struct Bound {
    double length, least;
    bool is_ratio;
    auto parts() { return std::tie(length, least, is_ratio); }
    // Whether a graph with so many levels may reach it if at most ``most`` are common.
    bool allows(double most, double own) const {
        return least < 0 || (is_ratio ? (1 + least) * most >= least * (length + own)
                                      : most * most >= least * least * length * own);
    }
};

template <bool is_ratio, class Square>
WIDE void mark(Bound bound, int64_t rest, double weight, int64_t n, Alone<const uint16_t> common,
               Alone<const Square> squares, Alone<bool> is_possible) {
    const double factor = bound.least * bound.least * bound.length / weight;
    for (int64_t g = 0; g < n; g++) {
        const double most = double(common[g] + rest), square = double(squares[g]);
        is_possible[g] = is_ratio ? (1 + bound.least) * most >= bound.least * (bound.length + square / weight)
                                  : most * most >= factor * square;
    }
}

// Mark the graphs that may reach the bound if all of the ``rest`` further levels are common; squares (graphs,) is the
// number of levels of each graph, times the weight.
template <class Square>
void mark_possible(In<uint16_t> common, In<Square> squares, int64_t rest, double weight, Bound bound,
                   Out<bool> is_possible) {
    const auto mark_all = bound.is_ratio ? mark<true, Square> : mark<false, Square>;
    if (bound.least < 0)
        fill(is_possible.data(), is_possible.size(), true);
    else
        mark_all(bound, rest, weight, common.size(), common.data(), squares.data(), is_possible.data());
}

// common[j] += 1 for each of n graphs, ascending, that words first .. last - 1 contain: steps double, then halve.
void add_list(int64_t n, Alone<const int64_t> places, int64_t first, int64_t last, Alone<const uint32_t> postings,
              Alone<int64_t> common) {
    int64_t low = first;
    for (int64_t j = 0; j < n; j++) {
        int64_t high = low;
        const auto is_before = [&](int64_t k) { return graph_of(postings[k]) < places[j]; };
        for (int64_t step = 1; high < last && is_before(high); step *= 2) {
            low = high + 1;
            high += step;
        }
        low = first_not(low, std::min(high, last), is_before);
        if (low < last && graph_of(postings[low]) == places[j]) common[j]++;
    }
}

// Complete the common levels of some graphs, places ascending, and drop graphs once they cannot reach the bound: those
// kept come first in places, common and lengths, their numbers of levels. Returns their number.
int64_t look_up(Out<int64_t> places, Out<int64_t> common, Out<double> lengths, Levels levels, In<uint32_t> postings,
                In<uint8_t, 2> dense, Bound bound) {
    const int64_t n_levels = levels.rows.size();
    int64_t n = places.size();
    for (int64_t i = 0;; i++) {
        if ((bound.least >= 0 && i % 4 == 0) || i == n_levels) {
            int64_t kept = 0;
            for (int64_t j = 0; j < n; j++) {
                const double own = lengths[j];
                if (!bound.allows(std::min(double(common[j] + n_levels - i), own), own)) continue;
                places[kept] = places[j], common[kept] = common[j], lengths[kept++] = own;
            }
            n = kept;
        }
        if (i == n_levels) return n;
        if (levels.rows[i] < 0) {
            add_list(n, places.data(), levels.first[i], levels.last[i], postings.data(), common.data());
        } else {
            const Ptr<const uint8_t> row = dense.row(levels.rows[i]);
            for (int64_t j = 0; j < n; j++) common[j] += row[places[j]];
        }
    }
}
}  // namespace

void bind_search(nb::module_ &m) {
    BIND(find_postings);
    BIND(add_packed);
    BIND_TYPES(add_pairs, float, double);
    BIND_TYPES(add_rows, double, uint16_t);
    BIND(skip_graphs);
    BIND(count_common);
    BIND_TYPES(mark_possible, uint8_t, uint16_t);
    BIND_TYPES(mark_possible, uint32_t, double);
    BIND(look_up);
}
