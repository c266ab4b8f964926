// Statistics of the nodes of a graph: triangles, core numbers, and walks that return.
#include "common.hpp"

namespace {
// Add the number of triangles at each node of a symmetric graph without loops to counts (N,). rank (N,) are distinct
// numbers that ascend with the degree. Each triangle is found once, at its edge between the two nodes of the smallest
// ranks: the work is at most m^(3/2) for m edges.
template <class Index>
void triangle_counts(In<Index> indptr, In<Index> indices, In<int64_t> rank, Out<int64_t> counts) {
    const int64_t n = rank.size();
    // row i of above: the neighbors of node i with larger ranks
    std::vector<Index> above, ends{0};
    above.reserve(size_t(indices.size() / 2));
    for (int64_t i = 0; i < n; i++) {
        for (Index a = indptr[i]; a < indptr[i + 1]; a++)
            if (rank[indices[a]] > rank[i]) above.push_back(indices[a]);
        ends.push_back(Index(above.size()));
    }
    std::vector<Index> marked(size_t(n), Index(-1));  // node i marks its neighbors of larger rank
    for (int64_t i = 0; i < n; i++) {
        for (Index a = ends[i]; a < ends[i + 1]; a++) marked[above[a]] = Index(i);
        for (Index a = ends[i]; a < ends[i + 1]; a++) {
            const Index j = above[a];
            for (Index b = ends[j]; b < ends[j + 1]; b++)
                if (const Index k = above[b]; marked[k] == Index(i)) counts[i]++, counts[j]++, counts[k]++;
        }
    }
}

// Write the core number of each node of a symmetric graph without loops: the largest k such that it has k neighbors in
// the k-core. Batagelj and Zaversnik (2003): nodes are removed by ascending remaining degree. A node whose degree falls
// is listed again, and counts where it is listed first.
template <class Index>
void core_numbers(In<Index> indptr, In<Index> indices, Out<int64_t> cores) {
    const int64_t n = cores.size();
    std::vector<std::vector<Index>> by_degree(size_t(n) + 1);
    std::vector<char> is_removed(n);
    for (int64_t i = 0; i < n; i++) by_degree[cores[i] = indptr[i + 1] - indptr[i]].push_back(Index(i));
    for (int64_t k = 0; k < n; k++)
        for (size_t at = 0; at < by_degree[k].size(); at++) {
            const Index i = by_degree[k][at];
            if (std::exchange(is_removed[i], true)) continue;
            for (Index e = indptr[i]; e < indptr[i + 1]; e++)
                if (const Index j = indices[e]; cores[j] > k) by_degree[--cores[j]].push_back(j);
        }
}

// The matrix T of a walk or its transpose, in CSR form.
template <class Index>
struct Walk {
    In<Index> indptr, indices;
    In<double> data;
    auto parts() { return std::tie(indptr, indices, data); }

    // The product of row v and a column.
    double row_times(int64_t v, Ptr<const double> column) const {
        double total = 0.0;
        for (Index e = indptr[v]; e < indptr[v + 1]; e++) total += column[indices[e]] * data[e];
        return total;
    }
    // Add row v of the squared matrix to values; return the number of places that are written to touched.
    int64_t add_two_steps(int64_t v, Ptr<double> values, Ptr<Index> touched) const {
        int64_t number = 0;
        for (Index a = indptr[v]; a < indptr[v + 1]; a++) {
            const Index u = indices[a];
            for (Index b = indptr[u]; b < indptr[u + 1]; b++) {
                const double chance = data[a] * data[b];
                if (chance == 0.0) continue;  // too small for a float: the place would be listed again and again
                const Index w = indices[b];
                if (values[w] == 0.0) touched[number++] = w;
                values[w] += chance;
            }
        }
        return number;
    }
};

// Write the chances that a walk from each listed node is back after 1, 2, ... steps, (T^t)_vv, to chances (nodes, 2 or
// 4). With the row f_s = e_v T^s and the column b_r = T^r e_v, the chance after s + r steps is f_s b_r: steps 3 and 4
// need nodes at distance two only.
template <class Index>
void return_chances(Walk<Index> forward, Walk<Index> backward, In<int64_t> nodes, In<int64_t> bounds,
                    Out<double, 2> chances, int threads) {
    const int64_t n = forward.indptr.size() - 1;
    const Rooms<double> values(threads, 2 * n, true);  // f_1 or f_2, and b_2; zeros between nodes
    const Rooms<Index> places(threads, 2 * n);
    share(bounds.size() - 1, threads, [&](int thread, int64_t k) {
        const Ptr<double> one = values[thread], two = one + n;
        const Ptr<Index> touched = places[thread], touched2 = touched + n;
        for (int64_t row = bounds[k]; row < bounds[k + 1]; row++) {
            const int64_t v = nodes[row];
            const Index begin = forward.indptr[v], end = forward.indptr[v + 1];
            for (Index e = begin; e < end; e++) one[forward.indices[e]] += forward.data[e];
            chances(row, 0) = one[v];
            chances(row, 1) = backward.row_times(v, one);  // f_1 b_1
            for (Index e = begin; e < end; e++) one[forward.indices[e]] = 0.0;
            if (chances.shape[1] < 4) continue;
            const int64_t n_one = forward.add_two_steps(v, one, touched);
            const int64_t n_two = backward.add_two_steps(v, two, touched2);
            chances(row, 2) = backward.row_times(v, one);  // f_2 b_1
            double total = 0.0;
            for (int64_t a = 0; a < n_one; a++) total += one[touched[a]] * two[touched[a]];
            chances(row, 3) = total;  // f_2 b_2
            for (int64_t a = 0; a < n_one; a++) one[touched[a]] = 0.0;
            for (int64_t a = 0; a < n_two; a++) two[touched2[a]] = 0.0;
        }
    });
}
}  // namespace

void bind_structure(nb::module_ &m) {
    BIND_INDEX(triangle_counts);
    BIND_INDEX(core_numbers);
    BIND_INDEX(return_chances);
}
