// A graph that the user pastes: SMILES, or a list of edges; it is placed on the map among its nearest graphs.

/** Read pasted text: a graph ready for the model. Throws an Error that says what is wrong. */
function readPasted(text) {
  const lines = text.split(/\n|;/).map((line) => line.trim()).filter(Boolean);
  if (!lines.length) throw new Error("nothing was pasted");
  const isSmiles = app.meta.atoms && lines.length === 1 && !/^\d+\s*[-–,\s]\s*\d+(\s|$)/.test(lines[0]);
  return isSmiles ? pastedMolecule(lines[0].split(/\s+/)[0]) : pastedEdges(lines);
}

function pastedMolecule(smiles) {
  const { labels: names, kinds } = app.meta;
  const { symbols, charges, hydrogens, bonds } = readSmiles(smiles);
  const labels = symbols.map((symbol) => names.indexOf(symbol));
  const unknown = symbols.find((_, i) => labels[i] < 0);
  if (unknown) throw new Error(`the molecules of this page have no ${unknown}`);
  const kindOf = (order) => kinds.findIndex((_, kind) => bondOrder(kinds, kind) === order);
  const edges = bonds.map(([a, b, order]) => [a, b, kinds.length ? kindOf(order) : -1, 0]);
  const graph = builtGraph(labels.length, Int32Array.from(labels), edges, app.meta.directed, new Int32Array(labels.length).fill(-1), app.graphs.packed.attributes);
  graph.isFlat = /[@/\\]/.test(smiles); // what is written of its shape in space is not read
  graph.atoms = symbols.map((_, i) => ({ hydrogens: hydrogens[i], charge: charges[i], sum: valenceOf(graph, i, kinds)[0] }));
  return graph;
}

/** Lines "a b", "a b kind" are edges, "a: label" are labels of nodes; nodes may have any names. */
function pastedEdges(lines) {
  const { labels: names, labelChoices, kinds } = app.meta;
  const number = new Map(), labels = [], edges = [];
  const node = (name) => {
    if (!number.has(name)) {
      number.set(name, number.size);
      labels.push(names.length ? 0 : -1);
    }
    return number.get(name);
  };
  for (const [k, line] of lines.entries()) {
    const [, name, label] = line.match(/^(\S+)\s*:\s*(.+)$/) || [];
    if (name) {
      const place = [labelChoices, names].map((list) => list.indexOf(label.trim())).find((found) => found >= 0);
      if (place === undefined) throw new Error(`line ${k + 1}: no label is called “${label.trim()}”`);
      const i = node(name);
      labels[i] = place;
      continue;
    }
    const words = line.split(/\s*[-–,]\s*|\s+/).filter(Boolean);
    if (words.length < 2 || words.length > 3) throw new Error(`line ${k + 1}: write “a b” for an edge, or “a: label” for a node`);
    const kind = words[2] === undefined ? (kinds.length ? 0 : -1) : kinds.indexOf(words[2]);
    if (kind < 0 && kinds.length) throw new Error(`line ${k + 1}: no edge label is called “${words[2]}”`);
    edges.push([node(words[0]), node(words[1]), kind, 0]);
  }
  return builtGraph(number.size, Int32Array.from(labels), edges, app.meta.directed, new Int32Array(number.size).fill(-1), app.graphs.packed.attributes);
}

/** Where a graph belongs on the map: on its equal, or at the mean of its nearest graphs, weighted by similarity. */
function placeOnMap(near) {
  if (near[0].similarity >= EQUAL) near = near.slice(0, 1);
  const weights = near.map(({ similarity }) => similarity ** 4 + 1e-12), total = weights.reduce((a, b) => a + b, 0);
  const mean = (places) => near.reduce((sum, { graph }, k) => sum + (weights[k] / total) * places[graph], 0);
  return { x: mean(app.map.x), y: mean(app.map.y) };
}

function listenToPaste() {
  const form = byId("ex-paste");
  byId("ex-paste-open").addEventListener("click", () => {
    form.hidden = !form.hidden;
    byId("ex-paste-open").setAttribute("aria-expanded", String(!form.hidden));
    if (!form.hidden) byId("ex-paste-text").focus();
  });
  byId("ex-paste-text").placeholder = app.meta.atoms ? "SMILES, such as CC(=O)Oc1ccccc1C(=O)O" : "edges, one per line: a b\nlabels of nodes: a: label";
  const go = () => {
    try {
      const graph = readPasted(byId("ex-paste-text").value);
      byId("ex-paste-error").textContent = "";
      say("");
      chooseTab(noun);
      app.view.openGuest(graph);
      byId("ex-read").hidden = true;
      showDetails();
    } catch (error) {
      byId("ex-paste-error").textContent = `Not read: ${error.message}.`;
    }
  };
  byId("ex-paste-go").addEventListener("click", go);
  byId("ex-paste-text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    if (!app.meta.atoms && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    go();
  });
}
