// Graphs in time: their codes as a kernel sees them, and a drawing with a time axis.

/** Codes of a graph in time (TimeCoder): forwards in time, in both directions, or one per vertex. */
function codesInTime(spec, graph) {
  spec.seen ??= { ...spec, time: null };
  if (spec.time.view !== "static") return codesOf(spec.seen, crossedEdges(spec.time, graph));
  const { still, last } = withoutTime(spec.time, graph);
  return codesOf(spec.seen, still).map((row) => {
    const all = new Uint32Array(2 * graph.n);
    for (let i = 0; i < graph.n; i++) all[2 * i + 1] = NOT_COUNTED;
    last.forEach((node, v) => all.set(row.subarray(2 * v, 2 * v + 2), 2 * node));
    return all;
  });
}

/** The edges that information crosses, by the kinds that the kernel tells apart; equal parallel edges are one. */
function crossedEdges(time, graph) {
  let edges = graph.edges.filter(([, , kind]) => time.crossed[kind]).map(([a, b, kind]) => [a, b, time.kinds[kind], 0]);
  if (time.merged) edges = differentEdges(edges);
  return assembled(graph.n, graph.labels, edges, true, graph.origin, graph.attributes);
}

function differentEdges(edges) {
  edges.sort((x, y) => x[0] - y[0] || x[1] - y[1] || x[2] - y[2]);
  return edges.filter((edge, e) => !e || [0, 1, 2].some((k) => edge[k] !== edges[e - 1][k]));
}

/** One node per vertex, with its last label, and an edge for each pair that met (static_graphs). */
function withoutTime(time, graph) {
  const last = lastNodes(graph);
  const met = graph.edges.filter(([, , kind]) => time.crossed[kind]);
  let edges = met.map(([a, b, kind]) => [graph.vertices[a], graph.vertices[b], time.labeled ? kind : 0, 0]);
  edges = differentEdges(edges).map(([a, b, kind]) => [a, b, time.labeled ? time.kinds[kind] : -1, 0]);
  const labels = Int32Array.from(last, (i) => graph.labels[i]), origin = Int32Array.from(last, (i) => graph.origin[i]);
  return { still: assembled(last.length, labels, edges, true, origin, graph.attributes), last };
}

/** The latest node of each vertex. */
function lastNodes(graph) {
  const last = new Array(graph.vertexIds.length).fill(-1);
  for (let i = 0; i < graph.n; i++) {
    const v = graph.vertices[i];
    if (last[v] < 0 || graph.times[i] >= graph.times[last[v]]) last[v] = i;
  }
  return last;
}

/** Give a graph of the page the time and the vertex of its nodes; vertices are numbered by their first node. */
function setInTime(graph, times, vertices) {
  const numbers = new Map();
  for (const id of vertices) if (!numbers.has(id)) numbers.set(id, numbers.size);
  graph.times = Float64Array.from(times);
  graph.vertices = Int32Array.from(vertices, (id) => numbers.get(id));
  graph.vertexIds = [...numbers.keys()];
  return graph;
}

function vertexName(graph, v) {
  return app.meta.time.vertices[graph.vertexIds[v]];
}

/** How large a graph is, in two texts. */
function sizesOf(graph) {
  if (meta.pixels) return [`${plain(graph.n)} pixels`];
  if (!graph.times) return [`${plain(graph.n)} ${words.node}${graph.n === 1 ? "" : "s"}`];
  return [`${plain(graph.vertexIds.length)} vertices`, `${plain(contactsOf(graph).length)} contacts`];
}

/** Contacts of a graph: {a, b, time}, ends ascending, each pair of nodes once. */
function contactsOf(graph) {
  const found = new Map();
  for (const [from, to] of graph.edges) {
    const [a, b] = from < to ? [from, to] : [to, from];
    if (graph.vertices[a] !== graph.vertices[b]) found.set(a * graph.n + b, { a, b, time: Math.max(graph.times[a], graph.times[b]) });
  }
  return [...found.values()].sort((x, y) => x.time - y.time);
}

/**
 * Contributions of edges, by a * n + b (edge_contributions): those of a node at iteration t, divided among the edges
 * with an end at most t - 1 steps away.
 */
function edgeShares(graph, parts, wanted) {
  const number = new Map(), around = Array.from({ length: graph.n }, () => []);
  for (const [from, to] of graph.edges) {
    const [a, b] = from < to ? [from, to] : [to, from];
    const key = a * graph.n + b;
    if (a === b || number.has(key)) continue;
    number.set(key, number.size);
    around[a].push([b, number.get(key)]);
    around[b].push([a, number.get(key)]);
  }
  const shares = new Float64Array(number.size);
  for (let i = 0; i < graph.n; i++) {
    const reached = new Set([i]), edges = new Set();
    let front = [i];
    for (let t = 1; t < parts.length; t++) {
      const next = [];
      for (const j of front) {
        for (const [k, e] of around[j]) {
          edges.add(e);
          if (!reached.has(k)) {
            reached.add(k);
            next.push(k);
          }
        }
      }
      front = next;
      if (edges.size && (wanted < 0 || wanted === t)) for (const e of edges) shares[e] += parts[t][i] / edges.size;
    }
  }
  return new Map([...number].map(([key, e]) => [key, shares[e]]));
}

const ROW = 22, WIDE = 640, MOST_NAMED = 60;

/** Places of nodes: time to the right, one line per vertex, vertices by their first time. */
function timePlaces(graph, row = ROW) {
  const firsts = graph.vertexIds.map(() => Infinity);
  graph.times.forEach((time, i) => { firsts[graph.vertices[i]] = Math.min(firsts[graph.vertices[i]], time); });
  const order = firsts.map((_, v) => v).sort((v, w) => firsts[v] - firsts[w] || v - w);
  const line = new Array(order.length);
  order.forEach((v, k) => { line[v] = k; });
  const low = Math.min(...graph.times), high = Math.max(...graph.times);
  const x = (time) => (WIDE * (time - low)) / (high - low || 1);
  return { x, low, high, line, positions: Array.from(graph.times, (time, i) => [x(time), row * line[graph.vertices[i]]]) };
}

/**
 * Draw a graph in time.
 * @param {SVGElement} svg emptied first
 * @param {object} picture as of drawGraph, and onContact
 */
function drawTime(svg, picture) {
  const { graph, edges: shares, small } = picture;
  const most = shares ? contactsOf(graph).reduce((largest, { a, b }) => Math.max(largest, Math.abs(shares.get(a * graph.n + b))), 0) || 1 : 1;
  const row = small ? Math.min((0.62 * WIDE) / Math.max(graph.vertexIds.length - 1, 1), 90) : ROW; // thumbnails are less wide
  const { x, low, high, line, positions } = timePlaces(graph, row);
  const radius = small ? Math.min(0.3 * row + 5, 16) : 6;
  svg.replaceChildren();
  const named = !small && line.length <= MOST_NAMED;
  const left = named ? Math.min(8 * Math.max(...line.map((_, v) => vertexName(graph, v).length)) + 14, 150) : 18;
  const tall = row * Math.max(line.length - 1, 1), foot = small ? 18 : 38;
  svg.setAttribute("viewBox", `${-left} ${-18} ${WIDE + left + 18} ${tall + 18 + foot}`);
  const lines = svgElement("g", { stroke: "var(--line)", "stroke-width": 1.5 });
  line.forEach((k, v) => {
    const own = Array.from(graph.times).filter((_, i) => graph.vertices[i] === v);
    lines.append(svgElement("line", { x1: x(Math.min(...own)), x2: x(Math.max(...own)), y1: row * k, y2: row * k }));
    if (named) svg.append(svgElement("text", { x: -10, y: row * k, dy: "0.35em", "text-anchor": "end", "font-size": 12, fill: "var(--ink)" }, vertexName(graph, v)));
  });
  svg.append(lines);
  if (!small) drawTimeAxis(svg, x, low, high, tall, graph.times);
  for (const contact of contactsOf(graph)) drawContact(svg, picture, contact, positions, shares, most);
  for (let i = 0; i < graph.n; i++) {
    const [cx, cy] = positions[i];
    const node = svgElement("g", { "data-node": i, opacity: picture.dimmed && picture.dimmed.has(i) ? 0.2 : 1 });
    const ball = svgElement("circle", { cx, cy, r: radius, fill: cssColor(picture.fills[i]), stroke: "var(--soft)", "stroke-width": 0.8 });
    mark(ball, picture, i, 2.5);
    node.append(ball);
    if (picture.onNode) makeClickable(node, picture, i);
    svg.append(node);
  }
}

function drawTimeAxis(svg, x, low, high, tall, times) {
  svg.append(svgElement("line", { x1: 0, x2: WIDE, y1: tall + 10, y2: tall + 10, stroke: "var(--soft)" }));
  const even = [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low));
  const ticks = new Set(even.map((wanted) => times.reduce((best, time) => (Math.abs(time - wanted) < Math.abs(best - wanted) ? time : best))));
  for (const tick of ticks) {
    svg.append(svgElement("line", { x1: x(tick), x2: x(tick), y1: tall + 10, y2: tall + 14, stroke: "var(--soft)" }));
    svg.append(svgElement("text", { x: x(tick), y: tall + 26, "text-anchor": "middle", "font-size": 11, fill: "var(--soft)" }, plain(tick)));
  }
  svg.append(svgElement("text", { x: WIDE, y: tall + 36, "text-anchor": "end", "font-size": 11, fill: "var(--soft)" }, "time"));
}

function drawContact(svg, picture, contact, positions, shares, most) {
  const { graph } = picture;
  const { a, b } = contact;
  const share = shares ? shares.get(a * graph.n + b) || 0 : 0;
  const color = shares ? cssColor(diverging(share, most)) : "var(--soft)";
  const place = { x1: positions[a][0], y1: positions[a][1], x2: positions[b][0], y2: positions[b][1] };
  const group = svgElement("g", { "data-contact": `${a},${b}`, class: picture.onContact ? "ex-edge" : "" });
  // colors in the middle of the scale are near the background: a thin line shows that there is a contact
  group.append(svgElement("line", { ...place, stroke: "var(--soft)", "stroke-width": picture.small ? 3 : 1 }));
  if (shares) group.append(svgElement("line", { ...place, stroke: color, "stroke-width": 1.5 + (4 * Math.abs(share)) / most }));
  if (picture.onContact) {
    const names = [a, b].map((i) => vertexName(graph, graph.vertices[i]));
    group.append(svgElement("line", { ...place, stroke: "transparent", "stroke-width": 9 }), svgElement("title", {}, `${names.join(" – ")} at ${plain(contact.time)}${shares ? `: ${signed(share)}` : ""}`));
    group.addEventListener("click", () => picture.onContact(a, b));
  }
  svg.append(group);
}
