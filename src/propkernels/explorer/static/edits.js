// Edits of a graph, and the search for the smallest ones that flip the class.

/** A graph after an edit. Edits: relabel, remove (a node), link, unlink, rekind, grow (a new leaf). */
function edited(graph, edit) {
  const labels = Array.from(graph.labels), origin = Array.from(graph.origin), atoms = graph.atoms ? graph.atoms.slice() : null;
  let edges = graph.edges.map((edge) => edge.slice());
  let n = graph.n;
  if (edit.kind === "relabel") {
    labels[edit.node] = edit.label;
    if (atoms) atoms[edit.node] = null;
  } else if (edit.kind === "link") edges.push([edit.a, edit.b, edit.edgeKind]);
  else if (edit.kind === "unlink") edges.splice(edit.edge, 1);
  else if (edit.kind === "rekind") edges[edit.edge][2] = edit.edgeKind;
  else if (edit.kind === "grow") {
    labels.push(edit.label);
    origin.push(-1);
    if (atoms) atoms.push(null);
    edges.push([edit.node, n, edit.edgeKind]);
    n += 1;
  } else if (edit.kind === "remove") {
    labels.splice(edit.node, 1);
    origin.splice(edit.node, 1);
    if (atoms) atoms.splice(edit.node, 1);
    const moved = (i) => (i > edit.node ? i - 1 : i);
    edges = edges.filter(([a, b]) => a !== edit.node && b !== edit.node).map(([a, b, kind, wedge]) => [moved(a), moved(b), kind, wedge]);
    n -= 1;
  }
  const result = builtGraph(n, Int32Array.from(labels), edges, graph.directed, Int32Array.from(origin), graph.attributes);
  result.atoms = atoms;
  return result;
}

/** Positions after an edit: others stay where they are, a new leaf goes where there is room. */
function editedPositions(graph, positions, edit) {
  if (edit.kind === "remove") return positions.filter((_, i) => i !== edit.node);
  if (edit.kind !== "grow") return positions;
  const [x, y] = positions[edit.node];
  const length = Math.min(typicalLength(graph, positions), 1.2);
  let best = null;
  for (let k = 0; k < 16; k++) {
    const angle = (k * Math.PI) / 8;
    const place = [x + length * Math.cos(angle), y + length * Math.sin(angle)];
    let room = Infinity;
    positions.forEach(([px, py], i) => {
      if (i !== edit.node) room = Math.min(room, Math.hypot(px - place[0], py - place[1]));
    });
    if (!best || room > best.room + 1e-9) best = { room, place };
  }
  return [...positions, best.place];
}

/** What an edit is called. */
function editText(graph, edit, names) {
  const node = (i) => `${names.label(graph.labels[i]) || words.node} ${i}`;
  const kind = edit.edgeKind >= 0 ? ` (${names.kind(edit.edgeKind)})` : "";
  const [a, b] = edit.edge === undefined ? [] : graph.edges[edit.edge].slice(0, 2).map(node);
  return {
    relabel: () => `${node(edit.node)} → ${names.label(edit.label)}`,
    link: () => `connect ${node(edit.a)} and ${node(edit.b)}${kind}`,
    unlink: () => `disconnect ${a} and ${b}`,
    rekind: () => `${words.edge} ${a} – ${b} becomes ${names.kind(edit.edgeKind)}`,
    grow: () => `add ${names.label(edit.label)} to ${node(edit.node)}${kind}`,
    remove: () => `remove ${node(edit.node)}`,
  }[edit.kind]();
}

/** The nodes that an edit touches. */
function editedNodes(graph, edit) {
  if (edit.kind === "link") return [edit.a, edit.b];
  if (edit.kind === "unlink" || edit.kind === "rekind") return graph.edges[edit.edge].slice(0, 2);
  return [edit.node];
}

/** The largest degree that each label has anywhere in the data: edits beyond it are left out. */
function largestDegrees(collection, nLabels) {
  const most = new Int32Array(nLabels + 1);
  for (let g = 0; g < collection.length; g++) {
    const { n, labels, ptr } = collection.graph(g);
    for (let i = 0; i < n; i++) {
      const label = labels[i] < 0 ? nLabels : labels[i];
      most[label] = Math.max(most[label], ptr[i + 1] - ptr[i]);
    }
  }
  return most;
}

// What edits are allowed: labels, kinds, degrees (largest by label, or null), rules (a function of a graph that returns MoleculeRules,
// or null), edges (false: edges stay, since the model does not read them), nodes (false: nodes stay, as the pixels of an image).

/** All single edits of a graph. */
function* singleEdits(graph, allowed) {
  const { n, ptr, labels, edges } = graph;
  const degree = (i) => ptr[i + 1] - ptr[i];
  const fits = (label, wanted) => !allowed.degrees || wanted <= allowed.degrees[label < 0 ? allowed.degrees.length - 1 : label];
  for (let i = 0; i < n; i++) {
    for (const label of allowed.labels) if (label !== labels[i] && fits(label, degree(i))) yield { kind: "relabel", node: i, label };
  }
  for (let e = 0; e < edges.length && allowed.edges; e++) {
    yield { kind: "unlink", edge: e };
    for (const kind of allowed.kinds) if (kind !== edges[e][2]) yield { kind: "rekind", edge: e, edgeKind: kind };
  }
  const joined = new Set(edges.map(([a, b]) => a * n + b));
  for (let i = 0; i < n && allowed.edges; i++) {
    if (!fits(labels[i], degree(i) + 1)) continue;
    for (let j = graph.directed ? 0 : i + 1; j < n; j++) {
      if (i === j || joined.has(i * n + j) || (!graph.directed && joined.has(j * n + i)) || !fits(labels[j], degree(j) + 1)) continue;
      for (const edgeKind of allowed.kinds) yield { kind: "link", a: i, b: j, edgeKind };
    }
  }
  for (let i = 0; i < n && allowed.nodes; i++) {
    if (degree(i) === 1 && n > 1) yield { kind: "remove", node: i };
    if (!fits(labels[i], degree(i) + 1)) continue;
    for (const label of allowed.labels) for (const edgeKind of allowed.kinds) if (fits(label, 1)) yield { kind: "grow", node: i, label, edgeKind };
  }
}

/** Search for edits that lower the score of a class: one edit, then two from the best of these. */
class Counterfactuals {
  constructor(model, graph, target, allowed, most = 10, beam = 6) {
    Object.assign(this, { model, graph, target, allowed, most, beam });
    Object.assign(this, { tried: 0, met: 0 }); // edits whose graphs were decided, and those that rules forbid too
    Object.assign(this, { ones: [], found: [], queue: [{ graph, edits: [] }], edits: null, done: false });
    this.perGraph = [...singleEdits(graph, allowed)].length;
  }

  /** How much of the search is done, between 0 and 1. */
  get share() {
    return this.met / Math.max(this.perGraph * (1 + this.beam), this.met + 1);
  }

  /** Try edits until a deadline; returns whether the search is over. */
  work(deadline) {
    while (!this.done) {
      if (!this.edits) {
        this.from = this.queue.shift();
        if (!this.from) {
          this.done = true;
          break;
        }
        this.edits = singleEdits(this.from.graph, this.allowed);
        this.rules = this.allowed.rules ? this.allowed.rules(this.from.graph) : null;
      }
      const { value: edit, done } = this.edits.next();
      if (done) this._endOfGraph();
      else this._try(edit);
      if ((this.tried & 7) === 0 && performance.now() > deadline) break;
    }
    return this.done;
  }

  _endOfGraph() {
    this.edits = null;
    if (this.from.edits.length === 0) {
      this.ones.sort((a, b) => a.score - b.score);
      this.queue = this.ones.filter((one) => !one.flips).slice(0, this.beam).map(({ graph, edits }) => ({ graph, edits }));
    }
  }

  _try(edit) {
    this.met++;
    const graph = edited(this.from.graph, edit);
    if (this.rules && !this.rules.allows(edit, graph)) return;
    const decisions = this.model.decisions(this.model.index.count(graph));
    const score = this.model.score(decisions, this.target);
    const flips = this.model.predicted(decisions) !== this.target;
    this.tried++;
    const one = { graph, edits: [...this.from.edits, edit], score, flips, predicted: this.model.predicted(decisions) };
    if (this.from.edits.length === 0) this.ones.push(one);
    if (!flips) return;
    // symmetric edits: the same kind with the same decision
    const key = `${one.edits.map((step) => `${step.kind} ${step.label ?? ""} ${step.edgeKind ?? ""}`).sort().join()} ${score.toFixed(9)}`;
    const same = this.found.find((other) => other.key === key);
    if (same) {
      same.times++;
      return;
    }
    this.found.push({ ...one, key, times: 1 });
    this.found.sort((a, b) => a.edits.length - b.edits.length || a.score - b.score);
    this.found.length = Math.min(this.found.length, this.most);
  }
}
