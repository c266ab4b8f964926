// Where nodes are drawn if nobody says: drawn distances are close to the numbers of edges between nodes.

const MOST_EXACT = 400; // nodes of a component, up to which all pairs are looked at
const ROUNDS = 90;
const STARTS = 30, MOST_UNTANGLED = 150; // starts of a component with crossings, and its maximum nodes
const MOST_CYCLES = 0.6; // edges beyond a tree, per node; more of them cross in any drawing
const CLOSEST = 0.62; // edge lengths between two nodes; closer nodes overlap

/** Positions of a graph's nodes, [x, y] each; components side by side. */
function laidOut(graph) {
  const parts = components(graph), around = bothWays(graph);
  return sideBySide(graph.n, parts, parts.map((nodes) => connectedLayout(around, nodes)));
}

function components(graph) {
  const seen = new Uint8Array(graph.n), around = bothWays(graph), parts = [];
  for (let start = 0; start < graph.n; start++) {
    if (seen[start]) continue;
    parts.push(foundFrom(around, start).nodes);
    for (const i of parts.at(-1)) seen[i] = 1;
  }
  return parts;
}

function bothWays(graph) {
  const around = Array.from({ length: graph.n }, () => []);
  for (const [a, b] of graph.edges) {
    if (a === b) continue;
    around[a].push(b);
    around[b].push(a);
  }
  return around;
}

/** The nodes that a walk from a node reaches, nearest first, and the numbers of edges to them. */
function foundFrom(around, start) {
  const distance = new Float64Array(around.length).fill(Infinity), nodes = [start];
  distance[start] = 0;
  for (const i of nodes) {
    for (const j of around[i]) {
      if (distance[j] !== Infinity) continue;
      distance[j] = distance[i] + 1;
      nodes.push(j);
    }
  }
  return { nodes, distance };
}

function connectedLayout(whole, nodes) {
  if (nodes.length === 1) return [[0, 0]];
  const place = new Map(nodes.map((node, k) => [node, k]));
  const around = nodes.map((node) => whole[node].map((j) => place.get(j)));
  if (nodes.length > MOST_EXACT) return fromPivots(around);
  const ends = around.flatMap((list, a) => [...new Set(list)].filter((b) => b > a).map((b) => [a, b]));
  return untangled(around, ends);
}

/** The layout with the fewest crossings and overlaps, from several starts if the first one has any. */
function untangled(around, ends) {
  const n = around.length, distances = around.map((_, k) => foundFrom(around, k).distance), random = randomNumbers(1);
  const many = n <= MOST_UNTANGLED && ends.length - n + 1 <= MOST_CYCLES * n;
  let best = null, fewest = Infinity;
  for (let number = 0; number < (many ? STARTS : 1) && fewest > 0; number++) {
    const start = number ? around.map(() => [0, 1].map(() => Math.sqrt(n) * (random() + random() + random() - 1.5))) : fromPivots(around);
    let points = majorized(start, distances);
    const unit = medianLength(ends, points);
    points = points.map(([x, y]) => [x / unit, y / unit]);
    const faults = many ? faultsOf(points, ends) : 0;
    if (faults < fewest) [best, fewest] = [points, faults];
  }
  return turned(spreadOut(best));
}

function medianLength(ends, points) {
  const lengths = ends.map(([a, b]) => Math.hypot(points[a][0] - points[b][0], points[a][1] - points[b][1])).sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length / 2)] || 1;
}

/** The box of points, with a margin. */
function extentOf(points, margin) {
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const x = Math.min(...xs) - margin, y = Math.min(...ys) - margin;
  return { x, y, w: Math.max(...xs) - x + margin, h: Math.max(...ys) - y + margin };
}

/** Uniform random numbers, the same on every machine (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), 1 | state);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

/** The number of crossing edges plus the number of overlapping nodes. */
function faultsOf(points, ends) {
  const side = (a, b, c) => (points[b][0] - points[a][0]) * (points[c][1] - points[a][1]) - (points[b][1] - points[a][1]) * (points[c][0] - points[a][0]);
  let faults = 0;
  for (let e = 0; e < ends.length; e++) {
    const [a, b] = ends[e];
    for (let f = e + 1; f < ends.length; f++) {
      const [c, d] = ends[f];
      if (a === c || a === d || b === c || b === d) continue;
      if (side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0) faults++;
    }
  }
  for (let i = 0; i < points.length; i++) {
    for (let j = 0; j < i; j++) if (Math.hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]) < CLOSEST) faults++;
  }
  return faults;
}

/** Push overlapping nodes apart. */
function spreadOut(points) {
  const wanted = 1.05 * CLOSEST;
  for (let round = 0; round < 40; round++) {
    let still = true;
    for (let i = 0; i < points.length; i++) {
      for (let j = 0; j < i; j++) {
        const dx = points[i][0] - points[j][0], dy = points[i][1] - points[j][1];
        const length = Math.hypot(dx, dy);
        if (length >= wanted) continue;
        const push = (wanted - length) / (2 * Math.max(length, 1e-6));
        points[i] = [points[i][0] + push * dx, points[i][1] + push * dy];
        points[j] = [points[j][0] - push * dx, points[j][1] - push * dy];
        still = false;
      }
    }
    if (still) break;
  }
  return points;
}

/** A start: two pairs of nodes that lie far apart are the ends of two axes. */
function fromPivots(around) {
  const farthest = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
  const a = farthest(foundFrom(around, 0).distance);
  const fromA = foundFrom(around, a).distance;
  const b = farthest(fromA);
  const fromB = foundFrom(around, b).distance;
  const off = fromA.map((value, i) => Math.min(value, fromB[i]));
  const c = farthest(off);
  const fromC = foundFrom(around, c).distance;
  const d = farthest(fromC.map((value, i) => value - 0.5 * Math.abs(fromA[i] - fromB[i])));
  const fromD = foundFrom(around, d).distance;
  // equal nodes are moved apart a little, always in the same way
  return around.map((_, i) => [
    (fromA[i] - fromB[i]) / 2 + 0.3 * Math.sin(12.9898 * i + 1),
    (fromC[i] - fromD[i]) / 2 + 0.3 * Math.sin(78.233 * i + 2),
  ]);
}

/** Move one node after the other to where its distances to all others want it (stress majorization). */
function majorized(points, distances) {
  const n = points.length;
  const rounds = n > 150 ? 30 : ROUNDS;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < n; i++) {
      let x = 0, y = 0, total = 0;
      for (let j = 0; j < n; j++) {
        if (j === i) continue;
        const wanted = distances[i][j];
        const dx = points[i][0] - points[j][0], dy = points[i][1] - points[j][1];
        const drawn = Math.sqrt(dx * dx + dy * dy) || 1e-9;
        const weight = 1 / (wanted * wanted);
        x += weight * (points[j][0] + (wanted * dx) / drawn);
        y += weight * (points[j][1] + (wanted * dy) / drawn);
        total += weight;
      }
      points[i] = [x / total, y / total];
    }
  }
  return points;
}

/** Turn points so that they spread most from left to right. */
function turned(points) {
  const n = points.length;
  const mx = points.reduce((sum, p) => sum + p[0], 0) / n, my = points.reduce((sum, p) => sum + p[1], 0) / n;
  let xx = 0, xy = 0, yy = 0;
  for (const [x, y] of points) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const cos = Math.cos(angle), sin = Math.sin(angle);
  return points.map(([x, y]) => [cos * (x - mx) + sin * (y - my), cos * (y - my) - sin * (x - mx)]);
}

function sideBySide(n, parts, drawn) {
  const positions = new Array(n);
  const boxes = drawn.map((points) => extentOf(points, 0.5));
  const area = boxes.reduce((sum, box) => sum + box.w * box.h, 0);
  const width = Math.max(1.5 * Math.sqrt(area), ...boxes.map((box) => box.w));
  const order = boxes.map((_, i) => i).sort((i, j) => boxes[j].h - boxes[i].h || i - j);
  let x = 0, y = 0, height = 0;
  for (const i of order) {
    if (x > 0 && x + boxes[i].w > width) {
      x = 0;
      y += height;
      height = 0;
    }
    parts[i].forEach((node, k) => {
      positions[node] = [drawn[i][k][0] - boxes[i].x + x, drawn[i][k][1] - boxes[i].y + y];
    });
    x += boxes[i].w;
    height = Math.max(height, boxes[i].h);
  }
  return positions;
}
