// A graph as SVG: molecules as skeletal formulas, other graphs as circles and lines, images as pixels.

const SVG = "http://www.w3.org/2000/svg";
const MOST_LABELED = 90;
const BONDS = { single: 1, double: 2, triple: 3, aromatic: 1.5, "1.5": 1.5 };
const HEAVY = new Set(["C"]); // atoms that a skeletal formula draws as corners
const ELEMENT_COLORS = { N: "n", O: "o", S: "s", P: "p", F: "f", Cl: "f", Br: "br", I: "i", B: "b", Si: "b" };

function svgElement(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** The order of a bond by the name of its kind; 0: unknown. */
function bondOrder(kindNames, kind) {
  const name = kindNames && kind >= 0 ? kindNames[kind] : "";
  return BONDS[name.toLowerCase().split(" ")[0]] || 0;
}

// A picture has graph, positions, fills (a color for each node), and what is optional: labels (texts), strengths (from 0 to 1, of
// the values that fills show), edges (values of bonds by a * n + b), atoms (whether it is a formula), chemistry ({hydrogens, charges,
// wedges, faulty}), kindNames, pixels, shades (gray values behind pixels), rims (a color for each node), sets of nodes (rings,
// dimmed), onNode, onEdge, nodeTitle.

/** Draw a graph into an SVG element, which is emptied first. */
function drawGraph(svg, picture) {
  const { graph, positions } = picture;
  svg.replaceChildren();
  const box = boxOf(positions, picture.pixels ? 0.5 : 0.75);
  svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  const radius = picture.pixels ? 0.5 : picture.atoms ? 0.4 * typicalLength(graph, positions) : 0.6 * Math.min(typicalLength(graph, positions), 1.2) * (graph.n > 60 ? 0.62 : 0.55);
  const halos = svgElement("g", {}), lines = svgElement("g", { stroke: picture.atoms ? "var(--ink)" : "var(--soft)", "stroke-linecap": "round", fill: "none" });
  svg.append(halos, lines);
  if (picture.atoms && picture.edges) drawBondHalos(halos, picture, radius);
  const texts = picture.atoms ? atomTexts(picture) : null;
  const rings = picture.atoms ? smallRings(graph.n, graph.edges).sort((one, other) => one.nodes.length - other.nodes.length) : [];
  if (!picture.pixels) for (const [e, edge] of graph.edges.entries()) drawEdge(lines, picture, edge, e, radius, texts, rings);
  for (let i = 0; i < graph.n; i++) {
    const node = svgElement("g", { "data-node": i });
    if (picture.pixels) drawPixel(node, picture, i);
    else if (picture.atoms) drawAtom(node, halos, picture, i, radius, texts[i]);
    else drawBall(node, picture, i, radius);
    if (picture.dimmed && picture.dimmed.has(i)) node.setAttribute("opacity", "0.4");
    if (picture.onNode) makeClickable(node, picture, i);
    svg.append(node);
  }
  if (picture.onEdge) for (const line of lines.querySelectorAll("[data-edge]")) line.addEventListener("click", () => picture.onEdge(Number(line.dataset.edge)));
}

/** Bonds in the colors of their contributions, as of draw_molecule: the strongest bond like the strongest atom. */
function drawBondHalos(halos, { graph, positions, edges }, radius) {
  const most = Math.max(...[...edges.values()].map(Math.abs), 1e-12);
  for (const [a, b] of graph.edges) {
    const value = edges.get(a * graph.n + b) || 0;
    if (Math.abs(value) < 0.02 * most) continue;
    const [[x1, y1], [x2, y2]] = [positions[a], positions[b]];
    halos.append(svgElement("line", { x1, y1, x2, y2, stroke: cssColor(diverging(STRONGEST * value, most)), "stroke-width": 1.15 * radius }));
  }
}

function makeClickable(node, picture, i) {
  const title = picture.nodeTitle ? picture.nodeTitle(i) : `${words.node} ${i}`;
  node.append(svgElement("title", {}, title));
  for (const [key, value] of [["tabindex", 0], ["role", "button"], ["aria-label", title], ["class", "ex-node"]]) node.setAttribute(key, value);
  node.addEventListener("click", () => picture.onNode(i));
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    picture.onNode(i);
  });
}

function mark(shape, picture, i, width) {
  const faulty = picture.chemistry && picture.chemistry.faulty && picture.chemistry.faulty.has(i);
  if (!(picture.rings && picture.rings.has(i)) && !faulty) return;
  shape.setAttribute("stroke", faulty ? "var(--bad)" : "var(--accent)");
  shape.setAttribute("stroke-width", width);
  shape.setAttribute("stroke-opacity", 1);
}

/** A pixel: its gray value, and its contribution as a smaller square over it. */
function drawPixel(node, picture, i) {
  const [x, y] = picture.positions[i];
  const fill = cssColor(picture.fills[i]);
  const shade = picture.shades ? cssColor(picture.shades[i]) : fill;
  const square = svgElement("rect", { x: x - 0.5, y: y - 0.5, width: 1.02, height: 1.02, fill: shade });
  node.append(square);
  const strength = picture.strengths ? picture.strengths[i] : 0;
  if (picture.shades && strength > 0.04) {
    const side = 0.22 + 0.5 * strength;
    node.append(svgElement("rect", { x: x - side / 2, y: y - side / 2, width: side, height: side, fill, rx: 0.08, stroke: "#fff", "stroke-width": 0.04 }));
  }
  mark(square, picture, i, 0.16);
}

/** What is written in a circle: a whole label of up to three letters, or the first two. */
function shortLabel(label) {
  return label.length > 3 ? label.slice(0, 2) : label;
}

function drawBall(node, picture, i, radius) {
  const { graph, positions, fills, labels } = picture;
  const [x, y] = positions[i];
  const circle = svgElement("circle", { cx: x, cy: y, r: radius, fill: cssColor(fills[i]), stroke: picture.rims ? cssColor(picture.rims[i]) : "var(--soft)", "stroke-width": picture.rims ? 0.1 : 0.03 });
  node.append(circle);
  if (!picture.rims) mark(circle, picture, i, 0.14);
  else if (picture.rings.has(i)) node.append(svgElement("circle", { cx: x, cy: y, r: radius + 0.11, fill: "none", stroke: "var(--ink)", "stroke-width": 0.05 })); // as on the map
  if (!labels || picture.small || graph.n > MOST_LABELED) return;
  const text = shortLabel(labels[i]);
  const size = Math.min(1.15 * radius, (2.6 * radius) / Math.max(text.length, 1));
  node.append(svgElement("text", { x, y, "font-size": size, "text-anchor": "middle", dy: "0.35em", fill: textOn(fills[i]), "pointer-events": "none" }, text));
}

/** What is written at each atom of a skeletal formula: {main, hydrogens, charge}, or null for a corner. */
function atomTexts({ graph, labels, chemistry }) {
  return Array.from({ length: graph.n }, (_, i) => {
    const charge = chemistry ? chemistry.charges[i] : 0, hydrogens = chemistry ? chemistry.hydrogens[i] : 0;
    const degree = graph.ptr[i + 1] - graph.ptr[i];
    if (HEAVY.has(labels[i]) && degree > 0 && !charge) return null;
    return { main: labels[i], hydrogens: HEAVY.has(labels[i]) && degree > 0 ? 0 : hydrogens, charge };
  });
}

/** An atom: a halo in the color of its contribution, and its symbol with hydrogens and charge, on halos in ink, as of draw_molecule. */
function drawAtom(node, halos, picture, i, radius, text) {
  const [x, y] = picture.positions[i];
  const strength = picture.strengths ? picture.strengths[i] : 0;
  if (strength > 0.02) halos.append(svgElement("circle", { cx: x, cy: y, r: radius * 0.95, fill: cssColor(picture.fills[i]), "data-halo": i }));
  const area = svgElement("circle", { cx: x, cy: y, r: radius * 0.85, fill: "transparent" });
  mark(area, picture, i, 0.07);
  node.append(area);
  if (!text) return;
  const size = 0.78 * radius * (picture.small ? 1.15 : 1.08);
  const color = picture.strengths ? "var(--ink)" : `var(--atom-${ELEMENT_COLORS[text.main] || "other"})`;
  const label = svgElement("text", { x, y, "font-size": size, dy: "0.36em", fill: color, "text-anchor": "middle", "pointer-events": "none", "font-weight": 600 }, text.main);
  node.append(label);
  if (picture.small && picture.graph.n > 40) return;
  const [across, down] = hydrogenSide(picture, i);
  const wide = size * 0.36 * text.main.length;
  if (text.hydrogens) {
    const count = text.hydrogens > 1 ? svgElement("tspan", { "font-size": size * 0.68, dy: "0.25em" }, String(text.hydrogens)) : "";
    const anchor = ["end", "middle", "start"][across + 1];
    node.append(svgElement("text", { x: x + across * wide, y: y + 0.85 * down * size, "font-size": size, dy: "0.36em", fill: color, "text-anchor": anchor, "pointer-events": "none", "font-weight": 600 }, "H", count));
  }
  if (text.charge) {
    const sign = text.charge > 0 ? "+" : "−";
    const amount = Math.abs(text.charge) > 1 ? `${Math.abs(text.charge)}${sign}` : sign;
    const shift = text.hydrogens && across > 0 ? wide + size * (text.hydrogens > 1 ? 1.05 : 0.72) : wide;
    node.append(svgElement("text", { x: x + shift, y: y - size * 0.3, "font-size": size * 0.75, dy: "0.2em", fill: color, "text-anchor": "start", "pointer-events": "none", "font-weight": 600 }, amount));
  }
}

/** The side of an atom without bonds: [1, 0] right, [-1, 0] left, [0, 1] below, [0, -1] above. */
function hydrogenSide({ graph, positions }, i) {
  const bonds = Array.from(graph.ends.subarray(graph.ptr[i], graph.ptr[i + 1]), (j) => [0, 1].map((axis) => positions[j][axis] - positions[i][axis]));
  const [x, y] = [0, 1].map((axis) => bonds.reduce((sum, bond) => sum + bond[axis], 0));
  const taken = (side) => bonds.some(([dx, dy]) => side * dx > 0.5 * Math.abs(dy));
  return taken(1) && taken(-1) ? [0, y > 0 ? -1 : 1] : [x > 0.05 ? -1 : 1, 0];
}

function drawEdge(lines, picture, [a, b, kind], e, radius, texts, rings) {
  const { positions, kindNames, dimmed, graph } = picture;
  const [ax, ay] = positions[a], [bx, by] = positions[b];
  const group = svgElement("g", { "data-edge": e, class: picture.onEdge ? "ex-edge" : "" });
  if (dimmed && (dimmed.has(a) || dimmed.has(b))) group.setAttribute("opacity", "0.4");
  if (a === b) {
    group.append(svgElement("circle", { cx: ax, cy: ay - radius, r: radius, "stroke-width": 0.06 }));
    lines.append(group);
    return;
  }
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const ux = (bx - ax) / length, uy = (by - ay) / length;
  // lines end before the symbols of atoms
  const cutA = texts && texts[a] ? 0.62 * radius : 0, cutB = texts && texts[b] ? 0.62 * radius : 0;
  const from = [ax + cutA * ux, ay + cutA * uy], to = [bx - cutB * ux, by - cutB * uy];
  const wedge = picture.chemistry && picture.chemistry.wedges ? picture.chemistry.wedges.get(`${a},${b}`) : 0;
  const order = bondOrder(kindNames, kind) || 1;
  if (wedge) group.append(...wedgeShapes(wedge % 2 ? from : to, wedge % 2 ? to : from, wedge > 2));
  else {
    const unit = typicalLength(graph, positions);
    const side = order === 1 || order === 3 ? 0 : ringSide(positions, [a, b], rings);
    for (const [shift, dashed] of bondLines(order, side)) {
      const inner = shift && side ? 0.1 * length : 0;
      const [nx, ny] = [-uy * shift * unit * 0.12, ux * shift * unit * 0.12];
      const trim = (cut) => (inner ? Math.max(inner - cut, 0) : 0);
      const line = svgElement("line", { x1: from[0] + nx + trim(cutA) * ux, y1: from[1] + ny + trim(cutA) * uy, x2: to[0] + nx - trim(cutB) * ux, y2: to[1] + ny - trim(cutB) * uy, "stroke-width": 0.05 * Math.min(unit, 1.2) });
      if (dashed) line.setAttribute("stroke-dasharray", "0.11 0.1");
      group.append(line);
    }
  }
  const name = kindNames && kind >= 0 ? kindNames[kind] : "";
  if (picture.onEdge) group.append(svgElement("line", { x1: ax, y1: ay, x2: bx, y2: by, "stroke-width": 0.5, stroke: "transparent" }), svgElement("title", {}, `${words.edge} ${a}–${b}${name ? `: ${name}` : ""}`));
  if (graph.directed) group.append(arrowHead(ax, ay, bx, by, radius));
  lines.append(group);
}

/** Lines of a bond: how far each is from the middle, and whether it is dashed. */
function bondLines(order, side) {
  if (order === 3) return [[-1.3, false], [0, false], [1.3, false]];
  if (order === 2) return side ? [[0, false], [1.4 * side, false]] : [[-0.7, false], [0.7, false]];
  if (order === 1.5) return [[0, false], [1.4 * (side || 1), true]];
  return [[0, false]];
}

/** On which side of an edge its smallest ring lies: 1, -1, or 0 if it is in no small ring. */
function ringSide(positions, [a, b], rings) {
  const ring = rings.find(({ nodes }) => nodes.length <= 8 && nodes.includes(a) && nodes.includes(b));
  if (!ring) return 0;
  const [x, y] = [0, 1].map((axis) => ring.nodes.reduce((sum, i) => sum + positions[i][axis], 0) / ring.nodes.length);
  const [ax, ay] = positions[a], [bx, by] = positions[b];
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0 ? 1 : -1;
}

/** A solid or hashed wedge from its narrow end. */
function wedgeShapes([x, y], [tx, ty], hashed) {
  const length = Math.hypot(tx - x, ty - y) || 1;
  const nx = (-(ty - y) / length) * 0.12, ny = ((tx - x) / length) * 0.12;
  if (!hashed) return [svgElement("path", { d: `M ${x} ${y} L ${tx + nx} ${ty + ny} L ${tx - nx} ${ty - ny} Z`, fill: "var(--ink)", stroke: "none" })];
  return Array.from({ length: 6 }, (_, k) => {
    const share = (k + 0.7) / 6.2, cx = x + share * (tx - x), cy = y + share * (ty - y);
    return svgElement("line", { x1: cx + share * nx, y1: cy + share * ny, x2: cx - share * nx, y2: cy - share * ny, "stroke-width": 0.05 });
  });
}

function arrowHead(ax, ay, bx, by, radius) {
  const angle = Math.atan2(by - ay, bx - ax);
  const tip = [bx - radius * Math.cos(angle), by - radius * Math.sin(angle)];
  const wing = (turn) => `${tip[0] - 0.25 * Math.cos(angle + turn)} ${tip[1] - 0.25 * Math.sin(angle + turn)}`;
  return svgElement("path", { d: `M ${tip.join(" ")} L ${wing(0.5)} L ${wing(-0.5)} Z`, fill: "var(--soft)", stroke: "none" });
}

function boxOf(positions, margin) {
  if (!positions.length) return { x: -1, y: -1, w: 2, h: 2 };
  const { x, y, w, h } = extentOf(positions, margin);
  const least = 4; // so that a graph of two nodes is not blown up
  return { x: x - Math.max(least - w, 0) / 2, y: y - Math.max(least - h, 0) / 2, w: Math.max(w, least), h: Math.max(h, least) };
}

/** Median length of the edges as drawn. */
function typicalLength(graph, positions) {
  return medianLength(graph.edges.filter(([a, b]) => a !== b), positions);
}
