// Feature columns: streams side by side, or bins hashed to a fixed width.
#include "common.hpp"

namespace {
constexpr int64_t SHORT = 32;  // entries that are sorted by insertion

// ---- Sorting ----
// Workspace to sort the entries of a row by column.
template <class Column>
struct SortRoom {
    std::vector<Column> columns;
    std::vector<double> values;
    std::vector<int32_t> places;
};

// How many bits the columns 0 .. n_columns - 1 have.
inline int bits_of(int64_t n_columns) {
    int bits = 1;
    while ((n_columns - 1) >> bits > 0) bits++;
    return bits;
}

// Sort entries by column, stable, some bits at a time from the last ones; without values, only the columns.
template <bool with_values, class Column>
void radix_sort(Ptr<Column> columns, Ptr<double> values, int64_t n, int n_bits, SortRoom<Column> &room) {
    const int most = n > 512 ? 11 : 8, n_digits = (n_bits + most - 1) / most;
    const int width = (n_bits + n_digits - 1) / n_digits;
    const int32_t n_places = 1 << width;
    const Column mask = Column(n_places - 1);
    if (int64_t(room.columns.size()) < n) {
        room.columns.resize(size_t(n));
        room.values.resize(with_values ? size_t(n) : 0);
    }
    room.places.assign(size_t(n_places * n_digits), 0);
    int32_t *const places = room.places.data();
    for (int64_t entry = 0; entry < n; entry++)
        for (int digit = 0; digit < n_digits; digit++)
            places[n_places * digit + ((columns[entry] >> (width * digit)) & mask)]++;
    Ptr<Column> from = columns, to = pointer_to(room.columns.data(), n);
    Ptr<double> from_values = values, to_values = pointer_to(room.values.data(), with_values ? n : 0);
    for (int digit = 0; digit < n_digits; digit++) {
        int32_t *const own = places + n_places * digit;
        for (int32_t b = 0, total = 0; b < n_places; b++) total += std::exchange(own[b], total);
        for (int64_t entry = 0; entry < n; entry++) {
            const int32_t place = own[(from[entry] >> (width * digit)) & mask]++;
            to[place] = from[entry];
            if (with_values) to_values[place] = from_values[entry];
        }
        std::swap(from, to), std::swap(from_values, to_values);
    }
    if (n_digits % 2 == 0) return;
    std::copy_n(plain(from, n), n, plain(columns, n));
    if (with_values) std::copy_n(plain(from_values, n), n, plain(values, n));
}

// Sort entries with different columns.
template <class Column>
void sort_row(Ptr<Column> columns, Ptr<double> values, int64_t n, int n_bits, SortRoom<Column> &room) {
    if (n > SHORT) return radix_sort<true>(columns, values, n, n_bits, room);
    // Insertion: the entries before the new one are sorted, and those beyond it move up by one place.
    for (int64_t entry = 1; entry < n; entry++) {
        const Column column = columns[entry];
        const double value = values[entry];
        int64_t k = entry;
        for (; k > 0 && columns[k - 1] > column; k--) columns[k] = columns[k - 1], values[k] = values[k - 1];
        columns[k] = column, values[k] = value;
    }
}

// ---- Streams side by side ----
// lengths (rows,): the number of entries of each row in the first widths[s] columns of all streams s.
template <class Index>
void count_kept(Lists<Index> indptr, Lists<Index> indices, In<int64_t> widths, In<int64_t> bounds,
                Out<int64_t> lengths, int threads) {
    share(bounds.size() - 1, threads, [&](int, int64_t k) {
        fill(lengths.data() + bounds[k], bounds[k + 1] - bounds[k], 0);
        for (size_t s = 0; s < indptr.size(); s++) {
            const Ptr<const Index> ptr = indptr[s].data(), columns = indices[s].data();
            const int64_t width = widths[int64_t(s)];
            for (int64_t row = bounds[k]; row < bounds[k + 1]; row++) {
                int64_t n_kept = 0;
                for (Index entry = ptr[row]; entry < ptr[row + 1]; entry++) n_kept += columns[entry] < width;
                lengths[row] += n_kept;
            }
        }
    });
}

// Write the first widths[s] columns of each stream s, times factors[s], from column firsts[s] of one matrix. Its row i
// begins at ends[i]; rows are sorted, since streams come in the order of their columns, and the part of each is sorted.
template <class Index, class Column>
void join_rows(Lists<Index> indptr, Lists<Index> indices, Lists<double> data, In<int64_t> widths, In<int64_t> firsts,
               In<double> factors, In<int64_t> bounds, In<int64_t> ends, Out<Column> columns, Out<double> values,
               int threads) {
    share(bounds.size() - 1, threads, [&](int, int64_t k) {
        SortRoom<Column> room;
        for (int64_t row = bounds[k]; row < bounds[k + 1]; row++) {
            int64_t stop = ends[row];
            for (size_t s = 0; s < indptr.size(); s++) {
                const Ptr<const Index> from = indices[s].data();
                const Ptr<const double> counts = data[s].data();
                const int64_t width = widths[int64_t(s)], first = firsts[int64_t(s)], start = stop;
                const double factor = factors[int64_t(s)];
                const Ptr<Column> to = columns.data();
                const Ptr<double> sums = values.data();
                for (Index entry = indptr[s][row]; entry < indptr[s][row + 1]; entry++) {
                    if (from[entry] >= width) continue;
                    to[stop] = Column(from[entry]), sums[stop] = factor * counts[entry];
                    stop++;
                }
                sort_row(to + start, sums + start, stop - start, bits_of(width), room);
                for (int64_t entry = start; entry < stop; entry++) to[entry] += Column(first);
            }
        }
    });
}

// ---- Hashed columns ----
// columns (streams, n): randomness.mix(iteration, stream, code) % n_features of each code of stream s, which is row
// rows[s] of codes, joined with salts[s] unless that is NO_BIN; words[s] is the hash of iteration and stream. -1 for
// nodes that are not counted. Threads share parts of streams: cuts.
template <class Column>
void hash_to_columns(In<int64_t, 2> codes, In<int64_t> rows, In<int64_t> salts, In<int64_t> cuts, In<uint64_t> words,
                     uint64_t n_features, Out<Column, 2> columns, int threads) {
    const uint64_t mask = n_features - 1;
    const bool is_power = (n_features & mask) == 0;  // then the remainder is the last bits
    const int64_t n_parts = cuts.size() - 1;
    share(rows.size() * n_parts, threads, [&](int, int64_t k) {
        const int64_t s = k / n_parts, part = k % n_parts, salt = salts[s];
        const Ptr<const int64_t> own = codes.row(rows[s]);
        const Ptr<Column> to = columns.row(s);
        const uint64_t word = words[s];
        for (int64_t i = cuts[part]; i < cuts[part + 1]; i++) {
            const uint64_t mixed = mix_word(word ^ uint64_t(salt == NO_BIN ? own[i] : join(own[i], salt)));
            const Column column = Column(is_power ? mixed & mask : mixed % n_features);
            to[i] = own[i] == NO_BIN ? Column(-1) : column;
        }
    });
}

// Entries of all rows, from several sources of several streams each: offsets of rows, columns (streams, entries), where
// -1 is none, and values of the entries in each stream; without values, all are 1.
template <class Index, class Column>
struct Entries {
    Lists<Index> indptr;
    std::vector<In<Column, 2>> columns;
    Lists<double> values;
    auto parts() { return std::tie(indptr, columns, values); }
};

// sizes (pieces,): the largest number of entries of each piece. A piece is (first row, last row + 1, low, high): all
// columns of some rows, or a range of the columns of one row.
template <class Index, class Column>
void size_pieces(Entries<Index, Column> entries, In<int64_t, 2> pieces, int64_t n_features, Out<int64_t> sizes,
                 int threads) {
    share(sizes.size(), threads, [&](int, int64_t k) {
        const int64_t first = pieces(k, 0), last = pieces(k, 1), low = pieces(k, 2), high = pieces(k, 3);
        int64_t total = 0;
        for (size_t source = 0; source < entries.indptr.size(); source++) {
            const Index start = entries.indptr[source][first], stop = entries.indptr[source][last];
            const auto &columns = entries.columns[source];
            if (high - low == n_features) {
                total += columns.shape[0] * (stop - start);  // with those of no column
                continue;
            }
            for (int64_t s = 0; s < columns.shape[0]; s++)
                for (Index entry = start; entry < stop; entry++)
                    total += columns.row(s)[entry] >= low && columns.row(s)[entry] < high;
        }
        sizes[k] = total;
    });
}

// Sum the values of equal columns in each row of a piece: gather its entries, stream by stream, and sort them, so that
// values are added in this order. Writes sorted columns, sums and the lengths of rows; returns the number of entries.
template <bool with_values, class Index, class Column>
int64_t sum_piece(const Entries<Index, Column> &entries, Ptr<const int64_t> piece, int n_bits, Ptr<Column> row,
                  Ptr<double> row_values, SortRoom<Column> &room, Ptr<Column> columns, Ptr<double> sums,
                  Ptr<int64_t> lengths) {
    const int64_t low = piece[2], high = piece[3];
    int64_t filled = 0;
    for (int64_t i = piece[0]; i < piece[1]; i++) {
        int64_t n = 0;
        for (size_t source = 0; source < entries.indptr.size(); source++) {
            const Index start = entries.indptr[source][i], stop = entries.indptr[source][i + 1];
            const Ptr<const double> values = entries.values[source].data();
            for (int64_t s = 0; s < entries.columns[source].shape[0]; s++) {
                const Ptr<const Column> own = entries.columns[source].row(s);
                for (Index entry = start; entry < stop; entry++) {
                    row[n] = own[entry];
                    if (with_values) row_values[n] = values[entry];
                    n += own[entry] >= low && own[entry] < high;
                }
            }
        }
        radix_sort<with_values>(row, row_values, n, n_bits, room);
        const int64_t row_start = filled;
        double sum = 0.0;
        for (int64_t entry = 0; entry < n; entry++) {  // without branches: columns repeat in no order
            const bool is_new = entry == 0 || row[entry] != row[entry - 1];
            filled += is_new;
            sum = (is_new ? 0.0 : sum) + (with_values ? row_values[entry] : 1.0);
            columns[filled - 1] = row[entry], sums[filled - 1] = sum;
        }
        lengths[i - piece[0]] = filled - row_start;
    }
    return filled;
}

// Do so for all pieces: the entries of piece k begin at places[k] of columns and sums, and the lengths of its rows at
// rows[k] of lengths; filled (pieces,) are the numbers of entries. No row has more than longest entries.
template <class Index, class Column>
void sum_pieces(Entries<Index, Column> entries, In<int64_t, 2> pieces, int64_t longest, int64_t n_features,
                In<int64_t> places, In<int64_t> rows, Out<Column> columns, Out<double> sums, Out<int64_t> lengths,
                Out<int64_t> filled, int threads) {
    bool with_values = false;
    for (const auto &values : entries.values) with_values = with_values || values.size() > 0;
    const auto sum = with_values ? sum_piece<true, Index, Column> : sum_piece<false, Index, Column>;
    const Rooms<Column> row(threads, longest + 1);
    const Rooms<double> row_values(threads, with_values ? longest + 1 : 0);
    std::vector<SortRoom<Column>> rooms(static_cast<size_t>(threads));
    share(filled.size(), threads, [&](int thread, int64_t k) {
        filled[k] = sum(entries, pieces.row(k), bits_of(n_features), row[thread], row_values[thread],
                        rooms[size_t(thread)], columns.data() + places[k], sums.data() + places[k],
                        lengths.data() + rows[k]);
    });
}

// Move the entries of piece k from places[k] to ends[k] .. ends[k + 1] - 1, times a factor.
template <class Column, class Index>
void place_pieces(In<int64_t> places, In<Column> columns, In<double> sums, In<int64_t> ends, double factor,
                  Out<Index> indices, Out<double> data, int threads) {
    share(places.size() - 1, threads, [&](int, int64_t k) {
        const int64_t n = ends[k + 1] - ends[k];
        const Ptr<const Column> from = columns.data() + places[k];
        const Ptr<const double> from_sums = sums.data() + places[k];
        const Ptr<Index> to = indices.data() + ends[k];
        const Ptr<double> to_sums = data.data() + ends[k];
        for (int64_t entry = 0; entry < n; entry++) to[entry] = Index(from[entry]);  // two loops, each vectorized
        for (int64_t entry = 0; entry < n; entry++) to_sums[entry] = from_sums[entry] * factor;
    });
}

template <class Index>
void bind_for(nb::module_ &m) {
    m.def("count_kept", count_kept<Index>);
    m.def("join_rows", join_rows<Index, int32_t>);
    m.def("join_rows", join_rows<Index, int64_t>);
    m.def("hash_to_columns", hash_to_columns<Index>);
    m.def("size_pieces", size_pieces<Index, int32_t>);
    m.def("size_pieces", size_pieces<Index, int64_t>);
    m.def("sum_pieces", sum_pieces<Index, int32_t>);
    m.def("sum_pieces", sum_pieces<Index, int64_t>);
    m.def("place_pieces", place_pieces<Index, int32_t>);
    m.def("place_pieces", place_pieces<Index, int64_t>);
}
}  // namespace

void bind_columns(nb::module_ &m) {
    bind_for<int32_t>(m);
    bind_for<int64_t>(m);
}
