// Shortest paths: distances, codes of pairs of nodes and their counts (ShortestPath), nodes along paths (GraphHopper).
#include "common.hpp"

namespace {
constexpr double NO_PATH = std::numeric_limits<double>::infinity();

// Graphs, and their ordered pairs of nodes: pair (u, v) of graph g with n nodes is at pair_ptr[g] + u * n + v.
template <class Index>
struct Paths {
    In<Index> indptr, indices;         // CSR structure of the adjacency
    In<double> weights;                // lengths of edges, not negative
    In<int64_t> graph_ptr, pair_ptr;   // (graphs + 1,)
    auto parts() { return std::tie(indptr, indices, weights, graph_ptr, pair_ptr); }
};

// A graph: its first node and the number of its nodes, and its first pair.
struct Graph {
    int64_t first, n, pair;
    template <class Index>
    Graph(const Paths<Index> &paths, int64_t g)
        : first(paths.graph_ptr[g]), n(paths.graph_ptr[g + 1] - first), pair(paths.pair_ptr[g]) {}
};

// Run f(thread, graph, source) for all nodes of all graphs as source, numbered within their graph. Threads take runs
// of nodes, numbered through all graphs: bounds.
template <class Index, class F>
void from_all_nodes(const Paths<Index> &paths, In<int64_t> bounds, int threads, F &&f) {
    share(bounds.size() - 1, threads, [&](int thread, int64_t k) {
        const int64_t *const start = paths.graph_ptr.start, n_graphs = paths.graph_ptr.size() - 1;
        int64_t g = std::upper_bound(start, start + n_graphs, bounds[k]) - start - 1;
        for (; g < n_graphs && paths.graph_ptr[g] < bounds[k + 1]; g++) {
            const Graph graph(paths, g);
            const int64_t last = std::min(bounds[k + 1] - graph.first, graph.n);
            for (int64_t u = std::max(bounds[k] - graph.first, int64_t(0)); u < last; u++) f(thread, graph, u);
        }
    });
}

// ---- Distances ----
// Breadth-first search in the graph whose first node is first: steps, far before, are the numbers of edges to the
// nodes that are reached; queue lists these by distance, and their number is returned. visit(u, v, entry) is called
// for the edges of shortest paths, in the order of u.
template <class Number, class Index, class Visit>
int64_t search(Alone<const Index> indptr, Alone<const Index> indices, int64_t first, int64_t source, Number far,
               Alone<int64_t> queue, Alone<Number> steps, Visit &&visit) {
    int64_t tail = 1;
    steps[source] = 0, queue[0] = source;
    for (int64_t head = 0; head < tail; head++) {  // the nodes from head to tail - 1 are not expanded yet
        const int64_t u = queue[head];
        const Number further = steps[u] + 1;
        for (Index entry = indptr[first + u], last = indptr[first + u + 1]; entry < last; entry++) {
            const int64_t v = indices[entry] - first;
            if (steps[v] == far) {
                steps[v] = further;
                queue[tail++] = v;
            }
            if (steps[v] == further) visit(u, v, entry);
        }
    }
    return tail;
}

using Reached = std::pair<double, int64_t>;  // the length of a path, and the node at its end

// The lengths of shortest paths to all nodes of a graph, NO_PATH before, by Dijkstra's algorithm. The heap has an entry
// for each time that a shorter path was found.
template <class Index>
void search_lengths(const Paths<Index> &paths, int64_t first, int64_t source, std::vector<Reached> &heap,
                    Alone<double> found) {
    const Ptr<const Index> indptr = paths.indptr.data();
    found[source] = 0.0;
    heap.assign(1, Reached{0.0, source});
    while (!heap.empty()) {
        const auto [near, u] = heap.front();
        std::pop_heap(heap.begin(), heap.end(), std::greater<>());
        heap.pop_back();
        if (near > found[u]) continue;
        for (Index entry = indptr[first + u], last = indptr[first + u + 1]; entry < last; entry++) {
            const int64_t v = paths.indices[entry] - first;
            const double length = near + paths.weights[entry];
            if (length < found[v]) {
                found[v] = length;
                heap.push_back({length, v});
                std::push_heap(heap.begin(), heap.end(), std::greater<>());
            }
        }
    }
}

// Round to 36 binary digits, so that sums in another order are equal: positive floats are ordered like their bits, so
// adding half of the last kept digit and clearing the 16 bits below it rounds to nearest, and carries if needed.
void round_lengths(Alone<double> lengths, int64_t n) {
    for (int64_t k = 0; k < n; k++)
        if (lengths[k] != NO_PATH) {
            const int64_t bits = (int64_t(word_of(lengths[k])) + (1 << 15)) & KEPT_BITS;
            std::memcpy(&lengths[k], &bits, 8);
        }
}

// distances (pairs,): lengths of shortest paths; inf without a path. If all edges have length 1, numbers of edges.
template <class Index>
void path_distances(Paths<Index> paths, bool has_hops, In<int64_t> bounds, Out<double> distances, int threads) {
    const Rooms<int64_t> queues(threads, largest_of(paths.graph_ptr));
    std::vector<std::vector<Reached>> heaps(static_cast<size_t>(threads));
    from_all_nodes(paths, bounds, threads, [&](int thread, const Graph &graph, int64_t source) {
        const Ptr<double> found = distances.data() + (graph.pair + source * graph.n);
        fill(found, graph.n, NO_PATH);
        if (has_hops) {
            search<double, Index>(paths.indptr.data(), paths.indices.data(), graph.first, source, NO_PATH, queues[thread],
                                  found, [](int64_t, int64_t, Index) {});
        } else {
            search_lengths(paths, graph.first, source, heaps[thread], found);
            round_lengths(found, graph.n);
        }
    });
}

// The reachable nodes of a graph, nearest first, and those at equal distance by number; returns how many there are.
// distances (n,) are those from the source; order and place (n + 2,) are written.
int64_t by_distance(Alone<const double> distances, int64_t n, Alone<int64_t> order, Alone<int64_t> place) {
    int64_t reached = 0;
    double farthest = 0.0;
    bool is_whole = true;
    for (int64_t v = 0; v < n; v++) {
        const double distance = distances[v];
        if (distance == NO_PATH) continue;
        order[reached++] = v;
        farthest = std::max(farthest, distance);
        is_whole = is_whole && distance <= double(n) && distance == double(int64_t(distance));
    }
    if (!is_whole) {
        int64_t *const nodes = plain(order, reached);
        std::stable_sort(nodes, nodes + reached, [&](int64_t u, int64_t v) { return distances[u] < distances[v]; });
        return reached;
    }
    // place[d] is the next place of a node at distance d
    fill(place, int64_t(farthest) + 2, 0);
    for (int64_t v = 0; v < n; v++)
        if (distances[v] != NO_PATH) place[int64_t(distances[v]) + 1]++;
    for (int64_t d = 0; d <= int64_t(farthest); d++) place[d + 1] += place[d];
    for (int64_t v = 0; v < n; v++)
        if (distances[v] != NO_PATH) order[place[int64_t(distances[v])]++] = v;
    return reached;
}

// Whether an edge extends a shortest path: near + weight equals far, up to rounding.
inline bool on_a_path(double near, double weight, double far) {
    return near < far && std::fabs(near + weight - far) <= 1e-10 * far;
}

// ---- Codes of pairs ----
// The code of (label, path, label): mixed key of the first label, word of the path, key of the last label. The ends
// are mixed differently, so (a, b) differs from (b, a).
inline int64_t triplet_code(uint64_t begin, uint64_t word, uint64_t end_key) {
    return int64_t(mix_word(begin + mix_other(end_key ^ word)));
}

// Hash (label of u, path, label of v) of all ordered pairs, in place: codes (pairs,) are words of paths before, 0
// without a path. The code of u = v, and without a path, is NO_BIN. keys (N,) are those of the nodes' labels.
template <class Index>
void code_triplets(Paths<Index> paths, In<uint64_t> keys, In<int64_t> bounds, Out<int64_t> codes, int threads) {
    from_all_nodes(paths, bounds, threads, [&](int, const Graph &graph, int64_t u) {
        const Alone<int64_t> row = codes.data() + (graph.pair + u * graph.n);
        const Alone<const uint64_t> ends = keys.data() + graph.first;
        const uint64_t begin = mix_word(ends[u]);
        for (int64_t v = 0; v < graph.n; v++)
            row[v] = row[v] == 0 ? NO_BIN : triplet_code(begin, uint64_t(row[v]), ends[v]);
        row[u] = NO_BIN;
    });
}

// The words of the multisets of edge-label sequences of all shortest paths from a source. A path's word is mixed from
// that of the path without its last edge and the word of that edge, and words of paths with the same ends are summed.
// words[u] is complete when u is visited, since all nodes before it on a shortest path are nearer.
template <class Index>
void path_words(const Paths<Index> &paths, Alone<const uint64_t> edge_words, const Graph &graph, int64_t source,
                Alone<const double> distances, Alone<int64_t> order, Alone<int64_t> place, Alone<uint64_t> words) {
    fill(words, graph.n, 0);
    words[source] = 1;
    const int64_t reached = by_distance(distances, graph.n, order, place);
    for (int64_t k = 0; k < reached; k++) {
        const int64_t u = order[k], row = graph.first + u;
        for (Index entry = paths.indptr[row], last = paths.indptr[row + 1]; entry < last; entry++) {
            const int64_t v = paths.indices[entry] - graph.first;
            if (on_a_path(distances[u], paths.weights[entry], distances[v]))
                words[v] += mix_word(words[u] ^ edge_words[entry]);
        }
    }
}

// words (pairs,) of edge labels along the shortest paths of each ordered pair; 0 without a path. keys (entries,) are
// those of the edges' labels. distances (pairs,) are None if all edges have length 1.
template <class Index>
void label_paths(Paths<Index> paths, In<uint64_t> keys, Maybe<double> distances, In<int64_t> bounds,
                 Out<uint64_t> words, int threads) {
    const int64_t n_entries = keys.size(), largest = largest_of(paths.graph_ptr);
    const Rooms<uint64_t> edge_words(1, n_entries);
    for (int64_t k = 0; k < n_entries; k++) edge_words[0][k] = mix_other(keys[k]) + mix_word(word_of(paths.weights[k]));
    const Rooms<int64_t> orders(threads, largest), places(threads, largest + 2);
    from_all_nodes(paths, bounds, threads, [&](int thread, const Graph &graph, int64_t source) {
        const int64_t row = graph.pair + source * graph.n;
        const Ptr<uint64_t> found = words.data() + row;
        if (distances) {
            path_words(paths, edge_words[0], graph, source, distances.data() + row, orders[thread], places[thread], found);
            return;
        }
        // all edges have length 1: found[u] is complete when u is taken from the queue
        fill(found, graph.n, 0), fill(places[thread], graph.n, -1);
        found[source] = 1;
        search<int64_t, Index>(
            paths.indptr.data(), paths.indices.data(), graph.first, source, -1, orders[thread], places[thread],
            [&](int64_t u, int64_t v, Index entry) { found[v] += mix_word(found[u] ^ edge_words[0][entry]); });
    });
}

// ---- Counts of triplets ----
// Labels of one graph at a time, numbered in order of appearance. of[v] is the number of node v's label, present[a]
// the label with number a, and local its inverse, -1 of labels that the graph does not have.
struct Labels {
    std::vector<int64_t> of, present, local;
    Labels(int64_t n, int64_t n_labels) : of(size_t(n)), present(size_t(n)), local(size_t(n_labels), -1) {}
    // Number the labels ids (n,); returns how many there are.
    int64_t number(Ptr<const int64_t> ids, int64_t n) {
        int64_t n_present = 0;
        for (int64_t v = 0; v < n; v++) {
            int64_t &own = local[ids[v]];
            if (own < 0) {
                present[n_present] = ids[v];
                own = n_present++;
            }
            of[v] = own;
        }
        for (int64_t a = 0; a < n_present; a++) local[present[size_t(a)]] = -1;
        return n_present;
    }
};

// Count triplets (label, number of edges, label) of graphs whose edges have length 1, without a list of pairs.
//
// ids (N,) are numbers of labels, keys (labels,) their keys; times (N,) is how often the paths from each node count,
// and a node with 0 is not searched from. Of the nodes of each graph sorted by label, part k of n_parts is searched
// from: the counts of all parts add up, and triplets of a label on the border of two parts are in the lists of both.
// lengths (graphs,) are the numbers of codes of each graph. Returns the codes (int64) and the counts (float64) as
// bytes; each code occurs once per graph.
//
// For the nodes with one label, table[length * n_labels + b] counts the nodes with label b at a number of edges from
// them; touched lists its nonzero cells. steps are -1 between searches.
template <class Index>
nb::tuple count_triplets(In<Index> indptr, In<Index> indices, In<int64_t> graph_ptr, In<int64_t> ids,
                         In<int64_t> times, In<uint64_t> keys, int64_t part, int64_t n_parts, Out<int64_t> lengths) {
    std::vector<int64_t> codes;
    std::vector<double> counts;
    {
        nb::gil_scoped_release release;
        const int64_t largest = largest_of(graph_ptr);
        Labels labels(largest, keys.size());
        const Rooms<int64_t> starts(1, largest + 1), members(1, largest), queue(1, largest), steps(1, largest);
        const Alone<int64_t> order = queue[0], steps_of = steps[0];
        fill(steps[0], largest, -1);
        std::vector<int64_t> cells, touched;
        for (int64_t g = 0; g + 1 < graph_ptr.size(); g++) {
            const int64_t first = graph_ptr[g], n = graph_ptr[g + 1] - first, before = int64_t(codes.size());
            const int64_t n_labels = labels.number(ids.data() + first, n);
            const Ptr<const int64_t> own = pointer_to<const int64_t>(labels.of.data(), n);
            const Alone<int64_t> table = room_of(cells, n * n_labels);
            // members[starts[a] .. starts[a + 1] - 1] are the nodes with label a; starts are one label ahead before
            fill(starts[0], n_labels + 1, 0);
            for (int64_t v = 0; v < n; v++) starts[0][own[v]]++;
            for (int64_t a = 1; a <= n_labels; a++) starts[0][a] += starts[0][a - 1];
            for (int64_t v = n - 1; v >= 0; v--) members[0][--starts[0][own[v]]] = v;
            const int64_t begin = part * n / n_parts, end = (part + 1) * n / n_parts;
            for (int64_t a = 0; a < n_labels; a++) {
                touched.clear();
                for (int64_t k = std::max(starts[0][a], begin); k < std::min(starts[0][a + 1], end); k++) {
                    const int64_t source = members[0][k], often = times[first + source];
                    if (often == 0) continue;
                    const int64_t reached = search<int64_t, Index>(indptr.data(), indices.data(), first, source, -1, order,
                                                                   steps_of, [](int64_t, int64_t, Index) {});
                    for (int64_t i = 0; i < reached; i++) {
                        const int64_t v = order[i], cell = std::exchange(steps_of[v], -1) * n_labels + own[v];
                        if (i == 0) continue;  // the source
                        if (table[cell] == 0) touched.push_back(cell);
                        table[cell] += often;
                    }
                }
                const uint64_t from = mix_word(keys[labels.present[a]]);
                for (const int64_t cell : touched) {
                    const int64_t length = cell / n_labels, b = labels.present[cell - length * n_labels];
                    codes.push_back(triplet_code(from, word_of(double(length)), keys[b]));
                    counts.push_back(double(std::exchange(table[cell], 0)));
                }
            }
            lengths[g] = int64_t(codes.size()) - before;
        }
    }
    return nb::make_tuple(nb::bytes(codes.data(), codes.size() * 8), nb::bytes(counts.data(), counts.size() * 8));
}

// ---- Nodes along paths ----
constexpr int64_t FEW_ROOTS = 128, ROOTS_OF_A_BLOCK = 32;  // counts of more start nodes are summed block by block

// Workspace of path counts in a graph.
struct HopRoom {
    std::vector<int64_t> order, place;
    std::vector<double> occ, des, sums;
};

// Add the path-count matrices of the roots begin .. end - 1 of a graph to counts (slots, width, width) (Feragen et al.
// 2013, Section 3.1): counts[slots[v], a, b] grows by the number of shortest paths with b edges on which v is node
// number a. For each root, occ[v, a] counts paths with a edges from the root to v, and des[v, c] their continuations
// from v with c edges, along the directed acyclic graph of shortest paths; a path has b = a + c edges.
template <class Index>
void count_from_roots(const Paths<Index> &paths, const Graph &graph, Ptr<const double> all_distances, int64_t begin,
                      int64_t end, Alone<const int64_t> slots, int64_t width, HopRoom &room, Alone<double> counts) {
    const Alone<const Index> indptr = paths.indptr.data(), indices = paths.indices.data();
    const Alone<const double> weights = paths.weights.data();
    const int64_t n = graph.n, first = graph.first;
    const Alone<int64_t> order = room_of(room.order, n), place = room_of(room.place, n + 2);
    const Alone<double> occ = room_of(room.occ, n * width), des = room_of(room.des, n * width);
    for (int64_t root = begin; root < end; root++) {
        const Alone<const double> distances = all_distances + root * n;
        const int64_t reached = by_distance(distances, n, order, place);
        for (int64_t k = 0; k < reached; k++) {
            fill(occ + order[k] * width, width, 0.0);
            fill(des + order[k] * width, width, 0.0);
            des[order[k] * width] = 1.0;
        }
        occ[root * width] = 1.0;
        // Add the counts of one end of each edge from u on a path to those of the other end, one edge longer.
        const auto add_edges = [&](int64_t u, Ptr<double> numbers, bool outwards) {
            for (Index entry = indptr[first + u]; entry < indptr[first + u + 1]; entry++) {
                const int64_t v = indices[entry] - first;
                if (!on_a_path(distances[u], weights[entry], distances[v])) continue;
                const Ptr<double> from = numbers + (outwards ? u : v) * width, to = numbers + (outwards ? v : u) * width;
                for (int64_t a = 0; a < width - 1; a++) to[a + 1] += from[a];
            }
        };
        // Outwards: occ[u] is complete when u is visited, since nodes before it on a path are nearer.
        for (int64_t k = 0; k < reached; k++) add_edges(order[k], occ, true);
        // Inwards: des[v] is complete when the edge from u to v is visited, since v is farther than u.
        for (int64_t k = reached - 1; k >= 0; k--) add_edges(order[k], des, false);
        for (int64_t k = 0; k < reached; k++) {
            const int64_t v = order[k];
            for (int64_t a = 0; a < width; a++)
                if (const double times = occ[v * width + a]; times != 0.0) {
                    const Ptr<double> row = counts + ((slots[v] * width + a) * width + a);
                    for (int64_t c = 0; c < width - a; c++) row[c] += times * des[v * width + c];
                }
        }
    }
}

// The path counts of one graph from all roots, counts (slots, width, width). Threads take blocks of roots, whose sums
// are added in order; a few matrices are in memory at a time.
template <class Index>
void count_paths(const Paths<Index> &paths, const Graph &graph, In<double> distances, Ptr<const int64_t> slots,
                 int64_t n_slots, int64_t width, std::vector<HopRoom> &rooms, int thread, int threads,
                 Ptr<double> counts) {
    const int64_t size = n_slots * width * width, n = graph.n;
    const int64_t length = n <= FEW_ROOTS ? std::max(n, int64_t(1)) : ROOTS_OF_A_BLOCK;
    const int64_t n_blocks = (n + length - 1) / length, at_once = std::min(int64_t(threads), n_blocks);
    fill(counts, size, 0.0);
    const auto count = [&](int64_t block, HopRoom &room, Ptr<double> into) {
        count_from_roots(paths, graph, distances.data() + graph.pair, block * length, std::min((block + 1) * length, n),
                         slots, width, room, into);
    };
    if (n_blocks <= 1) {
        if (n_blocks == 1) count(0, rooms[thread], counts);
        return;
    }
    const Rooms<double> sums(int(at_once), size);
    for (int64_t begin = 0; begin < n_blocks; begin += at_once) {
        const int64_t n_here = std::min(at_once, n_blocks - begin);
        const auto one = [&](int, int64_t k) {
            fill(sums[int(k)], size, 0.0);
            count(begin + k, rooms[thread + k], sums[int(k)]);
        };
        share(n_here, int(at_once), one);
        for (int64_t k = 0; k < n_here; k++)
            for (int64_t i = 0; i < size; i++) counts[i] += sums[int(k)][i];
    }
}

// The same for Python; slots (n,) of the nodes of graph g.
template <class Index>
void count_hops(Paths<Index> paths, In<double> distances, int64_t g, In<int64_t> slots, Out<double, 3> counts,
                int threads) {
    std::vector<HopRoom> rooms(threads);
    count_paths(paths, Graph(paths, g), distances, slots.data(), counts.shape[0], counts.shape[1], rooms, 0, threads,
                counts.data());
}

// most (graphs,): the largest number of edges on a shortest path of each graph. Threads take runs of graphs: bounds.
template <class Index>
void widest_hops(Paths<Index> paths, In<double> distances, In<int64_t> bounds, Out<int64_t> most, int threads) {
    const int64_t largest = largest_of(paths.graph_ptr);
    const Rooms<int64_t> orders(threads, largest), places(threads, largest + 2), hop_rooms(threads, largest);
    share(bounds.size() - 1, threads, [&](int thread, int64_t k) {
        for (int64_t g = bounds[k]; g < bounds[k + 1]; g++) {
            const Graph graph(paths, g);
            const Ptr<const double> all = distances.data() + graph.pair;
            most[g] = 0;
            // hops[v] is the largest number of edges on a shortest path from the root to v; it is complete when v is
            // visited, since all nodes before v on such a path are nearer. Equal lengths may differ in edges.
            const Ptr<int64_t> order = orders[thread], hops = hop_rooms[thread];
            for (int64_t root = 0; root < graph.n; root++) {
                const Ptr<const double> distance = all + root * graph.n;
                const int64_t reached = by_distance(distance, graph.n, order, places[thread]);
                fill(hops, graph.n, 0);
                for (int64_t i = 0; i < reached; i++) {
                    const int64_t u = order[i], row = graph.first + u;
                    most[g] = std::max(most[g], hops[u]);
                    for (Index entry = paths.indptr[row]; entry < paths.indptr[row + 1]; entry++) {
                        const int64_t v = paths.indices[entry] - graph.first;
                        if (on_a_path(distance[u], paths.weights[entry], distance[v]))
                            hops[v] = std::max(hops[v], hops[u] + 1);
                    }
                }
            }
        }
    });
}

// List the nonzero path counts of graphs, summed by label: the code of position a on paths with b edges is
// randomness.mix(key, a, b). ids (N,) are numbers of labels, keys (labels,) their keys, and most those of widest_hops.
// Threads take runs of graphs: bounds; all of them share a run of one graph that is_shared. The entries of a run stand
// one after the other from ends[its first graph]; lengths (graphs,) are their numbers.
template <class Index>
void list_hops(Paths<Index> paths, In<double> distances, In<int64_t> ids, In<uint64_t> keys, In<int64_t> most,
               In<int64_t> bounds, In<bool> is_shared, In<int64_t> ends, Out<int64_t> codes, Out<double> counts,
               Out<int64_t> lengths, int threads) {
    std::vector<HopRoom> rooms(threads);
    std::vector<Labels> labels(threads, Labels(largest_of(paths.graph_ptr), keys.size()));
    const auto one_run = [&](int thread, int64_t k, int helpers) {
        Labels &own = labels[thread];
        int64_t filled = ends[bounds[k]];
        for (int64_t g = bounds[k]; g < bounds[k + 1]; g++) {
            const Graph graph(paths, g);
            const int64_t n_labels = own.number(ids.data() + graph.first, graph.n), width = most[g] + 1, start = filled;
            const Ptr<double> matrix = room_of(rooms[thread].sums, n_labels * width * width);
            count_paths(paths, graph, distances, pointer_to<const int64_t>(own.of.data(), graph.n), n_labels, width,
                        rooms, thread, helpers, matrix);
            for (int64_t label = 0; label < n_labels; label++) {
                const uint64_t key = mix_word(keys[own.present[label]]);
                for (int64_t a = 0; a < width; a++) {
                    const uint64_t begin = mix_word(key ^ uint64_t(a));
                    for (int64_t b = a; b < width; b++)
                        if (const double number = matrix[(label * width + a) * width + b]; number != 0.0) {
                            codes[filled] = int64_t(mix_word(begin ^ uint64_t(b)));
                            counts[filled++] = number;
                        }
                }
            }
            lengths[g] = filled - start;
        }
    };
    for (int64_t k = 0; k < is_shared.size(); k++)
        if (is_shared[k]) one_run(0, k, threads);
    share(is_shared.size(), threads, [&](int thread, int64_t k) {
        if (!is_shared[k]) one_run(thread, k, 1);
    });
}
}  // namespace

void bind_paths(nb::module_ &m) {
    m.attr("FEW_ROOTS") = FEW_ROOTS;
    BIND_INDEX(path_distances);
    BIND_INDEX(code_triplets);
    BIND_INDEX(label_paths);
    m.def("count_triplets", count_triplets<int32_t>), m.def("count_triplets", count_triplets<int64_t>);
    BIND_INDEX(count_hops);
    BIND_INDEX(widest_hops);
    BIND_INDEX(list_hops);
}
