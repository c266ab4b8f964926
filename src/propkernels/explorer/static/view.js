// One graph: its picture, the decision as a sum, edits, similar graphs and smallest changes.

class GraphView {
  constructor(app) {
    this.app = app;
    this.g = -1;
    this.state = null; // {graph, positions}, as it is edited
    this.past = [];
    this.mode = "look";
    this.first = -1; // the first of two nodes to be joined
    this.t = -1; // -1: all iterations
    this.target = 0;
    this.compared = -1;
    this.search = 0; // number of the current search for changes
    this._listen();
  }

  _listen() {
    const { meta } = this.app;
    for (const button of byId("ex-modes").children) button.addEventListener("click", () => this._setMode(button.dataset.mode));
    (meta.labelChoices || []).forEach((name, label) => byId("ex-label").append(make("option", { value: String(label) }, name)));
    (meta.kinds || []).forEach((name, kind) => byId("ex-kind").append(make("option", { value: String(kind) }, name)));
    byId("ex-label-box").hidden = !(meta.labels && meta.labels.length);
    byId("ex-kind-box").hidden = !(meta.kinds && meta.kinds.length);
    byId("ex-undo").addEventListener("click", () => this._undo());
    byId("ex-restore").addEventListener("click", () => this.open(this.g));
    byId("ex-t").addEventListener("input", () => {
      this.t = Number(byId("ex-t").value) - 1;
      byId("ex-t-text").textContent = this.t < 0 ? "all" : `t = ${this.t}`;
      this.compared = -1;
      this.draw();
    });
    byId("ex-class").addEventListener("change", () => {
      this.target = Number(byId("ex-class").value);
      this.compared = -1;
      this.draw();
    });
    byId("ex-previous").addEventListener("click", () => select((this.g + this.app.n - 1) % this.app.n));
    byId("ex-next").addEventListener("click", () => select((this.g + 1) % this.app.n));
    byId("ex-search-flips").addEventListener("click", () => this._searchFlips());
    if (meta.classes) meta.classes.forEach((name, c) => byId("ex-class").append(make("option", { value: String(c) }, name)));
    byId("ex-class-box").hidden = !meta.classes || meta.classes.length < 3;
  }

  /** Show a graph of the page, as it is. */
  open(g) {
    const { app } = this;
    this.g = g;
    this.past = [];
    this.first = -1;
    this.compared = -1;
    const graph = app.graphs.graph(g);
    byId("ex-name").textContent = `Graph ${idOf(g)}`;
    byId("ex-status").textContent = [`${plain(graph.n)} nodes`, `${plain(graph.edges.length)} edges`, ...factsOf(g)].join(" · ");
    byId("ex-live").hidden = false;
    byId("ex-flip-list").replaceChildren();
    byId("ex-flip-text").textContent = "";
    this.search++;
    if (graph.n > 2000) {
      byId("ex-live").hidden = true;
      byId("ex-status").textContent += " · too large to be drawn";
      return;
    }
    this._show({ graph, positions: positionsOf(g, graph) }, true);
  }

  /** Show a state of the graph: count it, decide, explain, compare. */
  _show(state, original = false) {
    const { app } = this;
    this.state = state;
    byId("ex-undo").disabled = byId("ex-restore").disabled = !this.past.length;
    this.counted = app.similarity ? app.index.count(state.graph) : null;
    this.decisions = this.counted && app.model ? app.model.decisions(this.counted) : null;
    if (original) {
      this.before = this.decisions;
      if (this.decisions && app.meta.classes) this.target = app.meta.classes.length === 2 ? 1 : app.model.predicted(this.decisions);
      byId("ex-class").value = String(this.target);
    }
    const steps = app.index ? app.index.steps : 1;
    byId("ex-t").max = String(steps);
    this._neighbors();
    this.draw();
  }

  _parts() {
    const { model } = this.app;
    return model && this.counted ? model.contributions(this.counted, model.share(this.target)) : null;
  }

  draw() {
    if (!this.state) return;
    const { app } = this;
    const { graph, positions } = this.state;
    const parts = this._parts();
    this.parts = parts;
    const values = new Float64Array(graph.n);
    let limit = 0;
    if (this.compared >= 0) {
      const other = app.index.count(app.graphs.graph(this.compared));
      values.set(app.similarity.shared(this.counted, other)[0]);
      limit = Math.max(...values, 1e-12);
    } else if (parts) {
      for (let t = 0; t < parts.length; t++) if (this.t < 0 || this.t === t) for (let i = 0; i < graph.n; i++) values[i] += parts[t][i];
      limit = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    }
    const fills = this.compared >= 0 ? Array.from(values, (v) => between(REDS, v / limit)) : parts ? Array.from(values, (v) => diverging(v, limit)) : labelFills(graph);
    drawGraph(byId("ex-graph"), {
      graph, positions, fills, labels: Array.from(graph.labels, labelName), kindNames: app.meta.kinds, pixels: app.meta.pixels,
      rings: this.first >= 0 ? new Set([this.first]) : null,
      onNode: (i) => this._clickNode(i),
      onEdge: (e) => this._clickEdge(e),
      nodeTitle: (i) => `node ${i}${labelName(graph.labels[i]) ? `, ${labelName(graph.labels[i])}` : ""}${parts ? `: ${signed(values[i])}` : ""}`,
    });
    this._scale(limit, Boolean(parts));
    this._verdict();
    this._sums(parts);
    byId("ex-explained").hidden = !app.model;
    byId("ex-flips").hidden = !app.model || !app.meta.classes;
  }

  _scale(limit, explained) {
    const box = byId("ex-scale");
    if (this.compared >= 0) box.replaceChildren(make("span", {}, `in common with graph ${idOf(this.compared)}: nothing`), ramp(REDS), make("span", {}, "much"));
    else if (explained) {
      const [less, more] = this._sides();
      box.replaceChildren(make("span", {}, `← ${less}`), ramp(RDBU), make("span", {}, `${more} →`), make("span", {}, `full color: ${plain(limit, 3)} per node`));
    } else box.replaceChildren();
  }

  /** What negative and positive contributions speak for. */
  _sides() {
    const { classes } = this.app.meta;
    if (!classes) return ["smaller", "larger"];
    if (classes.length === 2) return [classes[1 - this.target], classes[this.target]];
    return ["others", classes[this.target]];
  }

  _verdict() {
    const { model, meta } = this.app;
    const box = byId("ex-verdict");
    box.hidden = !this.decisions;
    if (!this.decisions) return;
    const edited_ = this.past.length > 0;
    if (!meta.classes) {
      box.replaceChildren(make("span", {}, "predicts"), make("b", { id: "ex-decision" }, plain(this.decisions[0], 5)));
      if (edited_) box.append(make("span", { className: "pk-soft" }, `before the edits: ${plain(this.before[0], 5)}`));
      return;
    }
    const show = (decisions) => {
      const c = model.predicted(decisions);
      return [c, model.score(decisions, meta.classes.length === 2 ? 1 : c)];
    };
    const [c, score] = show(this.decisions);
    const colors = classColors(meta.classes.length);
    box.replaceChildren(make("span", {}, "the model says"), make("span", { className: "ex-chip" }, dot(colors[c]), make("b", {}, meta.classes[c])), make("span", { id: "ex-decision" }, `decision ${signed(score, 4)}`));
    if (edited_) {
      const [old, oldScore] = show(this.before);
      box.append(make("span", { className: "pk-soft" }, `before the edits: ${meta.classes[old]}, ${signed(oldScore, 4)}`));
    }
  }

  /** The decision as a sum over iterations. */
  _sums(parts) {
    const box = byId("ex-sums");
    box.replaceChildren();
    if (!parts) return;
    const { model } = this.app;
    const sums = parts.map((part) => part.reduce((a, b) => a + b, 0));
    const share = model.share(this.target);
    const rest = model.intercepts.reduce((sum, value, c) => sum + share[c] * value, 0);
    const most = Math.max(...sums.map(Math.abs), Math.abs(rest), 1e-12);
    const row = (name, value, className_) => {
      const bar = make("i");
      const width = (50 * Math.abs(value)) / most;
      bar.style.left = `${value < 0 ? 50 - width : 50}%`;
      bar.style.width = `${width}%`;
      bar.style.background = cssColor(diverging(Math.sign(value) * 0.8, 1));
      return make("tr", { className: className_ }, make("td", {}, name), make("td", {}, make("div", { className: "ex-strip" }, bar)), make("td", {}, signed(value)));
    };
    const rows = sums.map((value, t) => row(`t = ${t}`, value, t === this.t ? "ex-now" : ""));
    const total = sums.reduce((a, b) => a + b, 0) + rest;
    rows.push(row("intercept", rest, ""), make("tr", { className: "ex-total" }, make("td", {}, "sum"), make("td", {}), make("td", {}, signed(total, 4))));
    box.append(make("table", { className: "ex-sums" }, ...rows));
  }

  _setMode(mode) {
    this.mode = mode;
    this.first = -1;
    for (const button of byId("ex-modes").children) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    byId("ex-hint").textContent = {
      look: "", relabel: "Click a node to give it the chosen label.", link: "Click two nodes to join them, or to part them if they are joined.",
      grow: "Click a node to attach a new one with the chosen label.", remove: "Click a node or an edge to remove it.",
    }[mode];
    this.draw();
  }

  _clickNode(i) {
    const { graph } = this.state;
    const label = Number(byId("ex-label").value) || 0;
    const edgeKind = this.app.meta.kinds && this.app.meta.kinds.length ? Number(byId("ex-kind").value) : -1;
    if (this.mode === "relabel" && graph.labels[i] !== label) this.apply({ kind: "relabel", node: i, label });
    else if (this.mode === "grow") this.apply({ kind: "grow", node: i, label, edgeKind });
    else if (this.mode === "remove" && graph.n > 1) this.apply({ kind: "remove", node: i });
    else if (this.mode === "link") this._joinTo(i, edgeKind);
    else if (this.mode === "look" && this.parts) {
      const texts = this.parts.map((part, t) => `t = ${t}: ${signed(part[i])}`);
      byId("ex-hint").textContent = `node ${i} ${labelName(graph.labels[i])} adds ${texts.join(", ")}`;
    }
  }

  _joinTo(i, edgeKind) {
    const { graph } = this.state;
    if (this.first < 0 || this.first === i) {
      this.first = this.first === i ? -1 : i;
      this.draw();
      return;
    }
    const a = this.first;
    this.first = -1;
    const edge = graph.edges.findIndex(([from, to]) => (from === a && to === i) || (!graph.directed && from === i && to === a));
    this.apply(edge >= 0 ? { kind: "unlink", edge } : { kind: "link", a, b: i, edgeKind });
  }

  _clickEdge(e) {
    if (this.mode === "remove") this.apply({ kind: "unlink", edge: e });
    else if (this.mode === "relabel" && this.app.meta.kinds && this.app.meta.kinds.length) {
      const edgeKind = Number(byId("ex-kind").value);
      if (this.state.graph.edges[e][2] !== edgeKind) this.apply({ kind: "rekind", edge: e, edgeKind });
    }
  }

  /** Edit the graph: everything moves at once. */
  apply(edit) {
    this.past.push(this.state);
    this.compared = -1;
    const { graph, positions } = this.state;
    byId("ex-hint").textContent = editText(graph, edit, { label: labelName, kind: kindName });
    this._show({ graph: edited(graph, edit), positions: editedPositions(graph, positions, edit) });
  }

  _undo() {
    const state = this.past.pop();
    this.first = -1;
    if (state) this._show(state);
  }

  /** Graphs most similar to the graph as it is now, with what is shared lit up. */
  _neighbors() {
    const { app } = this;
    const box = byId("ex-neighbors");
    box.replaceChildren();
    if (!this.counted) return box.append(make("p", { className: "pk-soft" }, "The index is being built …"));
    const without = this.past.length ? -1 : this.g;
    for (const { graph: g, similarity } of app.similarity.nearest(this.counted, 6, without)) {
      const other = app.index.count(app.graphs.graph(g));
      const values = app.similarity.shared(this.counted, other)[1];
      const most = Math.max(...values, 1e-12);
      const picture = other.graph.n <= 400 ? thumbnail(g, { fills: Array.from(values, (v) => between(REDS, v / most)) }) : null;
      const card = make("div", { className: "ex-neighbor", "data-graph": String(g) }, picture, make("b", {}, idOf(g)), ` · ${similarity.toFixed(3)}`, ...factsOf(g).slice(0, 1).map((text) => make("div", {}, text)));
      const compare = make("button", { type: "button", "aria-pressed": "false", title: "Light up in the large picture what both share" }, "shared");
      compare.addEventListener("click", () => this._compare(g, card, compare));
      card.append(make("span", { className: "ex-group" }, compare, make("button", { type: "button", onclick: () => select(g) }, "open")));
      box.append(card);
    }
  }

  _compare(g, card, button) {
    const on = this.compared !== g;
    this.compared = on ? g : -1;
    for (const other of byId("ex-neighbors").querySelectorAll(".ex-neighbor")) {
      other.classList.toggle("ex-compared", on && other === card);
      other.querySelector("button").setAttribute("aria-pressed", "false");
    }
    button.setAttribute("aria-pressed", String(on));
    this.draw();
  }

  /** Look for the smallest changes that flip the class, and list them as they are found. */
  async _searchFlips() {
    const { app } = this;
    const own = ++this.search;
    const { graph } = this.state;
    const nLabels = app.meta.labels ? app.meta.labels.length : 0;
    const used = app.meta.codes.some(({ source }) => source === "node") && nLabels;
    if (byId("ex-degrees").checked && !app.degrees) app.degrees = largestDegrees(app.graphs, Math.max(nLabels, 1));
    const allowed = {
      labels: used ? Array.from({ length: nLabels }, (_, i) => i) : [0],
      kinds: app.meta.kinds && app.meta.kinds.length ? app.meta.kinds.map((_, i) => i) : [-1],
      degrees: byId("ex-degrees").checked ? app.degrees : null,
    };
    const target = app.model.predicted(this.decisions);
    const search = new Counterfactuals(app.model, graph, target, allowed);
    const base = this.state;
    let listed = -1;
    await inSlices(search, (job, done) => {
      const state = done ? "All" : "Trying";
      byId("ex-flip-text").textContent = `${state}: ${plain(job.tried)} edits tried, ${plain(job.found.length)} found that flip the class${done && !job.found.length ? "; two edits from the best single ones were not enough" : ""}.`;
      if (job.found.length !== listed || done) this._listFlips(job.found, base);
      listed = job.found.length;
    }, () => own !== this.search);
  }

  _listFlips(found, base) {
    const names = { label: labelName, kind: kindName };
    byId("ex-flip-list").replaceChildren(...found.map(({ edits, score, predicted }) => {
      const texts = [];
      let graph = base.graph;
      for (const edit of edits) {
        texts.push(editText(graph, edit, names));
        graph = edited(graph, edit);
      }
      const apply = () => {
        this.past = this.past.slice(0, base === this.state ? this.past.length : 0);
        this.state = base;
        for (const edit of edits) this.apply(edit);
      };
      return make("li", {}, make("button", { type: "button", className: "ex-link", onclick: apply }, texts.join(", then ")), ` → ${this.app.meta.classes[predicted]} (${signed(-score)})`);
    }));
  }
}
