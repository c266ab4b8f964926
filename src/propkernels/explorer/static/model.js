// The model: a sum of members, each with weights of bins or with kept training graphs; decisions, and what nodes add to them.

/** A member with one vocabulary: what folded weights and kept training graphs have in common. */
class Leaf {
  constructor(index, spec) {
    Object.assign(this, spec);
    this.place = spec.vocabulary;
    this.vocabulary = index.vocabularies[spec.vocabulary];
  }

  get leaves() {
    return [this];
  }

  /** k(x, x) from what a graph shares with itself in each stream, before normalization. */
  squareOf(own) {
    return this.streamWeights.reduce((sum, weight, s) => sum + weight * this.alone(own(s)), 0);
  }

  square({ parts }) {
    const own = parts[this.place].own[Number(this.assigned)];
    return this.squareOf((s) => own[s]);
  }

  /** k(x, x) of a graph of the page. */
  squareOnPage(g) {
    const own = this.vocabulary.own[Number(this.assigned)];
    return this.squareOf((s) => own[s][g]);
  }

  length(counted) {
    const square = this.square(counted);
    return this.normalize ? Number(square > 0) : square;
  }

  scale(counted) {
    return this.normalize ? inverseRoot(this.square(counted)) : 1;
  }
}

/** A member of folded weights: a decision is a sum of weights of bins, or of levels of bins. */
class FoldedMember extends Leaf {
  /** `arrays`: KEY.table, different rows of weights; KEY.rows0, ..., the row of each bin or level; KEY.most0, ..., levels of each bin. */
  constructor(index, spec, arrays) {
    super(index, spec);
    this.table = arrays[`${spec.key}.table`];
    this.streams = spec.streamWeights.map((_, s) => {
      const most = arrays[`${spec.key}.most${s}`] || null;
      return { rows: arrays[`${spec.key}.rows${s}`], starts: most ? cumulated(most) : null };
    });
  }

  /** Add what a bin that occurs so many times adds to each decision. */
  _addValues({ rows, starts }, bin, count, values) {
    const { columns, table } = this;
    if (bin < 0) return;
    if (!starts) {
      const first = rows[bin] * columns;
      for (let column = 0; column < columns; column++) values[column] += count * table[first + column];
      return;
    }
    const from = starts[bin], stop = Math.min(from + count, starts[bin + 1]);
    for (let column = 0; column < columns; column++) {
      let value = 0;
      for (let level = from; level < stop; level++) value += table[rows[level] * columns + column];
      values[column] += value;
    }
  }

  /** Add the decisions to those of other members. */
  decide(counted, scale, decisions) {
    const own = scale * this.scale(counted);
    const sums = new Float64Array(this.columns);
    const { streams } = counted.parts[this.place];
    for (let s = 0; s < this.streams.length; s++) {
      const { bins, counts } = streams[s], stream = this.streams[s];
      for (let k = 0; k < bins.length; k++) if (bins[k] >= 0) this._addValues(stream, bins[k], counts[k], sums);
    }
    for (let column = 0; column < this.columns; column++) decisions[column] += sums[column] * own;
  }

  /** Add what each node adds at each iteration to a weighted sum of the decisions. */
  contribute(counted, share, scale, parts) {
    const own = scale * this.scale(counted);
    const single = new Float64Array(this.columns);
    this.streams.forEach((stream, s) => {
      const { bins, counts } = counted.parts[this.place].streams[s];
      const values = bins.map((bin, k) => {
        single.fill(0);
        this._addValues(stream, bin, counts[k], single);
        return own * single.reduce((sum, value, column) => sum + share[column] * value, 0);
      });
      shareByIteration(this, counted, s, values, parts);
    });
  }

  /** What a stream adds to the kernel of two graphs. */
  compare(shared) {
    return shared;
  }

  /** What a stream adds to k(x, x). */
  alone(own) {
    return own;
  }
}

/** A member that keeps training graphs: a decision is a sum over them of ratios of counts, s / (l + r - s) in each stream. */
class RatioMember extends Leaf {
  /** `arrays`: KEY.coefficients; KEY.ptr0, KEY.bins0, KEY.counts0, ..., counts of the kept graphs. */
  constructor(index, spec, arrays) {
    super(index, spec);
    this.coefficients = arrays[`${spec.key}.coefficients`];
    this.n = this.coefficients.length / this.columns;
    this.streams = spec.streamWeights.map((_, s) => {
      const [ptr, bins, counts] = ["ptr", "bins", "counts"].map((name) => arrays[`${spec.key}.${name}${s}`]);
      const own = Float64Array.from({ length: this.n }, (_, i) => ownSum(counts.subarray(ptr[i], ptr[i + 1]), this.assigned));
      return { own, ...inverted({ bins, counts, ptr }, this.vocabulary.tables[s].size, this.n) };
    });
    this.shared = new Float64Array(this.n);
  }

  /** What a stream of a counted graph shares with each kept graph, in `this.shared`. */
  _share(counted, s) {
    this.shared.fill(0);
    addShared(counted.parts[this.place].streams[s], this.streams[s], this.assigned, this.shared);
    return this.shared;
  }

  /** Add the decisions to those of other members. */
  decide(counted, scale, decisions) {
    const kernel = new Float64Array(this.n);
    this.streams.forEach(({ own }, s) => {
      const shared = this._share(counted, s);
      const sum = counted.parts[this.place].own[Number(this.assigned)][s];
      for (let i = 0; i < this.n; i++) kernel[i] += this.streamWeights[s] * this.compare(shared[i], sum, own[i]);
    });
    const own = scale * this.scale(counted);
    for (let column = 0; column < this.columns; column++) {
      let sum = 0;
      for (let i = 0; i < this.n; i++) sum += this.coefficients[i * this.columns + column] * kernel[i];
      decisions[column] += sum * own;
    }
  }

  /** Add what each node adds: with the denominators of one graph, a ratio is a sum over bins. */
  contribute(counted, share, scale, parts) {
    const own = scale * this.scale(counted);
    const weights = new Float64Array(this.n);
    for (let i = 0; i < this.n; i++) {
      for (let column = 0; column < this.columns; column++) weights[i] += share[column] * this.coefficients[i * this.columns + column];
    }
    this.streams.forEach((stream, s) => {
      const { bins, counts } = counted.parts[this.place].streams[s];
      const sum = counted.parts[this.place].own[Number(this.assigned)][s];
      const factors = this._share(counted, s).map((shared, i) => weights[i] / Math.max(sum + stream.own[i] - shared, 1));
      const values = bins.map((bin, k) => {
        let value = 0;
        if (bin < 0) return 0;
        for (let p = stream.starts[bin]; p < stream.starts[bin + 1]; p++) {
          value += factors[stream.graphs[p]] * (this.assigned ? Math.min(counts[k], stream.counts[p]) : counts[k] * stream.counts[p]);
        }
        return this.streamWeights[s] * value * own;
      });
      shareByIteration(this, counted, s, values, parts);
    });
  }

  /** What a stream adds to the kernel of two graphs: what they share, of all that they have. */
  compare(shared, one, other) {
    return shared / Math.max(one + other - shared, 1);
  }

  /** What a stream adds to k(x, x). */
  alone(own) {
    return Number(own > 0);
  }
}

/** A normalized sum of members: their decisions, divided by the square root of the sum's k(x, x). */
class JointMember {
  constructor(index, spec, arrays) {
    Object.assign(this, spec);
    this.members = spec.members.map((member) => newMember(index, member, arrays));
  }

  get leaves() {
    return this.members.flatMap((member) => member.leaves);
  }

  _square(counted) {
    return this.members.reduce((sum, member, k) => sum + this.weights[k] * member.length(counted), 0);
  }

  length(counted) {
    return Number(this._square(counted) > 0);
  }

  decide(counted, scale, decisions) {
    const own = scale * inverseRoot(this._square(counted));
    for (const member of this.members) member.decide(counted, own, decisions);
  }

  contribute(counted, share, scale, parts) {
    const own = scale * inverseRoot(this._square(counted));
    for (const member of this.members) member.contribute(counted, share, own, parts);
  }
}

function newMember(index, spec, arrays) {
  return new { folded: FoldedMember, ratio: RatioMember, joint: JointMember }[spec.kind](index, spec, arrays);
}

function inverseRoot(square) {
  return square > 0 ? 1 / Math.sqrt(square) : 0;
}

function shareByIteration(member, counted, s, values, parts) {
  const { vocabulary } = member;
  vocabulary.shareOut(counted.parts[member.place].streams[s], values, counted.graph.n, parts[vocabulary.spec.iterations[s]]);
}

/** Decisions as sums over members, and what they stand for. */
class Model {
  /** `meta`: {columns, intercepts, classes, calibration}. */
  constructor(index, members, meta) {
    this.index = index;
    this.members = members;
    Object.assign(this, meta);
  }

  /** Decision values, one for each column, with intercepts. */
  decisions(counted) {
    const values = new Float64Array(this.columns);
    for (const member of this.members) member.decide(counted, 1, values);
    return values.map((value, column) => value + this.intercepts[column]);
  }

  /** What each node adds at each iteration to a weighted sum of the columns: an array for each iteration. */
  contributions(counted, share) {
    const parts = Array.from({ length: this.index.steps }, () => new Float64Array(counted.graph.n));
    for (const member of this.members) member.contribute(counted, share, 1, parts);
    return parts;
  }

  /** Number of the class that decisions stand for: the largest; of two classes, the second if its column is positive. */
  predicted(decisions) {
    return this.classes === 2 ? Number(decisions[0] > 0) : indexOfLargest(decisions);
  }

  /** Similarity of a counted graph to the nearest training graph: smaller counts over larger ones; NaN where they are not on the page. */
  nearness(counted) {
    const { power, live, vocabulary: place, weights } = this.calibration;
    if (!power) return 1;
    if (!live) return NaN;
    const vocabulary = this.index.vocabularies[place], part = counted.parts[place];
    const shared = new Float64Array(this.index.collection.length), stream = new Float64Array(shared.length), total = new Float64Array(shared.length);
    weights.forEach((weight, s) => {
      stream.fill(0);
      addShared(part.streams[s], vocabulary.postings[s], true, stream);
      for (let g = 0; g < shared.length; g++) {
        shared[g] += weight * stream[g];
        total[g] += weight * (part.own[1][s] + vocabulary.own[1][s][g]);
      }
    });
    return shared.reduce((most, value, g) => Math.max(most, value / (total[g] - value || 1)), 0);
  }

  /** Probability of each class, softmax(slope * nearness^power * decision); null if it is not known. */
  probabilities(decisions, nearness) {
    if (!this.calibration || Number.isNaN(nearness)) return null;
    const { slope, power } = this.calibration;
    const scale = slope * Math.max(nearness, 1e-3) ** power;
    const logits = Array.from(this.classes === 2 ? [-decisions[0], decisions[0]] : decisions, (value) => scale * value);
    const most = Math.max(...logits);
    const parts = logits.map((value) => Math.exp(value - most));
    const total = parts.reduce((a, b) => a + b, 0);
    return parts.map((value) => value / total);
  }

  /** What each column counts in the decision of a class; numbers: the one column. */
  share(target) {
    const share = new Float64Array(this.columns);
    if (this.classes === 2) share[0] = target === 1 ? 1 : -1;
    else share[this.classes === 0 ? 0 : target] = 1;
    return share;
  }

  /** How much decisions speak for a class: positive where it beats the others on average, or a number. */
  score(decisions, target) {
    const share = this.share(target);
    return decisions.reduce((sum, value, c) => sum + share[c] * value, 0);
  }
}

/** Contributions of edges, by a * n + b: those of a node at iteration t, divided among the edges with an end at most t - 1 steps away. */
function edgeShares(graph, parts, wanted) {
  const { n } = graph, around = bothWays(graph);
  const edges = new Map(graph.edges.filter(([a, b]) => a !== b).map(([a, b]) => [Math.min(a, b) * n + Math.max(a, b), [a, b]]));
  const shares = new Map([...edges.keys()].map((key) => [key, 0]));
  for (let i = 0; i < n; i++) {
    const { distance } = foundFrom(around, i);
    for (let t = 1; t < parts.length; t++) {
      if (wanted >= 0 && wanted !== t) continue;
      const near = [...edges].filter(([, [a, b]]) => Math.min(distance[a], distance[b]) < t);
      for (const [key] of near) shares.set(key, shares.get(key) + parts[t][i] / near.length);
    }
  }
  return shares;
}

function indexOfLargest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}
