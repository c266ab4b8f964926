// Propagation, hashing and counting on a GPU, to the same bits as the CPU.
//
// Every kernel is written as loops over the work of a block, `for (i = threadIdx.x; i < n; i += blockDim.x)`,
// with barriers between them, so that a block of any number of threads gives the same result. Compiled for the
// host with PK_HOST, a block is one thread and a barrier is nothing: this is how the tests run this file
// without a GPU.
//
// Bits: double precision, neighbors added in the order in which they are stored, every product rounded before
// it is added. NVRTC gets --fmad=false and the host compiler -ffp-contract=off, so no multiply-add is fused.
//
// A packet is a run of whole graphs with at most CAPACITY nodes; one block works on one packet, and everything
// it needs stays in shared memory. Graphs that are larger go through the kernels whose names begin with
// large_, which work on global memory, one launch per step.

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;

#ifdef PK_HOST
#include <cmath>
#include <cstdlib>
struct Position { u32 x; };
static Position blockIdx, blockDim = {1}, threadIdx = {0}, gridDim;
static char* shared_memory;
static size_t shared_bytes;
#define DEVICE static inline
#define UNROLL
#define KERNEL(name, parameters, arguments)                                  \
  static void name##_block parameters;                                       \
  extern "C" void name parameters {                                          \
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) name##_block arguments; \
  }                                                                          \
  static void name##_block parameters
extern "C" void set_grid(u32 blocks, size_t bytes) {
  gridDim.x = blocks;
  if (bytes > shared_bytes) { shared_memory = (char*)realloc(shared_memory, bytes); shared_bytes = bytes; }
}
static inline void __syncthreads() {}
static inline int atomicAdd(int* p, int v) { int old = *p; *p += v; return old; }
static inline double atomicAdd(double* p, double v) { double old = *p; *p += v; return old; }
static inline u64 atomicCAS(u64* p, u64 expected, u64 v) { u64 old = *p; if (old == expected) *p = v; return old; }
static inline i64 __double_as_longlong(double v) { i64 w; __builtin_memcpy(&w, &v, 8); return w; }
#define SHARED(name) char* name = shared_memory
#else
#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define KERNEL(name, parameters, arguments) extern "C" __global__ void name parameters
#define SHARED(name) extern __shared__ __align__(16) char name[]
#endif

#ifndef INDEX
#define INDEX int  // dtype of indptr: int, or i64 where the adjacency has 2^31 entries or more
#endif
// CHUNK, LISTED, TILE and FEW are defined by runtime.py
#define NO_BIN ((i64)0x8000000000000000ULL)
#define NO_COLUMN 0xFFFFFFFFu
#define LARGEST_FLOOR 68719476736.0  // 2^36, as in codes/codes.py
#define KEPT_BITS (-(i64)65536)

DEVICE u64 finalize(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// utils/randomness.mix continued by one word: `state` is what the words before it were mixed to.
DEVICE u64 mix_on(u64 state, u64 word) { return finalize((state ^ word) + 0x9E3779B97F4A7C15ULL); }

DEVICE u64 mix_word(u64 word) { return finalize(word + 0x9E3779B97F4A7C15ULL); }

DEVICE u64 mix_other(u64 z) {
  z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93ULL;
  z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93ULL;
  return z ^ (z >> 32);
}

// Floor, or for a large value its leading bits: hashing.codes.floor_codes of one number.
DEVICE i64 code_of(double value) {
  double size = value < 0 ? -value : value;
  return size < LARGEST_FLOOR ? (i64)floor(value) : (__double_as_longlong(value) & KEPT_BITS);
}

// Replace n counters by their exclusive prefix sums; `partial` has room for one number per thread.
// Each thread sums a run of counters, the runs' sums are scanned, and each thread writes its run back.
DEVICE int exclusive_scan(int* counters, int n, int* partial) {
  int threads = blockDim.x, me = threadIdx.x, run = (n + threads - 1) / threads;
  int first = me * run, last = first + run < n ? first + run : n, sum = 0;
  for (int i = first; i < last; i++) sum += counters[i];
  partial[me] = sum;
  __syncthreads();
  for (int step = 1; step < threads; step <<= 1) {
    int before = me >= step ? partial[me - step] : 0;
    __syncthreads();
    partial[me] += before;
    __syncthreads();
  }
  int offset = partial[me] - sum, total = partial[threads - 1];
  for (int i = first; i < last; i++) { int size = counters[i]; counters[i] = offset; offset += size; }
  __syncthreads();
  return total;
}

// ---------------------------------------------------------------------------------------------------------
// Propagate and hash: x'_i = spread_i * sum_j A_ij x_j + keep_i x_i + restart_i x0_i, on projected values.
//
// Columns are streams; they are taken CHUNK at a time, and a chunk makes as many steps as its last stream
// needs. Values lie in shared memory as [column][node], so that neighboring threads use neighboring banks, and
// beside them, for all steps, each node's weights and its neighbors' places in the packet.
// Without `spread` the walk is the plain one of an unweighted graph: 1 / degree, and a node without edges
// stays. `packets` are graph numbers. With edge labels, what crosses entry e in step k is also multiplied by the
// factor of its label kinds[e]: `factors` are [step][label][stream] (propagation/schemes.py).
// ---------------------------------------------------------------------------------------------------------
struct Walk {
  double *now, *then, *share, *stay;  // [CHUNK][capacity] twice, [capacity] twice
  int* begin;                         // [capacity + 1], counted from the packet's first entry
  unsigned short* neighbors;          // [LISTED * capacity], or null where they do not fit
};

DEVICE Walk place_walk(char* memory, int capacity) {
  Walk walk;
  walk.now = (double*)memory;
  walk.then = walk.now + CHUNK * capacity;
  walk.share = walk.then + CHUNK * capacity;
  walk.stay = walk.share + capacity;
  walk.begin = (int*)(walk.stay + capacity);
  walk.neighbors = (unsigned short*)(walk.begin + capacity + 2);
  return walk;
}

// `factors`, where edge labels count, are those of one step and label, from the chunk's first stream on.
template <bool LABELED>
DEVICE void add_neighbors(const double* from, double weight, bool weighted, const double* factors, int capacity,
                          int live, int width, double* sum) {
  if (LABELED) {
UNROLL
    for (int c = 0; c < CHUNK; c++) if (c >= live && c < width) sum[c] += weight * factors[c] * from[c * capacity];
  } else if (weighted) {
UNROLL
    for (int c = 0; c < CHUNK; c++) if (c >= live) sum[c] += weight * from[c * capacity];
  } else {
UNROLL
    for (int c = 0; c < CHUNK; c++) if (c >= live) sum[c] += from[c * capacity];
  }
}

template <bool LABELED>
DEVICE void propagate_packet(char* memory, const int* packets, const i64* graph_ptr, const INDEX* indptr, const int* indices, const double* weights,
        const double* spread, const double* keep, const double* restart, const unsigned char* pushed_back,
        const unsigned char* vanished, const int* kinds, const double* factors, int n_kinds, const int* rows,
        const double* projected, const double* offsets, int n_streams, int n_hashes, int capacity, i64 n_nodes,
        i64* codes) {
  const i64 first = graph_ptr[packets[blockIdx.x]];
  const int n = (int)(graph_ptr[packets[blockIdx.x + 1]] - first);
  if (n == 0 || n > capacity) return;  // a large graph is a packet of its own
  Walk walk = place_walk(memory, capacity);
  const INDEX origin = indptr[first];
  const i64 n_entries = indptr[first + n] - origin;
  const bool is_listed = n_entries <= (i64)LISTED * capacity;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const INDEX begin = indptr[first + i], end = indptr[first + i + 1];
    walk.begin[i] = (int)(begin - origin);
    walk.share[i] = spread ? spread[first + i] : (end > begin ? 1.0 / (double)(end - begin) : 0.0);
    walk.stay[i] = spread ? keep[first + i] : (end > begin ? 0.0 : 1.0);
  }
  if (threadIdx.x == 0) walk.begin[n] = (int)n_entries;
  if (is_listed)
    for (int k = threadIdx.x; k < n_entries; k += blockDim.x)
      walk.neighbors[k] = (unsigned short)(indices[origin + k] - first);
  for (int c0 = 0; c0 < n_streams; c0 += CHUNK) {
    // columns beyond the last stream are zero: nothing reads them, and no loop has to ask
    const int width = n_streams - c0 < CHUNK ? n_streams - c0 : CHUNK;
    const int last_step = (c0 + width - 1) / n_hashes;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const double* start = projected + (i64)rows[first + i] * n_streams + c0;
      for (int c = 0; c < CHUNK; c++) walk.now[c * capacity + i] = c < width ? start[c] : 0.0;
    }
    for (int t = 0; t <= last_step; t++) {
      __syncthreads();
      // streams before this one are done: they are neither moved nor read any more
      const int live = t * n_hashes > c0 ? t * n_hashes - c0 : 0;
      if (t > 0) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
          const double share = walk.share[i], stay = walk.stay[i];
          double sum[CHUNK];
UNROLL
          for (int c = 0; c < CHUNK; c++) sum[c] = 0.0;
          if (share != 0.0) {
            for (int k = walk.begin[i]; k < walk.begin[i + 1]; k++) {
              const int j = is_listed ? walk.neighbors[k] : (int)(indices[origin + k] - first);
              const double* own = LABELED ? factors + ((i64)(t - 1) * n_kinds + kinds[origin + k]) * n_streams + c0 : 0;
              const double weight = weights ? weights[origin + k] : 1.0;
              add_neighbors<LABELED>(walk.now + j, weight, weights, own, capacity, live, width, sum);
            }
UNROLL
            for (int c = 0; c < CHUNK; c++) sum[c] *= share;
          }
          if (stay != 0.0) add_neighbors<false>(walk.now + i, stay, true, 0, capacity, live, width, sum);
          const double again = restart ? restart[first + i] : 0.0;
          if (again != 0.0) {
            const double* start = projected + (i64)rows[first + i] * n_streams + c0;
UNROLL
            for (int c = 0; c < CHUNK; c++) if (c >= live && c < width) sum[c] += again * start[c];
          }
UNROLL
          for (int c = 0; c < CHUNK; c++) if (c >= live) walk.then[c * capacity + i] = sum[c];
        }
        __syncthreads();
        double* swap = walk.now; walk.now = walk.then; walk.then = swap;
      }
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const bool counted = !(t > 0 && vanished && vanished[first + i]);
        const int done = (t + 1) * n_hashes - c0 < width ? (t + 1) * n_hashes - c0 : width;
        for (int c = live; c < done; c++) {
          const i64 code = code_of(walk.now[c * capacity + i] + offsets[c0 + c]);
          codes[(i64)(c0 + c) * n_nodes + first + i] = counted ? code : NO_BIN;
        }
        if (pushed_back && pushed_back[first + i]) {
          const double* start = projected + (i64)rows[first + i] * n_streams + c0;
          for (int c = live; c < width; c++) walk.now[c * capacity + i] = start[c];
        }
      }
    }
  }
}

// Without edge labels the factors are not even asked for: the sums then stay in fewer registers.
KERNEL(propagate_and_hash,
       (const int* packets, const i64* graph_ptr, const INDEX* indptr, const int* indices, const double* weights,
        const double* spread, const double* keep, const double* restart, const unsigned char* pushed_back,
        const unsigned char* vanished, const int* kinds, const double* factors, int n_kinds, const int* rows,
        const double* projected, const double* offsets, int n_streams, int n_hashes, int capacity, i64 n_nodes,
        i64* codes),
       (packets, graph_ptr, indptr, indices, weights, spread, keep, restart, pushed_back, vanished, kinds, factors,
        n_kinds, rows, projected, offsets, n_streams, n_hashes, capacity, n_nodes, codes)) {
  SHARED(memory);
  propagate_packet<false>(memory, packets, graph_ptr, indptr, indices, weights, spread, keep, restart, pushed_back, vanished, kinds, factors,
        n_kinds, rows, projected, offsets, n_streams, n_hashes, capacity, n_nodes, codes);
}

KERNEL(propagate_labeled,
       (const int* packets, const i64* graph_ptr, const INDEX* indptr, const int* indices, const double* weights,
        const double* spread, const double* keep, const double* restart, const unsigned char* pushed_back,
        const unsigned char* vanished, const int* kinds, const double* factors, int n_kinds, const int* rows,
        const double* projected, const double* offsets, int n_streams, int n_hashes, int capacity, i64 n_nodes,
        i64* codes),
       (packets, graph_ptr, indptr, indices, weights, spread, keep, restart, pushed_back, vanished, kinds, factors,
        n_kinds, rows, projected, offsets, n_streams, n_hashes, capacity, n_nodes, codes)) {
  SHARED(memory);
  propagate_packet<true>(memory, packets, graph_ptr, indptr, indices, weights, spread, keep, restart, pushed_back, vanished, kinds, factors,
        n_kinds, rows, projected, offsets, n_streams, n_hashes, capacity, n_nodes, codes);
}

// Nodes of graphs that are larger than a packet, listed row by row: those of large graph k begin at starts[k]. As the
// nodes of a graph follow each other, a neighbor of the node in a row is as many rows away as nodes.
KERNEL(list_large,
       (const i64* graph_ptr, const int* graphs, const i64* starts, i64 n_large_graphs, i64* nodes, int* graph_of),
       (graph_ptr, graphs, starts, n_large_graphs, nodes, graph_of)) {
  for (i64 k = blockIdx.x; k < n_large_graphs; k += gridDim.x) {
    const i64 first = graph_ptr[graphs[k]];
    for (i64 row = starts[k] + threadIdx.x; row < starts[k + 1]; row += blockDim.x) {
      nodes[row] = first + row - starts[k];
      graph_of[row] = graphs[k];
    }
  }
}

// One step of these graphs, and the codes of the streams first_stream .. last_stream - 1 after it; step 0 only begins.
// Values lie in global memory as [row][stream].
KERNEL(large_step,
       (const i64* nodes, i64 n_large, const INDEX* indptr, const int* indices, const double* weights,
        const double* spread, const double* keep, const double* restart, const unsigned char* pushed_back,
        const unsigned char* vanished, const int* kinds, const double* factors, const int* rows,
        const double* projected, const double* offsets, int n_streams, int step, int first_stream, int last_stream,
        i64 n_nodes, const double* now, double* then, i64* codes),
       (nodes, n_large, indptr, indices, weights, spread, keep, restart, pushed_back, vanished, kinds, factors, rows,
        projected, offsets, n_streams, step, first_stream, last_stream, n_nodes, now, then, codes)) {
  const int width = n_streams - first_stream;
  const i64 total = n_large * width, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride) {
    const i64 row = k / width, node = nodes[row];
    const int c = first_stream + (int)(k % width);
    const double start = projected[(i64)rows[node] * n_streams + c];
    double value = start;
    if (step > 0) {
      const INDEX begin = indptr[node], end = indptr[node + 1];
      const double share = spread ? spread[node] : (end > begin ? 1.0 / (double)(end - begin) : 0.0);
      const double stay = spread ? keep[node] : (end > begin ? 0.0 : 1.0);
      value = 0.0;
      if (share != 0.0) {
        for (INDEX entry = begin; entry < end; entry++) {
          const double from = now[(row + (indices[entry] - node)) * n_streams + c];
          const double weight = weights ? weights[entry] : 1.0;
          // `factors` are those of this step
          value += factors ? weight * factors[(i64)kinds[entry] * n_streams + c] * from : weights ? weight * from : from;
        }
        value *= share;
      }
      if (stay != 0.0) value += stay * now[row * n_streams + c];
      if (restart && restart[node] != 0.0) value += restart[node] * start;
    }
    if (c < last_stream)
      codes[(i64)c * n_nodes + node] =
          step > 0 && vanished && vanished[node] ? NO_BIN : code_of(value + offsets[c]);
    then[row * n_streams + c] = pushed_back && pushed_back[node] ? start : value;
  }
}

// ---------------------------------------------------------------------------------------------------------
// Weisfeiler-Lehman: a node's next code is mix(own code, sum over neighbors of mix'(their code, edge key)).
// Row 0 of `codes` is given; integer sums wrap and do not depend on the order of neighbors.
// ---------------------------------------------------------------------------------------------------------
DEVICE u64 refined(u64 own, const u64* mixed, i64 first, const int* indices, const u64* edge_keys, INDEX begin,
                   INDEX end) {
  u64 sum = 0;
  for (INDEX entry = begin; entry < end; entry++) {
    const u64 other = mixed[indices[entry] - first];
    sum += edge_keys ? mix_word(other ^ edge_keys[entry]) : other;
  }
  return mix_word(mix_word(own) + sum);
}

KERNEL(refine,
       (const int* packets, const i64* graph_ptr, const INDEX* indptr, const int* indices, const u64* edge_keys,
        int n_streams, int capacity, i64 n_nodes, u64* codes),
       (packets, graph_ptr, indptr, indices, edge_keys, n_streams, capacity, n_nodes, codes)) {
  SHARED(memory);
  u64 *now = (u64*)memory, *mixed = now + capacity;
  const i64 first = graph_ptr[packets[blockIdx.x]];
  const int n = (int)(graph_ptr[packets[blockIdx.x + 1]] - first);
  if (n > capacity) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) now[i] = codes[first + i];
  for (int t = 1; t < n_streams; t++) {
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) mixed[i] = mix_other(now[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      now[i] = refined(now[i], mixed, first, indices, edge_keys, indptr[first + i], indptr[first + i + 1]);
      codes[(i64)t * n_nodes + first + i] = now[i];
    }
  }
}

KERNEL(large_refine,
       (const i64* nodes, i64 n_large, const INDEX* indptr, const int* indices, const u64* edge_keys,
        const u64* before, u64* after),
       (nodes, n_large, indptr, indices, edge_keys, before, after)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < n_large; row += stride) {
    const i64 node = nodes[row];
    u64 sum = 0;
    for (INDEX entry = indptr[node]; entry < indptr[node + 1]; entry++) {
      const u64 other = mix_other(before[indices[entry]]);
      sum += edge_keys ? mix_word(other ^ edge_keys[entry]) : other;
    }
    after[node] = mix_word(mix_word(before[node]) + sum);
  }
}

// No code may be the one that means "not counted" (codes/codes.py).
KERNEL(replace_no_bin, (i64* codes, i64 n), (codes, n)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += stride)
    if (codes[k] == NO_BIN) codes[k] = 0x5851F42D4C957F2DLL;
}

// ---------------------------------------------------------------------------------------------------------
// Count: the codes of a packet's nodes become columns, and each graph's columns are sorted and counted.
//
// A graph of m nodes has m buckets, and column k goes to bucket m * k >> shift, where 2^shift is the number of
// columns or the next power of two: buckets are in the order of columns, equal columns share a bucket, and a
// bucket holds about as many entries as there are streams. So one thread sorts a bucket by insertion. Example with m = 2, 8 columns and the entries 5 1 5 7 1 2:
// buckets [1 1 2] [5 5 7] -> columns 1 2 5 7, counts 2 1 2 1.
// Buckets are numbered by nodes: those of a graph with nodes a .. b - 1 of the packet are a .. b - 1.
//
// Packets write their entries where those of the packets before them end. How many these have is told by a
// decoupled look-back (Merrill and Garland 2016): every packet publishes its own total, adds up what the packets
// before it have published, back to one that knows its end, and then publishes its own end.
// ---------------------------------------------------------------------------------------------------------
#define PUBLISHED_TOTAL (1ULL << 62)
#define PUBLISHED_END (2ULL << 62)
#define PUBLISHED_VALUE ((1ULL << 62) - 1)

#ifdef PK_HOST
DEVICE u64 look_at(u64* state) { return *state; }
DEVICE void publish(u64* state, u64 word) { *state = word; }
DEVICE i64 entries_before(u64* states, int packet) { return packet ? (i64)(states[packet - 1] & PUBLISHED_VALUE) : 0; }
#else
DEVICE u64 look_at(u64* state) { return *(volatile u64*)state; }
DEVICE void publish(u64* state, u64 word) { atomicExch(state, word); }
// The first warp looks at 32 packets at a time.
DEVICE i64 entries_before(u64* states, int packet) {
  i64 sum = 0;
  for (int last = packet - 1; last >= 0; last -= 32) {
    const int lane = threadIdx.x, at = last - lane;
    u64 word = at >= 0 ? look_at(states + at) : PUBLISHED_END;
    while (__any_sync(0xFFFFFFFFu, word == 0))
      if (word == 0) word = look_at(states + at);
    const u32 ends = __ballot_sync(0xFFFFFFFFu, word >= PUBLISHED_END);
    const int nearest = ends ? __ffs(ends) - 1 : 31;  // packets farther away are in that one's end
    i64 value = lane <= nearest ? (i64)(word & PUBLISHED_VALUE) : 0;
    for (int step = 16; step > 0; step >>= 1) value += __shfl_down_sync(0xFFFFFFFFu, value, step);
    sum += __shfl_sync(0xFFFFFFFFu, value, 0);
    if (ends) break;
  }
  return sum;
}
#endif

DEVICE u32 column_of(i64 code, u64 word, u64 n_columns) {
  if (code == NO_BIN) return NO_COLUMN;
  const u64 mixed = mix_on(word, (u64)code);
  return (u32)((n_columns & (n_columns - 1)) == 0 ? mixed & (n_columns - 1) : mixed % n_columns);
}

KERNEL(count_columns,
       (const int* packets, const i64* graph_ptr, const i64* codes, const u64* words, const u32* columns,
        int n_streams, int capacity, i64 n_nodes, u64 n_columns, int shift, double scale, const i64* large_lengths,
        u64* states, int* out_columns, double* out_values, i64* out_ptr),
       (packets, graph_ptr, codes, words, columns, n_streams, capacity, n_nodes, n_columns, shift, scale,
        large_lengths, states, out_columns, out_values, out_ptr)) {
  SHARED(memory);
  const int first_graph = packets[blockIdx.x], last_graph = packets[blockIdx.x + 1];
  const i64 first = graph_ptr[first_graph];
  const int n = (int)(graph_ptr[last_graph] - first);
  const bool is_large = n > capacity;  // counted elsewhere: only its length matters here
  const int most = capacity * n_streams;
  u32* columns_here = (u32*)memory;                               // [most] by streams and nodes, then distinct
  u32* sorted = columns_here + most;                              // [most] by buckets
  int* ends = (int*)(sorted + most);                              // [capacity] of buckets in `sorted`
  int* kept = ends + capacity;                                    // [capacity + 1] distinct columns before
  int* partial = kept + capacity + 1;                             // [threads]
  unsigned short* ranks = (unsigned short*)(partial + blockDim.x);  // [most] within the bucket, then counts
  unsigned short* start = ranks + most;                           // [capacity] first node of a node's graph
  unsigned short* size = start + capacity;                        // [capacity] number of its nodes
  int total = 0;
  if (is_large) {
    total = large_lengths ? (int)large_lengths[first_graph] : 0;
  } else {
    for (int g = first_graph + threadIdx.x; g < last_graph; g += blockDim.x) {
      const int a = (int)(graph_ptr[g] - first), b = (int)(graph_ptr[g + 1] - first);
      for (int i = a; i < b; i++) { start[i] = (unsigned short)a; size[i] = (unsigned short)(b - a); }
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) ends[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      for (int s = 0; s < n_streams; s++) {
        const i64 at = (i64)s * n_nodes + first + i;
        const u32 column = columns ? columns[at] : column_of(codes[at], words[s], n_columns);
        columns_here[s * n + i] = column;
        if (column != NO_COLUMN)
          ranks[s * n + i] = (unsigned short)atomicAdd(&ends[start[i] + (int)((u64)column * size[i] >> shift)], 1);
      }
    }
    __syncthreads();
    exclusive_scan(ends, n, partial);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      for (int s = 0; s < n_streams; s++) {
        const u32 column = columns_here[s * n + i];
        if (column != NO_COLUMN)
          sorted[ends[start[i] + (int)((u64)column * size[i] >> shift)] + ranks[s * n + i]] = column;
      }
    }
    __syncthreads();
    // ends[b] is where bucket b begins; where the last one ends is what the scan found, left in partial
    const int n_sorted = partial[blockDim.x - 1];
    for (int b = threadIdx.x; b < n; b += blockDim.x) {
      const int from = ends[b], to = b + 1 < n ? ends[b + 1] : n_sorted;
      int distinct = 0;
      for (int k = from; k < to; k++) {
        const u32 column = sorted[k];
        int j = k;
        while (j > from && sorted[j - 1] > column) { sorted[j] = sorted[j - 1]; j--; }
        sorted[j] = column;
      }
      for (int k = from; k < to; k++) distinct += k == from || sorted[k] != sorted[k - 1];
      kept[b] = distinct;
    }
    __syncthreads();
    total = exclusive_scan(kept, n, partial);
    if (threadIdx.x == 0) kept[n] = total;
    __syncthreads();
    for (int b = threadIdx.x; b < n; b += blockDim.x) {
      int k = ends[b];
      for (int out = kept[b]; out < kept[b + 1]; out++) {
        const u32 column = sorted[k];
        const int begin = k;
        // the next bucket's columns are larger, or of another graph: a bucket ends where its last column does
        const int to = b + 1 < n ? ends[b + 1] : n_sorted;
        while (k < to && sorted[k] == column) k++;
        columns_here[out] = column;
        ranks[out] = (unsigned short)(k - begin);
      }
    }
  }
  // only the first warp looks back; `before` reaches the other threads through shared memory
  i64* before = (i64*)(size + capacity + (4 - (size_t)(size + capacity) % 8 / 2) % 4);
  if (threadIdx.x == 0 && blockIdx.x > 0) publish(states + blockIdx.x, PUBLISHED_TOTAL | (u64)total);
  if (threadIdx.x < 32) {
    const i64 sum = entries_before(states, blockIdx.x);
    if (threadIdx.x == 0) {
      publish(states + blockIdx.x, PUBLISHED_END | (u64)(sum + total));
      *before = sum;
    }
  }
  __syncthreads();
  const i64 base = *before;
  for (int g = first_graph + threadIdx.x; g < last_graph; g += blockDim.x)
    out_ptr[g] = base + (is_large ? 0 : kept[graph_ptr[g] - first]);
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) out_ptr[last_graph] = base + total;
  if (is_large) return;
  for (int k = threadIdx.x; k < total; k += blockDim.x) {
    out_columns[base + k] = (int)columns_here[k];
    out_values[base + k] = (double)ranks[k] * scale;
  }
}

// Keys (graph, column) of large graphs, to be sorted: [stream * n_large + row].
KERNEL(large_keys,
       (const i64* nodes, const int* graph_of, i64 n_large, const i64* codes, const u64* words, const u32* columns,
        int n_streams, i64 n_nodes, u64 n_columns, u64* keys),
       (nodes, graph_of, n_large, codes, words, columns, n_streams, n_nodes, n_columns, keys)) {
  const i64 total = n_large * n_streams, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride) {
    const i64 row = k % n_large, at = (k / n_large) * n_nodes + nodes[row];
    const u32 column = columns ? columns[at] : column_of(codes[at], words[k / n_large], n_columns);
    keys[k] = column == NO_COLUMN ? ~0ULL : ((u64)graph_of[row] << 32 | column);
  }
}

// The same keys counted by an open-addressing table, in no order; empty slots hold ~0.
KERNEL(tally_large,
       (const i64* nodes, const int* graph_of, i64 n_large, const u32* columns, int n_streams, i64 n_nodes, u64 mask,
        u64* keys, int* tally),
       (nodes, graph_of, n_large, columns, n_streams, n_nodes, mask, keys, tally)) {
  const i64 total = n_large * n_streams, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride) {
    const i64 row = k % n_large;
    const u32 column = columns[(k / n_large) * n_nodes + nodes[row]];
    if (column == NO_COLUMN) continue;
    const u64 key = (u64)graph_of[row] << 32 | column;
    u64 slot = mix_word(key) & mask;
    while (true) {
      u64 there = keys[slot];
      if (there == ~0ULL) there = atomicCAS(keys + slot, ~0ULL, key);
      if (there == ~0ULL || there == key) break;
      slot = (slot + 1) & mask;
    }
    atomicAdd(tally + slot, 1);
  }
}

// ---------------------------------------------------------------------------------------------------------
// Vocabulary: the distinct codes of each stream by an open-addressing table, whose empty slots hold NO_BIN; a
// stream has a region of mask + 1 slots. Every code learns its slot, which numbers its bin in no particular order;
// where bins are numbered by code, the codes in the table are sorted elsewhere, and ranks go back by the slots.
// ---------------------------------------------------------------------------------------------------------
KERNEL(insert_codes, (const i64* codes, i64 n_streams, i64 n, u64 mask, u64* table, u32* slots),
       (codes, n_streams, n, mask, table, slots)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < n_streams * n; k += stride) {
    const u64 code = (u64)codes[k];
    if (codes[k] == NO_BIN) { slots[k] = NO_COLUMN; continue; }
    const u64 region = (k / n) * (mask + 1);
    u64 slot = mix_word(code) & mask;
    while (true) {
      u64 there = table[region + slot];  // most codes are there already
      if (there == (u64)NO_BIN) there = atomicCAS(table + region + slot, (u64)NO_BIN, code);
      if (there == (u64)NO_BIN || there == code) break;
      slot = (slot + 1) & mask;
    }
    slots[k] = (u32)(region + slot);
  }
}

// `bins` are the codes of all streams in order, `streams` the stream of each; a rank is a column.
KERNEL(rank_codes, (const i64* bins, const int* streams, i64 n, u64 mask, const u64* table, u32 first, u32* ranks),
       (bins, streams, n, mask, table, first, ranks)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += stride) {
    const u64 region = (streams ? (u64)streams[k] : 0) * (mask + 1);
    u64 slot = mix_word((u64)bins[k]) & mask;
    while (table[region + slot] != (u64)bins[k]) slot = (slot + 1) & mask;
    ranks[region + slot] = first + (u32)k;
  }
}

KERNEL(take_ranks, (const u32* slots, i64 n, const u32* ranks, u32* columns), (slots, n, ranks, columns)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += stride)
    columns[k] = slots[k] == NO_COLUMN ? NO_COLUMN : ranks[slots[k]];
}

// ---------------------------------------------------------------------------------------------------------
// Grids: one launch per step on all pixels, counted or not, as [stream][pixel]; pixels outside a mask hold zeros.
//
// A pixel adds weight * (sum of a group's taps) for one group after the other, a group's 1, 2, 4 or 8 taps as a
// balanced tree, as core/grids.cpp does. A tap beyond the image is zero, or for "wrap" (2) and
// "reflect" (3) the pixel that it stands for.
// ---------------------------------------------------------------------------------------------------------
#define PLACES 32  // taps whose places a thread works out once for all streams

struct Image {
  const int* shape;
  i64 first;  // its first pixel
  int d, boundary;
};

// Where in the image a tap listens; -1: beyond it, where there is nothing.
DEVICE int tap_place(const Image& image, const int* position, const int* offset) {
  int place = 0;
  for (int axis = 0; axis < image.d; axis++) {
    const int length = image.shape[axis];
    int at = position[axis] + offset[axis];
    if (at < 0 || at >= length) {
      if (image.boundary < 2) return -1;
      const int period = image.boundary == 2 ? length : 2 * length;
      at = (at % period + period) % period;
      if (at >= length) at = 2 * length - 1 - at;
    }
    place = place * length + at;
  }
  return place;
}

// The sum of a group's taps as a balanced tree; `places` are those worked out before, or null.
DEVICE double sum_taps(const Image& image, const double* source, const int* position, const int* offsets,
                       const int* places, int n) {
  double sum[8];
  for (int k = 0; k < n; k++) {
    const int place = places ? places[k] : tap_place(image, position, offsets + k * image.d);
    sum[k] = place < 0 ? 0.0 : source[image.first + place];
  }
  for (int width = n; width > 1; width /= 2)
    for (int k = 0; k < width / 2; k++) sum[k] = sum[2 * k] + sum[2 * k + 1];
  return sum[0];
}

KERNEL(grid_start,
       (const i64* pixels, i64 n_nodes, const int* rows, const double* projected, int n_streams, i64 n_pixels,
        double* now),
       (pixels, n_nodes, rows, projected, n_streams, n_pixels, now)) {
  const i64 total = n_nodes * n_streams, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride) {
    const i64 stream = k / n_nodes, node = k % n_nodes;
    now[stream * n_pixels + pixels[node]] = projected[(i64)rows[node] * n_streams + stream];
  }
}

KERNEL(grid_filter,
       (const int* image_of, const i64* pixel_ptr, const int* shapes, int d, const int* offsets, const int* group_ptr,
        const double* weights, int first_group, int last_group, int boundary, int first_stream, int n_streams,
        i64 n_pixels, const double* source, double* target),
       (image_of, pixel_ptr, shapes, d, offsets, group_ptr, weights, first_group, last_group, boundary, first_stream,
        n_streams, n_pixels, source, target)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  const int first_tap = group_ptr[first_group], n_taps = group_ptr[last_group] - first_tap;
  for (i64 pixel = (i64)blockIdx.x * blockDim.x + threadIdx.x; pixel < n_pixels; pixel += stride) {
    const Image image = {shapes + (i64)image_of[pixel] * d, pixel_ptr[image_of[pixel]], d, boundary};
    int position[8], places[PLACES], rest = (int)(pixel - image.first);
    for (int axis = d - 1; axis >= 0; axis--) { position[axis] = rest % image.shape[axis]; rest /= image.shape[axis]; }
    for (int k = 0; k < n_taps && k < PLACES; k++) places[k] = tap_place(image, position, offsets + (first_tap + k) * d);
    for (int stream = first_stream; stream < n_streams; stream++) {
      double sum = 0.0;
      for (int group = first_group; group < last_group; group++) {
        const int first = group_ptr[group], n = group_ptr[group + 1] - first;
        const int* known = n_taps <= PLACES ? places + (first - first_tap) : 0;
        sum += weights[group] * sum_taps(image, source + stream * n_pixels, position, offsets + first * d, known, n);
      }
      target[stream * n_pixels + pixel] = sum;
    }
  }
}

KERNEL(grid_weigh,
       (const double* spread, const double* keep, int first_stream, int n_streams, i64 n_pixels, const double* now,
        double* then),
       (spread, keep, first_stream, n_streams, n_pixels, now, then)) {
  const i64 total = (i64)(n_streams - first_stream) * n_pixels, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride) {
    const i64 pixel = k % n_pixels, at = first_stream * n_pixels + k;
    double value = then[at] * spread[pixel];
    if (keep) value += keep[pixel] * now[at];
    then[at] = value;
  }
}

KERNEL(grid_hash,
       (const i64* pixels, i64 n_nodes, const unsigned char* pushed_back, const int* rows, const double* projected,
        const double* offsets, int n_streams, int first_stream, int last_stream, i64 n_pixels, double* now, i64* codes),
       (pixels, n_nodes, pushed_back, rows, projected, offsets, n_streams, first_stream, last_stream, n_pixels, now,
        codes)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 node = (i64)blockIdx.x * blockDim.x + threadIdx.x; node < n_nodes; node += stride) {
    for (int s = first_stream; s < last_stream; s++)
      codes[(i64)s * n_nodes + node] = code_of(now[(i64)s * n_pixels + pixels[node]] + offsets[s]);
    if (pushed_back && pushed_back[node])
      for (int s = first_stream; s < n_streams; s++)
        now[(i64)s * n_pixels + pixels[node]] = projected[(i64)rows[node] * n_streams + s];
  }
}

// ---------------------------------------------------------------------------------------------------------
// Gram: a bin of one graph adds to the diagonal, bins that few graphs have add their pairs one by one, popular
// ones become columns of a dense matrix. Sums of whole numbers below 2^53 are exact in any order.
//
// Counts are the rows of a CSR matrix, and the slots of a table for graphs larger than a packet, if there are any.
// ---------------------------------------------------------------------------------------------------------
#define COUNTS                                                                                                \
  const i64 *indptr, i64 n, const int *columns, const double *values, const u64 *keys, const int *tally, i64 n_slots
#define COUNTS_HERE indptr, n, columns, values, keys, tally, n_slots

// Call a function with the graph, the column and the count of every entry.
template <class Function>
DEVICE void each_entry(COUNTS, Function use) {
  for (i64 graph = blockIdx.x; graph < n; graph += gridDim.x)
    for (i64 k = indptr[graph] + threadIdx.x; k < indptr[graph + 1]; k += blockDim.x) use(graph, columns[k], values[k]);
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 slot = (i64)blockIdx.x * blockDim.x + threadIdx.x; slot < n_slots; slot += stride)
    if (keys[slot] != ~0ULL) use((i64)(keys[slot] >> 32), (int)(u32)keys[slot], (double)tally[slot]);
}

KERNEL(count_entries, (COUNTS, int* popularity), (COUNTS_HERE, popularity)) {
  each_entry(COUNTS_HERE, [&](i64 graph, int column, double value) { atomicAdd(popularity + column, 1); });
}

// Squared counts by streams and graphs; 2^shift columns belong to a stream.
KERNEL(add_squares, (COUNTS, int shift, double* squares), (COUNTS_HERE, shift, squares)) {
  each_entry(COUNTS_HERE, [&](i64 graph, int column, double value) {
    atomicAdd(squares + (i64)(column >> shift) * n + graph, value * value);
  });
}

// Their sum in the order of streams, each rounded product added: what gram.base_kernels.diagonal computes.
KERNEL(weigh_squares, (const double* squares, const double* weights, int n_streams, i64 n, double* diagonal),
       (squares, weights, n_streams, n, diagonal)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 graph = (i64)blockIdx.x * blockDim.x + threadIdx.x; graph < n; graph += stride) {
    double sum = squares[graph] * weights[0];
    for (int s = 1; s < n_streams; s++) sum += squares[s * n + graph] * weights[s];
    diagonal[graph] = sum;
  }
}

// Places of columns, TILE at a time: a popular column gets its column of the dense matrix, a rare one as many places
// as it has entries. Rare columns are listed: those of few entries, which a warp can add, and the others. Order is
// that of the blocks. totals: popular columns, entries of rare ones, columns of few entries, others.
KERNEL(place_columns,
       (const int* popularity, i64 n_columns, int popular_from, int* totals, int* places, int* few, int* many),
       (popularity, n_columns, popular_from, totals, places, few, many)) {
  SHARED(memory);
  int *entries = (int*)memory, *numbers = entries + TILE;  // [TILE] twice: rare entries; popular + (few << 16)
  int *base = numbers + TILE, *partial = base + 4;         // [4], [threads]
  for (i64 first = (i64)blockIdx.x * TILE; first < n_columns; first += (i64)gridDim.x * TILE) {
    for (int at = threadIdx.x; at < TILE; at += blockDim.x) {
      const int shared_by = first + at < n_columns ? popularity[first + at] : 0;
      const bool popular = shared_by >= popular_from, rare = shared_by > 1 && !popular;
      entries[at] = rare ? shared_by : 0;
      numbers[at] = popular ? 1 : rare && shared_by <= FEW ? 1 << 16 : 0;
    }
    __syncthreads();
    const int n_entries = exclusive_scan(entries, TILE, partial), n_columns_here = exclusive_scan(numbers, TILE, partial);
    if (threadIdx.x == 0) {
      base[0] = atomicAdd(totals, n_columns_here & 0xFFFF);
      base[1] = atomicAdd(totals + 1, n_entries);
      base[2] = atomicAdd(totals + 2, n_columns_here >> 16);
    }
    __syncthreads();
    for (int at = threadIdx.x; at < TILE && first + at < n_columns; at += blockDim.x) {
      const int column = (int)(first + at), shared_by = popularity[column];
      if (shared_by >= popular_from) {
        places[column] = base[0] + (numbers[at] & 0xFFFF);
      } else if (shared_by > 1) {
        places[column] = base[1] + entries[at];
        if (shared_by <= FEW) few[base[2] + (numbers[at] >> 16)] = column;
        else many[atomicAdd(totals + 3, 1)] = column;
      }
    }
    __syncthreads();
  }
}

// Popular columns first .. last - 1 as a dense matrix.
KERNEL(spread_popular,
       (COUNTS, const int* popularity, int popular_from, const int* places, i64 first, i64 last, double* dense),
       (COUNTS_HERE, popularity, popular_from, places, first, last, dense)) {
  each_entry(COUNTS_HERE, [&](i64 graph, int column, double value) {
    const i64 place = places[column];
    if (popularity[column] >= popular_from && place >= first && place < last)
      dense[graph * (last - first) + place - first] = value;
  });
}

// Entries of rare columns by column, in the order of the threads: afterwards, places[c] is where those of column c
// end. Entries alone in their column add to the diagonal.
KERNEL(place_rare,
       (COUNTS, const int* popularity, int popular_from, int* places, int* graphs, double* counts, double* gram),
       (COUNTS_HERE, popularity, popular_from, places, graphs, counts, gram)) {
  each_entry(COUNTS_HERE, [&](i64 graph, int column, double value) {
    const int shared_by = popularity[column];
    if (shared_by == 1) {
      atomicAdd(gram + graph * n + graph, value * value);
    } else if (shared_by < popular_from) {
      const int place = atomicAdd(places + column, 1);
      graphs[place] = (int)graph;
      counts[place] = value;
    }
  });
}

// Pairs (i, j <= i) of the entries of one column, i from `first_i` on: a pair of graphs goes below the diagonal, a
// graph with itself on it.
DEVICE void add_pairs_of(i64 first, i64 m, i64 first_i, i64 step_i, const int* graphs, const double* counts, i64 n,
                         double* gram) {
  const int lane = threadIdx.x % 32, lanes = blockDim.x < 32 ? 1 : 32;
  for (i64 i = first_i; i < m; i += step_i) {
    const i64 a = graphs[first + i];
    const double count = counts[first + i];
    for (i64 j = lane; j <= i; j += lanes) {
      const i64 b = graphs[first + j];
      atomicAdd(gram + (a > b ? a * n + b : b * n + a), count * counts[first + j]);
    }
  }
}

// Columns of few entries, nearly all of them, take a warp each, the others a block each.
KERNEL(add_pairs,
       (const int* totals, const int* few, const int* many, const int* popularity, const int* ends, const int* graphs,
        const double* counts, i64 n, double* gram),
       (totals, few, many, popularity, ends, graphs, counts, n, gram)) {
  const i64 warps = (blockDim.x + 31) / 32, warp = threadIdx.x / 32;
  for (i64 k = blockIdx.x * warps + warp; k < totals[2]; k += gridDim.x * warps) {
    const i64 m = popularity[few[k]];
    add_pairs_of(ends[few[k]] - m, m, 0, 1, graphs, counts, n, gram);
  }
  for (i64 k = blockIdx.x; k < totals[3]; k += gridDim.x) {
    const i64 m = popularity[many[k]];
    add_pairs_of(ends[many[k]] - m, m, warp, warps, graphs, counts, n, gram);
  }
}

// Copy what is below the diagonal above it, by tiles of 32 x 32 in shared memory: both sides are read and
// written along rows.
KERNEL(mirror, (double* gram, i64 n, i64 n_tiles), (gram, n, n_tiles)) {
  SHARED(memory);
  double* tile = (double*)memory;  // [32][33]: a column apart, so that a column of the tile is in 32 banks
  for (i64 k = blockIdx.x; k < n_tiles * n_tiles; k += gridDim.x) {
    const i64 top = k / n_tiles * 32, left = k % n_tiles * 32;
    if (left > top) continue;
    __syncthreads();
    for (int at = threadIdx.x; at < 1024; at += blockDim.x) {
      const i64 i = top + at / 32, j = left + at % 32;
      if (i < n && j < n) tile[at / 32 * 33 + at % 32] = gram[i * n + j];
    }
    __syncthreads();
    for (int at = threadIdx.x; at < 1024; at += blockDim.x) {
      const i64 j = left + at / 32, i = top + at % 32;
      if (i < n && j < n && j < i) gram[j * n + i] = tile[at % 32 * 33 + at / 32];
    }
  }
}
