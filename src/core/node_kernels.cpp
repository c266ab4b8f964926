// Kernels between the nodes of two runs of graphs, and their sums over nodes and over shortest paths.
#include "common.hpp"

namespace {
// out (n, m): the sum over d of term(x_u[d], y_v[d]) for all points x (n, dimensions) and y, of which transposed
// (dimensions, m) has one column per point. Dimensions are added in the same order for every pair: equal points give
// equal bits, whatever n and m.
template <class Term>
WIDE void compare_points(Alone<const double> points, int64_t n, int64_t dimensions, Alone<const double> transposed,
                         int64_t m, Alone<double> out, Term term) {
    for (int64_t u = 0; u < n; u++) {
        fill(out + u * m, m, 0.0);
        for (int64_t d = 0; d < dimensions; d++) {
            const double x = points[u * dimensions + d];
            for (int64_t v = 0; v < m; v++) out[u * m + v] += term(x, transposed[d * m + v]);
        }
    }
}

// The same for Python: products x y, or squared distances.
void compare_all(In<double, 2> points, In<double, 2> transposed, bool multiplied, Out<double, 2> out) {
    const auto compare = [&](auto term) {
        compare_points(points.data(), points.shape[0], points.shape[1], transposed.data(), transposed.shape[1],
                       out.data(), term);
    };
    if (multiplied)
        compare([](double x, double y) { return x * y; });
    else
        compare([](double x, double y) { return (x - y) * (x - y); });
}

// Add the sums of the columns first .. last - 1 of some rows, (rows, m), to a total, one row after the other.
template <int rows>
void add_rows(Alone<const double> values, int64_t m, int64_t first, int64_t last, double &total) {
    double parts[rows] = {};
    for (int64_t v = first; v < last; v++)
        for (int k = 0; k < rows; k++) parts[k] += values[k * m + v];
    for (int k = 0; k < rows; k++) total += parts[k];
}

// out (left graphs, right graphs): the sum of each block of values (left nodes, right nodes). Rows of a block are
// summed first, then added: the bits do not depend on other graphs of the tile. Several rows at a time do not wait for
// each other's additions.
void sum_blocks(In<double, 2> values, In<int64_t> ptr, In<int64_t> ptr2, Out<double, 2> out) {
    constexpr int ROWS = 4;
    const int64_t m = values.shape[1], n_right = ptr2.size() - 1;
    fill(out.data(), out.size(), 0.0);
    for (int64_t i = 0; i + 1 < ptr.size(); i++)
        for (int64_t u = ptr[i]; u < ptr[i + 1];) {
            const Ptr<const double> row = values.data() + u * m;
            const bool is_full = u + ROWS <= ptr[i + 1];
            for (int64_t j = 0; j < n_right; j++)
                (is_full ? add_rows<ROWS> : add_rows<1>)(row, m, ptr2[j], ptr2[j + 1], out(i, j));
            u += is_full ? ROWS : 1;
        }
}

// out (left graphs, right graphs): the sum over pairs of equally long paths of the node kernels of both ends (Borgwardt
// and Kriegel). For each u of the left graph, sums[l, y] is the sum of k(v, y) over the v at length l from u; then
// k(u, x) sums[length(x, y), y] is summed over x and y.
//
// nodes (left nodes, right nodes) is the node kernel; lengths (pairs,) are numbers of path lengths, below most, and most
// without a path: the last row of sums, which stays 0. sums is 0 before each u; afterwards only the rows of lengths from
// u are cleared, far fewer than all.
void equal_length_sums(In<double, 2> nodes, In<int64_t> ptr, In<int64_t> pair_ptr, In<int64_t> lengths, In<int64_t> ptr2,
                       In<int64_t> pair_ptr2, In<int64_t> lengths2, int64_t most, Out<double, 2> out) {
    const int64_t largest = largest_of(ptr2);
    const Rooms<double> room(1, (most + 1) * largest, true);
    const Alone<double> sums = room[0];
    for (int64_t i = 0; i + 1 < ptr.size(); i++)
        for (int64_t j = 0; j + 1 < ptr2.size(); j++) {
            const int64_t n = ptr[i + 1] - ptr[i], m = ptr2[j + 1] - ptr2[j], width = nodes.shape[1];
            const Alone<const double> block = nodes.data() + (ptr[i] * width + ptr2[j]);
            double total = 0.0;
            for (int64_t u = 0; u < n; u++) {
                const Alone<const int64_t> row = lengths.data() + (pair_ptr[i] + u * n);
                for (int64_t v = 0; v < n; v++)
                    if (row[v] < most)
                        for (int64_t y = 0; y < m; y++) sums[row[v] * largest + y] += block[v * width + y];
                for (int64_t x = 0; x < m; x++)
                    if (const double both = block[u * width + x]; both != 0.0) {
                        const Alone<const int64_t> others = lengths2.data() + (pair_ptr2[j] + x * m);
                        double part = 0.0;
                        for (int64_t y = 0; y < m; y++) part += sums[others[y] * largest + y];
                        total += both * part;
                    }
                for (int64_t v = 0; v < n; v++)
                    if (row[v] < most) fill(sums + row[v] * largest, m, 0.0);
            }
            out(i, j) = total;
        }
}
}  // namespace

void bind_node_kernels(nb::module_ &m) {
    bind(m, "compare_points", compare_all);
    BIND(sum_blocks);
    BIND(equal_length_sums);
}
