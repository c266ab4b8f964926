// Where nodes are drawn if nobody says: drawn distances are close to the numbers of edges between nodes.

const MOST_EXACT = 400; // nodes of a component, up to which all pairs are looked at
const ROUNDS = 90;

/** Positions of a graph's nodes, [x, y] each; components side by side. */
function laidOut(graph) {
  const parts = components(graph);
  const drawn = parts.map((nodes) => connectedLayout(graph, nodes));
  return sideBySide(graph.n, parts, drawn);
}

function components(graph) {
  const seen = new Uint8Array(graph.n);
  const around = bothWays(graph);
  const parts = [];
  for (let start = 0; start < graph.n; start++) {
    if (seen[start]) continue;
    const nodes = [start];
    seen[start] = 1;
    for (let k = 0; k < nodes.length; k++) {
      for (const j of around[nodes[k]]) {
        if (!seen[j]) {
          seen[j] = 1;
          nodes.push(j);
        }
      }
    }
    parts.push(nodes);
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

/** Numbers of edges from one node to all nodes. */
function distancesFrom(around, start) {
  const distance = new Float64Array(around.length).fill(Infinity);
  distance[start] = 0;
  const queue = [start];
  for (let k = 0; k < queue.length; k++) {
    for (const j of around[queue[k]]) {
      if (distance[j] === Infinity) {
        distance[j] = distance[queue[k]] + 1;
        queue.push(j);
      }
    }
  }
  return distance;
}

function connectedLayout(graph, nodes) {
  if (nodes.length === 1) return [[0, 0]];
  const place = new Map(nodes.map((node, k) => [node, k]));
  const around = nodes.map(() => []);
  for (const [a, b] of graph.edges) {
    if (a === b || !place.has(a)) continue;
    around[place.get(a)].push(place.get(b));
    around[place.get(b)].push(place.get(a));
  }
  const points = fromPivots(around);
  if (nodes.length > MOST_EXACT) return points;
  const distances = around.map((_, k) => distancesFrom(around, k));
  return majorized(points, distances);
}

/** A start: two pairs of nodes that lie far apart are the ends of two axes. */
function fromPivots(around) {
  const farthest = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
  const a = farthest(distancesFrom(around, 0));
  const fromA = distancesFrom(around, a);
  const b = farthest(fromA);
  const fromB = distancesFrom(around, b);
  const off = fromA.map((value, i) => Math.min(value, fromB[i]));
  const c = farthest(off);
  const fromC = distancesFrom(around, c);
  const d = farthest(fromC.map((value, i) => value - 0.5 * Math.abs(fromA[i] - fromB[i])));
  const fromD = distancesFrom(around, d);
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
  return turned(points);
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
  const boxes = drawn.map((points) => {
    const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    return { x: Math.min(...xs), y: Math.min(...ys), w: Math.max(...xs) - Math.min(...xs) + 1, h: Math.max(...ys) - Math.min(...ys) + 1 };
  });
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
