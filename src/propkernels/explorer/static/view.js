// One graph: its picture, the prediction as a sum, edits, similar graphs and smallest changes.

const EQUAL = 1 - 1e-9; // similarity of graphs with the same counts
const FARTHEST = 8; // zoom of the large picture

class GraphView {
  constructor(app) {
    this.app = app;
    this.g = -1; // -1: a graph that the user has pasted
    this.state = null; // {graph, positions}, as it is edited
    this.past = [];
    this.mode = "look";
    this.first = -1; // the first of two nodes to be joined
    this.t = -1; // -1: all iterations
    this.target = 0; // the class that colors speak for
    this.compared = -1;
    this.zoomed = 1;
    this.search = 0; // number of the current search for changes
    this._listen();
    for (const [id, factor] of [["ex-graph-in", 1.4], ["ex-graph-out", 1 / 1.4], ["ex-graph-fit", 0]]) byId(id).addEventListener("click", () => this._zoom(factor));
  }

  _listen() {
    const { meta } = this.app;
    for (const button of byId("ex-modes").children) button.addEventListener("click", () => this._setMode(button.dataset.mode));
    (meta.labelChoices || []).forEach((name, label) => byId("ex-label").append(make("option", { value: String(label) }, name)));
    (meta.kinds || []).forEach((name, kind) => byId("ex-kind").append(make("option", { value: String(kind) }, name)));
    byId("ex-label").value = String(meta.atoms ? Math.max(meta.labels.indexOf("C"), 0) : 0);
    byId("ex-kind").value = String(Math.max((meta.kinds || []).indexOf("single"), 0));
    byId("ex-undo").addEventListener("click", () => this._undo());
    byId("ex-restore").addEventListener("click", () => this._start(this.past[0]));
    byId("ex-steps").addEventListener("toggle", () => { if (!byId("ex-steps").open && this.t >= 0) this._setStep(-1); });
    byId("ex-previous").addEventListener("click", () => select((this.g + this.app.n - 1) % this.app.n));
    byId("ex-next").addEventListener("click", () => select((this.g + 1) % this.app.n));
    byId("ex-search-flips").addEventListener("click", () => (this.running ? this._stopSearch() : this._searchFlips()));
    const left = meta.fixed ? ["look"] : meta.pixels ? ["look", "relabel"] : null;
    for (const button of byId("ex-modes").children) button.hidden = left && !left.includes(button.dataset.mode);
    byId("ex-modes").hidden = Boolean(meta.fixed);
    byId("ex-paste-open").hidden = Boolean(left);
  }

  /** Color by one iteration, or by all (-1). */
  _setStep(t) {
    this.t = t;
    this.compared = -1;
    this.draw();
    if (t >= 0) byId("ex-sums").querySelectorAll("button")[t].focus();
  }

  /** Zoom the picture by a factor, or show it whole (0): it grows inside its frame, which scrolls; the middle stays there. */
  _zoom(factor) {
    const svg = byId("ex-graph"), frame = svg.parentElement;
    const middle = [(frame.scrollLeft + frame.clientWidth / 2) / svg.clientWidth, (frame.scrollTop + frame.clientHeight / 2) / svg.clientHeight];
    this.zoomed = Math.min(Math.max(this.zoomed * factor, 1), FARTHEST);
    svg.style.width = svg.style.height = `${100 * this.zoomed}%`;
    frame.scrollTo(middle[0] * svg.clientWidth - frame.clientWidth / 2, middle[1] * svg.clientHeight - frame.clientHeight / 2);
  }

  /** Whether the graph is one of the page, as it is there. */
  get isOwn() {
    return this.g >= 0 && !this.past.length;
  }

  /** Show a graph of the page, as it is. */
  open(g) {
    this.g = g;
    const graph = this.app.graphs.graph(g);
    const isLarge = graph.n > 2000;
    byId("ex-live").hidden = isLarge;
    if (!isLarge) return this._start({ graph, positions: positionsOf(g, graph) });
    byId("ex-name").textContent = nameOf(g);
    byId("ex-status").textContent = [sizeOf(graph), ...factsOf(g), "too large to be drawn"].join(" · ");
    byId("ex-details").replaceChildren();
  }

  /** Show a graph that the user has pasted. */
  openGuest(graph) {
    this.g = this.app.selected = this.app.map.selected = -1;
    byId("ex-live").hidden = false;
    this._start({ graph, positions: laidOut(graph) });
  }

  _start(state) {
    this.past = [];
    this.first = -1;
    this._zoom(0);
    byId("ex-hint").textContent = "";
    byId("ex-flip-list").replaceChildren();
    byId("ex-flip-text").textContent = "";
    this._stopSearch();
    this._show(state);
  }

  /** Show a state of the graph: count it, decide, explain, compare. */
  _show(state) {
    const { app } = this;
    this.state = state;
    this.compared = -1;
    byId("ex-undo").disabled = byId("ex-restore").disabled = !this.past.length;
    this.counted = app.similarity ? app.index.count(state.graph) : null;
    this.decisions = this.counted && app.model ? app.model.decisions(this.counted) : null;
    this.near = this.counted ? app.similarity.nearest(this.counted, 6, this.isOwn ? this.g : -1) : [];
    this.isForeign = Boolean(this.counted) && !this.isOwn && !(this.near[0].similarity >= app.meta.familiar);
    if (this.decisions && app.meta.classes) this.target = app.meta.classes.length === 2 ? 1 : app.model.predicted(this.decisions);
    app.map.guest = this.g < 0 && !this.isForeign ? placeOnMap(this.near.slice(0, 5)) : null;
    app.map.paintOverlay();
    this._name();
    this._tools();
    this._neighbors();
    this.draw();
  }

  /** Name, facts and texts of what is drawn: an edited graph is not the one that it was made from. */
  _name() {
    const { app, state: { graph } } = this;
    const name = this.g < 0 ? `Your ${words.graph}` : nameOf(this.g);
    byId("ex-name").textContent = this.past.length ? `${name}, edited` : name;
    byId("ex-status").textContent = [sizeOf(graph), ...(this.isOwn ? factsOf(this.g) : this._nearestFacts())].join(" · ");
    const smiles = this.isOwn ? "" : smilesOf(graph, app.meta);
    const details = this.isOwn ? app.meta.details.map(([title, texts]) => [title, texts[this.g]]) : smiles ? [["SMILES", smiles]] : [];
    byId("ex-details").replaceChildren(...details.map(([title, text]) => copyable(title, text)));
  }

  /** What the data know of an edited or pasted graph: the nearest graph and its similarity. */
  _nearestFacts() {
    if (!this.near.length) return [];
    const { graph: g, similarity } = this.near[0];
    const facts = [...factsOf(g).slice(0, 1), ...(this.state.graph.isFlat ? ["stereochemistry is not read"] : [])];
    if (similarity < EQUAL) return [`nearest: ${nameOf(g)}, similarity ${similarity.toFixed(2)}`];
    return [isSame(this.state.graph, this.app.graphs.graph(g)) ? `the same as ${nameOf(g)}` : `for the model the same as ${nameOf(g)}`, ...facts];
  }

  /** Menus and buttons of edits are there while something is edited. */
  _tools() {
    const { meta } = this.app;
    byId("ex-edits").hidden = this.mode === "look" && !this.past.length;
    byId("ex-label-box").hidden = !(meta.labels && meta.labels.length) || !["relabel", "grow"].includes(this.mode);
    byId("ex-kind-box").hidden = !(meta.kinds && meta.kinds.length) || !["relabel", "grow", "link"].includes(this.mode);
  }

  draw() {
    if (!this.state) return;
    const { app } = this;
    const { graph, positions } = this.state;
    const { model } = app;
    const parts = model && this.counted ? model.contributions(this.counted, model.share(this.target)) : null;
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
    const edges = picture.atoms && parts && this.compared < 0 ? edgeShares(graph, parts, this.t) : null;
    const drawn = {
      ...picture, ...(this.compared >= 0 || parts ? shaded(values, limit, this.compared >= 0) : {}), edges,
      rings: this.first >= 0 ? new Set([this.first]) : null,
      onNode: (i) => this._clickNode(i),
      onEdge: (e) => this._clickEdge(e),
      nodeTitle: (i) => `${words.node} ${i}${labelName(graph.labels[i]) ? `, ${labelName(graph.labels[i])}` : ""}${parts ? `: ${signed(values[i])}` : ""}`,
    };
    const focused = document.activeElement.closest("#ex-graph [data-node]");
    drawGraph(byId("ex-graph"), drawn);
    if (focused) [...byId("ex-graph").querySelectorAll("[data-node]")].slice(0, Number(focused.dataset.node) + 1).pop().focus(); // keys go on
    this._scale(limit);
    this._nameLabels(meta.atoms || meta.pixels || graph.n > MOST_LABELED ? [] : picture.labels);
    this._verdict();
    this._warn(picture.chemistry ? [...picture.chemistry.faulty] : []);
    this._sums();
    byId("ex-explained").hidden = !app.meta.model;
    byId("ex-flips").hidden = !app.meta.model || !app.meta.classes || Boolean(app.meta.fixed);
  }

  /** The key of the colors; of several classes, the menu of the class that they speak for. */
  _scale(limit) {
    const box = byId("ex-scale"), { classes } = this.app.meta;
    if (this.compared >= 0) return box.replaceChildren(`shared with ${nameOf(this.compared)}: nothing`, ramp(sharedStops()), "much");
    if (!this.parts) return box.replaceChildren();
    const strongest = make("span", {}, "strongest: ", term("contribution"), ` of ${plain(limit)}`);
    if (!classes) return box.replaceChildren("smaller", ramp(divergingStops()), "larger", strongest);
    if (classes.length === 2) return box.replaceChildren(`for ${classes[0]}`, ramp(divergingStops()), `for ${classes[1]}`, strongest);
    const menu = make("select", { id: "ex-class", "aria-label": "Class that the colors speak for" }, ...classes.map((name, c) => make("option", { value: String(c) }, name)));
    menu.value = String(this.target);
    menu.addEventListener("change", () => {
      this.target = Number(menu.value);
      this.draw();
      byId("ex-class").focus();
    });
    box.replaceChildren("against", ramp(divergingStops()), "for ", menu, strongest);
  }

  /** The labels that are cut in the picture, below it. */
  _nameLabels(labels) {
    const cut = [...new Set(labels)].filter((label) => shortLabel(label) !== label).sort();
    byId("ex-names").textContent = cut.map((label) => `${shortLabel(label)} = ${label}`).join(", ");
    byId("ex-names").hidden = !cut.length;
  }

  /** Say which atoms have too many bonds. */
  _warn(faulty) {
    const named = faulty.slice(0, 4).map((i) => `${labelName(this.state.graph.labels[i])} ${i}`);
    byId("ex-warning").textContent = faulty.length ? `No such molecule exists: ${named.join(", ")} ${faulty.length > 1 ? "have" : "has"} too many bonds.` : "";
  }

  /** What the model says: never a probability for a graph unlike the data. */
  _verdict() {
    const { model, meta, map_ } = this.app, { decisions } = this;
    const box = byId("ex-verdict");
    box.hidden = !meta.model;
    box.classList.toggle("ex-doubt", this.isForeign);
    if (!meta.model) return;
    const chip = (c) => make("span", { className: "ex-chip" }, dot(classColors(meta.classes.length)[c]), make("b", {}, meta.classes[c]));
    if (!decisions) { // the map has predictions before the model is ready
      const known = map_.predicted && this.g >= 0 ? map_.predicted[this.g] : -1;
      return box.replaceChildren(make("span", {}, meta.heldOut ? term("held out", "Held out") : "The model predicts"), meta.classes ? (known < 0 ? "" : chip(known)) : make("b", {}, plain(known)), make("span", { className: "pk-soft" }, "the model is loading …"));
    }
    const doubt = this.isForeign ? make("b", { className: "ex-warning" }, "Unlike the data: do not trust this prediction.") : "";
    const who = make("span", {}, this.isOwn && meta.heldOut ? term("final model", "Final model") : "The model predicts");
    const range = meta.ranges && this.isOwn ? meta.ranges[this.g] : null;
    if (!meta.classes) {
      box.replaceChildren(doubt, who, make("b", { id: "ex-decision" }, plain(decisions[0])));
      if (range && range[0] !== null) box.append(make("span", { id: "ex-range" }, term("90 % interval"), ` ${plain(range[0])} to ${plain(range[1])}`));
    } else {
      const c = model.predicted(decisions);
      const chances = this.isForeign || !model.calibration ? null : model.probabilities(decisions, this.isOwn ? (map_.nearness ? map_.nearness[this.g] : 1) : model.nearness(this.counted));
      box.replaceChildren(doubt, who, chip(c), chances ? make("span", { id: "ex-chance" }, term("probability"), ` ${percent(chances[c])}`) : "");
      if (range && (range.length !== 1 || range[0] !== c)) box.append(make("span", { id: "ex-range" }, term("90 % set"), `: ${range.map((k) => meta.classes[k]).join(", ") || "none"}`));
    }
    if (this.past.length) {
      const before = model.decisions(this.app.index.count(this.past[0].graph));
      box.append(make("span", { className: "pk-soft" }, `before the edits: ${meta.classes ? meta.classes[model.predicted(before)] : plain(before[0])}`));
    }
  }

  /** The decision as a sum: in a sentence, and by iteration. */
  _sums() {
    const { parts } = this, { model, meta } = this.app;
    byId("ex-sums").replaceChildren();
    byId("ex-sum").replaceChildren();
    byId("ex-steps").hidden = !parts;
    if (!parts) return;
    const sums = parts.map((part) => part.reduce((a, b) => a + b, 0));
    const share = model.share(this.target);
    const rest = model.intercepts.reduce((sum, value, c) => sum + share[c] * value, 0);
    const all = sums.reduce((a, b) => a + b, 0);
    const what = meta.classes ? [term("decision"), ` for ${meta.classes[this.target]}`] : ["prediction"];
    byId("ex-sum").append("The ", ...what, ` is the sum of ${words.node}s ${signed(all)} and intercept ${signed(rest)}: `, make("b", { id: "ex-total" }, signed(all + rest)));
    const most = Math.max(...sums.map(Math.abs), Math.abs(rest), 1e-12);
    const row = (name, value, className_ = "") => make("tr", { className: className_ }, make("td", {}, name), make("td", {}, bar(value, most)), make("td", {}, signed(value)));
    const step = (t) => make("button", { type: "button", className: "ex-link", title: "Color by this iteration alone", "aria-pressed": String(t === this.t), onclick: () => this._setStep(t === this.t ? -1 : t) }, `t = ${t}`);
    byId("ex-sums").append(make("table", { className: "ex-sums" }, make("tbody", {}, ...sums.map((value, t) => row(step(t), value, t === this.t ? "ex-now" : "")), row("intercept", rest))));
  }

  _setMode(mode) {
    this.mode = mode;
    this.first = -1;
    for (const button of byId("ex-modes").children) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    byId("ex-hint").textContent = mode === "look" ? "" : `${[...byId("ex-modes").children].find((button) => button.dataset.mode === mode).title}.`;
    this._tools();
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
      const total = this.parts.reduce((sum, part) => sum + part[i], 0);
      byId("ex-hint").textContent = `${labelName(graph.labels[i]) || words.node} ${i} adds ${signed(total)} (${texts.join(", ")})`;
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
    const { graph, positions } = this.state;
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
    byId("ex-neighbors").replaceChildren(...this.near.map(({ graph: g, similarity }) => {
      const other = app.index.count(app.graphs.graph(g));
      const values = app.similarity.shared(this.counted, other)[1];
      const picture = other.graph.n <= 400 ? thumbnail(g, shaded(values, Math.max(...values, 1e-12), true)) : null;
      const card = make("div", { className: "ex-neighbor", "data-graph": String(g) }, picture, make("b", {}, nameOf(g)), make("div", {}, `similarity ${similarity.toFixed(3)}`), ...factsOf(g).slice(0, 1).map((text) => make("div", {}, text)));
      const compare = make("button", { type: "button", "aria-pressed": "false", title: `Show in the large picture what both ${words.graph}s share`, onclick: () => this._compare(g) }, "compare");
      card.append(make("span", { className: "ex-group" }, compare, make("button", { type: "button", onclick: () => select(g) }, "open")));
      return card;
    }));
  }

  /** Show in the large picture what is shared with a graph, or the contributions again. */
  _compare(g) {
    this.compared = this.compared === g ? -1 : g;
    for (const card of byId("ex-neighbors").children) {
      const on = Number(card.dataset.graph) === this.compared;
      card.classList.toggle("ex-compared", on);
      card.querySelector("button").setAttribute("aria-pressed", String(on));
    }
    this.draw();
    if (this.compared >= 0) showPicture();
  }

  _stopSearch() {
    this.search++;
    this.running = false;
    byId("ex-search-flips").textContent = "Search";
  }

  /** Look for the smallest changes that flip the class, and list them as they are found. */
  async _searchFlips() {
    const { app } = this;
    const { graph } = this.state;
    const nLabels = app.meta.labels ? app.meta.labels.length : 0;
    const used = app.meta.codes.some(({ source }) => source === "node") && nLabels;
    const chemical = Boolean(graph.atoms) && haveOrders(app.meta);
    if (!app.degrees) app.degrees = largestDegrees(app.graphs, Math.max(nLabels, 1));
    const allowed = {
      labels: used ? Array.from({ length: nLabels }, (_, i) => i) : [0],
      kinds: app.meta.kinds && app.meta.kinds.length ? app.meta.kinds.map((_, i) => i) : [-1],
      degrees: chemical ? null : app.degrees,
      rules: chemical ? (one) => new MoleculeRules(one, app.meta) : null,
      edges: !app.meta.pixels && app.index.vocabularies.some(({ readsEdges }) => readsEdges),
      nodes: !app.meta.pixels,
    };
    const search = new Counterfactuals(app.model, graph, app.model.predicted(this.decisions), allowed);
    const base = this.state, valid = chemical ? " valid" : "", began = performance.now();
    const own = ++this.search;
    this.running = true;
    byId("ex-search-flips").textContent = "Stop";
    let listed = -1;
    const tell = (job, done) => {
      const left = allowed.edges || app.meta.pixels ? "" : " This model does not read edges: edits of edges are left out.";
      const limits = chemical || app.meta.pixels ? "" : " Only degrees that occur in the data.";
      const ended = job.found.length ? "" : " None of them flips the class, nor do two edits from the best single ones.";
      const spent = (performance.now() - began) / 1000, wait = spent * (1 / job.share - 1);
      const rest = spent > 0.25 && wait >= 1 ? `, about ${Math.ceil(wait)} s left` : "";
      byId("ex-flip-text").textContent = done ? `${plain(job.tried)}${valid} edits tried.${limits}${left}${ended}` : `Trying … ${plain(job.tried)}${valid} edits so far${rest}.`;
      if (job.found.length !== listed || done) this._listFlips(job.found, base);
      listed = job.found.length;
    };
    const finished = await inSlices(search, tell, () => own !== this.search);
    if (finished) this._stopSearch();
    else if (this.state === base && !this.running) byId("ex-flip-text").textContent = `Stopped after ${plain(search.tried)}${valid} edits.`;
  }

  _listFlips(found, base) {
    const names = { label: labelName, kind: kindName }, { classes, familiar } = this.app.meta;
    byId("ex-flip-list").replaceChildren(...found.map(({ edits, graph: result, predicted, times }) => {
      const texts = [], touched = new Set();
      let graph = base.graph, positions = base.positions;
      for (const edit of edits) {
        texts.push(editText(graph, edit, names));
        for (const node of editedNodes(graph, edit)) touched.add(node);
        positions = editedPositions(graph, positions, edit);
        graph = edited(graph, edit);
      }
      const apply = () => {
        this.past = this.past.slice(0, base === this.state ? this.past.length : 0);
        this.state = base;
        for (const edit of edits) this.apply(edit);
        showPicture();
      };
      const picture = svgElement("svg", { role: "img", "aria-label": `the edited ${words.graph}` });
      if (result.n <= 120) drawGraph(picture, { ...pictureOf(graph, positions), small: graph.n > 34, rings: new Set([...touched].filter((i) => i < graph.n)) });
      const [near] = this.app.similarity.nearest(this.app.index.count(result), 1);
      const unlike = near.similarity < familiar ? ", unlike the data" : "";
      const button = make("button", { type: "button", className: "ex-flip", onclick: apply },
        picture, make("span", {}, make("b", {}, texts.join(", then ")), make("span", {}, `→ ${classes[predicted]}${unlike}${times > 1 ? ` · ${times} symmetric ways` : ""}`)));
      return make("li", {}, button);
    }));
  }
}

/** A text of a graph, such as its SMILES, with a button that copies it. */
function copyable(name, text) {
  const code = make("code", {}, text);
  const copy = make("button", { type: "button", className: "ex-copy", title: `Copy ${name}`, "aria-label": `Copy ${name}` }, "copy");
  copy.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); copy.textContent = "copied"; } catch { getSelection().selectAllChildren(code); }
    setTimeout(() => { copy.textContent = "copy"; }, 1200);
  });
  return make("div", {}, make("span", { className: "pk-soft" }, `${name} `), code, copy);
}
