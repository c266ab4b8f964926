// What the page carries: JSON for small things, gzipped typed arrays for large ones.

const ARRAYS = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array, i2: Int16Array, i4: Int32Array,
  f4: Float32Array, f8: Float64Array,
};

function readJSON(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

/** Unpack a section: {base64, arrays: [{name, type, offset, length}]} becomes typed arrays by name. */
async function unpack(section) {
  const text = atob(section.base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const found = {};
  for (const { name, type, offset, length } of section.arrays) {
    found[name] = new ARRAYS[type](buffer, offset, length);
  }
  return found;
}

/** All graphs: flat arrays, from which one graph is cut out at a time. */
class Collection {
  /** `packed`: sizes of graphs, forward degrees of nodes, steps to the other ends, labels, kinds; `directed`: each direction is listed. */
  constructor(packed, directed, kindNames = []) {
    Object.assign(this, { packed, directed, kindNames, length: packed.sizes.length, first: cumulated(packed.sizes) });
    this.firstEdge = new Uint32Array(this.length + 1);
    let edges = 0;
    for (let g = 0; g < this.length; g++) {
      for (let i = this.first[g]; i < this.first[g + 1]; i++) edges += packed.degrees[i];
      this.firstEdge[g + 1] = edges;
    }
  }

  size(g) {
    return this.first[g + 1] - this.first[g];
  }

  /** Edges as a list of [from, to, kind, wedge]; undirected ones once. */
  edges(g) {
    const { degrees, steps, kinds, wedges } = this.packed;
    const list = [];
    let e = this.firstEdge[g];
    for (let i = this.first[g]; i < this.first[g + 1]; i++) {
      for (let k = 0; k < degrees[i]; k++, e++) {
        const from = i - this.first[g];
        list.push([from, from + steps[e], kinds ? kinds[e] : -1, wedges ? wedges[e] : 0]);
      }
    }
    return list;
  }

  /** One graph, ready for codesOf. */
  graph(g) {
    const { labels } = this.packed;
    const origin = Int32Array.from({ length: this.size(g) }, (_, i) => this.first[g] + i);
    const graph = assembled(this.size(g), origin.map((i) => (labels ? labels[i] : 0)), this.edges(g), this.directed, origin, this.packed.attributes);
    if (this.packed.hydrogens) graph.atoms = this._atoms(g, graph);
    return graph;
  }

  /** What edits start from: hydrogens and charge of each atom, and the sum of the orders of its bonds. */
  _atoms(g, graph) {
    const { hydrogens, charges } = this.packed;
    return Array.from({ length: graph.n }, (_, i) => ({
      hydrogens: hydrogens[this.first[g] + i], charge: charges[this.first[g] + i], sum: valenceOf(graph, i, this.kindNames)[0],
    }));
  }
}

function cumulated(sizes) {
  const sums = new Uint32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) sums[i + 1] = sums[i] + sizes[i];
  return sums;
}

/** CSR arrays of a graph from its list of edges; neighbors ascending, parallel edges in the order of the list. */
function assembled(n, labels, edges, directed, origin, attributes) {
  const ptr = new Int32Array(n + 1);
  for (const [from, to] of edges) {
    ptr[from + 1]++;
    if (!directed && from !== to) ptr[to + 1]++;
  }
  for (let i = 0; i < n; i++) ptr[i + 1] += ptr[i];
  const ends = new Int32Array(ptr[n]);
  const kinds = new Int32Array(ptr[n]);
  const next = ptr.slice(0, n);
  const place = (from, to, kind) => { ends[next[from]] = to; kinds[next[from]++] = kind; };
  // edges are sorted by (from, to): first what comes from smaller nodes, then what leads to larger ones
  if (!directed) for (const [from, to, kind] of edges) if (from !== to) place(to, from, kind);
  for (const [from, to, kind] of edges) place(from, to, kind);
  return { n, labels, ptr, ends, kinds, edges, directed, origin, attributes };
}

/** A wedge whose edge is listed from its other end: 1 and 3 begin at the first node, 2 and 4 at the second. */
function turnedWedge(wedge) {
  return wedge ? wedge + (wedge % 2 ? 1 : -1) : 0;
}

/** A graph with edges in any order. */
function builtGraph(n, labels, edges, directed, origin, attributes) {
  const sorted = edges.map(([a, b, kind, wedge = 0]) => (directed || a <= b ? [a, b, kind, wedge] : [b, a, kind, turnedWedge(wedge)]));
  sorted.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  return assembled(n, labels, sorted, directed, origin, attributes);
}
