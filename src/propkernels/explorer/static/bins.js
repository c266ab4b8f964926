// Bins of all graphs of the page, by vocabulary: a code function, and the number of each bin in each of its streams.

const seenCodes = new WordTable(); // workspace of groupedItems

/** Group the items of a stream by code. `bins` are numbers of known bins, -1 for others; `group` is the group of each item. */
function groupedItems(row, table) {
  const n = row.length / 2;
  const group = new Int32Array(n).fill(-1);
  const bins = [], counts = [];
  seenCodes.clear();
  for (let i = 0; i < n; i++) {
    const wordLow = row[2 * i], wordHigh = row[2 * i + 1];
    if (wordLow === 0 && wordHigh === NOT_COUNTED) continue;
    const at = seenCodes.number(wordLow, wordHigh);
    if (at === bins.length) {
      bins.push(table.find(wordLow, wordHigh));
      counts.push(0);
    }
    counts[at]++;
    group[i] = at;
  }
  return { bins, counts, group };
}

/** What a graph shares with itself in a stream: the sum of its counts (assigned), or of their squares. */
function ownSum(counts, assigned) {
  let sum = 0;
  for (const count of counts) sum += assigned ? count : count * count;
  return sum;
}

/** A code function with the bins of all graphs, numbered in the order in which they occur, and where they occur. */
class Vocabulary {
  /** `spec`: settings and arrays of the code function; extra0, ... are codes of bins that only the model has. */
  constructor(collection, spec) {
    this.collection = collection;
    this.spec = spec;
    this.pairs = spec.kind === "paths"; // items are ordered pairs of nodes
    this.tables = spec.iterations.map(() => new WordTable(collection.first[collection.length] / 4));
    this.entries = spec.iterations.map(() => ({ bins: [], counts: [], ptr: new Uint32Array(collection.length + 1) }));
    this.sum = 0; // of the lower halves of all codes, which Python has added up too
  }

  /** Whether codes depend on edges: not if nodes are counted by their labels and attributes alone. */
  get readsEdges() {
    const { kind, source, iterations } = this.spec;
    return kind === "paths" || (source !== "node" && source !== null) || Math.max(...iterations) > 0;
  }

  /** Number the bins of the next graph. */
  add(g, graph) {
    for (const [s, row] of codesOf(this.spec, graph).entries()) {
      const table = this.tables[s], entry = this.entries[s];
      for (let i = 0; i < row.length; i += 2) {
        this.sum = (this.sum + row[i]) >>> 0;
        if (row[i] !== 0 || row[i + 1] !== NOT_COUNTED) table.number(row[i], row[i + 1]);
      }
      const { bins, counts } = groupedItems(row, table);
      for (let k = 0; k < bins.length; k++) {
        entry.bins.push(bins[k]);
        entry.counts.push(counts[k]);
      }
      entry.ptr[g + 1] = entry.bins.length;
    }
  }

  /** From graph -> bins to bin -> graphs. Bins of the model that no graph of the page has are numbered last. */
  finish() {
    const n = this.collection.length;
    this.own = [false, true].map((assigned) => this.entries.map(({ counts, ptr }) =>
      Float64Array.from({ length: n }, (_, g) => ownSum(counts.slice(ptr[g], ptr[g + 1]), assigned))));
    this.tables.forEach((table, s) => {
      const words = this.spec[`extra${s}`] || [];
      for (let i = 0; i < words.length; i += 2) table.number(words[i], words[i + 1]);
    });
    this.postings = this.entries.map((entry, s) => inverted(entry, this.tables[s].size, n));
    this.entries = null;
  }

  /** Codes of a graph, grouped: for each stream, the bin of each item and the number of items in each bin. */
  count(graph) {
    const codes = codesOf(this.spec, graph);
    const streams = codes.map((row, s) => groupedItems(row, this.tables[s]));
    const own = [false, true].map((assigned) => streams.map(({ counts }) => ownSum(counts, assigned)));
    return { codes, streams, own };
  }

  /** Share what the groups of a stream add equally among their nodes. */
  shareOut({ group, counts }, values, n, nodes) {
    for (let i = 0; i < group.length; i++) {
      if (group[i] < 0) continue;
      const value = values[group[i]] / counts[group[i]];
      if (this.pairs) {
        nodes[Math.floor(i / n)] += value / 2;
        nodes[i % n] += value / 2;
      } else nodes[i] += value;
    }
  }
}

/** Add to `values` what a stream of a counted graph shares with each graph of inverted counts. */
function addShared({ bins, counts }, { starts, graphs, counts: others }, assigned, values) {
  for (const [k, bin] of bins.entries()) {
    if (bin < 0) continue;
    const own = counts[k];
    for (let p = starts[bin]; p < starts[bin + 1]; p++) values[graphs[p]] += assigned ? Math.min(own, others[p]) : own * others[p];
  }
}

function inverted({ bins, counts, ptr }, nBins, n) {
  const starts = new Uint32Array(nBins + 1);
  for (const bin of bins) starts[bin + 1]++;
  for (let b = 0; b < nBins; b++) starts[b + 1] += starts[b];
  const next = starts.slice();
  const graphs = new Uint32Array(bins.length), numbers = new Uint32Array(bins.length);
  for (let g = 0; g < n; g++) {
    for (let k = ptr[g]; k < ptr[g + 1]; k++) {
      graphs[next[bins[k]]] = g;
      numbers[next[bins[k]]++] = counts[k];
    }
  }
  return { starts, graphs, counts: numbers };
}

/** All vocabularies of the page. */
class Index {
  constructor(collection, specs) {
    this.collection = collection;
    this.vocabularies = specs.map((spec) => new Vocabulary(collection, spec));
    this.steps = Math.max(...specs.flatMap((spec) => spec.iterations)) + 1;
    this.done = 0;
    this.complete = false;
  }

  /** Number the bins of some more graphs, until a deadline; returns whether all are done. */
  work(deadline) {
    while (this.done < this.collection.length) {
      const graph = this.collection.graph(this.done);
      for (const vocabulary of this.vocabularies) vocabulary.add(this.done, graph);
      this.done++;
      if ((this.done & 15) === 0 && performance.now() > deadline) break;
    }
    if (this.done < this.collection.length) return false;
    for (const vocabulary of this.vocabularies) vocabulary.finish();
    this.complete = true;
    return true;
  }

  count(graph) {
    return { graph, parts: this.vocabularies.map((vocabulary) => vocabulary.count(graph)) };
  }
}
