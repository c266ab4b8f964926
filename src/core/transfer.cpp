// What the host does beside a device: it cuts graphs into packets, asks the system for pages, and writes what has
// arrived to its place.
#include <atomic>

#include "common.hpp"

namespace {
// Write the first graph of each packet, followed by the number of graphs; return the number of packets. A packet takes
// graphs as long as their nodes do not exceed its capacity; a larger graph is alone. packets has room for one number
// per graph, and one more.
int64_t cut_packets(In<int64_t> graph_ptr, int64_t capacity, Out<int32_t> packets) {
    const Alone<const int64_t> ptr = graph_ptr.data();
    const int64_t n = graph_ptr.size() - 1;
    int64_t n_packets = 0, last = 0;
    do {
        packets[n_packets++] = int32_t(last);
        const int64_t most = ptr[last++] + capacity;
        while (last < n && ptr[last + 1] <= most) last++;
    } while (last < n);
    packets[n_packets] = int32_t(n);
    return n_packets;
}

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
    BIND(cut_packets);
    BIND(touch_pages);
    bind(m, "write_chunks", write_chunks<uint8_t, uint8_t>);  // bytes of numbers of any type
    bind(m, "write_chunks", write_chunks<uint16_t, double>);
    bind(m, "write_chunks", write_chunks<int32_t, double>);
}
