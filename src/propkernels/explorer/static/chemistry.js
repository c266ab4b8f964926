// Chemistry of the page: hydrogens and charges of edited molecules, valences, and a reader and a writer of SMILES.

const VALENCES = { H: 1, B: 3, C: 4, N: 3, O: 2, F: 1, Si: 4, P: 5, S: 6, Cl: 1, As: 5, Se: 6, Br: 1, Te: 6, I: 1 };
const SMALLEST_RING = 5; // atoms of a ring that an edit may close

/** Whether bonds have orders: all kinds of edges are called single, double, triple or aromatic. */
function haveOrders(meta) {
  return Boolean(meta.atoms && meta.kinds.length && meta.kinds.every((_, kind) => bondOrder(meta.kinds, kind)));
}

/** Sum of the orders of an atom's bonds, and whether one of them is aromatic. */
function valenceOf(graph, i, kindNames) {
  let sum = 0, aromatic = false;
  for (let k = graph.ptr[i]; k < graph.ptr[i + 1]; k++) {
    const order = bondOrder(kindNames, graph.kinds[k]) || 1;
    sum += order;
    if (order === 1.5) aromatic = true;
  }
  return [sum, aromatic];
}

/** Hydrogens that an uncharged atom has beside its bonds; negative: too many bonds. */
function freeValence(symbol, sum, aromatic) {
  const most = VALENCES[symbol];
  if (most === undefined) return 0;
  const choices = most > 4 ? (aromatic ? [most % 2 ? 3 : 2] : most === 5 ? [3, 5] : [2, 4, 6]) : [most];
  const fitting = choices.find((valence) => valence >= Math.floor(sum));
  return fitting === undefined ? Math.max(...choices) - Math.ceil(sum) : fitting - Math.ceil(sum - (aromatic ? 0.5 : 0));
}

// Atoms that edits left as they were keep their charge, and lose or win hydrogens with their bonds.

/** Hydrogens, charges and wedges of a graph as it is edited, and atoms with too many bonds. */
function chemistryOf(graph, meta) {
  if (!graph.atoms) return null;
  const hydrogens = [], charges = [], faulty = new Set();
  for (let i = 0; i < graph.n; i++) {
    const [sum, aromatic] = valenceOf(graph, i, meta.kinds);
    const atom = graph.atoms[i];
    const free = atom ? atom.hydrogens - (sum - atom.sum) : freeValence(labelName(graph.labels[i]), sum, aromatic);
    if (free < -0.01 && haveOrders(meta)) faulty.add(i);
    hydrogens.push(Math.max(Math.floor(free + 0.01), 0));
    charges.push(atom ? atom.charge : 0);
  }
  const wedges = new Map(graph.edges.filter((edge) => edge[3]).map(([a, b, , wedge]) => [`${a},${b}`, wedge]));
  return { hydrogens, charges, wedges, faulty };
}

/** Rules for edits of molecules: valences, aromatic rings, strained rings, one molecule. */
class MoleculeRules {
  constructor(graph, meta) {
    this.graph = graph;
    this.meta = meta;
    this.rings = smallRings(graph.n, graph.edges).map(({ nodes }) => new Set(nodes));
    this.around = bothWays(graph);
    this.parts = components(graph).length;
  }

  allows(edit, result) {
    const { graph, meta } = this;
    const aromatic = (kind) => bondOrder(meta.kinds, kind) === 1.5;
    if (edit.kind === "unlink" && (aromatic(graph.edges[edit.edge][2]) || components(result).length > this.parts)) return false;
    if (edit.kind === "rekind" && (aromatic(edit.edgeKind) || aromatic(graph.edges[edit.edge][2]))) return false;
    if ((edit.kind === "link" || edit.kind === "grow") && aromatic(edit.edgeKind)) return false;
    if (edit.kind === "link" && this._strains(edit.a, edit.b)) return false;
    if (edit.kind === "relabel" && !this._stays(edit.node)) return false;
    return chemistryOf(result, meta).faulty.size === 0;
  }

  /** Whether a new bond bridges a ring, or closes a small one. */
  _strains(a, b) {
    const { distance } = foundFrom(this.around, a);
    if (distance[b] < SMALLEST_RING - 1) return true;
    if (distance[b] === Infinity) return false;
    // the new ring may share two neighboring atoms with a ring, but not go across it
    const path = [b];
    while (path[0] !== a) path.unshift(this.around[path[0]].find((j) => distance[j] === distance[path[0]] - 1));
    return this.rings.some((ring) => path.filter((i) => ring.has(i)).length > 2);
  }

  /** Whether another element can take the place of an atom: an aromatic N with three neighbors holds its ring together. */
  _stays(i) {
    const [, aromatic] = valenceOf(this.graph, i, this.meta.kinds);
    if (!aromatic) return true;
    const degree = this.graph.ptr[i + 1] - this.graph.ptr[i], atom = this.graph.atoms[i], symbol = labelName(this.graph.labels[i]);
    return symbol === "C" || (symbol === "N" && degree === 2 && !(atom && (atom.hydrogens || atom.charge)));
  }
}

// SMILES

const ORGANIC = /^(Br|Cl|[BCNOPSFI]|[bcnops])/;
const BOND_SIGNS = { "-": 1, "=": 2, "#": 3, ":": 1.5, "/": 1, "\\": 1 };

/** Read SMILES: {symbols, charges, hydrogens, bonds: [a, b, order]}; throws an Error that says what is wrong. */
function readSmiles(text) {
  const atoms = [], bonds = [], stack = [], open = new Map();
  let last = -1, order = 0, at = 0;
  const join = (a, b, given) => bonds.push([a, b, given || (atoms[a].aromatic && atoms[b].aromatic ? 1.5 : 1)]);
  const add = (atom) => {
    atoms.push(atom);
    if (last >= 0) join(last, atoms.length - 1, order);
    last = atoms.length - 1;
    order = 0;
  };
  const ring = (number) => {
    if (last < 0) throw new Error(`a ring number before the first atom, at letter ${at + 1}`);
    if (open.has(number)) {
      const [a, given] = open.get(number);
      join(a, last, order || given);
      open.delete(number);
    } else open.set(number, [last, order]);
    order = 0;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const sign = rest[0];
    let match;
    if ((match = rest.match(ORGANIC))) {
      const symbol = match[1], aromatic = symbol === symbol.toLowerCase();
      add({ symbol: aromatic ? symbol.toUpperCase() : symbol, aromatic, charge: 0, hydrogens: null });
    } else if (sign === "[") {
      match = rest.match(/^\[(\d*)([A-Za-z][a-z]?)(@*)(H\d*)?([+-]\d*|\++|-+)?(?::\d+)?\]/);
      if (!match) throw new Error(`“${rest.slice(0, 12)}” is not an atom, at letter ${at + 1}`);
      let symbol = match[2];
      const aromatic = symbol === symbol.toLowerCase();
      symbol = symbol[0].toUpperCase() + symbol.slice(1);
      const charge = match[5] ? (match[5][0] === "+" ? 1 : -1) * (/\d/.test(match[5]) ? Number(match[5].slice(1)) : match[5].length) : 0;
      add({ symbol, aromatic, charge, hydrogens: match[4] ? Number(match[4].slice(1) || 1) : 0 });
    } else if ((match = rest.match(/^%(\d\d)/)) || (match = rest.match(/^(\d)/))) ring(Number(match[1]));
    else if (sign in BOND_SIGNS) (order = BOND_SIGNS[sign]), (match = [sign]);
    else if (sign === "(") stack.push(last), (match = [sign]);
    else if (sign === ")") {
      if (!stack.length) throw new Error(`a closing parenthesis without an opening one, at letter ${at + 1}`);
      last = stack.pop();
      match = [sign];
    } else if (sign === ".") (last = -1), (match = [sign]);
    else throw new Error(`“${sign}” at letter ${at + 1} is not part of SMILES`);
    at += match[0].length;
  }
  if (!atoms.length) throw new Error("there are no atoms");
  if (open.size) throw new Error(`ring ${[...open.keys()][0]} is not closed`);
  if (stack.length) throw new Error("a parenthesis is not closed");
  return perceived(atoms, bonds);
}

/** Write nitrogen with five bonds, as of N(=O)=O, with charges. */
function separateCharges(atoms, bonds) {
  atoms.forEach((atom, i) => {
    const own = bonds.filter(([a, b]) => a === i || b === i), sum = own.reduce((total, bond) => total + bond[2], 0);
    const found = own.find(([a, b, order]) => order === 2 && atoms[a === i ? b : a].symbol === "O");
    if (atom.symbol !== "N" || atom.charge || sum !== 5 || !found) return;
    found[2] = 1;
    atom.charge = 1;
    Object.assign(atoms[found[0] === i ? found[1] : found[0]], { charge: -1, hydrogens: 0 });
    atom.hydrogens = 0;
  });
}

/** Leave out hydrogens that are atoms, find aromatic rings, and fill in hydrogens. */
function perceived(atoms, bonds) {
  separateCharges(atoms, bonds);
  const heavy = atoms.map((atom, i) => atom.symbol !== "H" || atoms.length === 1 || !bonds.some(([a, b]) => a === i || b === i));
  for (const [a, b] of bonds) {
    if (!heavy[a] && heavy[b]) atoms[b].hydrogens = (atoms[b].hydrogens || 0) + 1;
    if (!heavy[b] && heavy[a]) atoms[a].hydrogens = (atoms[a].hydrogens || 0) + 1;
  }
  const place = new Map(atoms.map((_, i) => i).filter((i) => heavy[i]).map((i, k) => [i, k]));
  const kept = atoms.filter((_, i) => heavy[i]);
  const found = bonds.filter(([a, b]) => heavy[a] && heavy[b]).map(([a, b, order]) => [place.get(a), place.get(b), order]);
  const rings = smallRings(kept.length, found);
  for (const bond of found) if (bond[2] === 1.5 && !rings.some((ring) => ring.bonds.includes(bond))) bond[2] = 1;
  const hydrogens = kept.map((atom, i) => {
    if (atom.hydrogens !== null) return atom.hydrogens;
    const own = found.filter(([a, b]) => a === i || b === i);
    const sum = own.reduce((total, bond) => total + bond[2], 0);
    const aromatic = own.some((bond) => bond[2] === 1.5), free = freeValence(atom.symbol, sum, aromatic);
    if (free < 0 && !aromatic) throw new Error(`${atom.symbol}, atom ${i + 1}, has too many bonds`);
    return Math.max(free, 0);
  });
  const odd = withoutKekule(kept.map(({ symbol, charge }, i) => ({ symbol, charge, hydrogens: hydrogens[i] })), found);
  if (odd >= 0) throw new Error(`the ring of atom ${odd + 1} cannot be aromatic: no alternating double bonds fit`);
  aromatize(kept, found, rings);
  return { symbols: kept.map((atom) => atom.symbol), charges: kept.map((atom) => atom.charge), hydrogens, bonds: found };
}

/** The smallest ring through each bond: {nodes, bonds}, each ring once. */
function smallRings(n, bonds) {
  const around = Array.from({ length: n }, () => []);
  for (const bond of bonds) {
    around[bond[0]].push([bond[1], bond]);
    around[bond[1]].push([bond[0], bond]);
  }
  const rings = new Map();
  for (const bond of bonds) {
    const [start, goal] = bond;
    const before = new Map([[start, null]]);
    const queue = [start];
    for (let k = 0; k < queue.length && !before.has(goal); k++) {
      for (const [next, via] of around[queue[k]]) {
        if (via === bond || before.has(next)) continue;
        before.set(next, [queue[k], via]);
        queue.push(next);
      }
    }
    if (!before.has(goal)) continue;
    const nodes = [goal], through = [bond];
    for (let i = goal; before.get(i); i = before.get(i)[0]) {
      nodes.push(before.get(i)[0]);
      through.push(before.get(i)[1]);
    }
    rings.set(nodes.slice().sort((a, b) => a - b).join(), { nodes, bonds: through });
  }
  return [...rings.values()];
}

/** Make rings with 4k + 2 electrons aromatic, where they are written with double bonds. */
function aromatize(atoms, bonds, rings) {
  const inRing = new Set(rings.flatMap((ring) => ring.bonds));
  const electrons = (i) => {
    const own = bonds.filter(([a, b]) => a === i || b === i);
    const double = own.filter((bond) => bond[2] === 2);
    const { symbol, charge } = atoms[i];
    if (own.some((bond) => bond[2] === 1.5) || double.some((bond) => inRing.has(bond))) return own.length <= 3 ? 1 : NaN;
    if (double.length) return symbol === "C" && double.length === 1 && ["O", "S", "N"].includes(atoms[double[0][0] === i ? double[0][1] : double[0][0]].symbol) ? 0 : NaN;
    if (symbol === "N" || symbol === "P") return charge === 0 && own.length <= 3 ? 2 : NaN;
    if (symbol === "O" || symbol === "S" || symbol === "Se") return own.length === 2 ? 2 : NaN;
    return symbol === "C" && charge === -1 ? 2 : NaN;
  };
  const aromatic = rings.filter((ring) => {
    const total = ring.nodes.length >= 5 && ring.nodes.length <= 7 ? ring.nodes.reduce((sum, i) => sum + electrons(i), 0) : NaN;
    return total % 4 === 2;
  });
  for (const ring of aromatic) for (const bond of ring.bonds) bond[2] = 1.5;
}

/** An atom ({symbol, charge, hydrogens}) of an aromatic ring for which no alternating double bonds [a, b, order] exist; -1: none. */
function withoutKekule(atoms, bonds) {
  const around = new Map();
  const used = atoms.map(({ hydrogens }) => hydrogens);
  for (const [a, b, order] of bonds) for (const i of [a, b]) used[i] += order === 1.5 ? 1 : order;
  const wants = (i) => {
    const { symbol, charge } = atoms[i], most = VALENCES[symbol] || 0;
    const shift = symbol === "C" || symbol === "B" ? -Math.abs(charge) : charge;
    const choices = { 5: [3, 5], 6: [2, 4, 6] }[most] || (symbol === "N" ? [3, 5] : [most]);
    return (choices.map((valence) => valence + shift).find((valence) => valence >= used[i]) || 0) > used[i];
  };
  for (const [a, b, order] of bonds) {
    if (order !== 1.5) continue;
    for (const [i, j] of [[a, b], [b, a]]) if (wants(i)) around.set(i, [...(around.get(i) || []), ...(wants(j) ? [j] : [])]);
  }
  // double bonds are a perfect matching of these atoms: the atom with fewest partners first
  const match = (left) => {
    if (!left.size) return -1;
    const choices = (i) => around.get(i).filter((j) => left.has(j));
    const i = [...left].reduce((best, k) => (choices(k).length < choices(best).length ? k : best));
    let found = i;
    for (const j of choices(i)) {
      found = match(new Set([...left].filter((k) => k !== i && k !== j)));
      if (found < 0) return -1;
    }
    return found;
  };
  return match(new Set(around.keys()));
}

/** SMILES of a molecule as it is drawn, without stereochemistry; "" where bonds have no orders or do not fit. */
function smilesOf(graph, meta) {
  if (!graph.atoms || !haveOrders(meta)) return "";
  const { hydrogens, charges, faulty } = chemistryOf(graph, meta);
  const bonds = graph.edges.map(([a, b, kind]) => [a, b, bondOrder(meta.kinds, kind)]);
  const atoms = Array.from(graph.labels, (label, i) => ({ symbol: labelName(label), charge: charges[i], hydrogens: hydrogens[i] }));
  if (faulty.size || withoutKekule(atoms, bonds) >= 0) return "";
  const around = atoms.map(() => []), closures = atoms.map(() => []), seen = new Set(), done = new Set();
  bonds.forEach(([a, b, order], e) => { around[a].push([b, order, e]); around[b].push([a, order, e]); });
  const aromatic = around.map((list) => list.some(([, order]) => order === 1.5));
  const text = (i) => {
    const { symbol, charge, hydrogens: h } = atoms[i], sum = around[i].reduce((total, [, order]) => total + order, 0);
    const name = aromatic[i] ? symbol.toLowerCase() : symbol;
    if (!charge && /^(B|C|N|O|P|S|F|Cl|Br|I)$/.test(symbol) && h === Math.max(freeValence(symbol, sum, aromatic[i]), 0)) return name;
    const sign = charge > 0 ? "+" : "-", size = Math.abs(charge);
    return `[${name}${h ? `H${h > 1 ? h : ""}` : ""}${charge ? sign + (size > 1 ? size : "") : ""}]`;
  };
  const link = (i, j, order) => (order === 2 ? "=" : order === 3 ? "#" : order === 1 && aromatic[i] && aromatic[j] ? "-" : "");
  // first the bonds that close rings, then the text
  let number = 0;
  const close = (i, from) => {
    seen.add(i);
    for (const [j, order, e] of around[i]) {
      if (e === from || done.has(e)) continue;
      done.add(e);
      if (seen.has(j)) {
        const digits = ++number > 9 ? `%${number}` : String(number);
        closures[j].push(link(i, j, order) + digits);
        closures[i].push(digits);
        around[i] = around[i].filter((bond) => bond[2] !== e);
        around[j] = around[j].filter((bond) => bond[2] !== e);
      } else close(j, e);
    }
  };
  const write = (i, from) => {
    const next = around[i].filter(([, , e]) => e !== from).map(([j, order, e]) => link(i, j, order) + write(j, e));
    return text_[i] + closures[i].join("") + next.map((part, k) => (k + 1 < next.length ? `(${part})` : part)).join("");
  };
  const text_ = atoms.map((_, i) => text(i)), starts = [];
  for (let i = 0; i < atoms.length; i++) if (!seen.has(i)) { starts.push(i); close(i, -1); }
  return starts.map((i) => write(i, -1)).join(".");
}

/** Whether two graphs are the same, up to the numbers of their nodes; also false where that takes too long to tell. */
function isSame(one, other) {
  if (one.n !== other.n || one.edges.length !== other.edges.length) return false;
  const place = new Int32Array(one.n).fill(-1), taken = new Uint8Array(other.n), order = components(one).flat();
  const charge = (graph, i) => (graph.atoms && graph.atoms[i] ? graph.atoms[i].charge : 0);
  const ends = (graph, i) => Array.from({ length: graph.ptr[i + 1] - graph.ptr[i] }, (_, k) => [graph.ends[graph.ptr[i] + k], graph.kinds[graph.ptr[i] + k]]);
  const fits = (i, j) => one.labels[i] === other.labels[j] && one.ptr[i + 1] - one.ptr[i] === other.ptr[j + 1] - other.ptr[j] && charge(one, i) === charge(other, j)
    && ends(one, i).every(([k, kind]) => place[k] < 0 || ends(other, j).some(([l, its]) => l === place[k] && its === kind));
  let steps = 0;
  const extend = (k) => {
    if (k === order.length) return true;
    for (let j = 0; j < other.n && steps < 200000; j++, steps++) {
      if (taken[j] || !fits(order[k], j)) continue;
      place[order[k]] = j;
      taken[j] = 1;
      if (extend(k + 1)) return true;
      place[order[k]] = -1;
      taken[j] = 0;
    }
    return false;
  };
  return extend(0);
}
