// Bins of all graphs, one weight per bin, decisions, their explanation, and similar graphs.

/** Codes of one graph, grouped: for each stream, the bin of each node and the number of nodes in each bin. */
class Counted {
  constructor(index, graph) {
    this.graph = graph;
    this.codes = codesOf(index.spec, graph);
    this.streams = this.codes.map((row, s) => groupedNodes(row, graph.n, index.tables[s]));
    this.square = 0;
    for (const [s, stream] of this.streams.entries()) {
      let square = 0;
      for (const count of stream.counts) square += index.assigned ? count : count * count;
      this.square += index.streamWeights[s] * square;
    }
  }
}

/** Group nodes by code. `bins` are numbers of known bins, -1 for others; `group` is the group of each node. */
function groupedNodes(row, n, table) {
  const group = new Int32Array(n).fill(-1);
  const bins = [], counts = [], firsts = [];
  const known = new Map();
  for (let i = 0; i < n; i++) {
    const wordLow = row[2 * i], wordHigh = row[2 * i + 1];
    if (wordLow === 0 && wordHigh === NOT_COUNTED) continue;
    const key = wordHigh * 2097152 + (wordLow >>> 11); // exact in a float; the rest is compared below
    let at = known.get(key);
    while (at !== undefined && row[2 * firsts[at]] !== wordLow) at = known.get(`${key}/${wordLow}`);
    if (at === undefined) {
      at = bins.length;
      known.set(known.has(key) ? `${key}/${wordLow}` : key, at);
      bins.push(table.find(wordLow, wordHigh));
      counts.push(0);
      firsts.push(i);
    }
    counts[at]++;
    group[i] = at;
  }
  return { bins, counts, group, firsts };
}

/** All bins of all graphs of the page, numbered in the order in which they occur, and where they occur. */
class Index {
  constructor(collection, spec, kernel) {
    this.collection = collection;
    this.spec = spec;
    this.assigned = kernel.assigned;
    this.streamWeights = kernel.streamWeights;
    this.iterations = kernel.iterations;
    this.steps = Math.max(...kernel.iterations) + 1;
    this.tables = kernel.streamWeights.map(() => new WordTable(collection.first[collection.length] / 4));
    this.entries = kernel.streamWeights.map(() => ({ bins: [], counts: [], ptr: new Uint32Array(collection.length + 1) }));
    this.squares = new Float64Array(collection.length);
    this.done = 0;
    this.sum = 0; // of the lower halves of all codes, which Python has added up too
  }

  /** Number the bins of some more graphs, until a deadline; returns whether all are done. */
  work(deadline) {
    while (this.done < this.collection.length) {
      this._addGraph(this.done++);
      if ((this.done & 15) === 0 && performance.now() > deadline) break;
    }
    if (this.done < this.collection.length) return false;
    this._invert();
    return true;
  }

  _addGraph(g) {
    const graph = this.collection.graph(g);
    const codes = codesOf(this.spec, graph);
    for (const [s, row] of codes.entries()) {
      const table = this.tables[s], entry = this.entries[s];
      for (let i = 0; i < graph.n; i++) {
        this.sum = (this.sum + row[2 * i]) >>> 0;
        if (row[2 * i] !== 0 || row[2 * i + 1] !== NOT_COUNTED) table.number(row[2 * i], row[2 * i + 1]);
      }
      const { bins, counts } = groupedNodes(row, graph.n, table);
      let square = 0;
      for (let k = 0; k < bins.length; k++) {
        entry.bins.push(bins[k]);
        entry.counts.push(counts[k]);
        square += this.assigned ? counts[k] : counts[k] * counts[k];
      }
      entry.ptr[g + 1] = entry.bins.length;
      this.squares[g] += this.streamWeights[s] * square;
    }
  }

  /** From graph -> bins to bin -> graphs. */
  _invert() {
    this.postings = this.entries.map((entry, s) => {
      const starts = new Uint32Array(this.tables[s].size + 1);
      for (const bin of entry.bins) starts[bin + 1]++;
      for (let b = 0; b < this.tables[s].size; b++) starts[b + 1] += starts[b];
      const next = starts.slice();
      const graphs = new Uint32Array(entry.bins.length), counts = new Uint32Array(entry.bins.length);
      for (let g = 0; g < this.collection.length; g++) {
        for (let k = entry.ptr[g]; k < entry.ptr[g + 1]; k++) {
          graphs[next[entry.bins[k]]] = g;
          counts[next[entry.bins[k]]++] = entry.counts[k];
        }
      }
      return { starts, graphs, counts };
    });
    this.entries = null;
  }

  count(graph) {
    return new Counted(this, graph);
  }

  /** Normalized kernel between a counted graph and all graphs of the page. */
  similarities(counted) {
    const values = new Float64Array(this.collection.length);
    for (const [s, stream] of counted.streams.entries()) {
      const { starts, graphs, counts } = this.postings[s];
      const weight = this.streamWeights[s];
      for (const [k, bin] of stream.bins.entries()) {
        if (bin < 0) continue;
        const own = stream.counts[k];
        for (let p = starts[bin]; p < starts[bin + 1]; p++) {
          values[graphs[p]] += weight * (this.assigned ? Math.min(own, counts[p]) : own * counts[p]);
        }
      }
    }
    for (let g = 0; g < values.length; g++) {
      const squares = counted.square * this.squares[g];
      values[g] = squares > 0 ? values[g] / Math.sqrt(squares) : 0;
    }
    return values;
  }

  /** The most similar graphs, best first, without one of them. */
  nearest(counted, k, without = -1) {
    const values = this.similarities(counted);
    const best = [];
    for (let g = 0; g < values.length; g++) {
      if (g === without || (best.length === k && values[g] <= best[k - 1].similarity)) continue;
      let at = best.length;
      while (at > 0 && best[at - 1].similarity < values[g]) at--;
      best.splice(at, 0, { graph: g, similarity: values[g] });
      if (best.length > k) best.pop();
    }
    return best;
  }

  /** What each node of two graphs has in common with the other: each shared bin's part, shared out. */
  shared(one, other) {
    const parts = [new Float64Array(one.graph.n), new Float64Array(other.graph.n)];
    const scale = one.square * other.square > 0 ? 1 / Math.sqrt(one.square * other.square) : 0;
    for (let s = 0; s < one.streams.length; s++) {
      const a = one.streams[s], b = other.streams[s];
      const where = new Map();
      b.firsts.forEach((node, k) => where.set(wordKey(other.codes[s], node), k));
      a.firsts.forEach((node, k) => {
        const match = where.get(wordKey(one.codes[s], node));
        if (match === undefined) return;
        const common = this.assigned ? Math.min(a.counts[k], b.counts[match]) : a.counts[k] * b.counts[match];
        const adds = this.streamWeights[s] * common * scale;
        for (let i = 0; i < one.graph.n; i++) if (a.group[i] === k) parts[0][i] += adds / a.counts[k];
        for (let i = 0; i < other.graph.n; i++) if (b.group[i] === match) parts[1][i] += adds / b.counts[match];
      });
    }
    return parts;
  }
}

function wordKey(row, node) {
  return `${row[2 * node + 1]}/${row[2 * node]}`;
}

/** The folded model: weights of bins (and of levels of bins), in the order of the index. */
class Model {
  /**
   * @param {Index} index complete
   * @param {object} meta {columns, normalize, intercepts, layout, classes}
   * @param {object} arrays weights0, most0, extra0 (words), extraWeights0, ... by stream
   */
  constructor(index, meta, arrays) {
    this.index = index;
    Object.assign(this, meta);
    this.streams = index.tables.map((table, s) => {
      const most = arrays[`most${s}`] || null;
      const extra = new WordTable(8);
      const words = arrays[`extra${s}`] || [];
      for (let i = 0; i < words.length; i += 2) extra.number(words[i], words[i + 1]);
      return {
        weights: arrays[`weights${s}`], most, starts: most ? cumulated(most) : null,
        extra, extraWeights: arrays[`extraWeights${s}`] || null,
      };
    });
  }

  /** Sum of the weights, in one decision column, of a group's count in a stream. */
  _value(stream, row, bin, count, node, column) {
    if (!this.index.assigned) return count * this._weight(stream, row, bin, 1, node, column);
    let value = 0;
    for (let level = 1; level <= count; level++) value += this._weight(stream, row, bin, level, node, column);
    return value;
  }

  _weight(stream, row, bin, level, node, column) {
    if (bin >= 0 && level <= (stream.most ? stream.most[bin] : 1)) {
      const at = stream.most ? stream.starts[bin] + level - 1 : bin;
      return stream.weights[at * this.columns + column];
    }
    if (!stream.extra.size) return 0;
    low = row[2 * node];
    high = row[2 * node + 1];
    if (level > 1) mixPair(low, high, level);
    const found = stream.extra.find(low, high);
    return found < 0 ? 0 : stream.extraWeights[found * this.columns + column];
  }

  _scale(counted) {
    if (!this.normalize) return 1;
    return counted.square > 0 ? 1 / Math.sqrt(counted.square) : 0;
  }

  /** Decision values, one for each column, with intercepts. */
  decisions(counted) {
    const values = new Float64Array(this.columns);
    for (const [s, stream] of this.streams.entries()) {
      const { bins, counts, firsts } = counted.streams[s];
      for (let column = 0; column < this.columns; column++) {
        let sum = 0;
        for (let k = 0; k < bins.length; k++) {
          sum += this._value(stream, counted.codes[s], bins[k], counts[k], firsts[k], column);
        }
        values[column] += sum;
      }
    }
    const scale = this._scale(counted);
    return values.map((value, column) => value * scale + this.intercepts[column]);
  }

  /** What each node adds at each iteration to a weighted sum of the columns: an array for each iteration. */
  contributions(counted, share) {
    const parts = Array.from({ length: this.index.steps }, () => new Float64Array(counted.graph.n));
    const scale = this._scale(counted);
    for (const [s, stream] of this.streams.entries()) {
      const { bins, counts, firsts, group } = counted.streams[s];
      const values = bins.map((bin, k) => {
        let value = 0;
        for (let column = 0; column < this.columns; column++) {
          if (share[column]) value += share[column] * this._value(stream, counted.codes[s], bin, counts[k], firsts[k], column);
        }
        return (value * scale) / counts[k];
      });
      const part = parts[this.index.iterations[s]];
      for (let i = 0; i < counted.graph.n; i++) if (group[i] >= 0) part[i] += values[group[i]];
    }
    return parts;
  }

  /** Number of the class that decisions stand for. */
  predicted(decisions) {
    const { pairwise, classes } = this.layout;
    if (!pairwise) return classes === 2 ? Number(decisions[0] > 0) : indexOfLargest(decisions);
    const votes = new Int32Array(classes);
    let p = 0;
    for (let i = 0; i < classes; i++) for (let j = i + 1; j < classes; j++) votes[decisions[p++] > 0 ? i : j]++;
    return indexOfLargest(votes);
  }

  /** What each column counts if one class is compared with the mean of the others; numbers: the one column. */
  share(target) {
    const { pairwise, classes } = this.layout;
    const share = new Float64Array(this.columns);
    if (classes === 0) share[0] = 1;
    else if (!pairwise && classes === 2) share[0] = target === 1 ? 1 : -1;
    else if (!pairwise) for (let c = 0; c < classes; c++) share[c] = c === target ? 1 : -1 / (classes - 1);
    else {
      let p = 0;
      for (let i = 0; i < classes; i++) {
        for (let j = i + 1; j < classes; j++, p++) if (i === target || j === target) share[p] = (i === target ? 1 : -1) / (classes - 1);
      }
    }
    return share;
  }

  /** How much decisions speak for a class: positive where it beats the others on average, or a number. */
  score(decisions, target) {
    const share = this.share(target);
    let sum = 0;
    for (let c = 0; c < this.columns; c++) sum += share[c] * decisions[c];
    return sum;
  }
}

function indexOfLargest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}
