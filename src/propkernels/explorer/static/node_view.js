// A page of nodes: one node, its neighborhood, and what its neighbors and columns add.

const MOST_DRAWN = 40; // nodes of a drawn neighborhood
const RING_GAP = 0.95; // between neighbors on a circle

class NodeView {
  constructor(app) {
    this.app = app;
    this.v = -1;
    const { explained } = app;
    this.place = new Map(Array.from(explained.nodes, (v, i) => [v, i]));
    this.rows = cumulated(explained.sizes);
    this.columns = cumulated(explained.columnSizes);
    byId("ex-previous").addEventListener("click", () => this._step(-1));
    byId("ex-next").addEventListener("click", () => this._step(1));
  }

  /** Open the next explained node, in either direction. */
  _step(by) {
    const { nodes } = this.app.explained;
    const at = this.place.has(this.v) ? this.place.get(this.v) : by > 0 ? -1 : 0;
    select(nodes[(at + by + nodes.length) % nodes.length]);
  }

  open(v) {
    const { app } = this;
    this.v = v;
    const near = app.around[v];
    app.map.links = near;
    app.map.draw();
    byId("ex-name").textContent = nameOf(v);
    const count = near.length === 1 ? "1 neighbor" : `${plain(near.length)} neighbors`;
    byId("ex-status").textContent = [count, ...factsOf(v), app.map_.known[v] ? "known to the model" : ""].filter(Boolean).join(" · ");
    this.parts = this.place.has(v) ? this._parts(this.place.get(v)) : null;
    this.draw();
  }

  /** What neighbors and columns add to the decision about an explained node. */
  _parts(i) {
    const { explained } = this.app;
    const list = (starts, of) => Array.from({ length: starts[i + 1] - starts[i] }, (_, k) => of(starts[i] + k));
    return {
      neighbors: list(this.rows, (k) => ({ node: explained.neighbors[k], step: explained.steps[k], value: explained.adds[k] })),
      columns: list(this.columns, (k) => ({ name: meta.mentioned[explained.columns[k]], value: explained.columnAdds[k] })),
      total: explained.totals[i], intercept: explained.intercepts[i], decision: explained.decisions[i], favored: explained.for[i],
    };
  }

  /** The prediction, and the most probable classes. */
  _verdict() {
    const { map_ } = this.app;
    const box = byId("ex-verdict");
    const own = map_.predicted[this.v];
    if (!meta.classes) return box.replaceChildren("The model predicts ", make("b", {}, plain(own)));
    const colors = classColors(meta.classes.length), k = meta.classes.length;
    const chance = (c) => (map_.chances ? ` ${percent(map_.chances[k * this.v + c])}` : "");
    const chip = (c) => make("span", { className: "ex-chip" }, dot(colors[c]), make(c === own ? "b" : "span", {}, className(c)), chance(c));
    const others = map_.chances ? Array.from({ length: k }, (_, c) => c).filter((c) => c !== own) : [];
    others.sort((a, b) => map_.chances[k * this.v + b] - map_.chances[k * this.v + a]);
    box.replaceChildren("The model predicts ", ...[own, ...others.slice(0, 3)].map(chip));
  }

  /** The neighborhood: the node, its neighbors, and further nodes that add most; and what is said of it. */
  draw() {
    const { app, v, parts } = this;
    this._verdict();
    this._sums();
    const chosen = [v], seen = new Set([v]);
    const strong = parts ? parts.neighbors.map(({ node }) => node) : [];
    for (const u of [...strong.filter((node) => app.around[v].includes(node)), ...app.around[v], ...strong]) {
      if (chosen.length === MOST_DRAWN) break;
      if (seen.has(u)) continue;
      seen.add(u);
      chosen.push(u);
    }
    const group = (u) => (meta.classes ? app.map_.predicted[u] : 0);
    chosen.splice(1, chosen.length, ...chosen.slice(1).sort((a, b) => group(a) - group(b)));
    const number = new Map(chosen.map((u, i) => [u, i]));
    const edges = [];
    chosen.forEach((u, i) => { for (const w of app.around[u]) if (number.has(w) && number.get(w) > i) edges.push([i, number.get(w), -1]); });
    const graph = builtGraph(chosen.length, new Int32Array(chosen.length), edges, false);
    const values = chosen.map((u) => { const found = parts && parts.neighbors.find(({ node }) => node === u); return found ? found.value : 0; });
    const limit = Math.max(...values.map(Math.abs), 1e-9);
    const colors = meta.classes ? classColors(meta.classes.length) : null;
    const fills = parts ? values.map((value) => diverging(value, limit)) : chosen.map((u) => (colors ? colors[app.map_.predicted[u]] : [160, 160, 160]));
    drawGraph(byId("ex-graph"), {
      graph, positions: ringed(chosen, new Set(app.around[v])), fills, rings: new Set([0]), labels: chosen.map((u) => (idOf(u).length <= 3 ? idOf(u) : "")), rims: colors && chosen.map((u) => colors[app.map_.predicted[u]]),
      onNode: (i) => { if (i) select(chosen[i]); },
      nodeTitle: (i) => `${nameOf(chosen[i])}${colors ? `, predicted ${className(app.map_.predicted[chosen[i]])}` : ""}${values[i] ? `, adds ${signed(values[i])}` : ""}`,
    });
    const side = parts && meta.classes ? className(parts.favored) : "";
    const scale = !parts ? [colors ? "Colors: predicted classes." : ""] : [side ? `against ${side}` : "lowers", ramp(divergingStops()), side ? `for ${side}` : "raises"];
    byId("ex-scale").replaceChildren(...scale);
    const left = app.around[v].filter((u) => !number.has(u)).length;
    const hidden = left ? `${plain(left)} more ${left === 1 ? "neighbor is" : "neighbors are"} not drawn. ` : "";
    byId("ex-hint").textContent = hidden + (parts ? "" : "This node has no explanation on the page: ‹ and › open nodes that have one.");
  }

  /** The decision as a sum, by neighbor and by column. */
  _sums() {
    const box = byId("ex-sums"), { parts } = this;
    box.replaceChildren();
    if (!parts) return;
    const listed = (list) => list.reduce((sum, { value }) => sum + value, 0);
    const most = Math.max(...[...parts.neighbors, ...parts.columns].map(({ value }) => Math.abs(value)), 1e-9);
    const row = (cells, value, className_ = "") => make("tr", { className: className_ }, make("td", {}, cells), make("td", {}, bar(value, most)), make("td", {}, signed(value)));
    const table = (title, rows, rest) => [make("h3", {}, title), make("table", { className: "ex-sums ex-named" }, make("tbody", {}, ...rows,
      ...(Math.abs(rest) > 1e-4 * most ? [row("all others", rest)] : []), row("intercept", parts.intercept), row("decision", parts.decision, "ex-total")))];
    const who = ({ node, step }) => make("span", {}, pointLink(node), ` ${node === this.v ? "itself" : step === 1 ? "1 step" : `${step} steps`}`);
    box.append(
      ...table("What neighbors add", parts.neighbors.map((one) => row(who(one), one.value)), parts.total - listed(parts.neighbors)),
      ...table("The same sum, by column", parts.columns.map(({ name, value }) => row(name, value)), parts.total - listed(parts.columns)),
    );
  }
}

/** Positions of a neighborhood: the node in the middle, its neighbors on a circle, further nodes on a second one. */
function ringed(nodes, near) {
  const rings = [nodes.slice(1).filter((u) => near.has(u)), nodes.slice(1).filter((u) => !near.has(u))];
  const place = new Map([[nodes[0], [0, 0]]]);
  let radius = 0;
  for (const ring of rings) {
    radius = Math.max(radius + 1.6, (ring.length * RING_GAP) / (2 * Math.PI));
    ring.forEach((u, k) => {
      const angle = (2 * Math.PI * k) / ring.length - Math.PI / 2;
      place.set(u, [1.35 * radius * Math.cos(angle), radius * Math.sin(angle)]);
    });
  }
  return nodes.map((u) => place.get(u));
}

async function start() {
  const sections = readJSON("ex-data");
  const [map_, edges, explained] = await Promise.all([unpack(sections.map), unpack(sections.edges), unpack(sections.explained)]);
  Object.assign(app, { map_, explained, around: Array.from({ length: meta.n }, () => []) });
  let e = 0;
  for (let v = 0; v < meta.n; v++) {
    for (let k = 0; k < edges.degrees[v]; k++, e++) {
      const u = edges.ends[e];
      if (u === v) continue;
      if (!app.around[v].includes(u)) app.around[v].push(u);
      if (!app.around[u].includes(v)) app.around[u].push(v);
    }
  }
  begin(NodeView);
  say("");
  document.body.dataset.ready = "true";
}

start().catch(failed);
globalThis.propkernels = { app, select }; // for programs, and for the curious
