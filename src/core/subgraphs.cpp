// Connected subgraphs of graphs, counted up to isomorphism.
#include <atomic>
#include <unordered_map>

#include "common.hpp"

namespace {
using Word = uint64_t;

// The hash of a word and a further word.
inline Word fold(Word word, Word further) { return mix_word(word ^ mix_other(further + 1)); }

// At most k nodes in order: node a has the label keys[a], and edge(a, b) is the word of the edges between a and b, 0
// without edges.
struct Small {
    const int64_t k;
    std::vector<Word> keys = std::vector<Word>(k), edges = std::vector<Word>(k * k);
    Word &edge(int64_t a, int64_t b) { return edges[a * k + b]; }
    // The hash of a word for the nodes before, and of node a with its edges to them; order(q) is the node at place q.
    template <class Order>
    Word longer(Word word, int64_t a, int64_t place, Order &&order) {
        word = fold(word, keys[a]);
        for (int64_t q = 0; q < place; q++) word = fold(word, edge(order(q), a));
        return word;
    }
};

// The smallest word of all orders of some nodes, and the number of symmetries (automorphisms). Isomorphic subgraphs
// have the same words, and equal words mean equal adjacency matrices, that is, an isomorphism; so the number of orders
// with the smallest word is the number of symmetries. Only orders by color are tried, and only one of several orders
// that differ by an exchange of twins.
struct Canonical {
    Small &small;
    std::vector<Word> colors = std::vector<Word>(small.k), sorted = colors;
    std::vector<int64_t> order = std::vector<int64_t>(small.k);
    std::vector<char> is_used = std::vector<char>(small.k);
    int64_t size = 0;
    Word best = 0;
    uint64_t symmetries = 0;

    void find(int64_t n) {
        size = n, best = ~Word(0), symmetries = 0;
        color();
        try_orders(0, 0, 1);
    }

  private:
    // Colors that isomorphisms preserve: labels, refined by neighbors. Two rounds tell most nodes of such small
    // subgraphs apart; equal colors without a symmetry only cost time.
    void color() {
        std::copy_n(small.keys.begin(), size, colors.begin());
        for (int round = 0; round < 2; round++) {
            for (int64_t a = 0; a < size; a++) {
                sorted[a] = 0;  // a sum first, then a color
                for (int64_t b = 0; b < size; b++)
                    if (b != a) sorted[a] += fold(small.edge(a, b), colors[b]);
            }
            for (int64_t a = 0; a < size; a++) colors[a] = fold(colors[a], sorted[a]);
        }
        std::copy_n(colors.begin(), size, sorted.begin());
        std::sort(sorted.begin(), sorted.begin() + size);
    }

    // Whether an exchange of two nodes leaves the subgraph unchanged.
    bool are_twins(int64_t a, int64_t b) {
        if (small.keys[a] != small.keys[b] || small.edge(a, b) != small.edge(b, a)) return false;
        for (int64_t c = 0; c < size; c++)
            if (c != a && c != b && small.edge(a, c) != small.edge(b, c)) return false;
        return true;
    }

    // The number of unused twins of node a among the nodes first .. last - 1.
    int64_t unused_twins(int64_t a, int64_t first, int64_t last) {
        int64_t number = 0;
        for (int64_t b = first; b < last; b++) number += !is_used[b] && are_twins(a, b);
        return number;
    }

    // Try all orders that begin with order[:place], which has this word and stands for ``multiplicity`` orders.
    void try_orders(int64_t place, Word word, uint64_t multiplicity) {
        if (place == size) {
            if (word < best) best = word, symmetries = 0;
            if (word == best) symmetries += multiplicity;
            return;
        }
        for (int64_t a = 0; a < size; a++) {
            if (is_used[a] || colors[a] != sorted[place] || unused_twins(a, 0, a) > 0) continue;
            const uint64_t twins = uint64_t(1 + unused_twins(a, a + 1, size));
            const Word longer = small.longer(word, a, place, [&](int64_t q) { return order[q]; });
            order[place] = a, is_used[a] = true;
            try_orders(place + 1, longer, multiplicity * twins);
            is_used[a] = false;
        }
    }
};

// Kinds of subgraphs, by the words of their nodes in any order met so far. One table for each thread.
struct Kinds {
    struct Kind {
        Word code;
        int64_t size, symmetries, count;  // count: in the current graph
    };
    std::vector<Kind> kinds;
    std::unordered_map<Word, int64_t> known;
    static constexpr size_t N_RECENT = 1 << 12;
    std::vector<std::pair<Word, int64_t>> recent{N_RECENT, {0, -1}};  // words that were looked up last, with their kinds

    // The kind of a subgraph, which may be a new kind if its word is new.
    int64_t of(Word word, Canonical &canonical, int64_t size) {
        auto &[last_word, last_kind] = recent[word % N_RECENT];
        if (last_word != word || last_kind < 0) last_kind = look_up(last_word = word, canonical, size);
        return last_kind;
    }
    int64_t look_up(Word word, Canonical &canonical, int64_t size) {
        if (const auto found = known.find(word); found != known.end()) return found->second;
        canonical.find(size);
        const int64_t last = int64_t(kinds.size()), kind = known.try_emplace(canonical.best, last).first->second;
        if (kind == last) kinds.push_back({canonical.best, size, int64_t(canonical.symmetries), 0});
        return known[word] = kind;
    }
};

// Graphs by their edges: entries indptr[v] .. indptr[v + 1] - 1 are the neighbors of node v, with words of the edges
// between them as seen from v and from the neighbor; keys are the labels of nodes.
template <class Index>
struct Wiring {
    In<Index> indptr, indices;
    In<Word> there, back, keys;
    auto parts() { return std::tie(indptr, indices, there, back, keys); }
};

// Search of all connected sets of at most k nodes, each once (Wernicke 2006, algorithm ESU). A path 0 - 1 - 2 with
// k = 2 gives {0}, {0, 1}, {1}, {1, 2}, {2}: only later nodes join the first. The word of a subgraph, for its nodes in
// order of the search, is looked up in the table; new words are brought into the canonical order.
template <class Index>
struct Search {
    static constexpr int32_t FREE = -1, CLOSED = -2;  // nodes that may be reached, and those that may not
    const Wiring<Index> wiring;
    const int64_t k, width;         // width: most nodes of a graph
    std::vector<int32_t> position;  // (N,): that in the subgraph, or FREE, or CLOSED
    std::vector<Index> open = std::vector<Index>((k + 1) * width);  // row p: candidates for position p
    std::vector<int64_t> met{};     // kinds in the current graph
    Kinds kinds{};
    Small small{k};
    Canonical canonical{small};

    // Add a node at position p to a subgraph with this word, and all that can be joined: the candidates
    // open[p, :n_open], and neighbors that are reached for the first time.
    void visit(Index node, int64_t p, int64_t n_open, Word word) {
        const bool is_last = p + 1 == k;
        const Ptr<Index> before = pointer_to(open.data() + p * width, width);
        const Ptr<Index> after = pointer_to(open.data() + (p + 1) * width, width);
        small.keys[p] = wiring.keys[node];
        for (int64_t q = 0; q < p; q++) small.edge(q, p) = small.edge(p, q) = 0;
        if (is_last) n_open = 0;
        for (int64_t c = 0; c < n_open; c++) after[c] = before[c];
        int64_t n_after = n_open;
        for (Index entry = wiring.indptr[node]; entry < wiring.indptr[node + 1]; entry++) {
            const Index other = wiring.indices[entry];
            const int32_t q = position[other];
            if (q >= 0) {
                small.edge(p, q) = wiring.there[entry], small.edge(q, p) = wiring.back[entry];
            } else if (q == FREE && !is_last) {
                position[other] = CLOSED;
                after[n_after++] = other;
            }
        }
        word = small.longer(word, p, p, [](int64_t q) { return q; });
        const int64_t kind = kinds.of(word, canonical, p + 1);
        if (kinds.kinds[kind].count++ == 0) met.push_back(kind);
        if (is_last) return;
        position[node] = int32_t(p);
        for (int64_t left = n_after; left-- > 0;) visit(after[left], p + 1, left, word);
        position[node] = CLOSED;
        for (int64_t c = n_open; c < n_after; c++) position[after[c]] = FREE;
    }
};

// A kind of subgraph in a graph: code, how often, number of nodes, number of symmetries.
struct Found {
    int64_t code;
    double count;
    int64_t size, symmetries;
};

// The kinds of connected induced subgraphs with 1 .. k nodes of each graph, as an array of Found, one graph after the
// other, in order of appearance; lengths (graphs,) are the numbers of kinds. Graph g is induced by the nodes
// nodes[ptr[g]:ptr[g + 1]], ascending; nodes None: by ptr[g] .. ptr[g + 1] - 1. bounds are runs of graphs;
// progress(n) is called now and then, after n more runs.
template <class Index>
nb::bytearray count_subgraphs(Wiring<Index> wiring, In<int64_t> ptr, Maybe<Index> nodes, int64_t k, In<int64_t> bounds,
                              Out<int64_t> lengths, nb::callable progress, int threads) {
    const int64_t width = largest_of(ptr);
    std::vector<std::unique_ptr<Search<Index>>> searches(threads);
    const int64_t n_runs = bounds.size() - 1;
    std::vector<std::vector<Found>> found(n_runs);
    std::atomic<int64_t> n_done{0};
    int64_t n_told = 0;  // read and written by thread 0 alone
    {
        nb::gil_scoped_release release;
        share(n_runs, threads, [&](int thread, int64_t run) {
            if (!searches[thread])
                searches[thread].reset(new Search<Index>{
                    wiring, k, width, std::vector<int32_t>(wiring.keys.size(), Search<Index>::CLOSED)});
            Search<Index> &search = *searches[thread];
            for (int64_t g = bounds[run]; g < bounds[run + 1]; g++) {
                const auto node = [&](int64_t i) { return nodes ? nodes[i] : Index(i); };
                for (int64_t i = ptr[g]; i < ptr[g + 1]; i++) search.position[node(i)] = search.FREE;
                for (int64_t i = ptr[g]; i < ptr[g + 1]; i++) search.visit(node(i), 0, 0, 0);  // closed afterwards
                lengths[g] = int64_t(search.met.size());
                for (const int64_t met : search.met) {
                    auto &kind = search.kinds.kinds[met];
                    const double count = double(std::exchange(kind.count, 0));
                    found[run].push_back({int64_t(kind.code), count, kind.size, kind.symmetries});
                }
                search.met.clear();
            }
            n_done++;
            if (thread == 0) {
                nb::gil_scoped_acquire hold;
                const int64_t done = n_done.load();
                progress(done - n_told);
                n_told = done;
            }
        });
    }
    std::vector<Found> all;
    for (const auto &part : found) all.insert(all.end(), part.begin(), part.end());
    return nb::bytearray(all.data(), all.size() * sizeof(Found));
}
}  // namespace

void bind_subgraphs(nb::module_ &m) {
    m.def("count_subgraphs", count_subgraphs<int32_t>), m.def("count_subgraphs", count_subgraphs<int64_t>);
}
