// What all loops share: arrays from Python, pieces of work for threads, words, a hash table.
//
// A loop is a plain function on arrays. Python allocates its inputs and outputs and checks them once; here an
// array is an address and a shape, and only its type, its number of dimensions and its order are looked at.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nb = nanobind;

// ---- Pointers ----
// Ptr<T> points to numbers. Alone<T> is for the parameters of hot functions: in the function, nothing else
// reaches the numbers behind it that are written, so that the compiler may keep others in registers. An Alone is
// never assigned to. With PROPKERNELS_CHECKED both know their bounds, and an index outside them raises IndexError.
#ifdef PROPKERNELS_CHECKED
template <class T>
class Ptr {
  public:
    Ptr() = default;
    Ptr(std::nullptr_t) {}
    Ptr(T *here, int64_t size) : here_(here), last_(size) {}
    Ptr(T *here, int64_t first, int64_t last) : here_(here), first_(first), last_(last) {}
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
    Ptr(Ptr<U> other) : here_(other.here_), first_(other.first_), last_(other.last_) {}
    template <class Int>
    T &operator[](Int i) const {
        if (int64_t(i) < first_ || int64_t(i) >= last_) throw std::out_of_range("an index of a loop is outside its array");
        return here_[i];
    }
    Ptr operator+(int64_t by) const { return Ptr(here_ + by, first_ - by, last_ - by); }
    explicit operator bool() const { return here_ != nullptr; }
    T *here_ = nullptr;
    int64_t first_ = 0, last_ = 0;
};
template <class T>
using Alone = Ptr<T>;
template <class T>
Ptr<T> pointer_to(T *start, int64_t size) {
    return Ptr<T>(start, size);
}
// The plain address of n numbers, for std::sort and the like.
template <class T>
T *plain(Ptr<T> p, int64_t n) {
    return n > 0 ? (void(p[n - 1]), &p[0]) : p.here_;
}
#else
template <class T>
using Ptr = T *;
template <class T>
using Alone = T *__restrict;
template <class T>
Ptr<T> pointer_to(T *start, int64_t) {
    return start;
}
template <class T>
T *plain(T *p, int64_t) {
    return p;
}
#endif

// WIDE void f(...), for short loops over long arrays: f is also compiled for processors with AVX2 or AVX-512, and the
// system chooses when it loads the module. There are no fused multiply-adds: all give the same bits.
#if defined(__x86_64__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define WIDE
#endif

template <class T>
void fill(Ptr<T> p, int64_t n, std::remove_const_t<T> value) {
    T *start = plain(p, n);
    std::fill(start, start + n, value);
}

// ---- Arrays of numpy ----
// In<T, N> is read, Out<T, N> is written; both are contiguous, in C order, with N dimensions, and of exactly this
// type: nothing is converted or copied. Maybe<T, N> is an In that may also be None, and is then false. T may be a
// struct with the layout of a structured dtype.
template <class T, int N = 1, bool may_be_none = false>
struct Array {
    T *start = nullptr;
    int64_t shape[N] = {};

    int64_t size() const {
        int64_t product = 1;
        for (int64_t n : shape) product *= n;
        return product;
    }
    Ptr<T> data() const { return pointer_to(start, size()); }
    // All numbers behind the first index i.
    Ptr<T> row(int64_t i) const {
        const int64_t width = shape[0] ? size() / shape[0] : 0;
        return pointer_to(start + i * width, i >= 0 && i < shape[0] ? width : 0);
    }
    T &operator[](int64_t i) const {
        static_assert(N == 1);
        return data()[i];
    }
    T &operator()(int64_t i, int64_t j) const {
        static_assert(N == 2);
        return pointer_to(start + i * shape[1], i >= 0 && i < shape[0] ? shape[1] : 0)[j];
    }
    explicit operator bool() const { return start != nullptr; }
};
template <class T, int N = 1>
using In = Array<const T, N>;
template <class T, int N = 1>
using Out = Array<T, N>;
template <class T, int N = 1>
using Maybe = Array<const T, N, true>;
// A list or tuple of arrays of different lengths and one type.
template <class T>
using Lists = std::vector<In<T>>;

// Whether an object is an array of this type; writes its address and shape. The address stays good during the
// call, since the caller holds the object.
bool read_array(PyObject *object, char kind, size_t item_size, bool is_written, int n_dims, void **start,
                int64_t *shape);

template <class T>
constexpr char kind_of() {
    if (std::is_same_v<T, bool>) return 'b';
    if (std::is_floating_point_v<T>) return 'f';
    if (std::is_integral_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
    return 'T';  // a struct
}

// A struct of arrays and numbers is read from a tuple of Python, in the order of its method parts(), which returns
// std::tie of its members.
namespace nanobind::detail {
template <class T, int N, bool may_be_none>
struct type_caster<Array<T, N, may_be_none>> {
    using Found = Array<T, N, may_be_none>;
    NB_TYPE_CASTER(Found, const_name<may_be_none>("array | None", "array"))
    bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
        if (may_be_none && source.is_none()) return true;
        return read_array(source.ptr(), kind_of<std::remove_const_t<T>>(), sizeof(T), !std::is_const_v<T>, N, (void **)&value.start,
                          value.shape);
    }
};
template <class T, int N>
struct has_arg_defaults<Array<T, N, true>> : std::true_type {};

template <class T>
struct type_caster<T, std::enable_if_t<std::is_member_function_pointer_v<decltype(&T::parts)>, int>> {
    NB_TYPE_CASTER(T, const_name("tuple"))
    bool from_python(handle source, uint32_t flags, cleanup_list *list) noexcept {
        if (!PyTuple_Check(source.ptr())) return false;
        Py_ssize_t k = 0;
        const auto read = [&](auto &part) {
            make_caster<std::remove_reference_t<decltype(part)>> caster;
            if (!caster.from_python(PyTuple_GetItem(source.ptr(), k++), flags, list)) return false;
            part = caster.value;
            return true;
        };
        return std::apply(
            [&](auto &...part) { return PyTuple_Size(source.ptr()) == sizeof...(part) && (... && read(part)); }, value.parts());
    }
};
}  // namespace nanobind::detail

// ---- Threads ----
using Piece = void (*)(void *data, int thread, int64_t k);
void run_pieces(int64_t n, int threads, Piece piece, void *data);

// Run f(thread, k) for k in 0 .. n - 1, in up to so many threads; pieces are begun in order. The GIL is released.
// thread, 0 .. threads - 1, tells which workspace a piece may use. f must give the same results whatever thread
// runs a piece, and whenever. An exception in a piece is raised after all threads have stopped; so is
// KeyboardInterrupt, noticed between pieces.
template <class F>
void share(int64_t n, int threads, F &&f) {
    run_pieces(
        n, threads, [](void *data, int thread, int64_t k) { (*static_cast<std::remove_reference_t<F> *>(data))(thread, k); },
        (void *)&f);
}

// The first n numbers of a workspace, which grows when it is too short.
template <class T>
Ptr<T> room_of(std::vector<T> &numbers, int64_t n) {
    if (int64_t(numbers.size()) < n) numbers.resize(size_t(n));
    return pointer_to(numbers.data(), n);
}

// Workspaces of threads, on cache lines of their own; not initialized, or zeros.
void *new_bytes(size_t n, bool zeros);
template <class T>
class Rooms {
  public:
    Rooms(int threads, int64_t size, bool zeros = false)
        : size_(size), step_((size * int64_t(sizeof(T)) + 127) / 128 * 128),
          bytes_(static_cast<char *>(new_bytes(size_t(step_ * threads + 128), zeros))) {}
    ~Rooms() { std::free(bytes_); }
    Rooms(const Rooms &) = delete;
    Rooms &operator=(const Rooms &) = delete;
    Ptr<T> operator[](int thread) const {
        char *const first = bytes_ + (128 - reinterpret_cast<uintptr_t>(bytes_) % 128);
        return pointer_to(reinterpret_cast<T *>(first + thread * step_), size_);
    }

  private:
    int64_t size_, step_;
    char *bytes_;
};

// ---- Words ----
constexpr int64_t NO_BIN = std::numeric_limits<int64_t>::min();  // the code of a node that is not counted
constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15, FIRST_FACTOR = 0xBF58476D1CE4E5B9;
constexpr uint64_t SECOND_FACTOR = 0x94D049BB133111EB, OTHER_FACTOR = 0xD6E8FEB86659FD93;

// splitmix64 (Steele, Lea and Flood 2014), a bijection; randomness.mix does the same for arrays.
inline uint64_t mix_word(uint64_t word) {
    uint64_t z = word + GOLDEN;
    z = (z ^ (z >> 30)) * FIRST_FACTOR;
    z = (z ^ (z >> 27)) * SECOND_FACTOR;
    return z ^ (z >> 31);
}

// A hash that is independent of mix_word, to tell a node from its neighbors.
inline uint64_t mix_other(uint64_t word) {
    uint64_t z = (word ^ (word >> 32)) * OTHER_FACTOR;
    z = (z ^ (z >> 32)) * OTHER_FACTOR;
    return z ^ (z >> 32);
}

// The join of two codes, equal if and only if both are (h = h_l and h_a, Algorithm 4); codes.join_codes.
inline int64_t join(int64_t code, int64_t other) {
    uint64_t word = uint64_t(code) * GOLDEN + uint64_t(other);
    word = (word ^ (word >> 32)) * OTHER_FACTOR;
    return int64_t(word ^ (word >> 29));
}

// The bits of a number.
inline uint64_t word_of(double number) {
    uint64_t word;
    std::memcpy(&word, &number, 8);
    return word;
}

constexpr double LARGEST_FLOOR = 68719476736.0;  // 2^36; codes of larger values are leading bits of the float
constexpr int64_t KEPT_BITS = -65536;            // mask of these leading bits

// The floor, or the leading bits of a large value; codes.floor_codes.
inline int64_t floor_code(double value) {
    if (std::fabs(value) < LARGEST_FLOOR) {
        const int64_t down = int64_t(value);  // towards zero; SSE2 has no floor
        return down - (double(down) > value);
    }
    return int64_t(word_of(value)) & KEPT_BITS;
}

// The bits that choose the slot of a code in a hash table: a product moves information to the high bits, and the
// shift brings it down to where slots are read.
inline uint64_t slot_bits(int64_t code) {
    const uint64_t word = uint64_t(code) * GOLDEN;
    return word ^ (word >> 32);
}

// The most nodes of a graph, at least 1: graph g has the nodes ptr[g] .. ptr[g + 1] - 1.
inline int64_t largest_of(In<int64_t> ptr) {
    int64_t largest = 1;
    for (int64_t g = 0; g + 1 < ptr.size(); g++) largest = std::max(largest, ptr[g + 1] - ptr[g]);
    return largest;
}

// The least power of two that is at least n.
inline int64_t power_of_two(int64_t n) {
    int64_t size = 1;
    while (size < n) size *= 2;
    return size;
}

// Ask for the cache line of an address without waiting for it.
inline void prefetch(const void *address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

// ---- A hash table ----
// Open addressing: slots hold the numbers 0, 1, ... of keys in order of appearance, -1 where free; keys[number] is
// the key. There are a power of two of slots, more than keys.
template <class Number>
struct Table {
    Ptr<Number> slots;
    uint64_t mask;
    Table(Ptr<Number> slots_, int64_t n_slots) : slots(slots_), mask(uint64_t(n_slots - 1)) {}
    void clear() { fill(slots, int64_t(mask) + 1, Number(-1)); }
    // The slot of a code, or the free slot for it.
    uint64_t find(int64_t code, Ptr<const int64_t> keys) const {
        return find_by(slot_bits(code), [&](Number number) { return keys[number] == code; });
    }
    // The slot of a number that is the same, or the free slot for it, from the slot that some bits choose.
    template <class Same>
    uint64_t find_by(uint64_t bits, Same &&same) const {
        uint64_t slot = bits & mask;
        while (slots[slot] >= 0 && !same(slots[slot])) slot = (slot + 1) & mask;
        return slot;
    }
    // The number of a code; a new one is entered as key n, and n is incremented.
    Number enter(int64_t code, Ptr<int64_t> keys, Number &n) {
        Number &own = slots[find(code, keys)];
        if (own < 0) keys[own = n++] = code;
        return own;
    }
};

// ---- The parts of the module, one for each file ----
// A function that runs without the GIL; and one of templates, by two types, and by those of one or two kinds of indices.
template <class F>
void bind(nb::module_ &m, const char *name, F f) {
    m.def(name, f, nb::call_guard<nb::gil_scoped_release>());
}
#define BIND(f) bind(m, #f, f)
#define BIND_TYPES(f, A, B) bind(m, #f, f<A>), bind(m, #f, f<B>)
#define BIND_INDEX(f) BIND_TYPES(f, int32_t, int64_t)
#define BIND_INDICES(f) \
    bind(m, #f, f<int32_t, int32_t>), bind(m, #f, f<int32_t, int64_t>), bind(m, #f, f<int64_t, int32_t>), \
        bind(m, #f, f<int64_t, int64_t>)
#define EACH_PART(f) \
    f(threads) f(codes) f(counts) f(columns) f(gram) f(products) f(entries) f(transfer) f(paths) f(node_kernels) \
    f(cliques) f(subgraphs) f(structure) f(grids) f(steps) f(search) f(edits)
#define DECLARE_PART(part) void bind_##part(nb::module_ &m);
EACH_PART(DECLARE_PART)
