// The page: what is chosen, how the map is colored, and what happens on clicks and keys.

const meta = readJSON("ex-meta");
const noun = meta.noun || "graph"; // what the points of the map are, in ids and addresses
const words = meta.words || { graph: noun, node: "node", edge: "edge" }; // what a reader calls them
const app = {
  meta, n: meta.n, selected: -1, filter: null, hiddenClasses: new Set(), index: null, model: null,
  positions: new Map(), busy: byId("ex-busy"),
};
meta.details = Object.entries(meta.details || {}); // texts of each graph by name: SMILES, names

function idOf(g) {
  return meta.ids ? meta.ids[g] : String(g);
}

function className(c) {
  return c < 0 ? "none" : meta.classes[c];
}

function labelName(label) {
  if (label < 0) return "?";
  return meta.labels && meta.labels.length ? meta.labels[label] : "";
}

function kindName(kind) {
  return kind < 0 ? "?" : meta.kinds[kind];
}

/** Positions of a graph's nodes: those that came with the page, or a layout. */
function positionsOf(g, graph) {
  if (!app.positions.has(g)) {
    const { places } = app.graphs.packed;
    if (places) {
      const first = 2 * app.graphs.first[g];
      const given = Array.from({ length: graph.n }, (_, i) => [places[first + 2 * i], -places[first + 2 * i + 1]]);
      const unit = meta.pixels ? meta.pixels : typicalLength(graph, given);
      app.positions.set(g, given.map(([x, y]) => [x / unit, y / unit]));
    } else {
      app.positions.set(g, laidOut(graph));
    }
  }
  return app.positions.get(g);
}

/** Gray values of pixels: a larger label is brighter. */
function pixelShades(graph) {
  const most = Math.max(meta.labels.length - 1, 1);
  return Array.from(graph.labels, (label) => { const shade = Math.round(51 + (191 * Math.max(label, 0)) / most); return [shade, shade, shade]; });
}

/** A color for each node by its label, for graphs that nothing is said about. */
function labelFills(graph) {
  if (meta.pixels) return pixelShades(graph);
  const colors = classColors(Math.max(meta.labels ? meta.labels.length : 1, 1));
  return Array.from(graph.labels, (label) => (label < 0 ? [200, 200, 200] : colors[label].map((part) => Math.round(part + 0.45 * (255 - part)))));
}

/** What a picture of any graph needs. */
function pictureOf(graph, positions) {
  return {
    graph, positions, fills: labelFills(graph), labels: Array.from(graph.labels, labelName), kindNames: meta.kinds,
    pixels: meta.pixels, atoms: meta.atoms, chemistry: chemistryOf(graph, meta), shades: meta.pixels ? pixelShades(graph) : null,
  };
}

const STRONGEST = 0.72; // of a color behind the symbol of an atom, which stays legible

/** Colors of values that are positive or negative, or of shares between 0 and the largest. */
function shaded(values, limit, isShare = false) {
  const most = meta.atoms ? STRONGEST : 1;
  const color = (v) => (isShare ? between(sharedStops(), (most * v) / limit) : diverging(most * v, limit));
  return {
    fills: Array.from(values, (v) => color(meta.pixels ? Math.sign(v) * limit : v)), // pixels show values by size
    strengths: Array.from(values, (v) => Math.min(Math.abs(v) / limit, 1)),
  };
}

function thumbnail(g, options = {}) {
  const graph = app.graphs.graph(g);
  const svg = svgElement("svg", { role: "img", "aria-label": nameOf(g) });
  drawGraph(svg, { ...pictureOf(graph, positionsOf(g, graph)), small: graph.n > 34, ...options });
  return svg;
}

// colors of the map

/** Color the map by the chosen column, and write the legend. */
function recolor() {
  const column = meta.columns[Number(byId("ex-color").value) || 0];
  const values = app.map_[column.key];
  const legend = byId("ex-legend");
  legend.replaceChildren();
  const { map } = app;
  if (column.kind === "class") {
    const colors = column.key === "wrong" ? [styleColor("--class-6"), styleColor("--class-1")] : classColors(column.names.length);
    const counts = new Array(column.names.length).fill(0);
    for (let i = 0; i < map.n; i++) {
      const value = values[i];
      const color = value < 0 || value >= column.names.length ? styleColor("--soft") : colors[value];
      if (value >= 0) counts[value]++;
      map.colors[i] = cssColor(color);
    }
    const buttons = column.names.map((name, c) => legendButton(column, c, name, counts[c], colors[c]));
    // classes whose names are on the map need no legend
    const named = buttons.length > 6 && map.groups.length >= buttons.length / 2 && ["target", "predicted"].includes(column.key);
    if (named) legend.append(make("details", {}, make("summary", {}, `${buttons.length} classes: show or hide some`), make("div", { className: "ex-legend" }, ...buttons)));
    else legend.append(...buttons);
  } else {
    const { low, high } = column;
    for (let i = 0; i < map.n; i++) {
      const share = (values[i] - low) / (high - low || 1);
      map.colors[i] = cssColor(Number.isFinite(values[i]) ? between(VIRIDIS, share) : styleColor("--soft"));
    }
    legend.append(`${column.name} ${plain(low)}`, ramp(VIRIDIS), plain(high));
  }
  refilter();
}

function legendButton(column, c, name, count, color) {
  const key = `${column.key}/${c}`;
  return make("button", {
    type: "button", title: `Show or hide these ${words.graph}s`, "aria-pressed": String(!app.hiddenClasses.has(key)),
    onclick: (event) => {
      if (app.hiddenClasses.has(key)) app.hiddenClasses.delete(key);
      else app.hiddenClasses.add(key);
      event.currentTarget.setAttribute("aria-pressed", String(!app.hiddenClasses.has(key)));
      if (app.index) say(""); // an answer to an earlier search
      refilter();
    },
  }, dot(color), `${name} (${plain(count)})`);
}

/** Which points are in color: those that the legend and the selection leave. */
function refilter() {
  const { map, filter } = app;
  map.shown.fill(1);
  for (const key of app.hiddenClasses) {
    const [name, c] = [key.slice(0, key.lastIndexOf("/")), Number(key.slice(key.lastIndexOf("/") + 1))];
    const values = app.map_[name];
    for (let i = 0; i < map.n; i++) if (values[i] === c) map.shown[i] = 0;
  }
  if (filter) for (let i = 0; i < map.n; i++) if (!filter.has(i)) map.shown[i] = 0;
  const left = map.shown.reduce((sum, value) => sum + value, 0);
  byId("ex-left").textContent = left < map.n ? `${plain(left)} of ${plain(map.n)} shown` : "";
  map.draw();
}

// what the mouse and the keys do

function listen() {
  const canvas = byId("ex-map");
  const { map } = app;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = { from: place(event), last: place(event), moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (event.pointerType === "touch") return; // fingers scroll and zoom the page
    if (drag) {
      if (Math.hypot(x - drag.from[0], y - drag.from[1]) > 4) drag.moved = true;
      if (drag.moved) map.pan(x - drag.last[0], y - drag.last[1]);
      drag.last = [x, y];
    } else hover(map.at(x, y), x, y);
  });
  const end = (event) => {
    if (!drag) return;
    if (!drag.moved && event.type !== "pointercancel") {
      const found = map.at(...place(event), event.pointerType === "touch" ? 18 : 9);
      if (found >= 0) {
        select(found);
        showDetails();
      }
    }
    drag = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => { if (!drag) hover(-1); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    map.zoomAt(Math.exp(-0.0016 * event.deltaY * (event.deltaMode ? 20 : 1)), ...place(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in arrows) {
      event.preventDefault();
      const from = map.hovered >= 0 ? map.hovered : app.selected;
      const next = map.towards(from, ...arrows[event.key]);
      if (next >= 0) {
        map.show(next);
        hover(next, ...map.screen(next));
      }
    } else if (event.key === "Enter" && map.hovered >= 0) select(map.hovered);
    else if (event.key === "+" || event.key === "=") map.zoomAt(1.4);
    else if (event.key === "-") map.zoomAt(1 / 1.4);
    else if (event.key === "Escape") resetMap();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
      event.preventDefault();
      byId("ex-search").focus();
    } else if (event.key === "Escape") byId("ex-save").open = false;
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#ex-save")) byId("ex-save").open = false;
  });
  byId("ex-in").addEventListener("click", () => map.zoomAt(1.5));
  byId("ex-out").addEventListener("click", () => map.zoomAt(1 / 1.5));
  byId("ex-reset").addEventListener("click", resetMap);
  byId("ex-save").addEventListener("click", (event) => { if (event.target.closest("div")) byId("ex-save").open = false; });
  byId("ex-svg").addEventListener("click", () => download(fileName(byId("ex-name").textContent, "svg"), new Blob([standaloneSVG(byId("ex-graph"))], { type: "image/svg+xml" })));
  byId("ex-png").addEventListener("click", () => map.toPNG((blob) => download(fileName(document.title, "png"), blob)));
  byId("ex-csv").addEventListener("click", () => download(fileName(document.title, "csv"), tableOf(Array.from({ length: app.n }, (_, g) => g).filter((g) => map.shown[g]))));
  addEventListener("hashchange", () => { const g = graphOfHash(); if (g >= 0 && g !== app.selected) select(g); });
  byId("ex-color").addEventListener("change", recolor);
  byId("ex-search").addEventListener("change", find);
  byId("ex-search").addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
  document.addEventListener("pk-theme", () => { recolor(); if (app.view) app.view.draw(); });
}

/** A message below the map; an empty one is hidden. */
function say(text) {
  app.busy.textContent = text;
  app.busy.hidden = !text;
}

/** All columns of some graphs as a CSV file. */
function tableOf(graphs) {
  const head = [words.graph, ...meta.details.map(([name]) => name), ...meta.columns.map(({ name }) => name)];
  const rows = graphs.map((g) => [idOf(g), ...meta.details.map(([, texts]) => texts[g]), ...meta.columns.map((column) => {
    const value = app.map_[column.key][g];
    return column.kind === "class" ? column.names[value] ?? "" : Number.isFinite(value) ? value : "";
  })]);
  return new Blob([[head, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n"], { type: "text/csv" });
}

/** The graph or node that the address names (#graph=ID, #node=ID), or -1. */
function graphOfHash() {
  const found = /[#&](?:graph|node)=([^&]+)/.exec(location.hash);
  if (!found) return -1;
  let wanted = found[1];
  try { wanted = decodeURIComponent(wanted); } catch { /* not encoded */ }
  return graphCalled(wanted);
}

/** The graph with an id or, where ids are no numbers, with a number; -1 if there is none. */
function graphCalled(wanted) {
  const byId_ = meta.ids ? meta.ids.indexOf(wanted) : -1;
  const isNumber = /^\d+$/.test(wanted) && !(meta.ids && /^\d+$/.test(meta.ids[0]));
  return byId_ < 0 && isNumber && Number(wanted) < app.n ? Number(wanted) : byId_;
}

function resetMap() {
  app.hiddenClasses.clear();
  app.map.guest = null;
  byId("ex-search").value = "";
  say("");
  if (app.filter) setFilter(null);
  app.map.reset();
  hover(-1);
  recolor();
}

/** Find a graph by its id, or by its number. */
function find() {
  const wanted = byId("ex-search").value.trim();
  if (!wanted) return;
  let found = graphCalled(wanted);
  const texts = [...(meta.ids ? [meta.ids] : []), ...meta.details.map(([, list]) => list)];
  for (const match of [(text) => text === wanted, (text) => !/^\d+$/.test(text) && text.toLowerCase().includes(wanted.toLowerCase())]) {
    for (const list of texts) if (found < 0) found = list.findIndex(match);
  }
  byId("ex-search").setAttribute("aria-invalid", String(found < 0));
  if (found >= 0) {
    select(found);
    showDetails();
  }
  say(found < 0 ? `No ${words.graph} is called “${wanted}”.` : "");
}

/** Show what a point is. */
function hover(g, x = 0, y = 0) {
  const tip = byId("ex-tip");
  const { map } = app;
  if (map.hovered !== g) {
    map.hovered = g;
    map.paintOverlay();
    tip.replaceChildren();
    if (g >= 0) {
      const lines = [make("b", {}, nameOf(g))];
      const size = app.graphs ? app.graphs.size(g) : 0; // a page of nodes has no graphs
      if (app.graphs) lines.push(make("div", {}, `${plain(size)} ${words.node}s`));
      for (const text of factsOf(g)) lines.push(make("div", {}, text));
      if (app.graphs && size <= 600) tip.append(thumbnail(g));
      tip.append(...lines);
    }
  }
  tip.hidden = g < 0;
  if (g < 0) return;
  const height = tip.offsetHeight, width = tip.offsetWidth;
  tip.style.left = `${x + 18 + width > map.width ? Math.max(x - width - 14, 4) : x + 18}px`;
  tip.style.top = `${Math.min(Math.max(y - 20, 4), Math.max(map.height - height - 4, 4))}px`;
}

/** What a graph is called: its name, or "graph" and its number. */
function nameOf(g) {
  return meta.ids && !/^\d+$/.test(meta.ids[g]) ? meta.ids[g] : `${words.graph[0].toUpperCase()}${words.graph.slice(1)} ${idOf(g)}`;
}

/** What is known of a graph, in a few words each. */
function factsOf(g) {
  const { target, predicted } = app.map_;
  if (!target) return [];
  const how = meta.heldOut ? "held out: " : "predicted: ";
  if (!meta.classes) return [`target ${plain(target[g])}`, predicted ? `${how}${plain(predicted[g])}` : ""].filter(Boolean);
  const facts = [target[g] < 0 ? "class not known" : `class: ${className(target[g])}`];
  if (predicted && predicted[g] >= 0) facts.push(`${how}${className(predicted[g])} ${target[g] < 0 ? "" : predicted[g] === target[g] ? "✓" : "✗"}`);
  return facts;
}

/** How large a graph is, as text. */
function sizeOf(graph) {
  return `${plain(graph.n)} ${words.node}${graph.n === 1 ? "" : "s"}`;
}

/** A button that opens a graph or a node. */
function pointLink(g, text = nameOf(g)) {
  return make("button", { type: "button", className: "ex-link", onclick: () => select(g) }, text);
}

/** Bring what was opened into view on a phone, where it lies below the map. */
function showDetails() {
  if (innerWidth <= 900) byId("ex-tabs").scrollIntoView({ block: "start" });
}

function select(g) {
  say("");
  byId("ex-read").hidden = true; // who clicks has read it
  byId("ex-paste-error")?.replaceChildren(); // a page of nodes has none
  app.selected = g;
  app.map.selected = g;
  app.map.show(g);
  chooseTab(noun);
  app.view.open(g);
  try { history.replaceState(null, "", `#${noun}=${encodeURIComponent(idOf(g))}`); } catch { /* frames of notebooks have no address */ }
}

/** Bring the large picture into view, if it was scrolled away or lies below the map. */
function showPicture() {
  const box = byId("ex-verdict").getBoundingClientRect();
  if (box.top < 0 || byId("ex-graph").getBoundingClientRect().bottom > innerHeight || box.top < byId("ex-panel-graph").getBoundingClientRect().top) {
    byId("ex-title").scrollIntoView({ block: "start" });
  }
}

function chooseTab(name) {
  if (app.view) say(app.index && !app.index.complete ? app.busy.textContent : "");
  for (const tab of document.querySelectorAll(".ex-tabs [role=tab]")) {
    const chosen = tab.id === `ex-tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}

function listenToTabs() {
  const tabs = [...document.querySelectorAll(".ex-tabs [role=tab]")];
  for (const tab of tabs) {
    tab.addEventListener("click", () => chooseTab(tab.id.replace("ex-tab-", "")));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const shown = tabs.filter((other) => !other.hidden), place = shown.indexOf(tab);
      const next = shown[(place + step + shown.length) % shown.length];
      next.focus();
      next.click();
    });
  }
}

/** Show the map with its menus and groups; points are drawn in a mixed order, so that no class covers the others. */
function showMap(xy) {
  app.map = new GraphMap(byId("ex-map"), byId("ex-overlay"), xy);
  app.map.order = Uint32Array.from(app.map.order).sort((a, b) => ((a * 2654435761) >>> 0) - ((b * 2654435761) >>> 0));
  meta.columns.forEach((column, k) => byId("ex-color").append(make("option", { value: String(k) }, column.name)));
  if (meta.ids && meta.n <= 5000) byId("ex-ids").append(...meta.ids.map((id) => make("option", { value: id })));
  app.map.groups = meta.groups.map(({ x, y, ...rest }) => ({ x: x / 65535 - 0.5, y: 0.5 - y / 65535, ...rest })).sort((a, b) => b.n - a.n);
}

/** Show the map and listen; open what the address names, or else the point that the page begins with. */
function begin(View) {
  showMap(app.map_.xy);
  app.view = new View(app);
  listen();
  listenToTabs();
  recolor();
  const named = graphOfHash();
  app.selected = app.map.selected = named >= 0 ? named : meta.first;
  app.view.open(app.selected);
}

/** Say why the page could not be built. */
function failed(error) {
  app.busy.hidden = false;
  app.busy.textContent = `The page could not be built: ${error.message}`;
  document.body.dataset.ready = "failed";
  throw error;
}
