// Convolution of images (Algorithm 5): steps, and codes of pixels. Images have any number of dimensions.
//
// An image is stored row-major inside a border as wide as the filter's radius, so a tap of the filter is a constant
// shift in memory, and a step is a pass over contiguous numbers. Pixels of the border and outside the mask hold zeros;
// for WRAP and REFLECT the border is copied from inside before each step.
#include "common.hpp"

namespace {
enum Boundary { RENORMALIZE, ZERO, WRAP, REFLECT };

struct Images {
    In<int64_t, 2> shapes;    // (images, d)
    In<int64_t> pixel_ptr;    // (images + 1,): offsets of pixels, row-major
    In<int64_t> graph_ptr;    // (images + 1,): offsets of nodes, the counted pixels
    In<bool> inside;          // (pixels,): counted pixels; empty: all
    In<bool> held;            // (N,): nodes that never change; empty: none
    In<bool> pushed_back;     // (N,): nodes that are reset before each step; empty: none
    int64_t boundary;
    auto parts() { return std::tie(shapes, pixel_ptr, graph_ptr, inside, held, pushed_back, boundary); }
};

// Taps of one or several filters, applied in sequence. Taps that are mirror images of each other form a group of 1, 2, 4
// or 8 with one weight: adding them in pairs first gives the same bits when the image is rotated, since a + b = b + a.
struct Taps {
    In<int64_t, 2> offsets;  // (taps, d)
    In<int64_t> group_ptr;   // (groups + 1,): offsets of taps
    In<double> weights;      // (groups,)
    In<int64_t> stage_ptr;   // (stages + 1,): groups of each filter
    In<int64_t> radius;      // (d,)
    auto parts() { return std::tie(offsets, group_ptr, weights, stage_ptr, radius); }
};

// The sum of x[i + shift] over 1, 2, 4 or 8 shifts, added in pairs.
template <int size>
inline double sum_of_taps(Alone<const double> x, Alone<const int64_t> shifts, int64_t i) {
    if constexpr (size == 1)
        return x[i + shifts[0]];
    else
        return sum_of_taps<size / 2>(x, shifts, i) + sum_of_taps<size / 2>(x, shifts + size / 2, i);
}

template <int size>
inline void add_group(Alone<const double> x, int64_t n, Alone<const int64_t> shifts, double weight, Alone<double> sums) {
    for (int64_t i = 0; i < n; i++) sums[i] += weight * sum_of_taps<size>(x, shifts, i);
}

// y[i] = spread[i] * sum over groups of weight * (sum of x[i + shift] over its taps) + keep[i] * own[i], for n positions;
// without spread, the sum alone; without keep, no last term. Sums of short pieces stay in the cache.
WIDE void filter_span(Alone<const double> x, int64_t n, Alone<const int64_t> shifts, Alone<const int64_t> group_ptr,
                      Alone<const double> weights, int64_t n_groups, Ptr<const double> spread, Ptr<const double> keep,
                      Ptr<const double> own, Alone<double> y) {
    constexpr int64_t PIECE = 256;
    double sums[PIECE];
    const Ptr<double> all = pointer_to(sums, PIECE);
    for (int64_t start = 0; start < n; start += PIECE) {
        const int64_t length = std::min(PIECE, n - start);
        const Ptr<const double> from = x + start;
        for (int64_t i = 0; i < length; i++) sums[i] = 0.0;
        for (int64_t group = 0; group < n_groups; group++) {
            const int64_t first = group_ptr[group];
            switch (group_ptr[group + 1] - first) {
            case 1: add_group<1>(from, length, shifts + first, weights[group], all); break;
            case 2: add_group<2>(from, length, shifts + first, weights[group], all); break;
            case 4: add_group<4>(from, length, shifts + first, weights[group], all); break;
            default: add_group<8>(from, length, shifts + first, weights[group], all);
            }
        }
        const Ptr<double> to = y + start;
        if (!spread)
            for (int64_t i = 0; i < length; i++) to[i] = sums[i];
        else if (!keep)
            for (int64_t i = 0; i < length; i++) to[i] = sums[i] * spread[start + i];
        else
            for (int64_t i = 0; i < length; i++) to[i] = sums[i] * spread[start + i] + keep[start + i] * own[start + i];
    }
}

// The position in 0 .. length - 1 whose pixel a position beyond the ends copies. An axis of length 3:
//     wrap 1 2 | 0 1 2 | 0 1      reflect 1 0 | 0 1 2 | 2 1
int64_t source_of(int64_t position, int64_t length, int64_t boundary) {
    const int64_t period = boundary == WRAP ? length : 2 * length;
    const int64_t folded = (position % period + period) % period;
    return boundary == WRAP ? folded : std::min(folded, 2 * length - 1 - folded);
}

// Images of one shape in flat buffers, with the weights of a step. An image of 2 x 3 pixels and a filter of radius 1
// give 4 rows of 5 numbers, a border (.) around the pixels (P), with strides 5 and 1; the tap (1, -1) is the shift
// 5 - 1 = 4 for every pixel:
//
//     . . . . .
//     . P P P .      the span, begin .. end - 1, covers these two rows, with the border at their ends:
//     . P P P .      a step computes them in one pass
//     . . . . .
//
// Unused numbers at both ends, the margin, keep the taps of border pixels inside the buffer.
struct Canvas {
    const Images &images;
    const Taps &taps;
    int64_t begin, end;
    std::vector<int64_t> shifts;        // (taps,): distance from a pixel to each tap
    std::vector<int64_t> everywhere;    // (pixels,): positions of all pixels, row-major
    std::vector<int64_t> copied, from;  // positions of border pixels, and of the pixels that they copy
    std::vector<int64_t> places;        // (nodes,): positions of the counted pixels of an image
    std::vector<double> x, y, spare;    // the image before and after a step; between stages of a filter
    std::vector<double> spread, keep;
    bool keeps = false;       // whether any pixel keeps its value
    bool is_weighed = false;  // whether spread and keep are those of an image

    Canvas(const Images &images_, const Taps &taps_, int64_t image) : images(images_), taps(taps_) {
        const int64_t d = images.shapes.shape[1], n_taps = taps.offsets.shape[0];
        const Ptr<const int64_t> shape = images.shapes.row(image);
        std::vector<int64_t> strides(d, 1), index(d, 0);
        for (int64_t axis = d - 2; axis >= 0; axis--)
            strides[axis] = strides[axis + 1] * (shape[axis + 1] + 2 * taps.radius[axis + 1]);
        const int64_t padded = strides[0] * (shape[0] + 2 * taps.radius[0]);
        int64_t margin = 0;
        shifts.assign(n_taps, 0);
        for (int64_t tap = 0; tap < n_taps; tap++) {
            for (int64_t axis = 0; axis < d; axis++) shifts[tap] += taps.offsets(tap, axis) * strides[axis];
            margin = std::max(margin, std::abs(shifts[tap]));
        }
        begin = margin + taps.radius[0] * strides[0], end = margin + padded - taps.radius[0] * strides[0];
        for (std::vector<double> *buffer : {&x, &y, &spare, &spread, &keep}) buffer->assign(padded + 2 * margin, 0.0);
        // index runs through all cells of the padded image, the last axis fastest
        for (int64_t cell = 0; cell < padded; cell++) {
            int64_t origin = margin;
            bool is_pixel = true;
            for (int64_t axis = 0; axis < d; axis++) {
                const int64_t position = index[axis] - taps.radius[axis];
                is_pixel = is_pixel && position >= 0 && position < shape[axis];
                origin += (source_of(position, shape[axis], images.boundary) + taps.radius[axis]) * strides[axis];
            }
            if (is_pixel) {
                everywhere.push_back(margin + cell);
            } else if (images.boundary == WRAP || images.boundary == REFLECT) {
                copied.push_back(margin + cell);
                from.push_back(origin);
            }
            for (int64_t axis = d - 1; axis >= 0; axis--) {
                if (++index[axis] < shape[axis] + 2 * taps.radius[axis]) break;
                index[axis] = 0;
            }
        }
        places = everywhere;
    }

    static Ptr<double> data(std::vector<double> &buffer) { return pointer_to(buffer.data(), int64_t(buffer.size())); }

    Ptr<const double> constant(std::vector<double> &buffer) const { return data(buffer) + begin; }

    // y = B x at the positions of the span, stage by stage; is_whole: y = spread * (B x) + keep * x.
    void filter(bool is_whole) {
        const int64_t n_stages = taps.stage_ptr.size() - 1;
        const Ptr<const double> own = data(x) + begin, nothing = nullptr;
        Ptr<const double> source = own;
        for (int64_t stage = 0; stage < n_stages; stage++) {
            const bool is_weighed = is_whole && stage + 1 == n_stages, to_y = (n_stages - stage) % 2 == 1;
            const Ptr<double> target = data(to_y ? y : spare) + begin;
            const int64_t first = taps.stage_ptr[stage];
            filter_span(source, end - begin, pointer_to<const int64_t>(shifts.data(), int64_t(shifts.size())),
                        taps.group_ptr.data() + first, taps.weights.data() + first, taps.stage_ptr[stage + 1] - first,
                        is_weighed ? constant(spread) : nothing, is_weighed && keeps ? constant(keep) : nothing,
                        own, target);
            source = target;
        }
    }

    // One step of the image x, which is y afterwards and is swapped with x.
    void step() {
        for (size_t k = 0; k < copied.size(); k++) x[copied[k]] = x[from[k]];
        filter(true);
        std::swap(x, y);
    }

    // Set places, and the weights of steps, for an image. Without masks and held pixels, all images of one shape have the
    // same. With RENORMALIZE, spread is 1 / the filter mass on counted pixels, the
    // filtered indicator of these pixels; a pixel with mass 0 keeps its value.
    void weigh(int64_t image) {
        if (is_weighed && images.inside.size() == 0 && images.held.size() == 0) return;
        is_weighed = true;
        const int64_t first_pixel = images.pixel_ptr[image], first_node = images.graph_ptr[image];
        const bool renormalizes = images.boundary == RENORMALIZE;
        if (images.inside.size() > 0) {
            places.clear();
            for (size_t k = 0; k < everywhere.size(); k++)
                if (images.inside[first_pixel + int64_t(k)]) places.push_back(everywhere[k]);
        }
        for (std::vector<double> *buffer : {&x, &spread, &keep}) std::fill(buffer->begin(), buffer->end(), 0.0);
        keeps = false;
        if (renormalizes) {
            for (int64_t place : places) x[place] = 1.0;
            filter(false);
        }
        for (size_t k = 0; k < places.size(); k++) {
            const int64_t place = places[k];
            const bool is_held = images.held.size() > 0 && images.held[first_node + int64_t(k)];
            if (is_held || (renormalizes && y[place] == 0.0))
                keep[place] = 1.0, keeps = true;
            else
                spread[place] = renormalizes ? 1.0 / y[place] : 1.0;
        }
    }

    // Put value(k) at each node k of the image, and 0 elsewhere.
    template <class Value>
    void load(Value value) {
        std::fill(x.begin(), x.end(), 0.0);
        for (size_t k = 0; k < places.size(); k++) x[places[k]] = value(int64_t(k));
    }
};

// following (N, columns): the values current (N, columns) after one step of all images; each column is a scalar image.
// Runs of images of one shape: bounds.
void step_grids(Images images, Taps taps, In<double, 2> current, In<int64_t> bounds, Out<double, 2> following) {
    const int64_t width = current.shape[1];
    share(bounds.size() - 1, 1, [&](int, int64_t run) {
        Canvas canvas(images, taps, bounds[run]);
        for (int64_t image = bounds[run]; image < bounds[run + 1]; image++) {
            canvas.weigh(image);
            const int64_t n = int64_t(canvas.places.size());
            const Ptr<const double> now = current.data() + images.graph_ptr[image] * width;
            const Ptr<double> then = following.data() + images.graph_ptr[image] * width;
            for (int64_t column = 0; column < width; column++) {
                canvas.load([&](int64_t k) { return now[k * width + column]; });
                canvas.step();
                const Alone<const double> made = Canvas::data(canvas.x);
                for (int64_t k = 0; k < n; k++) then[k * width + column] = made[canvas.places[k]];
            }
        }
    });
}

// codes (streams, N) of all pixels. A stream of iteration t is a scalar image, P_0 v, convolved t times and then hashed;
// node i starts with projected[rows[i]] (distinct starts, streams), and there are n_hashes streams per iteration. All
// streams of an image are computed while it is in the cache. Threads take runs of images of one shape: bounds.
template <class Row>
void convolve_and_hash(Images images, Taps taps, In<Row> rows, In<double, 2> projected, In<double> offsets,
                       int64_t n_hashes, In<int64_t> bounds, Out<int64_t, 2> codes, int threads) {
    share(bounds.size() - 1, threads, [&](int, int64_t run) {
        Canvas canvas(images, taps, bounds[run]);
        for (int64_t image = bounds[run]; image < bounds[run + 1]; image++) {
            const int64_t first = images.graph_ptr[image];
            canvas.weigh(image);
            const int64_t n = int64_t(canvas.places.size()), width = projected.shape[1];
            const Ptr<const Row> starts = rows.data() + first;
            for (int64_t stream = 0; stream < offsets.size(); stream++) {
                const Ptr<const double> values = projected.data() + stream;
                canvas.load([&](int64_t k) { return values[starts[k] * width]; });
                for (int64_t step = 0; step < stream / n_hashes; step++) {
                    if (step > 0 && images.pushed_back.size() > 0)
                        for (int64_t k = 0; k < n; k++)
                            if (images.pushed_back[first + k]) canvas.x[canvas.places[k]] = values[starts[k] * width];
                    canvas.step();
                }
                const Ptr<int64_t> own = codes.row(stream) + first;
                const double offset = offsets[stream];
                for (int64_t k = 0; k < n; k++) own[k] = floor_code(canvas.x[canvas.places[k]] + offset);
            }
        }
    });
}
}  // namespace

void bind_grids(nb::module_ &m) {
    BIND(step_grids);
    BIND_INDEX(convolve_and_hash);
}
