// Codes of attributes, column by column (Algorithm 4).
#pragma once
#include "common.hpp"

inline int64_t value_code(double projected, int64_t missing) {
    return std::isnan(projected) ? missing : floor_code(projected);
}

// A node that is not counted stays so.
inline int64_t with_label(int64_t label, int64_t code) { return label == NO_BIN ? NO_BIN : join(label, code); }

// The hash function of each column, h_a = floor(x / scale * v / w + b / w), with v / w and b / w; without scales, not
// divided. missing is the code of NaN.
struct Columns {
    Ptr<const double> scales, vectors, offsets;
    int64_t missing;
};

// Hash the columns first .. last - 1 of values (n, width) and join each code with the label code of its node, if
// there are labels: codes (columns, n). single is the attribute code of each column that has only one, and NO_BIN of
// other columns.
//
// Rows are processed in blocks, so that reading a row-major matrix by columns stays in the cache. Several short
// loops without branches are vectorized, one loop is not; hence differences are counted.
inline void hash_some(Ptr<const double> values, int64_t n, int64_t width, const Columns &columns,
                      Ptr<const int64_t> labels, int64_t first, int64_t last, Ptr<int64_t> codes, Ptr<int64_t> single) {
    constexpr int64_t ROWS_OF_A_BLOCK = 256;
    double projected[ROWS_OF_A_BLOCK];
    std::vector<int64_t> differences(size_t(last - first), 0);
    for (int64_t c = first; c < last; c++) single[c] = 0;
    for (int64_t start = 0; start < n; start += ROWS_OF_A_BLOCK) {
        const int64_t rows = std::min(ROWS_OF_A_BLOCK, n - start);
        for (int64_t c = first; c < last; c++) {
            const Ptr<const double> block = values + (start * width + c);
            const Ptr<int64_t> row = codes + (c * n + start);
            const double vector = columns.vectors[c], offset = columns.offsets[c];
            if (columns.scales) {
                const double scale = columns.scales[c];
                for (int64_t i = 0; i < rows; i++) projected[i] = block[i * width] / scale * vector + offset;
            } else {
                for (int64_t i = 0; i < rows; i++) projected[i] = block[i * width] * vector + offset;
            }
            if (start == 0) single[c] = value_code(projected[0], columns.missing);
            const int64_t usual = single[c];
            int64_t n_different = 0;
            for (int64_t i = 0; i < rows; i++) {
                const int64_t code = value_code(projected[i], columns.missing);
                row[i] = code;
                n_different += code != usual;
            }
            differences[size_t(c - first)] += n_different;
            if (labels)
                for (int64_t i = 0; i < rows; i++) row[i] = with_label(labels[start + i], row[i]);
        }
    }
    for (int64_t c = first; c < last; c++)
        if (differences[size_t(c - first)] > 0) single[c] = NO_BIN;
}
