// A graph as SVG: circles for nodes, lines for edges, pixels as squares.

const SVG = "http://www.w3.org/2000/svg";
const MOST_LABELED = 90;
const BONDS = { single: 1, double: 2, triple: 3, aromatic: 1.5, 1: 1, 2: 2, 3: 3, 1.5: 1.5, 12: 1.5 };

function svgElement(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * Draw a graph.
 * @param {SVGElement} svg emptied first
 * @param {object} picture graph, positions, fills (a color for each node), and what is optional: labels (texts),
 *   kindNames, pixels, rings (set of nodes), dimmed (set of nodes), onNode, onEdge, nodeTitle
 */
function drawGraph(svg, picture) {
  const { graph, positions, fills, labels, rings, dimmed, onNode, onEdge } = picture;
  svg.replaceChildren();
  const box = boxOf(positions, picture.pixels ? 0.5 : 0.75);
  svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  const radius = picture.pixels ? 0.5 : 0.6 * Math.min(typicalLength(graph, positions), 1.2) * (graph.n > 60 ? 0.62 : 0.55);
  const lines = svgElement("g", { stroke: "var(--soft)", "stroke-linecap": "round", fill: "none" });
  if (!picture.pixels) for (const [e, edge] of graph.edges.entries()) drawEdge(lines, picture, edge, e, radius);
  svg.append(lines);
  const written = labels && graph.n <= MOST_LABELED && !picture.small;
  for (let i = 0; i < graph.n; i++) {
    const [x, y] = positions[i];
    const shape = picture.pixels
      ? svgElement("rect", { x: x - 0.5, y: y - 0.5, width: 1.02, height: 1.02, fill: cssColor(fills[i]) })
      : svgElement("circle", { cx: x, cy: y, r: radius, fill: cssColor(fills[i]), stroke: "#555", "stroke-width": 0.03 });
    const node = svgElement("g", { "data-node": i }, shape);
    if (dimmed && dimmed.has(i)) node.setAttribute("opacity", "0.25");
    if (rings && rings.has(i)) shape.setAttribute("stroke", "var(--accent)"), shape.setAttribute("stroke-width", picture.pixels ? 0.16 : 0.14);
    if (written && !picture.pixels) {
      const size = Math.min(1.15 * radius, (2.6 * radius) / Math.max(labels[i].length, 1));
      node.append(svgElement("text", { x, y, "font-size": size, "text-anchor": "middle", dy: "0.35em", fill: textOn(fills[i]), "pointer-events": "none" }, labels[i]));
    }
    if (onNode) {
      const title = picture.nodeTitle ? picture.nodeTitle(i) : `node ${i}`;
      node.append(svgElement("title", {}, title));
      for (const [key, value] of [["tabindex", 0], ["role", "button"], ["aria-label", title], ["class", "ex-node"]]) node.setAttribute(key, value);
      node.addEventListener("click", () => onNode(i));
      node.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          onNode(i);
        }
      });
    }
    svg.append(node);
  }
  if (onEdge) for (const line of lines.querySelectorAll("[data-edge]")) line.addEventListener("click", () => onEdge(Number(line.dataset.edge)));
}

function drawEdge(lines, picture, [a, b, kind], e, radius) {
  const { positions, kindNames, dimmed } = picture;
  const [ax, ay] = positions[a], [bx, by] = positions[b];
  const group = svgElement("g", { "data-edge": e, class: picture.onEdge ? "ex-edge" : "" });
  if (dimmed && (dimmed.has(a) || dimmed.has(b))) group.setAttribute("opacity", "0.25");
  if (a === b) {
    group.append(svgElement("circle", { cx: ax, cy: ay - radius, r: radius, "stroke-width": 0.06 }));
    lines.append(group);
    return;
  }
  const name = kindNames && kind >= 0 ? kindNames[kind] : "";
  const bond = BONDS[name.toLowerCase()] || 1;
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const nx = (-(by - ay) / length) * 0.13, ny = ((bx - ax) / length) * 0.13;
  const shifts = bond === 1 ? [0] : bond === 3 ? [-1.2, 0, 1.2] : [-0.7, 0.7];
  for (const [k, shift] of shifts.entries()) {
    const line = svgElement("line", { x1: ax + shift * nx, y1: ay + shift * ny, x2: bx + shift * nx, y2: by + shift * ny, "stroke-width": 0.06 });
    if (bond === 1.5 && k === 1) line.setAttribute("stroke-dasharray", "0.16 0.16");
    group.append(line);
  }
  if (picture.onEdge) group.append(svgElement("line", { x1: ax, y1: ay, x2: bx, y2: by, "stroke-width": 0.5, stroke: "transparent" }), svgElement("title", {}, `edge ${a}–${b}${name ? `: ${name}` : ""}`));
  if (picture.graph.directed) group.append(arrowHead(ax, ay, bx, by, radius));
  lines.append(group);
}

function arrowHead(ax, ay, bx, by, radius) {
  const angle = Math.atan2(by - ay, bx - ax);
  const tip = [bx - radius * Math.cos(angle), by - radius * Math.sin(angle)];
  const wing = (turn) => `${tip[0] - 0.25 * Math.cos(angle + turn)} ${tip[1] - 0.25 * Math.sin(angle + turn)}`;
  return svgElement("path", { d: `M ${tip.join(" ")} L ${wing(0.5)} L ${wing(-0.5)} Z`, fill: "var(--soft)", stroke: "none" });
}

function boxOf(positions, margin) {
  if (!positions.length) return { x: -1, y: -1, w: 2, h: 2 };
  const xs = positions.map((p) => p[0]), ys = positions.map((p) => p[1]);
  const x = Math.min(...xs) - margin, y = Math.min(...ys) - margin;
  const w = Math.max(...xs) - x + margin, h = Math.max(...ys) - y + margin;
  const least = 4; // so that a graph of two nodes is not blown up
  return { x: x - Math.max(least - w, 0) / 2, y: y - Math.max(least - h, 0) / 2, w: Math.max(w, least), h: Math.max(h, least) };
}

/** Median length of the edges as drawn. */
function typicalLength(graph, positions) {
  const lengths = graph.edges.filter(([a, b]) => a !== b).map(([a, b]) => Math.hypot(positions[a][0] - positions[b][0], positions[a][1] - positions[b][1]));
  lengths.sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length / 2)] || 1;
}
