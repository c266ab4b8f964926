// Codes of nodes: affine steps with hashing (Algorithms 2 and 3), codes of attributes (Algorithm 4), refinement.
#include "attributes.hpp"
#include "common.hpp"
#include "walk.hpp"

namespace {
// ---- Blocks of nodes ----
// A block is a run of whole graphs that fits the cache: blocks[b] are its first node and its last node + 1; threads
// take runs of blocks, runs[k] is the first block of run k. The nodes of a large graph are a block that threads share:
// large[l] cuts them into parts.
struct Work {
    int threads;
    In<int64_t, 2> blocks;
    In<int64_t> runs;
    Lists<int64_t> large;
    auto parts() { return std::tie(threads, blocks, runs, large); }
};

// Call f(room, first node, n, in_parts) for each block of n nodes, whose room is n times width numbers. in_parts(g)
// calls g(first, last) for parts of its nodes, and returns when all of them are done.
template <class T, class F>
void in_blocks(const Work &work, int64_t width, F &&f) {
    for (const In<int64_t> &bounds : work.large) {
        const int64_t n_parts = bounds.size() - 1, n = bounds[n_parts] - bounds[0];
        f(Rooms<T>(1, n * width)[0], bounds[0], n, [&](auto &&g) {
            share(n_parts, work.threads, [&](int, int64_t k) { g(bounds[k], bounds[k + 1]); });
        });
    }
    int64_t most = 0;
    for (int64_t b = 0; b < work.blocks.shape[0]; b++) most = std::max(most, work.blocks(b, 1) - work.blocks(b, 0));
    const Rooms<T> rooms(work.threads, most * width);
    share(work.runs.size() - 1, work.threads, [&](int thread, int64_t k) {
        for (int64_t b = work.runs[k]; b < work.runs[k + 1]; b++) {
            const int64_t first = work.blocks(b, 0), last = work.blocks(b, 1);
            f(rooms[thread], first, last - first, [&](auto &&g) { g(first, last); });
        }
    });
}

// ---- Propagation and hashing ----
// The projections x0 of all nodes: node i starts with projected[rows[i]], one column per stream. The number of
// columns is a multiple of LANES. Unused columns are on the left, since the columns on the right make the most
// steps: with 11 streams and 8 lanes,
//
//     column  0 1 2 3 4 | 5 6 7   8 9 10 11 12 13 14 15
//     stream  (unused)  | 0 1 2   3 4  5  6  7  8  9 10
//
// the first eight columns make the steps of streams 0 to 2 only. With unused columns on the right, they would make
// the steps of stream 7.
//
// Stream t * n_hashes + h is hash h of iteration t, with the offset b / w.
template <class Row>
struct Streams {
    In<Row> rows;             // (N,)
    In<double, 2> projected;  // (distinct starts, columns)
    In<double> offsets;       // (streams,)
    int64_t n_hashes;
    auto parts() { return std::tie(rows, projected, offsets, n_hashes); }
    Ptr<const double> start(int64_t i, int64_t column) const { return projected.row(rows[i]) + column; }
    int64_t unused() const { return projected.shape[1] - offsets.size(); }  // column = stream + unused
};

// codes[i] = the code of values[i - base, lane] + offset
void hash_lane(Alone<const double> values, int lane, double offset, Alone<int64_t> codes, Place at) {
    for (int64_t i = at.first; i < at.last; i++) codes[i] = floor_code(values[(i - at.base) * LANES + lane] + offset);
}

// Reset the chosen nodes to x0; all nodes if none is named.
template <class Row>
void push_back(Alone<double> values, Ptr<const bool> chosen, const Streams<Row> &streams, int64_t column, Place at) {
    for (int64_t i = at.first; i < at.last; i++)
        if (!chosen || chosen[i]) {
            const Ptr<const double> from = streams.start(i, column);
            for (int lane = 0; lane < LANES; lane++) values[(i - at.base) * LANES + lane] = from[lane];
        }
}

// Make step t of some nodes of a block (t = 0: set x0) in LANES columns, and hash those of iteration t. ``now`` are
// the values before the step, and ``then`` those after it.
template <class Index, class Row>
void iterate(const Step<Index> &step, const Streams<Row> &streams, Place at, int64_t column, int64_t t,
             Ptr<const double> now, Ptr<double> then, Out<int64_t, 2> codes) {
    const int64_t unused = streams.unused(), n_hashes = streams.n_hashes;
    if (t == 0) {
        push_back(then, Ptr<const bool>(nullptr), streams, column, at);
    } else {
        walk(step, at, column / LANES, t - 1, now, then);
        if (step.restart)
            for (int64_t i = at.first; i < at.last; i++)
                if (const double restart = step.restart[i]; restart != 0.0) {
                    const Ptr<const double> from = streams.start(i, column);
                    for (int lane = 0; lane < LANES; lane++) then[(i - at.base) * LANES + lane] += restart * from[lane];
                }
    }
    // the streams of iteration t that are among these columns
    const int64_t last = std::min((t + 1) * n_hashes, column + LANES - unused);
    for (int64_t stream = std::max(t * n_hashes, column - unused); stream < last; stream++)
        hash_lane(then, int(stream + unused - column), streams.offsets[stream], codes.row(stream), at);
    if (step.pushed_back) push_back(then, step.pushed_back.data(), streams, column, at);
}

// codes (streams, N): propagate projected values, and hash the columns of iteration t after step t. The columns of a
// block are processed LANES at a time: all steps of these columns are made before the next columns.
template <class Index, class Row>
void propagate_and_hash(Step<Index> step, Streams<Row> streams, Work work, Out<int64_t, 2> codes) {
    const int64_t n_columns = streams.projected.shape[1];
    in_blocks<double>(work, 2 * LANES, [&](Ptr<double> room, int64_t base, int64_t n, auto &&in_parts) {
        for (int64_t column = 0; column < n_columns; column += LANES) {
            // the last stream of these columns makes the most steps
            const int64_t n_steps = (column + LANES - 1 - streams.unused()) / streams.n_hashes;
            for (int64_t t = 0; t <= n_steps; t++) {
                const Ptr<double> now = room + (t % 2) * n * LANES, then = room + ((t + 1) % 2) * n * LANES;
                in_parts([&](int64_t first, int64_t last) {
                    iterate(step, streams, Place{base, first, last}, column, t, now, then, codes);
                });
            }
        }
    });
}

// ---- Attributes ----
// Hash each column of values (N, columns) by itself; see hash_some. Threads share runs of columns: bounds.
void hash_columns(In<double, 2> values, Maybe<double> scales, In<double> vectors, In<double> offsets, int64_t missing,
                  Maybe<int64_t> labels, In<int64_t> bounds, Out<int64_t, 2> codes, Out<int64_t> single, int threads) {
    const Columns columns{scales.data(), vectors.data(), offsets.data(), missing};
    share(bounds.size() - 1, threads, [&](int, int64_t k) {
        hash_some(values.data(), values.shape[0], values.shape[1], columns, labels.data(), bounds[k], bounds[k + 1],
                  codes.data(), single.data());
    });
}

// Hash all columns of each row, joined to one code one after the other (Eq. attr_kernel): codes (N,). Threads share
// runs of rows: bounds. is_constant[k]: whether every column has the code of row 0 in all rows of run k.
void hash_product(In<double, 2> values, In<double> vectors, In<double> offsets, int64_t missing, In<int64_t> bounds,
                  Out<int64_t> codes, Out<bool> is_constant, int threads) {
    constexpr int64_t LENGTH = 128;
    const int64_t width = values.shape[1];
    share(bounds.size() - 1, threads, [&](int, int64_t k) {
        int64_t differences = 0, column[LENGTH];
        for (int64_t start = bounds[k]; start < bounds[k + 1]; start += LENGTH) {
            const int64_t rows = std::min(LENGTH, bounds[k + 1] - start);
            const Ptr<int64_t> joined = codes.data() + start;
            fill(joined, rows, 0);
            for (int64_t c = 0; c < width; c++) {
                const double vector = vectors[c], offset = offsets[c];
                const Ptr<const double> block = values.data() + (start * width + c);
                const int64_t own = value_code(values(0, c) * vector + offset, missing);
                for (int64_t i = 0; i < rows; i++) {
                    column[i] = value_code(block[i * width] * vector + offset, missing);
                    differences += column[i] != own;
                }
                for (int64_t i = 0; i < rows; i++)
                    if (joined[i] != NO_BIN) joined[i] = join(joined[i], column[i]);
            }
        }
        is_constant[k] = differences == 0;
    });
}

// ---- Refinement ----
// The edges of a graph, with a key for the label of each if they have labels.
template <class Index>
struct Edges {
    In<Index> indptr, indices;
    Maybe<uint64_t> keys;
    auto parts() { return std::tie(indptr, indices, keys); }
};

// The next words of some nodes: mix(mix(own) + sum over neighbors of mix'(their word), mixed with the edge's key).
// A sum of mixed words is a hash of the multiset of neighbors: it does not depend on their order, and repeated
// neighbors count as often as they occur (with exclusive or, they would cancel). mixed[0] is that of node at.base.
template <bool labeled, class Index>
void refine_nodes(Alone<const Index> indptr, Alone<const Index> indices, Alone<const uint64_t> keys, Place at,
                  Alone<const uint64_t> mixed, Alone<const uint64_t> before, Alone<uint64_t> after) {
    for (int64_t i = at.first; i < at.last; i++) {
        uint64_t total = 0;
        for (Index entry = indptr[i]; entry < indptr[i + 1]; entry++) {
            const uint64_t word = mixed[indices[entry] - at.base];
            total += labeled ? mix_word(word ^ keys[entry]) : word;
        }
        after[i] = mix_word(mix_word(before[i]) + total);
    }
}

void mix_nodes(Alone<const uint64_t> words, Place at, Alone<uint64_t> mixed) {
    for (int64_t i = at.first; i < at.last; i++) mixed[i - at.base] = mix_other(words[i]);
}

// Weisfeiler-Lehman codes of all iterations. Row 0 of codes (iterations, N) is the input, and the other rows are the
// output. Row t is complete for a whole block before row t + 1 is computed, and each node is mixed once, not once per
// neighbor.
template <class Index>
void refine(Edges<Index> edges, Work work, Out<uint64_t, 2> codes) {
    const auto refine_some = edges.keys ? refine_nodes<true, Index> : refine_nodes<false, Index>;
    in_blocks<uint64_t>(work, 1, [&](Ptr<uint64_t> mixed, int64_t base, int64_t, auto &&in_parts) {
        for (int64_t t = 1; t < codes.shape[0]; t++) {
            in_parts([&](int64_t first, int64_t last) { mix_nodes(codes.row(t - 1), Place{base, first, last}, mixed); });
            in_parts([&](int64_t first, int64_t last) {
                refine_some(edges.indptr.data(), edges.indices.data(), edges.keys.data(), Place{base, first, last}, mixed,
                            codes.row(t - 1), codes.row(t));
            });
        }
    });
}
}  // namespace

void bind_codes(nb::module_ &m) {
    m.attr("LANES") = LANES;
    BIND_INDICES(propagate_and_hash);
    BIND(hash_columns);
    BIND(hash_product);
    BIND_INDEX(refine);
}
