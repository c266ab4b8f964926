// What the host does beside a device: it asks the system for pages, and writes what has arrived to its place.
#include <atomic>

#include "common.hpp"

namespace {
// A number of an array that several threads write and read: what a thread wrote before it stored the number is there
// for those that have loaded it.
std::atomic<int64_t> &flag_of(Out<int64_t> flags, int64_t place) {
    static_assert(sizeof(std::atomic<int64_t>) == sizeof(int64_t) && std::atomic<int64_t>::is_always_lock_free);
    return reinterpret_cast<std::atomic<int64_t> &>(flags[place]);
}

// Write every step-th number, which makes the system give its page, as long as stop[0] is 0.
void touch_pages(Out<double> numbers, int64_t step, Out<int64_t> stop) {
    for (int64_t i = 0; i < numbers.size() && flag_of(stop, 0).load(std::memory_order_acquire) == 0; i += step)
        numbers[i] = 0.0;
}

template <class From, class To>
WIDE void copy(Alone<const From> from, int64_t n, Alone<To> to) {
    for (int64_t i = 0; i < n; i++) to[i] = To(from[i]);
}

// Write the chunks worker, worker + n_workers, ... below n_chunks of a flat array to their places, each once it has
// arrived in its row of slots: chunk c comes to slot c modulo the number of slots. ready and done (slots,) are the
// number of the last chunk that has arrived in a slot, and of the last one written from it, plus 1; a negative number
// in ready ends the work.
template <class From, class To>
void write_chunks(In<From, 2> slots, int64_t worker, int64_t n_workers, int64_t n_chunks, Out<int64_t> ready,
                  Out<int64_t> done, Out<To> flat) {
    const int64_t n_slots = slots.shape[0], length = slots.shape[1];
    for (int64_t chunk = worker; chunk < n_chunks; chunk += n_workers) {
        const int64_t slot = chunk % n_slots, first = chunk * length;
        for (int64_t arrived = 0; arrived <= chunk;) {
            arrived = flag_of(ready, slot).load(std::memory_order_acquire);
            if (arrived < 0) return;
        }
        copy<From, To>(slots.row(slot), std::min(length, flat.size() - first), flat.data() + first);
        flag_of(done, slot).store(chunk + 1, std::memory_order_release);
    }
}
}  // namespace

void bind_transfer(nb::module_ &m) {
    BIND(touch_pages);
    bind(m, "write_chunks", write_chunks<uint8_t, uint8_t>);  // bytes of numbers of any type
    bind(m, "write_chunks", write_chunks<uint16_t, double>);
    bind(m, "write_chunks", write_chunks<int32_t, double>);
}
