// Similarity of graphs: the mean of the normalized kernels of all members of the model.

class Similarity {
  constructor(index, members) {
    this.index = index;
    this.leaves = members.flatMap((member) => member.leaves);
    this.squares = this.leaves.map((leaf) => Float64Array.from({ length: index.collection.length }, (_, g) => leaf.squareOnPage(g)));
  }

  /** The mean of the normalized kernels between a counted graph and all graphs of the page. */
  of(counted) {
    const n = this.index.collection.length;
    const total = new Float64Array(n), kernel = new Float64Array(n), shared = new Float64Array(n);
    this.leaves.forEach((leaf, k) => {
      const part = counted.parts[leaf.place], assigned = Number(leaf.assigned), square = leaf.square(counted);
      kernel.fill(0);
      leaf.streamWeights.forEach((weight, s) => {
        const own = leaf.vocabulary.own[assigned][s], sum = part.own[assigned][s];
        shared.fill(0);
        addShared(part.streams[s], leaf.vocabulary.postings[s], leaf.assigned, shared);
        for (let g = 0; g < n; g++) if (shared[g] > 0) kernel[g] += weight * leaf.compare(shared[g], sum, own[g]);
      });
      for (let g = 0; g < n; g++) total[g] += (kernel[g] * inverseRoot(square * this.squares[k][g])) / this.leaves.length;
    });
    return total;
  }

  /** The most similar graphs, best first, without one of them. */
  nearest(counted, k, without = -1) {
    const values = this.of(counted);
    const order = Array.from(values.keys()).filter((g) => g !== without).sort((a, b) => values[b] - values[a]);
    return order.slice(0, k).map((g) => ({ graph: g, similarity: values[g] }));
  }

  /** What each node of a graph, and of a graph of the page, has in common with the other: their sums are the similarity. */
  shared(one, other) {
    const nodes = [new Float64Array(one.graph.n), new Float64Array(other.graph.n)];
    for (const leaf of this.leaves) {
      const scale = inverseRoot(leaf.square(one) * leaf.square(other)) / this.leaves.length;
      const assigned = Number(leaf.assigned);
      leaf.streamWeights.forEach((weight, s) => {
        const [a, b] = [one, other].map(({ parts }) => parts[leaf.place]);
        const { total, values } = commonOf(a.streams[s], b.streams[s], leaf.assigned);
        if (!total) return;
        const unit = (scale * weight * leaf.compare(total, a.own[assigned][s], b.own[assigned][s])) / total;
        [one, other].forEach((side, k) => {
          leaf.vocabulary.shareOut(side.parts[leaf.place].streams[s], values[k].map((value) => value * unit), side.graph.n, nodes[k]);
        });
      });
    }
    return nodes;
  }
}

/** What two graphs share in a stream: in all, and by the groups of each. */
function commonOf(a, b, assigned) {
  const where = new Map();
  b.bins.forEach((bin, k) => { if (bin >= 0) where.set(bin, k); });
  const values = [new Float64Array(a.bins.length), new Float64Array(b.bins.length)];
  let total = 0;
  a.bins.forEach((bin, k) => {
    const match = where.get(bin);
    if (match === undefined) return;
    const common = assigned ? Math.min(a.counts[k], b.counts[match]) : a.counts[k] * b.counts[match];
    values[0][k] = values[1][match] = common;
    total += common;
  });
  return { total, values };
}
