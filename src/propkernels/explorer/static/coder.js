// Code functions: what Python's kernels give each node (or ordered pair of nodes) at each iteration, to the bit.
// A graph is {n, labels, ptr, ends, kinds, origin, attributes}: CSR arrays with neighbors in ascending order, kinds
// of edges, and the row of each node among the attributes of all graphs (-1: a node that an edit has added).

const LARGEST_FLOOR = 2 ** 36;
const float = new Float64Array(1);
const floatWords = new Uint32Array(float.buffer);
const NOT_COUNTED = 0x80000000; // the upper half of the code of what is not counted; the lower one is 0

/** Codes of all items of a graph: for each stream, a Uint32Array of (low, high) of each item. */
function codesOf(spec, graph) {
  const rows = { refinement: refinedCodes, propagation: propagatedCodes, paths: pathCodes }[spec.kind](spec, graph);
  return spec.attributes ? joinedCodes(spec, graph, rows) : rows;
}

/** The label with which a node starts: its own, or one that stands for its degree. */
function startLabel(spec, graph, node) {
  let label = 0;
  if (spec.source === "node") label = graph.labels[node];
  else if (spec.source !== null) {
    const degree = graph.ptr[node + 1] - graph.ptr[node];
    if (spec.source === "degree") label = Math.min(degree, spec.unknown - 1);
    else label = degree === 0 ? spec.unknown - 1 : 31 - Math.clz32(degree);
  }
  return label < 0 ? spec.unknown : label;
}

/** The keys of the labels with which nodes start. */
function startKeys(spec, graph, firstKey) {
  const keys = new Uint32Array(2 * graph.n);
  for (let i = 0; i < graph.n; i++) {
    const row = 2 * (firstKey + startLabel(spec, graph, i));
    keys.set(spec.keys.subarray(row, row + 2), 2 * i);
  }
  return keys;
}

/** Write low and high as an item of a row. */
function put(row, item) {
  row[2 * item] = low;
  row[2 * item + 1] = high;
}

/** The row of an edge's kind among keys or factors of kinds. */
function kindRow(spec, graph, edge) {
  return graph.kinds[edge] < 0 ? spec.unknownEdge : graph.kinds[edge];
}

/** Weisfeiler-Lehman: streams by iteration, then by entry of the labels (one, where labels are whole). */
function refinedCodes(spec, graph) {
  const byEntry = Array.from({ length: spec.entries }, (_, entry) => refinedEntry(spec, graph, entry * (spec.unknown + 1)));
  const rows = [];
  for (let t = 0; t <= spec.steps; t++) for (const entry of byEntry) rows.push(entry[t]);
  return rows;
}

/** A node's next code mixes its own and the sum of its neighbors' (multiset_codes). */
function refinedEntry(spec, graph, firstKey) {
  const { n } = graph;
  let now = startKeys(spec, graph, firstKey);
  const rows = [now];
  const mixed = new Uint32Array(2 * n);
  for (let t = 1; t <= spec.steps; t++) {
    const then = new Uint32Array(2 * n);
    for (let i = 0; i < n; i++) {
      mixOther(now[2 * i], now[2 * i + 1]);
      put(mixed, i);
    }
    for (let i = 0; i < n; i++) {
      sumOfNeighbors(spec, graph, i, mixed);
      const sumLow = low, sumHigh = high;
      mixWord(now[2 * i], now[2 * i + 1]);
      add(low, high, sumLow, sumHigh);
      mixWord(low, high);
      put(then, i);
    }
    rows.push(then);
    now = then;
  }
  for (const row of rows) replaceNotCounted(row);
  return rows;
}

/** low, high = the sum of the mixed codes of a node's neighbors, with the keys of the edges to them. */
function sumOfNeighbors(spec, graph, node, mixed) {
  let sumLow = 0, sumHigh = 0;
  for (let e = graph.ptr[node]; e < graph.ptr[node + 1]; e++) {
    const j = 2 * graph.ends[e];
    low = mixed[j];
    high = mixed[j + 1];
    if (spec.edgeKeys) {
      const kind = 2 * kindRow(spec, graph, e);
      mixWord((low ^ spec.edgeKeys[kind]) >>> 0, (high ^ spec.edgeKeys[kind + 1]) >>> 0);
    }
    add(sumLow, sumHigh, low, high);
    sumLow = low;
    sumHigh = high;
  }
  low = sumLow;
  high = sumHigh;
}

/** No refined code is the one that means "not counted" (as_streams). */
function replaceNotCounted(row) {
  for (let i = 0; i < row.length; i += 2) {
    if (row[i] === 0 && row[i + 1] === NOT_COUNTED) {
      row[i] = 0x4c957f2d;
      row[i + 1] = 0x5851f42d;
    }
  }
}

/** Projections make t affine steps and are hashed (propagate_and_hash). Stream s is hash s % hashes of t. */
function propagatedCodes(spec, graph) {
  const start = Int32Array.from({ length: graph.n }, (_, i) => startLabel(spec, graph, i));
  if (spec.byKey) fillLabels(spec, graph, start);
  const step = affineStep(spec.scheme, graph, start, spec.unknown);
  const rows = [];
  for (let s = 0; s < spec.streams; s++) {
    const projected = Float64Array.from(start, (label) => spec.projected[label * spec.streams + s]);
    rows.push(hashed(walked(spec, graph, step, s, Math.floor(s / spec.hashes), projected), spec.offsets[s]));
  }
  return rows;
}

/** Missing labels become those that absorb most walks of five steps, inside the graph (fill_labels). */
function fillLabels(spec, graph, start) {
  const counts = new Map();
  for (const label of start) if (label !== spec.unknown) counts.set(label, (counts.get(label) || 0) + 1);
  if (!counts.size || !start.includes(spec.unknown)) return;
  const step = affineStep({ name: "absorption" }, graph, start, spec.unknown);
  const best = new Float64Array(graph.n).fill(-1), frequent = new Float64Array(graph.n), chosen = start.slice();
  for (const label of spec.byKey.filter((value) => counts.has(value))) {
    const now = walked({}, graph, step, 0, 5, Float64Array.from(start, (own) => (own === label ? 1 : 0)));
    for (let i = 0; i < graph.n; i++) {
      const share = rint(now[i] * 2 ** 30), count = counts.get(label);
      if (share < best[i] || (share === best[i] && count <= frequent[i])) continue;
      [best[i], frequent[i], chosen[i]] = [share, count, label];
    }
  }
  for (let i = 0; i < graph.n; i++) if (start[i] === spec.unknown) start[i] = chosen[i];
}

/** The nearest whole number; halves go to the even one. */
function rint(x) {
  const nearest = Math.round(x);
  return nearest - x === 0.5 && nearest % 2 ? nearest - 1 : nearest;
}

/** The step x'_i = spread_i * sum_j x_j + keep_i x_i of a scheme (AffineOperator). */
function affineStep({ name, laziness, normalization }, graph, start, unknown) {
  const degrees = Array.from({ length: graph.n }, (_, i) => graph.ptr[i + 1] - graph.ptr[i]);
  if (name === "absorption") {
    const held = degrees.map((degree, i) => degree === 0 || start[i] !== unknown);
    return { spread: degrees.map((degree, i) => (held[i] ? 0 : 1 / degree)), keep: held.map(Number) };
  }
  const isSum = normalization === "none";
  return {
    spread: degrees.map((degree) => (isSum ? 0.5 : degree ? (1 - laziness) * (1 / degree) : 0)),
    keep: degrees.map((degree) => (degree === 0 ? 1 : isSum ? laziness / 2 : laziness)),
  };
}

/** The values of a stream after t steps. */
function walked(spec, graph, step, s, t, now) {
  let then = new Float64Array(graph.n);
  for (let made = 0; made < t; made++) {
    walk(spec, graph, step, s, made, now, then);
    [now, then] = [then, now];
  }
  return now;
}

/** One step of a stream's values, from `now` to `then`; `made` steps were made before. */
function walk(spec, graph, { spread, keep }, s, made, now, then) {
  const { n, ptr, ends } = graph;
  const { factors, streams } = spec;
  for (let i = 0; i < n; i++) {
    let sum = 0;
    if (spread[i] !== 0) {
      for (let e = ptr[i]; e < ptr[i + 1]; e++) {
        sum += (factors ? factors[(made * (spec.unknownEdge + 1) + kindRow(spec, graph, e)) * streams + s] : 1) * now[ends[e]];
      }
      sum *= spread[i];
    }
    if (keep[i] !== 0) sum += keep[i] * now[i];
    then[i] = sum;
  }
}

function hashed(values, offset) {
  const row = new Uint32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    floorCode(values[i] + offset);
    put(row, i);
  }
  return row;
}

/** low, high = the floor of a value, or the leading bits of a large one (floor_codes). */
function floorCode(value) {
  if (Math.abs(value) < LARGEST_FLOOR) {
    const floor = Math.floor(value);
    const upper = Math.floor(floor / 4294967296);
    low = floor - upper * 4294967296;
    high = upper >>> 0;
  } else {
    float[0] = value;
    low = (floatWords[0] & 0xffff0000) >>> 0;
    high = floatWords[1];
  }
}

/** Label codes joined with codes of fixed attributes: by iteration, bin width, hash and, where these are added, column. */
function joinedCodes(spec, graph, labelRows) {
  const { columns, hashes, widths } = spec.attributes;
  const own = Array.from({ length: graph.n }, (_, i) => attributeWords(spec, graph, i));
  const rows = [];
  for (let first = 0, stream = 0; first < labelRows.length; first += hashes) {
    for (let part = 0; part < widths * hashes; part++) {
      for (let c = 0; c < columns; c++, stream++) {
        const row = labelRows[first + (part % hashes)].slice();
        for (let i = 0; i < graph.n; i++) joinWord(row, 2 * i, own[i][2 * stream], own[i][2 * stream + 1]);
        rows.push(row);
      }
    }
  }
  return rows;
}

const KEPT_NODES = 2000; // whose attribute codes are kept: they do not depend on edges, and edits touch few nodes

/** Codes of a node's attributes in all streams; an added node has none, which is a code of its own. */
function attributeWords(spec, graph, node) {
  const origin = graph.origin[node];
  if (!spec.kept || spec.kept.size > KEPT_NODES) spec.kept = new Map();
  if (!spec.kept.has(origin)) spec.kept.set(origin, newAttributeWords(spec, standardized(spec, graph, origin)));
  return spec.kept.get(origin);
}

/** Attributes of a node as the kernel hashes them; NaN is missing. */
function standardized({ mean, deviation }, graph, origin) {
  return mean.map((shift, c) => (origin < 0 ? NaN : (graph.attributes[origin * mean.length + c] - shift) / deviation[c]));
}

/** One code per block of vectors and column (hash_columns), or one per block that is equal where those of all columns are. */
function newAttributeWords({ attributes, vectors, attributeOffsets }, values) {
  const { combine, columns, width } = attributes;
  const words = new Uint32Array(2 * (vectors.length / width) * columns);
  for (let k = 0; k < vectors.length; k++) {
    attributeCode(values[k % width] * vectors[k] + attributeOffsets[k]);
    if (combine === "sum") words.set([low, high], 2 * k);
    else joinWord(words, 2 * Math.floor(k / width), low, high);
  }
  return words;
}

/** low, high = the code of an attribute, or that of a missing one. */
function attributeCode(value) {
  if (Number.isNaN(value)) {
    low = 0x73696e67;
    high = 0x6d6973;
  } else floorCode(value);
}

/** Join the code at a place of a row with another one; what is not counted stays so (join_codes). */
function joinWord(row, at, otherLow, otherHigh) {
  if (row[at] === 0 && row[at + 1] === NOT_COUNTED) return;
  multiply(row[at], row[at + 1], 0x7f4a7c15, 0x9e3779b9);
  add(low, high, otherLow, otherHigh);
  multiply((low ^ high) >>> 0, high, 0x6659fd93, 0xd6e8feb8);
  row[at] = (low ^ ((low >>> 29) | (high << 3))) >>> 0;
  row[at + 1] = (high ^ (high >>> 29)) >>> 0;
}

/** Shortest paths: the code of the ordered pair (u, v) is item u * n + v, and mixes both labels with the path (triplet_codes). */
function pathCodes(spec, graph) {
  const { n } = graph;
  const keys = startKeys(spec, graph, 0);
  const row = new Uint32Array(2 * n * n);
  for (let u = 0; u < n; u++) {
    const words = pathWords(spec, graph, u);
    mixWord(keys[2 * u], keys[2 * u + 1]);
    const startLow = low, startHigh = high;
    for (let v = 0; v < n; v++) {
      const at = 2 * (u * n + v);
      if (u === v || (words[2 * v] === 0 && words[2 * v + 1] === 0)) {
        row[at + 1] = NOT_COUNTED;
        continue;
      }
      mixOther((keys[2 * v] ^ words[2 * v]) >>> 0, (keys[2 * v + 1] ^ words[2 * v + 1]) >>> 0);
      add(startLow, startHigh, low, high);
      mixWord(low, high);
      put(row, u * n + v);
    }
  }
  return [row];
}

/** Words that stand for the shortest paths from a node: their lengths or, with edge labels, the labels along all of them. */
function pathWords(spec, graph, source) {
  const { n, ptr, ends } = graph;
  const words = new Uint32Array(2 * n);
  const distances = new Int32Array(n).fill(-1);
  const queue = [source];
  distances[source] = 0;
  words[2 * source] = 1;
  for (let head = 0; head < queue.length; head++) {
    const u = queue[head];
    for (let e = ptr[u]; e < ptr[u + 1]; e++) {
      const v = ends[e];
      if (distances[v] < 0) {
        distances[v] = distances[u] + 1;
        queue.push(v);
      }
      if (distances[v] !== distances[u] + 1) continue;
      if (spec.edgeKeys) addPath(spec, graph, e, words, u, v);
      else {
        float[0] = distances[v];
        words.set(floatWords, 2 * v);
      }
    }
  }
  return words;
}

/** Add the paths to v over u and one more edge (path_words). The edge's length is 1. */
function addPath(spec, graph, edge, words, u, v) {
  const kind = 2 * kindRow(spec, graph, edge);
  mixWord(0, 0x3ff00000); // the bits of 1.0
  const lengthLow = low, lengthHigh = high;
  mixOther(spec.edgeKeys[kind], spec.edgeKeys[kind + 1]);
  add(low, high, lengthLow, lengthHigh);
  mixWord((low ^ words[2 * u]) >>> 0, (high ^ words[2 * u + 1]) >>> 0);
  add(low, high, words[2 * v], words[2 * v + 1]);
  put(words, v);
}
