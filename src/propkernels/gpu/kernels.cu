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
static inline i64 __double_as_longlong(double v) { i64 w; __builtin_memcpy(&w, &v, 8); return w; }
#define SHARED(name) char* name = shared_memory
#else
#define DEVICE __device__ __forceinline__
#define KERNEL(name, parameters, arguments) extern "C" __global__ void name parameters
#define SHARED(name) extern __shared__ __align__(16) char name[]
#endif

#ifndef INDEX
#define INDEX int  // dtype of indptr: int, or i64 where the adjacency has 2^31 entries or more
#endif
#define CHUNK 12   // columns whose sums a thread keeps in registers
#define NO_BIN ((i64)0x8000000000000000ULL)
#define NO_COLUMN 0xFFFFFFFFu
#define LARGEST_FLOOR 68719476736.0  // 2^36, as in hashing/lsh.py
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

// Floor, or for a large value its leading bits: lsh.floor_codes for one number.
DEVICE i64 code_of(double value) {
  double size = value < 0 ? -value : value;
  return size < LARGEST_FLOOR ? (i64)floor(value) : (__double_as_longlong(value) & KEPT_BITS);
}

// lsh.join_codes for one number.
DEVICE i64 join(i64 code, i64 other) {
  u64 word = (u64)code * 0x9E3779B97F4A7C15ULL + (u64)other;
  word = (word ^ (word >> 32)) * 0xD6E8FEB86659FD93ULL;
  return (i64)(word ^ (word >> 29));
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
// needs. Values lie in shared memory as [column][node], so that neighboring threads use neighboring banks.
// Without `spread` the walk is the plain one of an unweighted graph: 1 / degree, and a node without edges
// stays. `packets` are graph numbers; `iteration` is the iteration t of each stream.
// ---------------------------------------------------------------------------------------------------------
KERNEL(propagate_and_hash,
       (const int* packets, const i64* graph_ptr, const INDEX* indptr, const int* indices, const double* weights,
        const double* spread, const double* keep, const double* restart, const unsigned char* pushed_back,
        const unsigned char* vanished, const int* rows, const double* projected, const double* offsets,
        int n_streams, int n_hashes, int capacity, i64 n_nodes, i64* codes),
       (packets, graph_ptr, indptr, indices, weights, spread, keep, restart, pushed_back, vanished, rows,
        projected, offsets, n_streams, n_hashes, capacity, n_nodes, codes)) {
  SHARED(memory);
  const i64 first = graph_ptr[packets[blockIdx.x]];
  const int n = (int)(graph_ptr[packets[blockIdx.x + 1]] - first);
  if (n > capacity) return;  // a large graph, which is a packet of its own
  for (int c0 = 0; c0 < n_streams; c0 += CHUNK) {
    const int width = n_streams - c0 < CHUNK ? n_streams - c0 : CHUNK;
    const int last_step = (c0 + width - 1) / n_hashes;
    double *now = (double*)memory, *then = now + (size_t)CHUNK * capacity;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const double* start = projected + (i64)rows[first + i] * n_streams + c0;
      for (int c = 0; c < width; c++) now[c * capacity + i] = start[c];
    }
    for (int t = 0; t <= last_step; t++) {
      __syncthreads();
      // streams before this one are done: they are neither moved nor read any more
      const int live = t * n_hashes > c0 ? t * n_hashes - c0 : 0;
      if (t > 0) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
          const INDEX begin = indptr[first + i], end = indptr[first + i + 1];
          const double share = spread ? spread[first + i] : (end > begin ? 1.0 / (double)(end - begin) : 0.0);
          const double stay = spread ? keep[first + i] : (end > begin ? 0.0 : 1.0);
          double sum[CHUNK];
#pragma unroll
          for (int c = 0; c < CHUNK; c++) sum[c] = 0.0;
          if (share != 0.0) {
            for (INDEX entry = begin; entry < end; entry++) {
              const double* from = now + (indices[entry] - first);
              if (weights) {
                const double weight = weights[entry];
#pragma unroll
                for (int c = 0; c < CHUNK; c++) if (c >= live && c < width) sum[c] += weight * from[c * capacity];
              } else {
#pragma unroll
                for (int c = 0; c < CHUNK; c++) if (c >= live && c < width) sum[c] += from[c * capacity];
              }
            }
          }
          const double again = restart ? restart[first + i] : 0.0;
          const double* start = projected + (i64)rows[first + i] * n_streams + c0;
#pragma unroll
          for (int c = 0; c < CHUNK; c++) if (c >= live && c < width) {
            double value = share != 0.0 ? sum[c] * share : 0.0;
            if (stay != 0.0) value += stay * now[c * capacity + i];
            if (again != 0.0) value += again * start[c];
            then[c * capacity + i] = value;
          }
        }
        __syncthreads();
        double* swap = now; now = then; then = swap;
      }
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const bool counted = !(t > 0 && vanished && vanished[first + i]);
        for (int c = live; c < width && (c0 + c) / n_hashes == t; c++) {
          const i64 code = code_of(now[c * capacity + i] + offsets[c0 + c]);
          codes[(i64)(c0 + c) * n_nodes + first + i] = counted ? code : NO_BIN;
        }
        if (pushed_back && pushed_back[first + i]) {
          const double* start = projected + (i64)rows[first + i] * n_streams + c0;
          for (int c = live; c < width; c++) now[c * capacity + i] = start[c];
        }
      }
    }
    __syncthreads();
  }
}

// One step of graphs that are larger than a packet. Values lie in global memory as [node][stream], where
// `place` gives a node's row among the nodes of large graphs; `nodes` lists these.
KERNEL(large_start,
       (const i64* nodes, i64 n_large, const int* rows, const double* projected, int n_streams, double* now),
       (nodes, n_large, rows, projected, n_streams, now)) {
  const i64 total = n_large * n_streams, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride)
    now[k] = projected[(i64)rows[nodes[k / n_streams]] * n_streams + k % n_streams];
}

KERNEL(large_step,
       (const i64* nodes, const int* place, i64 n_large, const INDEX* indptr, const int* indices,
        const double* weights, const double* spread, const double* keep, const double* restart, const int* rows,
        const double* projected, int n_streams, int live, const double* now, double* then),
       (nodes, place, n_large, indptr, indices, weights, spread, keep, restart, rows, projected, n_streams, live,
        now, then)) {
  const int width = n_streams - live;
  const i64 total = n_large * width, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride) {
    const i64 row = k / width, node = nodes[row];
    const int c = live + (int)(k % width);
    const INDEX begin = indptr[node], end = indptr[node + 1];
    const double share = spread ? spread[node] : (end > begin ? 1.0 / (double)(end - begin) : 0.0);
    const double stay = spread ? keep[node] : (end > begin ? 0.0 : 1.0);
    double value = 0.0;
    if (share != 0.0) {
      for (INDEX entry = begin; entry < end; entry++) {
        const double from = now[(i64)place[indices[entry]] * n_streams + c];
        value += weights ? weights[entry] * from : from;
      }
      value *= share;
    }
    if (stay != 0.0) value += stay * now[row * n_streams + c];
    if (restart && restart[node] != 0.0)
      value += restart[node] * projected[(i64)rows[node] * n_streams + c];
    then[row * n_streams + c] = value;
  }
}

KERNEL(large_hash,
       (const i64* nodes, i64 n_large, const unsigned char* pushed_back, const unsigned char* vanished,
        const int* rows, const double* projected, const double* offsets, int n_streams, int first_stream,
        int last_stream, i64 n_nodes, double* now, i64* codes),
       (nodes, n_large, pushed_back, vanished, rows, projected, offsets, n_streams, first_stream, last_stream,
        n_nodes, now, codes)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < n_large; row += stride) {
    const i64 node = nodes[row];
    const bool counted = !(vanished && vanished[node] && first_stream > 0);
    for (int c = first_stream; c < last_stream; c++) {
      const i64 code = code_of(now[row * n_streams + c] + offsets[c]);
      codes[(i64)c * n_nodes + node] = counted ? code : NO_BIN;
    }
    if (pushed_back && pushed_back[node])
      for (int c = first_stream; c < n_streams; c++)
        now[row * n_streams + c] = projected[(i64)rows[node] * n_streams + c];
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
       (const i64* nodes, const int* place, i64 n_large, const INDEX* indptr, const int* indices,
        const u64* edge_keys, const u64* before, u64* after),
       (nodes, place, n_large, indptr, indices, edge_keys, before, after)) {
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

// No code may be the one that means "not counted" (hashing/refinement.py).
KERNEL(replace_no_bin, (i64* codes, i64 n), (codes, n)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += stride)
    if (codes[k] == NO_BIN) codes[k] = 0x5851F42D4C957F2DLL;
}

// ---------------------------------------------------------------------------------------------------------
// Count: the codes of a packet's nodes become columns, and each graph's columns are sorted and counted.
//
// A graph of m nodes has m buckets, and column k goes to bucket m * k >> shift, where 2^shift is the number of
// columns or the next power of two: buckets are in the order of columns, equal columns share a bucket, and a bucket holds about as many entries as there are streams. So
// one thread sorts a bucket by insertion. Example with m = 2, 8 columns and the entries 5 1 5 7 1 2:
// buckets [1 1 2] [5 5 7] -> columns 1 2 5 7, counts 2 1 2 1.
// Buckets are numbered by nodes: those of a graph with nodes a .. b - 1 of the packet are a .. b - 1.
//
// Entries go to `staged` at graph_ptr[first graph] * n_streams, which nothing can overflow; `pack` moves them.
// ---------------------------------------------------------------------------------------------------------
DEVICE u32 column_of(i64 code, u64 word, u64 n_columns) {
  if (code == NO_BIN) return NO_COLUMN;
  const u64 mixed = mix_on(word, (u64)code);
  return (u32)((n_columns & (n_columns - 1)) == 0 ? mixed & (n_columns - 1) : mixed % n_columns);
}

KERNEL(hash_columns,
       (const i64* codes, const u64* words, int n_streams, i64 n_nodes, u64 n_columns, u32* columns),
       (codes, words, n_streams, n_nodes, n_columns, columns)) {
  const i64 total = (i64)n_streams * n_nodes, stride = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += stride)
    columns[k] = column_of(codes[k], words[k / n_nodes], n_columns);
}

KERNEL(count_columns,
       (const int* packets, const i64* graph_ptr, const i64* codes, const u64* words, const u32* columns,
        int n_streams, int capacity, i64 n_nodes, u64 n_columns, int shift, u32* staged_columns,
        u32* staged_counts, int* row_lengths, i64* packet_lengths),
       (packets, graph_ptr, codes, words, columns, n_streams, capacity, n_nodes, n_columns, shift, staged_columns,
        staged_counts, row_lengths, packet_lengths)) {
  SHARED(memory);
  const int first_graph = packets[blockIdx.x], last_graph = packets[blockIdx.x + 1];
  const i64 first = graph_ptr[first_graph];
  const int n = (int)(graph_ptr[last_graph] - first);
  if (n > capacity) return;
  u32* sorted = (u32*)memory;                              // [capacity * n_streams]
  u32* unique = sorted + (size_t)capacity * n_streams;     // [capacity * n_streams]
  int* ends = (int*)(unique + (size_t)capacity * n_streams);  // [capacity]
  int* kept = ends + capacity;                             // [capacity + 1]
  int* partial = kept + capacity + 1;                      // [threads]
  unsigned short* start = (unsigned short*)(partial + blockDim.x);  // first node of each node's graph
  unsigned short* size = start + capacity;
  for (int g = first_graph + threadIdx.x; g < last_graph; g += blockDim.x) {
    const int a = (int)(graph_ptr[g] - first), b = (int)(graph_ptr[g + 1] - first);
    for (int i = a; i < b; i++) { start[i] = (unsigned short)a; size[i] = (unsigned short)(b - a); }
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) ends[i] = 0;
  __syncthreads();
  // `unique` holds the columns in the order of streams and nodes until they are in their buckets
  for (int s = 0; s < n_streams; s++) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const i64 at = (i64)s * n_nodes + first + i;
      const u32 column = columns ? columns[at] : column_of(codes[at], words[s], n_columns);
      unique[s * n + i] = column;
      if (column != NO_COLUMN) atomicAdd(&ends[start[i] + (int)((u64)column * size[i] >> shift)], 1);
    }
  }
  __syncthreads();
  exclusive_scan(ends, n, partial);
  for (int s = 0; s < n_streams; s++) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const u32 column = unique[s * n + i];
      if (column == NO_COLUMN) continue;
      sorted[atomicAdd(&ends[start[i] + (int)((u64)column * size[i] >> shift)], 1)] = column;
    }
  }
  __syncthreads();
  // now ends[b] is where bucket b ends, which is where bucket b + 1 starts
  for (int b = threadIdx.x; b < n; b += blockDim.x) {
    const int from = b ? ends[b - 1] : 0, to = ends[b];
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
  const int total = exclusive_scan(kept, n, partial);
  if (threadIdx.x == 0) kept[n] = total;
  __syncthreads();
  // every bucket writes its distinct columns to `unique`, and where in `sorted` each begins to the staged counts
  const i64 base = first * n_streams;
  for (int b = threadIdx.x; b < n; b += blockDim.x) {
    const int from = b ? ends[b - 1] : 0, to = ends[b];
    int out = kept[b];
    for (int k = from; k < to;) {
      const u32 column = sorted[k];
      int next = k + 1;
      while (next < to && sorted[next] == column) next++;
      unique[out] = column;
      sorted[from + (out - kept[b])] = (u32)(next - k);  // behind what was read: out - kept[b] <= k - from
      k = next;
      out++;
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < n; b += blockDim.x) {
    const int from = b ? ends[b - 1] : 0;
    for (int out = kept[b]; out < kept[b + 1]; out++) staged_counts[base + out] = sorted[from + (out - kept[b])];
  }
  for (int k = threadIdx.x; k < total; k += blockDim.x) staged_columns[base + k] = unique[k];
  for (int g = first_graph + threadIdx.x; g < last_graph; g += blockDim.x)
    row_lengths[g] = kept[graph_ptr[g + 1] - first] - kept[graph_ptr[g] - first];
  if (threadIdx.x == 0) packet_lengths[blockIdx.x] = total;
}

// Keys (graph, column) of large graphs, to be sorted: [row * n_streams + stream].
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

// Move each packet's entries from where they were staged to where they belong.
KERNEL(pack,
       (const int* packets, const i64* graph_ptr, const i64* packet_ptr, const u32* staged_columns,
        const u32* staged_counts, int n_streams, double scale, int* columns, double* values),
       (packets, graph_ptr, packet_ptr, staged_columns, staged_counts, n_streams, scale, columns, values)) {
  const i64 from = graph_ptr[packets[blockIdx.x]] * n_streams, to = packet_ptr[blockIdx.x];
  const i64 length = packet_ptr[blockIdx.x + 1] - to;
  for (i64 k = threadIdx.x; k < length; k += blockDim.x) {
    columns[to + k] = (int)staged_columns[from + k];
    values[to + k] = (double)staged_counts[from + k] * scale;
  }
}

// ---------------------------------------------------------------------------------------------------------
// Attributes: hash a column of values, and join it with the codes of the labels.
// ---------------------------------------------------------------------------------------------------------
KERNEL(hash_and_join,
       (const i64* labels, const double* values, i64 stride_of_values, double vector, double offset, i64 missing,
        i64 n_nodes, i64* codes),
       (labels, values, stride_of_values, vector, offset, missing, n_nodes, codes)) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_nodes; i += stride) {
    const double value = values[i * stride_of_values];
    const i64 code = value != value ? missing : code_of(value * vector + offset);
    codes[i] = labels[i] == NO_BIN ? NO_BIN : join(labels[i], code);
  }
}

// ---------------------------------------------------------------------------------------------------------
// Gram: bins that few graphs have add their pairs one by one. A bin's entries are bin_ptr[b] .. bin_ptr[b + 1]
// of (graphs, counts); sums of whole numbers below 2^53 are exact in any order.
// ---------------------------------------------------------------------------------------------------------
KERNEL(add_pairs,
       (const i64* bin_ptr, i64 n_bins, const int* graphs, const double* counts, double weight, i64 n, double* gram),
       (bin_ptr, n_bins, graphs, counts, weight, n, gram)) {
  for (i64 b = blockIdx.x; b < n_bins; b += gridDim.x) {
    const i64 first = bin_ptr[b];
    const i64 m = bin_ptr[b + 1] - first;
    for (i64 k = threadIdx.x; k < m * m; k += blockDim.x) {
      const i64 i = first + k / m, j = first + k % m;
      if (i >= j) atomicAdd(&gram[(i64)graphs[i] * n + graphs[j]], weight * counts[i] * counts[j]);
    }
  }
}
