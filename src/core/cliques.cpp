// Subgraph matching: sums over the cliques of product graphs (Kriege and Mutzel 2012), whose nodes are in bitsets.
#include "common.hpp"

namespace {
// A set of integers: q is bit q & 63 of word q >> 6, so that 70 is bit 6 of word 1.
using Word = uint64_t;
inline Word bit(int64_t q) { return Word(1) << (q & 63); }

// The number of ones: sums of 2, 4 and 8 bits, then of all bytes by a product.
inline int64_t count_bits(Word x) {
    x -= (x >> 1) & 0x5555555555555555;
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
    return int64_t((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101) >> 56);
}

// The position of the lowest one: x & -x isolates the bit, and subtracting 1 sets all below it.
inline int64_t lowest_bit(Word x) {
#if defined(__GNUC__)
    return __builtin_ctzll(x);
#else
    return count_bits((x & (~x + 1)) - 1);
#endif
}

// Graphs on one side of a tile: graph i has the nodes ptr[i] .. ptr[i + 1] - 1. In a graph with n nodes,
// edges[pair_ptr[i] + u * n + v] is a word for the edges between its nodes u and v, 0 without edges; then that of v
// and u is 0 as well.
struct Side {
    In<int64_t> ptr, pair_ptr;
    In<Word> edges;
    auto parts() { return std::tie(ptr, pair_ptr, edges); }
    int64_t size(int64_t i) const { return ptr[i + 1] - ptr[i]; }
};

// The neighbors of each node of a graph with n nodes, and the words of their edges: those of u from starts[u] on.
struct Neighbors {
    std::vector<int64_t> starts{0}, nodes;
    std::vector<Word> kinds;
    Neighbors(Ptr<const Word> edges, int64_t n) {
        for (int64_t u = 0; u < n; u++) {
            for (int64_t v = 0; v < n; v++)
                if (u != v && edges[u * n + v] != 0) nodes.push_back(v), kinds.push_back(edges[u * n + v]);
            starts.push_back(int64_t(nodes.size()));
        }
    }
};

std::vector<Neighbors> neighbors_of(const Side &side) {
    std::vector<Neighbors> graphs;
    for (int64_t i = 0; i < side.ptr.size() - 1; i++)
        graphs.emplace_back(side.edges.data() + side.pair_ptr[i], side.size(i));
    return graphs;
}

// Weighted product graph of two graphs (Kriege and Mutzel 2012, Definition 5). Node p is the pair (first[p],
// second[p]) with node kernel values[p] != 0, and numbers[u * m + x] is the number of the pair (u, x), -1 without one.
// Rows 2 p and 2 p + 1 of sets, n_words each, are the pairs joined to p, where both graphs have an edge of the same
// kind, and those apart from p, where neither graph has an edge; pairs with a common node are neither. Bits from size
// on mean nothing.
struct Product {
    int64_t size, n_words;
    std::vector<int64_t> first, second, numbers;
    std::vector<double> values;
    std::vector<Word> sets, around, around2;

    // Write the pairs of n nodes from row a of the node kernel and m nodes from column b.
    void set_nodes(In<double, 2> nodes, int64_t a, int64_t n, int64_t b, int64_t m) {
        for (auto *array : {&first, &second, &numbers}) array->resize(size_t(n * m) + 1);
        values.resize(size_t(n * m) + 1);
        size = 0;
        for (int64_t u = 0; u < n; u++) {
            const Ptr<const double> row = nodes.row(a + u) + b;
            for (int64_t x = 0; x < m; x++) {
                const bool is_pair = row[x] != 0.0;
                first[size] = u, second[size] = x, values[size] = row[x];
                numbers[u * m + x] = is_pair ? size : -1;
                size += is_pair;
            }
        }
        n_words = (size + 63) / 64;
    }

    // Write the sets, for graphs with n and m nodes.
    void set_edges(const Neighbors &left, int64_t n, const Neighbors &right, int64_t m) {
        // Row u of around: the pairs whose first node is u or a neighbor of it; around2: by second nodes.
        around.assign(size_t(n * n_words), 0), around2.assign(size_t(m * n_words), 0);
        const auto add_around = [&](std::vector<Word> &rows, const Neighbors &graph, int64_t u, int64_t q) {
            rows[u * n_words + (q >> 6)] |= bit(q);
            for (int64_t e = graph.starts[u]; e < graph.starts[u + 1]; e++)
                rows[graph.nodes[e] * n_words + (q >> 6)] |= bit(q);
        };
        for (int64_t q = 0; q < size; q++) {
            add_around(around, left, first[q], q);
            add_around(around2, right, second[q], q);
        }
        sets.resize(size_t(2 * size * n_words));
        for (int64_t p = 0; p < size; p++) {
            Word *const joined = sets.data() + 2 * p * n_words, *const apart = joined + n_words;
            const int64_t u = first[p], x = second[p];
            const Word *const row = around.data() + u * n_words, *const column = around2.data() + x * n_words;
            for (int64_t w = 0; w < n_words; w++) joined[w] = 0, apart[w] = ~(row[w] | column[w]);
            for (int64_t e = left.starts[u]; e < left.starts[u + 1]; e++)
                for (int64_t f = right.starts[x]; f < right.starts[x + 1]; f++) {
                    const int64_t q = numbers[left.nodes[e] * m + right.nodes[f]];
                    if (q >= 0 && left.kinds[e] == right.kinds[f]) joined[q >> 6] |= bit(q);
                }
        }
    }
};

// Sums over cliques of 1 .. k nodes (Algorithm 1): totals[s - 1] is that of s nodes, of the products of their values.
// For a clique of s nodes, row s of near are the nodes that may join next, and row s of far those that may join only
// after a node with an edge to them, so that matched subgraphs are connected. A node leaves near when it is tried, so
// that each clique is met once. is_one: all values are 1.
template <bool is_one>
struct Cliques {
    const Product &product;
    const int64_t k, n_words;
    Ptr<Word> near, far;
    Ptr<double> totals;
    int64_t begin = 0;  // words before it are 0 in all sets

    // Add all cliques that extend one of s nodes, with a product of values, by node j.
    void join(int64_t s, int64_t j, double worth) {
        worth *= product.values[j];
        totals[s] += worth;
        if (s + 1 == k) return;
        const Word *const joined = product.sets.data() + 2 * j * n_words, *const apart = joined + n_words;
        const Ptr<Word> near_now = near + s * n_words, far_now = far + s * n_words;
        if (s + 2 == k) {  // every node that may join completes a clique of k nodes
            double total = 0.0;
            for (int64_t w = begin; w < n_words; w++) {
                Word word = (near_now[w] & (joined[w] | apart[w])) | (far_now[w] & joined[w]);
                if (is_one) total += double(count_bits(word));
                else
                    for (; word != 0; word &= word - 1) total += product.values[64 * w + lowest_bit(word)];
            }
            totals[s + 1] += worth * total;
            return;
        }
        const Ptr<Word> near_next = near_now + n_words, far_next = far_now + n_words;
        for (int64_t w = begin; w < n_words; w++) {
            near_next[w] = (near_now[w] & (joined[w] | apart[w])) | (far_now[w] & joined[w]);
            far_next[w] = far_now[w] & apart[w];
        }
        for (int64_t w = begin; w < n_words; w++)
            while (const Word word = near_next[w]) {
                near_next[w] = word & (word - 1);
                join(s + 1, 64 * w + lowest_bit(word), worth);
            }
    }

    // Add all cliques. The first node has later nodes as candidates: near it, or far if subgraphs are connected.
    void add_all(bool connected) {
        const Ptr<Word> later = connected ? far : near;
        fill(near, n_words, 0), fill(far, n_words, 0), fill(later, n_words, ~Word(0));
        if (product.size & 63) later[n_words - 1] = bit(product.size) - 1;
        for (int64_t i = 0; i < product.size; i++) {
            begin = i >> 6;
            later[begin] &= ~bit(i);
            join(0, i, 1.0);
        }
    }
};

// Sums over common subgraphs of 1 .. k nodes for all pairs of graphs of a tile, given the node kernel (left nodes,
// right nodes): layer s of out (k, left graphs, right graphs) is that of s + 1 nodes.
template <bool is_one>
void match_all(In<double, 2> nodes, Side left, Side right, int64_t k, bool connected, Out<double, 3> out) {
    Product product;
    const std::vector<Neighbors> lefts = neighbors_of(left), rights = neighbors_of(right);
    std::vector<Word> candidates;
    std::vector<double> totals;
    const int64_t n_left = out.shape[1], n_right = out.shape[2];
    for (int64_t i = 0; i < n_left; i++)
        for (int64_t j = 0; j < n_right; j++) {
            const int64_t n = left.size(i), m = right.size(j);
            product.set_nodes(nodes, left.ptr[i], n, right.ptr[j], m);
            if (k > 1) product.set_edges(lefts[i], n, rights[j], m);
            const int64_t size = k * product.n_words;
            const Ptr<Word> near = room_of(candidates, 2 * size);
            totals.assign(size_t(k), 0.0);
            Cliques<is_one> cliques{product, k, product.n_words, near, near + size, pointer_to(totals.data(), k)};
            cliques.add_all(connected);
            for (int64_t s = 0; s < k; s++) out.data()[(s * n_left + i) * n_right + j] = totals[s];
        }
}

void match_subgraphs(In<double, 2> nodes, Side left, Side right, int64_t k, bool connected, bool is_one,
                     Out<double, 3> out) {
    (is_one ? match_all<true> : match_all<false>)(nodes, left, right, k, connected, out);
}
}  // namespace

void bind_cliques(nb::module_ &m) { BIND(match_subgraphs); }
