// Edit distances: nodes of two graphs are matched by their codes, then pairs follow a gradient and are swapped while
// that saves edits; a search proves the smallest cost of small graphs.
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "common.hpp"

namespace {
// Costs of a new label, and of an insertion or deletion, of a node and of an edge.
struct Costs {
    double relabel_node, node, relabel_edge, edge;
    auto parts() { return std::tie(relabel_node, node, relabel_edge, edge); }
};

// A neighbor, and the kinds of the edges to it and from it; 0: no edge.
struct Neighbor {
    int32_t to = 0, out = 0, in = 0;
};

// Parallel edges from one node to another are one edge of a kind, a multiset of labels.
struct Kinds {
    std::vector<std::vector<uint64_t>> labels{{}};
    std::map<std::vector<uint64_t>, int32_t> numbers;
    bool are_single = true;

    int32_t of(std::vector<uint64_t> &found) {
        std::sort(found.begin(), found.end());
        const auto [at, is_new] = numbers.try_emplace(found, int32_t(labels.size()));
        if (is_new) labels.push_back(found), are_single = are_single && found.size() == 1;
        return at->second;
    }
};

// One of the two graphs: numbers of node labels, kinds of loops, and neighbors in ascending order.
struct Side {
    int32_t n;
    std::vector<int32_t> label, loop;
    std::vector<std::vector<Neighbor>> around;  // and none of the node n, which stands for no node

    template <class Index>
    Side(Ptr<const Index> indptr, Ptr<const Index> indices, Ptr<const uint64_t> nodes, Ptr<const uint64_t> edges,
         int64_t first, int64_t last, std::unordered_map<uint64_t, int32_t> &names, Kinds &kinds)
        : n(int32_t(last - first)), loop(n), around(n + 1) {
        std::vector<std::map<int32_t, Neighbor>> rows(n);
        std::vector<uint64_t> found;
        for (int64_t i = first; i < last; i++) {
            label.push_back(names.try_emplace(nodes[i], int32_t(names.size())).first->second);
            for (Index e = indptr[i]; e < indptr[i + 1];) {
                const Index j = indices[e];
                found.clear();
                for (; e < indptr[i + 1] && indices[e] == j; e++) found.push_back(edges[e]);
                const int32_t kind = kinds.of(found), a = int32_t(i - first), b = int32_t(j - first);
                if (a == b) loop[a] = kind;
                if (a != b) rows[a][b].out = rows[b][a].in = kind;
            }
        }
        for (int32_t a = 0; a < n; a++)
            for (const auto &[to, one] : rows[a]) around[a].push_back({to, one.out, one.in});
    }
    const std::vector<Neighbor> &near(int32_t i) const { return around[std::min(i, n)]; }
    const Neighbor *find(int32_t i, int32_t j) const {
        const Neighbor *a = near(i).data(), *const b = a + near(i).size();
        if (b - a > 12) a = std::lower_bound(a, b, j, [](const Neighbor &one, int32_t k) { return one.to < k; });
        while (a < b && a->to < j) a++;
        return a < b && a->to == j ? a : nullptr;
    }
};

using Map = std::vector<int32_t>;  // the partner of each node; nodes from n on are none: deleted, or inserted

class Editing {
  public:
    const Side &g, &h;
    static constexpr int32_t ALL_PAIRS = 64;  // nodes of small graphs, or candidates of a node of larger ones
    int32_t size;                             // pairs, those with no node on one side included
    Map image, origin;
    std::vector<double> agreement;  // of small graphs: the number of equal codes of each pair, and a half

    Editing(const Side &g_, const Side &h_, size_t n_labels, const Kinds &kinds, const Costs &costs)
        : g(g_), h(h_), n_labels_(n_labels), kinds_(kinds), costs_(costs) {
        costs_.relabel_edge = std::min(costs.relabel_edge, 2 * costs.edge);
        size = costs.relabel_node > 2 * costs.node ? g.n + h.n : std::max(g.n, h.n);
        for (const Side *side : {&g, &h})
            for (const auto &row : side->around)
                for (const Neighbor &one : row) directed_ |= one.out != one.in;
        for (int32_t x = 0; x < h.n; x++) {
            double sum = 0;
            for (const Neighbor &one : h.near(x)) sum += both(0, 0, &one);
            inserted_.push_back(sum);
        }
    }

    void set(const Map &partner) {
        image = partner, image.resize(size, -1), origin.assign(size, -1);
        for (int32_t a = 0; a < size; a++)
            if (image[a] >= 0) origin[image[a]] = a;
        int32_t free = size > std::max(g.n, h.n) ? h.n : 0;  // with room beside both graphs, nodes without a pair stay so
        for (int32_t a = 0; a < size; a++) {
            if (image[a] >= 0) continue;
            while (origin[free] >= 0) free = (free + 1) % size;
            image[a] = free, origin[free] = a;
        }
    }

    double total() const {
        double doubled = 0, sum = 0;  // edges are met from both ends
        for (int32_t a = 0; a < size; a++) sum += alone(a, image[a]), doubled += edges(a, image[a]);
        return sum + doubled / 2;
    }

    // Lower the cost of the pairs: by gradients if the graphs are small, then by so many swaps of pairs.
    double improve(int64_t trials) {
        const double least = bound(std::vector<char>(g.n), std::vector<char>(h.n));
        const auto swapped = [&] {
            descend(trials);
            return total();
        };
        const Map matched = image;
        double cost = swapped();
        if (size > ALL_PAIRS) return cost;
        Map best = image;
        const auto n = static_cast<size_t>(size);
        const int64_t starts = std::clamp<int64_t>(WORK / std::max(size * size, 1), 2, 16);
        std::vector<double> shares(n * n);  // of a pair in all pairs
        uint64_t word = 1;
        for (int64_t start = 0; start < starts && cost > least; start++) {
            // first the best matching by codes, then pairs by their numbers of equal codes, then the same with noise
            for (size_t a = 0; a < n; a++) {
                double sum = 0;
                for (size_t x = 0; x < n; x++) {
                    const double noise = start > 1 ? double((word = mix_word(word)) >> 11) * 0x1p-53 : 1;
                    sum += shares[a * n + x] = start ? noise * agreement[a * n + x] : double(matched[a] == int32_t(x));
                }
                for (size_t x = 0; x < n; x++) shares[a * n + x] /= sum;
            }
            follow(shares);
            if (const double now = swapped(); now < cost - 1e-9) cost = now, best = image;
        }
        set(best);
        return cost;
    }

    // The smallest cost by depth-first search, from pairs that cost so much; -1 after so many steps.
    double prove(double cost, int64_t steps) {
        Search search{*this, cost, steps, {}, {}, {}, {}, image};
        search.run();
        if (search.steps < 0) return -1;
        search.best.resize(g.n);
        for (int32_t &x : search.best) x = x < h.n ? x : -1;
        set(search.best);
        return search.cost;
    }

  private:
    static constexpr int64_t WORK = 2500;  // squares of sizes that a millisecond allows
    static constexpr int STEPS = 12;
    const size_t n_labels_;
    const Kinds &kinds_;
    Costs costs_;
    bool directed_ = false;
    std::vector<double> inserted_;  // cost of inserting all edges at a node of h

    double edge(int32_t a, int32_t b) const {
        if (a == b) return 0;
        const auto &one = kinds_.labels[a], &other = kinds_.labels[b];
        const size_t fewer = std::min(one.size(), other.size()), more = std::max(one.size(), other.size());
        std::vector<uint64_t> common;
        if (more > 1)
            std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(common));
        return double(fewer - common.size()) * costs_.relabel_edge + double(more - fewer) * costs_.edge;
    }
    double both(int32_t out, int32_t in, const Neighbor *other) const {
        const Neighbor to = other ? *other : Neighbor{};
        return edge(out, to.out) + (directed_ ? edge(in, to.in) : 0);
    }
    // The cost of a pair of nodes without their edges to others.
    double alone(int32_t a, int32_t x) const {
        if (a >= g.n && x >= h.n) return 0;
        const double loops = edge(a < g.n ? g.loop[a] : 0, x < h.n ? h.loop[x] : 0);
        if (a >= g.n || x >= h.n) return costs_.node + loops;
        return (g.label[a] == h.label[x] ? 0 : costs_.relabel_node) + loops;
    }
    // The cost of all edges at a pair of nodes.
    double edges(int32_t a, int32_t x) const {
        double sum = x < h.n ? inserted_[x] : 0;
        for (const Neighbor &one : g.near(a)) {
            const Neighbor *other = h.find(x, image[one.to]);
            sum += both(one.out, one.in, other) - (other ? both(0, 0, other) : 0);
        }
        return sum;
    }
    double around(int32_t a, int32_t b) const {
        const int32_t x = image[a], y = image[b];
        const Neighbor *one = g.find(a, b), *other = h.find(x, y);
        const double between = one ? both(one->out, one->in, other) : both(0, 0, other);
        return alone(a, x) + alone(b, y) + edges(a, x) + edges(b, y) - between;
    }
    void exchange(int32_t a, int32_t b) {
        std::swap(image[a], image[b]);
        origin[image[a]] = a, origin[image[b]] = b;
    }
    // Swap nodes with others while that lowers the cost; those of a swap and their neighbors wait for another turn.
    void descend(int64_t trials) {
        Map waiting(size), others;
        std::iota(waiting.begin(), waiting.end(), 0);
        for (size_t at = 0; at < waiting.size() && trials > 0; at++) {
            const int32_t a = waiting[at];
            others.clear();
            if (size <= ALL_PAIRS) {
                for (int32_t b = 0; b < size; b++) others.push_back(b);
            } else {  // nodes whose image is beside those of the neighbors
                for (const Neighbor &one : g.near(a))
                    for (const Neighbor &near : h.near(image[one.to])) {
                        if (others.size() == ALL_PAIRS) break;
                        others.push_back(origin[near.to]);
                    }
            }
            for (const int32_t b : others) {
                if (a == b || (a >= g.n && b >= g.n) || (image[a] >= h.n && image[b] >= h.n)) continue;
                trials--;
                const double before = around(a, b);
                exchange(a, b);
                if (around(a, b) - before >= -1e-9) {
                    exchange(a, b);
                } else if (waiting.size() < 64 * size_t(size)) {
                    for (const int32_t c : {a, b}) {
                        waiting.push_back(c);
                        for (const Neighbor &one : g.near(c)) waiting.push_back(one.to);
                    }
                }
            }
        }
    }
    // What the edges at all pairs save if pairs have these shares: products (size, size).
    void saved_by(const std::vector<double> &shares, std::vector<double> &saved) const {
        const auto n = static_cast<size_t>(size);
        std::fill(saved.begin(), saved.end(), 0.0);
        for (int32_t b = 0; b < g.n; b++)
            for (int32_t y = 0; y < h.n; y++)
                if (const double share = shares[b * n + y])
                    for (const Neighbor &one : g.near(b))
                        for (const Neighbor &other : h.near(y))
                            saved[one.to * n + other.to] += share * (both(one.out, one.in, nullptr) + both(0, 0, &other) -
                                                                     both(one.out, one.in, &other));
    }
    // Frank-Wolfe steps with integer projections (Leordeanu, Hebert and Sukthankar 2009; for edit distances
    // Bougleux et al. 2017): the pairs of least gradient are tried, and the shares move towards them.
    void follow(std::vector<double> &shares) {
        const auto n = static_cast<size_t>(size);
        std::vector<double> own(n * n), saved(n * n), other(n * n), gradient(n * n), step(n * n);
        double cost = std::numeric_limits<double>::infinity();
        Map best;
        const auto keep_if_best = [&] {
            set(assigned(gradient));
            if (const double now = total(); now < cost - 1e-9) cost = now, best = image;
        };
        for (size_t a = 0; a < n; a++)
            for (size_t x = 0; x < n; x++) own[a * n + x] = alone(int32_t(a), int32_t(x));
        saved_by(shares, saved);
        for (int k = 0; k < STEPS; k++) {
            for (size_t e = 0; e < n * n; e++) gradient[e] = own[e] - saved[e];
            keep_if_best();
            std::fill(step.begin(), step.end(), 0.0);
            for (size_t a = 0; a < n; a++) step[a * n + image[a]] = 1;
            saved_by(step, other);
            double slope = 0, curve = 0;
            for (size_t e = 0; e < n * n; e++) {
                step[e] -= shares[e];
                slope += gradient[e] * step[e], curve -= (other[e] - saved[e]) * step[e];
            }
            if (slope > -1e-9) break;
            const double length = curve <= 0 ? 1 : std::min(1.0, -slope / curve);
            for (size_t e = 0; e < n * n; e++) shares[e] += length * step[e], saved[e] += length * (other[e] - saved[e]);
        }
        for (size_t e = 0; e < n * n; e++) gradient[e] = -shares[e];
        keep_if_best();
        set(best);
    }
    // The pairs of least cost (size, size): the Hungarian algorithm, one row after the other.
    Map assigned(const std::vector<double> &price) const {
        const auto n = static_cast<size_t>(size);
        std::vector<double> row(n + 1), column(n + 1), least(n + 1);
        std::vector<size_t> holder(n + 1), from(n + 1), open(n), seen(n + 1);
        for (size_t a = 1; a <= n; a++) {
            std::iota(open.begin(), open.end(), size_t(1));
            std::fill(least.begin(), least.end(), std::numeric_limits<double>::infinity());
            holder[0] = a;
            size_t n_open = n, n_seen = 0, at = 0;
            do {
                seen[n_seen++] = at;
                const double *const own = price.data() + (holder[at] - 1) * n - 1;
                const double below = row[holder[at]];
                size_t next = 0;
                for (size_t k = 0; k < n_open; k++) {
                    const size_t x = open[k];
                    const double now = own[x] - below - column[x];
                    if (now < least[x]) least[x] = now, from[x] = at;
                    if (least[x] < least[open[next]]) next = k;
                }
                const double smallest = least[open[next]];
                for (size_t k = 0; k < n_seen; k++) row[holder[seen[k]]] += smallest, column[seen[k]] -= smallest;
                for (size_t k = 0; k < n_open; k++) least[open[k]] -= smallest;
                at = open[next], open[next] = open[--n_open];
            } while (holder[at]);
            for (; at; at = from[at]) holder[at] = holder[from[at]];
        }
        Map found(n);
        for (size_t x = 1; x <= n; x++) found[holder[x] - 1] = int32_t(x - 1);
        return found;
    }

    // What labels that are left in two graphs need at least, given the surplus of each label in the first graph.
    static double differ(const std::vector<int64_t> &surplus, double relabel, double insert) {
        int64_t more = 0, fewer = 0;
        for (const int64_t n : surplus) more += std::max<int64_t>(n, 0), fewer -= std::min<int64_t>(n, 0);
        return double(std::min(more, fewer)) * std::min(relabel, 2 * insert) + double(std::abs(more - fewer)) * insert;
    }
    // A lower bound of the cost of the nodes that are not matched yet.
    double bound(const std::vector<char> &done_g, const std::vector<char> &done_h) const {
        std::vector<int64_t> nodes(n_labels_), edges(kinds_.labels.size());
        const auto add = [&](const Side &side, const std::vector<char> &done, int64_t sign) {
            for (int32_t i = 0; i < side.n; i++) {
                if (!done[i]) nodes[side.label[i]] += sign;
                if (!done[i] && side.loop[i]) edges[side.loop[i]] += sign;
                for (const Neighbor &one : side.near(i))
                    if (one.out && (directed_ || one.to > i) && !(done[i] && done[one.to])) edges[one.out] += sign;
            }
        };
        add(g, done_g, 1), add(h, done_h, -1);
        // of two sets of parallel edges, one may be a part of the other
        const double relabel = kinds_.are_single ? costs_.relabel_edge : std::min(costs_.edge, costs_.relabel_edge);
        return differ(nodes, costs_.relabel_node, costs_.node) + differ(edges, relabel, costs_.edge);
    }

    // Nodes of g in order are paired with free nodes of h, or with h.n: none.
    struct Search {
        const Editing &of;
        double cost;
        int64_t steps;
        Map order;
        std::vector<char> done_g, done_h;
        Map now, best;

        void run() {
            const Side &g = of.g;
            done_g.assign(g.n, 0), done_h.assign(of.h.n + 1, 0), now.assign(g.n, of.h.n);
            for (int32_t k = 0; k < g.n; k++) {  // next the node with most neighbors in the order, then of all
                std::tuple<int64_t, size_t, int32_t> most{-1, 0, 0};
                for (int32_t a = 0; a < g.n; a++) {
                    int64_t inside = 0;
                    for (const Neighbor &one : g.near(a)) inside += done_g[one.to];
                    if (!done_g[a]) most = std::max(most, {inside, g.near(a).size(), -a});
                }
                order.push_back(-std::get<2>(most)), done_g[order.back()] = 1;
            }
            done_g.assign(g.n, 0);
            step(0, 0);
        }
        // Edges of a pair to all earlier pairs.
        double joined(int32_t a, int32_t x) const {
            double sum = 0;
            for (const Neighbor &one : of.g.near(a))
                if (done_g[one.to]) sum += of.both(one.out, one.in, of.h.find(x, now[one.to]));
            for (const Neighbor &near : of.h.near(x)) {
                if (!done_h[near.to]) continue;
                const auto from = std::find(now.begin(), now.end(), near.to);
                if (!of.g.find(a, int32_t(from - now.begin()))) sum += of.both(0, 0, &near);
            }
            return sum;
        }
        void step(int32_t depth, double so_far) {
            const int32_t none = of.h.n;
            if (depth == of.g.n) {
                for (int32_t x = 0; x < none; x++) {  // what is left of h is inserted
                    if (done_h[x]) continue;
                    so_far += of.alone(of.g.n, x);
                    for (const Neighbor &near : of.h.near(x))
                        if (done_h[near.to] || near.to > x) so_far += of.both(0, 0, &near);
                }
                if (so_far < cost - 1e-9) cost = so_far, best = now;
                return;
            }
            const int32_t a = order[depth];
            std::vector<std::pair<double, int32_t>> choices;
            for (int32_t x = 0; x <= none; x++)
                if (!done_h[x]) choices.push_back({of.alone(a, x) + joined(a, x), x});
            std::sort(choices.begin(), choices.end());
            done_g[a] = 1;
            for (const auto &[added, x] : choices) {
                if (--steps < 0) return;
                done_h[x] = x < none, now[a] = x;
                if (so_far + added + of.bound(done_g, done_h) < cost - 1e-9) step(depth + 1, so_far + added);
                done_h[x] = 0, now[a] = none;
            }
            done_g[a] = 0;
        }
    };
};

// Matching of two graphs by codes (t_max + 1, N), bin by bin, from the last iteration on; those of h begin at middle.
struct Matching {
    const Side &g, &h;
    In<int64_t, 2> codes;
    Map partner = Map(g.n, -1), back = Map(h.n, -1), steps = Map(g.n, -1);
    Ptr<const int64_t> left{}, right{};  // codes of the two graphs at one iteration
    int32_t t = 0;

    void pair(int32_t a, int32_t x) { partner[a] = x, back[x] = a, steps[a] = t; }

    // Match free neighbors of a pair that have equal codes, then theirs.
    void spread(int32_t a, int32_t x) {
        std::vector<std::pair<int32_t, int32_t>> waiting{{a, x}};
        std::set<std::pair<int64_t, int32_t>> free;
        for (size_t at = 0; at < waiting.size(); at++) {
            const auto [one, other] = waiting[at];
            free.clear();
            for (const Neighbor &far : h.near(other))
                if (back[far.to] < 0) free.insert({right[far.to], far.to});
            for (const Neighbor &near : g.near(one)) {
                if (partner[near.to] >= 0) continue;
                const auto first = free.lower_bound({left[near.to], -1});
                if (first == free.end() || first->first != left[near.to]) continue;
                pair(near.to, first->second);
                waiting.push_back({near.to, first->second});
                free.erase(first);
            }
        }
    }
    // The number of iterations at which two nodes have equal codes.
    int64_t agreement(int64_t a, int64_t x) const {
        int64_t t = 0;
        while (t < codes.shape[0] && codes(t, a) == codes(t, g.n + x)) t++;
        return t;
    }
    // Match a pair, its free neighbors by their agreement, then theirs: one piece, without regard to whole codes.
    void grow(int32_t a, int32_t x) {
        std::vector<std::pair<int32_t, int32_t>> waiting{{a, x}};
        std::vector<std::tuple<int64_t, int32_t, int32_t>> choices;  // the largest agreement first, then by nodes
        t = int32_t(agreement(a, x)) - 1;
        pair(a, x);
        for (size_t at = 0; at < waiting.size(); at++) {
            const auto [one, other] = waiting[at];
            choices.clear();
            for (const Neighbor &near : g.near(one)) {
                if (choices.size() >= MOST_CHOICES) break;
                for (const Neighbor &far : h.near(other))
                    if (partner[near.to] < 0 && back[far.to] < 0)
                        choices.push_back({-agreement(near.to, far.to), near.to, far.to});
            }
            std::sort(choices.begin(), choices.end());
            for (const auto &[disagreement, near, far] : choices) {
                if (!disagreement || partner[near] >= 0 || back[far] >= 0) continue;
                t = int32_t(-disagreement) - 1;
                pair(near, far);
                waiting.push_back({near, far});
            }
        }
    }
    static constexpr size_t MOST_CHOICES = 4096;  // of pairs of neighbors, about

    // Match free nodes with equal codes, from the neighbors of earlier pairs and from rare codes on.
    void match() {
        for (int32_t a = 0; a < g.n; a++)
            if (partner[a] >= 0) spread(a, partner[a]);
        std::unordered_map<int64_t, size_t> bins;
        std::vector<std::pair<Map, Map>> members;
        for (int32_t a = 0; a < g.n; a++) {
            if (partner[a] >= 0) continue;
            const auto [at, is_new] = bins.try_emplace(left[a], members.size());
            if (is_new) members.emplace_back();
            members[at->second].first.push_back(a);
        }
        for (int32_t x = 0; x < h.n; x++)
            if (const auto at = bins.find(right[x]); back[x] < 0 && at != bins.end())
                members[at->second].second.push_back(x);
        std::stable_sort(members.begin(), members.end(), [](const auto &one, const auto &other) {
            return one.first.size() + one.second.size() < other.first.size() + other.second.size();
        });
        for (const auto &[own, others] : members) {
            size_t next = 0;
            for (const int32_t a : own) {
                while (next < others.size() && back[others[next]] >= 0) next++;
                if (next == others.size() || partner[a] >= 0) continue;
                pair(a, others[next]);
                spread(a, others[next]);
            }
        }
    }
};

constexpr size_t SEEDS = 8;

// Pairs of the nodes before middle with those from it on, as partner (N,), -1: none, and the last iteration of
// equal codes, steps (N,). nodes (N,) and edges (entries,) are words of labels. With trials, pairs are swapped to
// lower the cost; with a limit, a search of so many steps proves the smallest. Returns the cost; -1 beyond the limit.
template <class Index>
double align_nodes(In<Index> indptr, In<Index> indices, In<uint64_t> nodes, In<uint64_t> edges, In<int64_t, 2> codes,
                   int64_t middle, Costs costs, int64_t trials, int64_t limit, Out<int64_t> partner, Out<int64_t> steps) {
    std::unordered_map<uint64_t, int32_t> names;
    Kinds kinds;
    const int64_t n = nodes.size();
    const auto side = [&](int64_t first, int64_t last) {
        return Side(indptr.data(), indices.data(), nodes.data(), edges.data(), first, last, names, kinds);
    };
    const Side g = side(0, middle), h = side(middle, n);
    const std::vector<int64_t> same(n + 1);
    const auto matched = [&](int32_t a, int32_t x) {  // from a pair of nodes on, if it is given
        Matching matching{g, h, codes};
        if (a >= 0) matching.grow(a, x);
        for (int64_t t = codes.shape[0] - 1; t >= -1; t--) {
            const Ptr<const int64_t> row = t < 0 ? pointer_to(same.data(), n) : codes.row(t);
            matching.left = row, matching.right = row + middle, matching.t = int32_t(t);
            matching.match();
        }
        return matching;
    };
    const Matching first = matched(-1, -1);
    for (int64_t a = 0; a < middle; a++) steps[a] = first.steps[a];
    Editing editing(g, h, names.size(), kinds, costs);
    Map best = first.partner;
    editing.set(best);
    double cost = editing.total();
    if (trials > 0) {
        // seeds are pairs of that matching, those with the most equal codes first
        Map seeds(middle);
        std::iota(seeds.begin(), seeds.end(), 0);
        std::stable_sort(seeds.begin(), seeds.end(), [&](int32_t a, int32_t b) { return first.steps[a] > first.steps[b]; });
        seeds.resize(std::min(seeds.size(), SEEDS));
        for (const int32_t a : seeds) {
            if (first.partner[a] < 0) continue;
            const Map grown = matched(a, first.partner[a]).partner;
            editing.set(grown);
            if (const double now = editing.total(); now < cost) cost = now, best = grown;
        }
        editing.set(best);
        if (const int64_t size = editing.size; size <= Editing::ALL_PAIRS) {
            editing.agreement.assign(size * size, 0.5);
            for (int32_t a = 0; a < g.n; a++)
                for (int32_t x = 0; x < h.n; x++) editing.agreement[a * size + x] += double(first.agreement(a, x));
        }
        cost = editing.improve(trials);
    }
    if (limit > 0) cost = editing.prove(cost, limit);
    fill(partner.data(), n, int64_t(-1));
    for (int64_t a = 0; a < middle; a++)
        if (const int32_t x = editing.image[a]; x < h.n) partner[a] = middle + x, partner[middle + x] = a;
    return cost;
}
}  // namespace

void bind_edits(nb::module_ &m) {
    BIND_INDEX(align_nodes);
}
