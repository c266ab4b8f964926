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
    this.picture = null; // what is drawn
    this.search = 0; // number of the current search for changes
    this.frame = new Frame(this, byId("ex-graph"));
    this._listen();
  }

  _listen() {
    const { meta } = this.app;
    for (const button of byId("ex-modes").children) button.addEventListener("click", () => this._setMode(button.dataset.mode));
    (meta.labelChoices || []).forEach((name, label) => byId("ex-label").append(make("option", { value: String(label) }, name)));
    (meta.kinds || []).forEach((name, kind) => byId("ex-kind").append(make("option", { value: String(kind) }, name)));
    byId("ex-label").value = String(usualLabel(meta));
    byId("ex-kind").value = String(Math.max((meta.kinds || []).indexOf("single"), 0));
    this.lit = new Set(); // nodes that a hovered edit touches
    byId("ex-label-box").hidden = !(meta.labels && meta.labels.length);
    byId("ex-kind-box").hidden = !(meta.kinds && meta.kinds.length);
    byId("ex-undo").addEventListener("click", () => this._undo());
    byId("ex-restore").addEventListener("click", () => {
      byId("ex-hint").textContent = "";
      if (this.guest) this.openGuest(this.guest);
      else this.open(this.g);
    });
    byId("ex-svg").addEventListener("click", savePicture);
    byId("ex-more").addEventListener("click", () => {
      const more = byId("ex-sums").classList.toggle("ex-all");
      byId("ex-more").textContent = more ? "Hide iterations" : "Show each iteration";
    });
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
    byId("ex-canvas").classList.toggle("ex-long", Boolean(meta.time));
    if (meta.pixels) {
      byId("ex-paste-open").hidden = byId("ex-degrees").parentElement.hidden = true;
      for (const button of byId("ex-modes").children) button.hidden = !["look", "relabel"].includes(button.dataset.mode);
    }
    if (meta.time) {
      byId("ex-kind-box").hidden = byId("ex-paste-open").hidden = true;
      for (const button of byId("ex-modes").children) button.hidden = button.dataset.mode === "link" || button.dataset.mode === "grow";
    }
  }

  /** Show a graph of the page, as it is. */
  open(g) {
    const { app } = this;
    this.g = g;
    this.guest = null;
    app.map.guest = null;
    const graph = app.graphs.graph(g);
    byId("ex-name").textContent = nameOf(g);
    byId("ex-status").textContent = [...sizesOf(graph), ...factsOf(g)].join(" · ");
    byId("ex-details").replaceChildren(...app.meta.details.map(([name, texts]) => this._detail(name, texts[g])));
    if (graph.n > 2000) {
      byId("ex-live").hidden = true;
      byId("ex-status").textContent += " · too large to be drawn";
      return;
    }
    this._start({ graph, positions: positionsOf(g, graph) });
  }

  /** Show a graph that the user has pasted, and place it on the map. */
  openGuest(graph) {
    const { app } = this;
    this.guest = graph;
    this.g = -1;
    app.selected = app.map.selected = -1;
    byId("ex-name").textContent = `Your ${words.graph}`;
    byId("ex-status").textContent = [...sizesOf(graph), `not among the ${words.graph}s of the page`].join(" · ");
    byId("ex-details").replaceChildren();
    this._start({ graph, positions: laidOut(graph) });
    app.map.guest = placeOnMap(this.counted);
    app.map.draw();
  }

  _start(state) {
    this.past = [];
    this.first = -1;
    this.compared = -1;
    this.lit.clear();
    this.frame.reset();
    byId("ex-live").hidden = false;
    byId("ex-hint").textContent = "";
    byId("ex-flip-list").replaceChildren();
    byId("ex-flip-text").textContent = "";
    this.search++;
    this._show(state, true);
  }

  /** A text of the graph, such as its SMILES, with a button that copies it. */
  _detail(name, text) {
    const copy = make("button", { type: "button", className: "ex-copy", title: `Copy ${name}`, "aria-label": `Copy ${name}` }, "copy");
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); copy.textContent = "copied"; } catch { getSelection().selectAllChildren(copy.previousSibling); }
      setTimeout(() => { copy.textContent = "copy"; }, 1200);
    });
    return make("div", {}, make("span", { className: "pk-soft" }, `${name} `), make("code", {}, text), copy);
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
    const picture = pictureOf(graph, positions);
    this.faulty = picture.chemistry ? [...picture.chemistry.faulty] : [];
    const drawn = {
      ...picture, ...(this.compared >= 0 || parts ? shaded(values, limit, this.compared >= 0) : {}),
      rings: this.first >= 0 ? new Set([this.first]) : null, lit: this.lit,
      onNode: (i) => this._clickNode(i),
      onEdge: (e) => this._clickEdge(e),
      onContact: (a, b) => this._clickContact(a, b),
      nodeTitle: (i) => `${this._nodeName(i)}${labelName(graph.labels[i]) ? `, ${labelName(graph.labels[i])}` : ""}${parts ? `: ${signed(values[i])}` : ""}`,
    };
    if (graph.times) drawTime(byId("ex-graph"), { ...drawn, ...contactColors(graph, this.compared >= 0 ? null : parts, this.t) });
    else this.paint(drawn);
    this._scale(limit, Boolean(parts));
    this._verdict();
    this._warn();
    this._sums(parts);
    byId("ex-explained").hidden = !app.model;
    byId("ex-flips").hidden = !app.model || !app.meta.classes || Boolean(app.meta.time);
  }

  /** Draw a picture, as it is zoomed. */
  paint(picture) {
    this.picture = picture;
    drawGraph(byId("ex-graph"), picture);
    this.frame.apply();
  }

  _scale(limit, explained) {
    const box = byId("ex-scale");
    if (this.compared >= 0) box.replaceChildren(make("span", {}, `shared with ${nameOf(this.compared)}: nothing`), ramp(GREENS), make("span", {}, "much"));
    else if (explained) {
      const [less, more] = this._sides();
      box.replaceChildren(make("span", {}, `for ${less}`), ramp(RDBU), make("span", {}, `for ${more}`), make("span", {}, "darkest: ", term("contribution"), ` of ${plain(limit)}`));
    } else box.replaceChildren();
  }

  /** Say which atoms have too many bonds. */
  _warn() {
    const { graph } = this.state;
    const named = this.faulty.slice(0, 4).map((i) => `${labelName(graph.labels[i])} ${i}`);
    byId("ex-warning").textContent = this.faulty.length ? `No such molecule exists: ${named.join(", ")} ${this.faulty.length > 1 ? "have" : "has"} too many bonds.` : "";
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
      box.replaceChildren(make("span", {}, this._who()), make("b", { id: "ex-decision" }, plain(this.decisions[0])));
      const range = this._range();
      if (range && range[0] !== null) box.append(make("span", { id: "ex-range" }, term("90 % interval"), ` ${plain(range[0])} to ${plain(range[1])}`));
      if (edited_) box.append(make("span", { className: "pk-soft" }, `before the edits: ${plain(this.before[0])}`));
      return;
    }
    const show = (decisions) => {
      const c = model.predicted(decisions);
      return [c, model.score(decisions, meta.classes.length === 2 ? 1 : c)];
    };
    const [c, score] = show(this.decisions);
    const colors = classColors(meta.classes.length);
    const isOwn = this.g >= 0 && !edited_;
    const [near] = isOwn ? [{ similarity: 1 }] : this.app.similarity.nearest(this.counted, 1);
    const chances = model.probabilities(this.decisions, near ? near.similarity : 0);
    box.replaceChildren(
      make("span", {}, this._who()), make("span", { className: "ex-chip" }, dot(colors[c]), make("b", {}, meta.classes[c])),
      chances ? make("span", {}, term("probability"), ` ${percent(chances[c])}`) : "",
      make("span", { id: "ex-decision", className: "pk-soft" }, term("decision"), ` ${signed(score)}`),
    );
    const possible = this._range();
    if (possible) box.append(make("span", { id: "ex-range" }, term("90 % set"), `: ${possible.map((k) => meta.classes[k]).join(", ") || "none"}`));
    if (edited_) {
      const [old, oldScore] = show(this.before);
      box.append(make("span", { className: "pk-soft" }, `before the edits: ${meta.classes[old]}, ${signed(oldScore)}`));
    }
  }

  /** Interval or possible classes of the graph as it is in the data; null for edited and pasted graphs. */
  _range() {
    const { ranges } = this.app.meta;
    return ranges && this.g >= 0 && !this.past.length ? ranges[this.g] : null;
  }

  /** Which model speaks, as the map may show predictions of others. */
  _who() {
    if (this.guest) return "The model predicts";
    return this.app.meta.heldOut && !this.past.length ? `Final model (has seen this ${words.graph})` : "The model predicts";
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
    const row = (name, value, className_) => make("tr", { className: className_ }, make("td", {}, name), make("td", {}, bar(value, most)), make("td", {}, signed(value)));
    const rows = sums.map((value, t) => row(`t = ${t}`, value, t === this.t ? "ex-now" : ""));
    const total = sums.reduce((a, b) => a + b, 0) + rest;
    rows.push(row("intercept", rest, ""), make("tr", { className: "ex-total" }, make("td", {}, "sum"), make("td", {}), make("td", {}, signed(total))));
    const head = make("p", { className: "ex-sentence" }, `The decision is a sum over ${words.node}s and `, term("iteration", "iterations"), `: ${signed(total)}.`);
    box.append(head, make("table", { className: "ex-sums" }, make("tbody", {}, ...rows)));
  }

  _setMode(mode) {
    this.mode = mode;
    this.first = -1;
    for (const button of byId("ex-modes").children) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    byId("ex-hint").textContent = {
      look: "", relabel: `Click ${withArticle(words.node)} to give it the chosen label.`, link: `Click two ${words.node}s to join them, or to part them if they are joined.`,
      grow: `Click ${withArticle(words.node)} to attach a new one with the chosen label.`, remove: `Click ${withArticle(words.node)} or ${words.edge} to remove it.`,
    }[mode];
    this.draw();
  }

  _clickNode(i) {
    const { graph } = this.state;
    const label = Number(byId("ex-label").value) || 0;
    const edgeKind = this.app.meta.kinds && this.app.meta.kinds.length ? Number(byId("ex-kind").value) : -1;
    if (this.mode === "relabel" && graph.labels[i] !== label) this.apply({ kind: "relabel", node: i, label });
    else if (this.mode === "grow") this.apply({ kind: "grow", node: i, label, edgeKind });
    else if (this.mode === "remove" && graph.n > 1 && !graph.times) this.apply({ kind: "remove", node: i });
    else if (this.mode === "link") this._joinTo(i, edgeKind);
    else if (this.mode === "look" && this.parts) {
      const texts = this.parts.map((part, t) => `t = ${t}: ${signed(part[i])}`);
      const total = this.parts.reduce((sum, part) => sum + part[i], 0);
      byId("ex-hint").textContent = `${graph.times ? this._nodeName(i) : `${labelName(graph.labels[i]) || words.node} ${i}`} adds ${signed(total)} (${texts.join(", ")})`;
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

  /** What a node is called: its number, or its vertex and time. */
  _nodeName(i) {
    const { graph } = this.state;
    return graph.times ? `${vertexName(graph, graph.vertices[i])} at ${plain(graph.times[i])}` : `${words.node} ${i}`;
  }

  _clickContact(a, b) {
    if (this.mode === "remove") this.apply({ kind: "part", a, b });
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
    this.lit.clear();
    byId("ex-hint").textContent = editText(graph, edit, { label: labelName, kind: kindName });
    this._show({ graph: edited(graph, edit), positions: editedPositions(graph, positions, edit) });
  }

  _undo() {
    const state = this.past.pop();
    this.first = -1;
    byId("ex-hint").textContent = "";
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
      const picture = other.graph.n <= 400 ? thumbnail(g, shaded(values, most, true)) : null;
      const card = make("div", { className: "ex-neighbor", "data-graph": String(g) }, picture, make("b", {}, nameOf(g)), make("div", {}, `similarity ${similarity.toFixed(3)}`), ...factsOf(g).slice(0, 1).map((text) => make("div", {}, text)));
      const compare = make("button", { type: "button", "aria-pressed": "false", title: `Show in the large picture what both ${words.graph}s share` }, "shared");
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
    if (on) showPicture();
  }

  /** Look for the smallest changes that flip the class, and list them as they are found. */
  async _searchFlips() {
    const { app } = this;
    const own = ++this.search;
    const { graph } = this.state;
    const nLabels = app.meta.labels ? app.meta.labels.length : 0;
    const used = app.meta.codes.some(({ source }) => source === "node") && nLabels;
    if (byId("ex-degrees").checked && !app.degrees) app.degrees = largestDegrees(app.graphs, Math.max(nLabels, 1));
    const chemical = Boolean(graph.atoms) && haveOrders(app.meta) && byId("ex-degrees").checked;
    const allowed = {
      labels: used ? Array.from({ length: nLabels }, (_, i) => i) : [0],
      kinds: app.meta.kinds && app.meta.kinds.length ? app.meta.kinds.map((_, i) => i) : [-1],
      degrees: byId("ex-degrees").checked && !chemical ? app.degrees : null,
      rules: chemical ? (one) => new MoleculeRules(one, app.meta) : null,
      edges: !app.meta.pixels && app.index.vocabularies.some(({ readsEdges }) => readsEdges),
      nodes: !app.meta.pixels,
    };
    const target = app.model.predicted(this.decisions);
    const search = new Counterfactuals(app.model, graph, target, allowed);
    const base = this.state;
    let listed = -1;
    await inSlices(search, (job, done) => {
      const valid = chemical ? " valid" : "";
      const left = allowed.edges || app.meta.pixels ? "" : " This model does not read edges: edits of edges are left out.";
      const ended = job.found.length ? "" : " None of them flips the class, nor do two edits from the best single ones.";
      byId("ex-flip-text").textContent = done ? `${plain(job.tried)}${valid} edits tried.${left}${ended}` : `Trying … ${plain(job.tried)}${valid} edits so far.`;
      if (job.found.length !== listed || done) this._listFlips(job.found, base);
      listed = job.found.length;
    }, () => own !== this.search);
  }

  _listFlips(found, base) {
    const names = { label: labelName, kind: kindName };
    byId("ex-flip-list").replaceChildren(...found.map(({ edits, graph: result, predicted, times }) => {
      const texts = [], touched = new Set();
      let graph = base.graph, positions = base.positions;
      for (const edit of edits) {
        texts.push(editText(graph, edit, names));
        for (const node of editedNodes(graph, edit)) touched.add(node);
        positions = editedPositions(graph, positions, edit);
        graph = edited(graph, edit);
      }
      const light = (on) => {
        if (this.state !== base) return;
        this.lit = on ? new Set([...touched].filter((i) => i < base.graph.n)) : new Set();
        this.draw();
      };
      const apply = () => {
        this.past = this.past.slice(0, base === this.state ? this.past.length : 0);
        this.state = base;
        for (const edit of edits) this.apply(edit);
        showPicture();
      };
      const picture = svgElement("svg", { role: "img", "aria-label": `the edited ${words.graph}` });
      if (result.n <= 120) drawGraph(picture, { ...pictureOf(graph, positions), small: graph.n > 34, rings: new Set([...touched].filter((i) => i < graph.n)) });
      const decisions = this.app.model.decisions(this.app.index.count(result));
      const classes = this.app.meta.classes;
      const score = this.app.model.score(decisions, classes.length === 2 ? 1 : predicted);
      const button = make("button", { type: "button", className: "ex-flip", onclick: apply, onmouseenter: () => light(true), onmouseleave: () => light(false), onfocus: () => light(true), onblur: () => light(false) },
        picture, make("span", {}, make("b", {}, texts.join(", then ")), make("span", {}, `→ ${classes[predicted]}, decision ${signed(score)}${times > 1 ? ` · ${times} symmetric ways` : ""}`)));
      return make("li", {}, button);
    }));
  }
}

/** The label that a new node has unless another one is chosen: carbon in molecules, else the most frequent one. */
function usualLabel(meta) {
  const carbon = (meta.labels || []).indexOf("C");
  return meta.atoms && carbon >= 0 ? carbon : 0;
}

function percent(share) {
  return share > 0.995 ? "over 99 %" : share < 0.005 ? "under 1 %" : `${(100 * share).toFixed(0)} %`;
}
