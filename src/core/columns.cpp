// Feature columns: streams side by side, or bins hashed to a fixed width.
#include "common.hpp"

namespace {
// ---- Sorting ----
// Workspace to sort the entries of a row by column.
template <class Column>
struct SortRoom {
    std::vector<Column> columns;
    std::vector<double> values;
    std::vector<int32_t> places;
};

// Sort entries by column, stable, some bits at a time from the last ones; without values, only the columns.
template <bool with_values, class Column>
void radix_sort(Ptr<Column> columns, Ptr<double> values, int64_t n, int n_bits, SortRoom<Column> &room) {
    const int most = n > 512 ? 11 : 8, n_digits = (n_bits + most - 1) / most;
    const int width = (n_bits + n_digits - 1) / n_digits;
    const int32_t n_places = 1 << width;
    const Column mask = Column(n_places - 1);
    room.places.assign(size_t(n_places * n_digits), 0);
    int32_t *const places = room.places.data();
    for (int64_t entry = 0; entry < n; entry++)
        for (int digit = 0; digit < n_digits; digit++)
            places[n_places * digit + ((columns[entry] >> (width * digit)) & mask)]++;
    Ptr<Column> from = columns, to = room_of(room.columns, n);
    Ptr<double> from_values = values, to_values = room_of(room.values, with_values ? n : 0);
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

// Sum the values of equal columns in each of some rows: gather its entries, stream by stream, and sort them, so that
// values are added in this order. Writes sorted columns and sums one after the other, and lengths (rows,).
template <bool with_values, class Index, class Column>
void sum_some(const Entries<Index, Column> &entries, int64_t first, int64_t last, int n_bits, Ptr<Column> row,
              Ptr<double> row_values, SortRoom<Column> &room, Ptr<Column> columns, Ptr<double> sums,
              Ptr<int64_t> lengths) {
    int64_t filled = 0;
    for (int64_t i = first; i < last; i++) {
        int64_t n = 0;
        for (size_t source = 0; source < entries.indptr.size(); source++) {
            const Index start = entries.indptr[source][i], stop = entries.indptr[source][i + 1];
            const Ptr<const double> values = entries.values[source].data();
            for (int64_t s = 0; s < entries.columns[source].shape[0]; s++) {
                const Ptr<const Column> own = entries.columns[source].row(s);
                for (Index entry = start; entry < stop; entry++) {
                    row[n] = own[entry];
                    if (with_values) row_values[n] = values[entry];
                    n += own[entry] >= 0;
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
        lengths[i] = filled - row_start;
    }
}

// Do so for all rows; threads take runs of them: bounds. The entries of run k begin at places[k] of columns and sums.
// No row has more than longest entries, and no column more than n_bits bits.
template <class Index, class Column>
void sum_rows_of(Entries<Index, Column> entries, In<int64_t> bounds, In<int64_t> places, int64_t longest,
                 int n_bits, Out<Column> columns, Out<double> sums, Out<int64_t> lengths, int threads) {
    bool with_values = false;
    for (const auto &values : entries.values) with_values = with_values || values.size() > 0;
    const auto sum = with_values ? sum_some<true, Index, Column> : sum_some<false, Index, Column>;
    const Rooms<Column> row(threads, longest + 1);
    const Rooms<double> row_values(threads, with_values ? longest + 1 : 0);
    std::vector<SortRoom<Column>> rooms(static_cast<size_t>(threads));
    share(bounds.size() - 1, threads, [&](int thread, int64_t k) {
        sum(entries, bounds[k], bounds[k + 1], n_bits, row[thread], row_values[thread], rooms[size_t(thread)],
            columns.data() + places[k], sums.data() + places[k], lengths.data());
    });
}
}  // namespace

void bind_columns(nb::module_ &m) {
    BIND_INDEX(hash_to_columns);
    BIND_INDICES(sum_rows_of);
}
