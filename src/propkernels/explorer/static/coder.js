// The code function: what Python's kernels give each node at each iteration, to the bit.
// A graph is {n, labels, ptr, ends, kinds}: CSR arrays with neighbors in ascending order, kinds of edges or null.

const LARGEST_FLOOR = 2 ** 36;
const float = new Float64Array(1);
const floatWords = new Uint32Array(float.buffer);
const NOT_COUNTED = 0x80000000; // the upper half of the code of a node that is not counted; the lower one is 0

/** The label with which a node starts: its own, or one that stands for its degree. */
function startLabel(spec, graph, node) {
  if (spec.source === "node") return graph.labels[node];
  if (spec.source === null) return 0;
  const degree = graph.ptr[node + 1] - graph.ptr[node];
  if (spec.source === "degree") return Math.min(degree, spec.largest);
  return degree === 0 ? spec.largest : 31 - Math.clz32(degree);
}

/** Codes of all nodes: for each stream, a Uint32Array of (low, high) of each node. */
function codesOf(spec, graph) {
  return spec.kind === "refinement" ? refinedCodes(spec, graph) : diffusedCodes(spec, graph);
}

/** Weisfeiler-Lehman: a node's next code mixes its own and the sum of its neighbors' (multiset_codes). */
function refinedCodes(spec, graph) {
  const { n, ptr, ends, kinds } = graph;
  const rows = [];
  let now = new Uint32Array(2 * n);
  for (let i = 0; i < n; i++) {
    const label = startLabel(spec, graph, i);
    const row = label < 0 ? spec.unknown : label;
    now[2 * i] = spec.keys[2 * row];
    now[2 * i + 1] = spec.keys[2 * row + 1];
  }
  rows.push(now);
  const mixed = new Uint32Array(2 * n);
  for (let t = 1; t <= spec.steps; t++) {
    const then = new Uint32Array(2 * n);
    for (let i = 0; i < n; i++) {
      mixOther(now[2 * i], now[2 * i + 1]);
      mixed[2 * i] = low;
      mixed[2 * i + 1] = high;
    }
    for (let i = 0; i < n; i++) {
      let sumLow = 0, sumHigh = 0;
      for (let e = ptr[i]; e < ptr[i + 1]; e++) {
        const j = 2 * ends[e];
        if (spec.edgeKeys) {
          const kind = kinds[e] < 0 ? spec.unknownEdge : kinds[e];
          mixWord((mixed[j] ^ spec.edgeKeys[2 * kind]) >>> 0, (mixed[j + 1] ^ spec.edgeKeys[2 * kind + 1]) >>> 0);
          add(sumLow, sumHigh, low, high);
        } else {
          add(sumLow, sumHigh, mixed[j], mixed[j + 1]);
        }
        sumLow = low;
        sumHigh = high;
      }
      mixWord(now[2 * i], now[2 * i + 1]);
      add(low, high, sumLow, sumHigh);
      mixWord(low, high);
      then[2 * i] = low;
      then[2 * i + 1] = high;
    }
    rows.push(then);
    now = then;
  }
  for (const row of rows) {
    for (let i = 0; i < n; i++) {
      if (row[2 * i] === 0 && row[2 * i + 1] === NOT_COUNTED) {
        row[2 * i] = 0x4c957f2d;
        row[2 * i + 1] = 0x5851f42d;
      }
    }
  }
  return rows;
}

/** Diffusion: projections make t steps and are hashed (propagate_and_hash). Stream s is hash s % hashes of t. */
function diffusedCodes(spec, graph) {
  const { n } = graph;
  const rows = [];
  for (let s = 0; s < spec.streams; s++) {
    let now = new Float64Array(n);
    let then = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const label = startLabel(spec, graph, i);
      now[i] = spec.projected[(label < 0 ? spec.unknown : label) * spec.streams + s];
    }
    const t = Math.floor(s / spec.hashes);
    for (let step = 1; step <= t; step++) {
      diffuse(spec, graph, s, step, now, then);
      [now, then] = [then, now];
    }
    rows.push(hashed(spec, graph, now, s, t));
  }
  return rows;
}

function diffuse(spec, graph, s, step, now, then) {
  const { n, ptr, ends, kinds } = graph;
  const { factors, streams, edgeLabels } = spec;
  for (let i = 0; i < n; i++) {
    const degree = ptr[i + 1] - ptr[i];
    const spread = spec.row ? (degree ? (1 - spec.laziness) * (1 / degree) : 0) : 0.5;
    const keep = degree === 0 ? 1 : spec.row ? spec.laziness : spec.laziness / 2;
    let sum = 0;
    if (spread !== 0) {
      for (let e = ptr[i]; e < ptr[i + 1]; e++) {
        if (factors) {
          const kind = kinds[e] < 0 ? edgeLabels - 1 : kinds[e];
          sum += factors[((step - 1) * edgeLabels + kind) * streams + s] * now[ends[e]];
        } else {
          sum += now[ends[e]];
        }
      }
      sum *= spread;
    }
    if (keep !== 0) sum += keep * now[i];
    then[i] = sum;
  }
}

function hashed(spec, graph, values, s, t) {
  const row = new Uint32Array(2 * graph.n);
  for (let i = 0; i < graph.n; i++) {
    const value = values[i] + spec.offsets[s];
    if (Math.abs(value) < LARGEST_FLOOR) {
      const floor = Math.floor(value);
      const upper = Math.floor(floor / 4294967296);
      row[2 * i] = floor - upper * 4294967296;
      row[2 * i + 1] = upper;
    } else {
      float[0] = value;
      row[2 * i] = floatWords[0] & 0xffff0000;
      row[2 * i + 1] = floatWords[1];
    }
    if (spec.vanish && t > 0 && graph.ptr[i + 1] === graph.ptr[i]) {
      row[2 * i] = 0;
      row[2 * i + 1] = NOT_COUNTED;
    }
  }
  return row;
}
