// One pool of threads for all loops, which sleep between calls; and how arrays are read.
#include "common.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto BETWEEN_SIGNALS = std::chrono::milliseconds(50);  // Ctrl-C is looked for so often, at most

struct Job {
    const int64_t end;
    const Piece piece;
    void *const data;
    alignas(128) std::atomic<int64_t> next{0};
    alignas(128) std::mutex lock{};  // of error
    std::exception_ptr error{};

    // Run pieces until none is left. The thread that leads looks for signals, which only Python's main thread gets.
    void take(int thread, bool leads) {
        try {
            auto asked = leads ? Clock::now() : Clock::time_point();
            for (int64_t k; (k = next.fetch_add(1)) < end;) {
                piece(data, thread, k);
                if (leads && Clock::now() - asked > BETWEEN_SIGNALS) {
                    nb::gil_scoped_acquire hold;
                    if (PyErr_CheckSignals() != 0) throw nb::python_error();
                    asked = Clock::now();
                }
            }
        } catch (...) {
            next.store(end);
            std::lock_guard<std::mutex> hold(lock);
            if (!error) error = std::current_exception();
        }
    }
};

// A job has some seats. A thread that takes one works for the job until no piece is left; the thread that leads
// works as well, then closes the job and waits for those that sit, not for those that have not come.
struct Pool {
    std::atomic<bool> is_taken{false};  // by a thread that leads a job
    std::mutex lock;
    std::condition_variable begun, ended;
    Job *job = nullptr;
    int free_seats = 0, next_seat = 1, working = 0, threads = 0;

    void serve() {
        std::unique_lock<std::mutex> hold(lock);
        while (true) {
            begun.wait(hold, [&] { return free_seats > 0; });
            Job *const mine = job;
            const int seat = next_seat++;
            free_seats--, working++;
            hold.unlock();
            mine->take(seat, false);
            hold.lock();
            if (--working == 0) ended.notify_one();
        }
    }

    void run(Job &mine, int members) {
        {
            std::lock_guard<std::mutex> hold(lock);
            try {
                for (; threads < members; threads++) std::thread(&Pool::serve, this).detach();
            } catch (const std::system_error &) {  // no more threads can be started: fewer do the work
            }
            job = &mine, free_seats = members, next_seat = 1;
        }
        begun.notify_all();
        mine.take(0, true);
        std::unique_lock<std::mutex> hold(lock);
        free_seats = 0;
        ended.wait(hold, [&] { return working == 0; });
    }
};

Pool *pool = new Pool;  // never deleted: threads sleep in it when the process ends
}  // namespace

void run_pieces(int64_t n, int threads, Piece piece, void *data) {
    Job job{n, piece, data};
    const int members = int(std::min<int64_t>(threads, n)) - 1;
    Pool *const mine = pool;
    if (members > 0 && !mine->is_taken.exchange(true)) {
        mine->run(job, members);
        mine->is_taken.store(false);
    } else {  // few pieces, or a call inside a call, or another thread of Python has the pool
        job.take(0, true);
    }
    if (job.error) std::rethrow_exception(job.error);
}

void *new_bytes(size_t n, bool zeros) {
    char *const bytes = static_cast<char *>(zeros ? std::calloc(n, 1) : std::malloc(n));
    if (!bytes) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr size_t LARGE = size_t(1) << 22, PAGE = 4096;
    if (n >= LARGE) {  // as numpy does: new memory is mapped in large pages
        const size_t skipped = PAGE - reinterpret_cast<uintptr_t>(bytes) % PAGE;
        madvise(bytes + skipped, n - skipped, MADV_HUGEPAGE);
    }
#endif
    return bytes;
}

bool read_array(PyObject *object, char kind, size_t item_size, bool is_written, int n_dims, void **start,
                int64_t *shape) {
    static char nothing[16];
    Py_buffer buffer;
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (!PyObject_CheckBuffer(object)) return false;
    if (PyObject_GetBuffer(object, &buffer, flags) != 0) {
        PyErr_Clear();
        return false;
    }
    const char letter = buffer.format ? buffer.format[0] : 'B';
    const char found = std::strchr("bhilqn", letter) ? 'i'
                       : std::strchr("BHILQN", letter) ? 'u'
                       : std::strchr("fd", letter)     ? 'f'
                       : letter == '?'                 ? 'b'
                                                       : letter;
    const bool fits = found == kind && size_t(buffer.itemsize) == item_size && buffer.ndim == n_dims;
    if (fits) {
        *start = buffer.buf ? buffer.buf : nothing;
        for (int axis = 0; axis < n_dims; axis++) shape[axis] = buffer.shape[axis];
    }
    PyBuffer_Release(&buffer);
    return fits;
}

void bind_threads(nb::module_ &m) {
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });  // a forked child has none of the threads
#endif
    // Which thread ran each piece, after a pause of some microseconds in each; for tests of the pool.
    bind(m, "take_pieces", [](Out<int64_t> seats, int64_t pause, int64_t fails_at, int threads) {
        share(seats.size(), threads, [&](int thread, int64_t k) {
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
            if (k == fails_at) throw std::bad_alloc();
            seats[k] = thread;
        });
    });
}
