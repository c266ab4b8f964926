// Errors, patterns and the selection.

/** Confusion matrix and the misclassified by margin; of numbers, the largest errors. */
function showErrors() {
  const panel = byId("ex-panel-errors");
  const { target, predicted, margin } = app.map_;
  panel.replaceChildren(make("h2", {}, meta.classes ? "Confusion matrix" : "Largest errors"), make("p", { className: "pk-soft" }, meta.source));
  const all = Array.from({ length: app.n }, (_, g) => g);
  if (meta.classes) panel.append(...confusion(target, predicted));
  const wrong = all.filter((g) => (meta.classes ? predicted[g] >= 0 && predicted[g] !== target[g] : Number.isFinite(margin[g])));
  wrong.sort((a, b) => (meta.classes ? margin[a] - margin[b] : margin[b] - margin[a]));
  if (meta.classes) panel.append(make("h3", {}, `${plain(wrong.length)} misclassified, smallest `, term("margin"), " first"));
  panel.append(...gallery(wrong, errorTexts));
}

/** Cards with small pictures, drawn when they come into view; `further`: texts of a graph's card. */
function gallery(graphs, further = () => []) {
  const box = make("div", { className: "ex-neighbors" });
  for (const g of graphs.slice(0, MOST_LISTED)) {
    const frame = make("span", { className: "ex-frame", "data-graph": String(g) });
    watcher.observe(frame);
    const texts = [...factsOf(g), ...further(g)].map((text) => make("span", {}, text));
    box.append(make("button", { type: "button", className: "ex-card", onclick: () => select(g) }, frame, make("b", {}, nameOf(g)), ...texts));
  }
  return [box, graphs.length > MOST_LISTED ? make("p", { className: "pk-soft" }, `and ${plain(graphs.length - MOST_LISTED)} more`) : ""];
}

const MOST_LISTED = 200;
const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    const g = Number(target.dataset.graph);
    if (app.graphs.size(g) <= 600) target.replaceChildren(thumbnail(g));
  }
});

/** Counts of true and predicted classes; of many classes, only those with errors. */
function confusion(target, predicted) {
  const counts = meta.classes.map(() => new Array(meta.classes.length).fill(0));
  for (let g = 0; g < app.n; g++) if (predicted[g] >= 0) counts[target[g]][predicted[g]]++;
  const all = meta.classes.map((_, c) => c);
  const shown = meta.classes.length > 5 ? all.filter((c) => all.some((p) => p !== c && (counts[c][p] || counts[p][c]))) : all;
  const head = make("tr", {}, make("th", {}, "true \\ predicted"), make("th", { scope: "col", className: "pk-number" }, "right"), ...shown.map((c) => make("th", { scope: "col" }, meta.classes[c])));
  const rows = shown.map((c) => {
    const total = counts[c].reduce((a, b) => a + b, 0);
    const cells = shown.map((p) => {
      const count = counts[c][p], title = `${meta.classes[c]} predicted ${meta.classes[p]}`;
      if (!count) return make("td", { className: "pk-soft" }, "·");
      const color = between(c === p ? sharedStops() : [styleColor("--canvas"), styleColor("--bad")], 0.15 + (0.7 * count) / total);
      const button = make("button", { type: "button", title: `Show the ${plain(count)} ${words.graph}s of class ${title}`, onclick: () => setFilter(Array.from({ length: app.n }, (_, g) => g).filter((g) => target[g] === c && predicted[g] === p), title) }, plain(count));
      button.style.background = cssColor(color);
      button.style.color = textOn(color);
      return make("td", {}, button);
    });
    return make("tr", {}, make("th", { scope: "row" }, meta.classes[c]), make("td", { className: "pk-number" }, total ? `${((100 * counts[c][c]) / total).toFixed(1)} %` : "–"), ...cells);
  });
  const table = make("table", { className: `pk-table ex-confusion${shown.length > 5 ? " pk-many" : ""}${shown.some((c) => meta.classes[c].length > 6) ? " ex-long" : ""}` }, make("thead", {}, head), make("tbody", {}, ...rows));
  const right = all.filter((c) => !shown.includes(c)).map((c) => meta.classes[c]);
  return [shown.length ? make("div", { className: "pk-scroll" }, table) : "", right.length ? make("p", { className: "pk-soft" }, `Without errors: ${right.join(", ")}.`) : ""];
}

/** How wrong the prediction of a graph is, and a graph that is the same for the model, with another class. */
function errorTexts(g) {
  const { margin, target, twin } = app.map_;
  const same = twin && twin[g] >= 0 ? [`for the model the same as ${idOf(twin[g])}, which is ${className(target[twin[g]])}`] : [];
  return [`${meta.classes ? "margin" : "error"} ${plain(margin[g])}`, ...same];
}

/** The patterns with the largest weights for one class, each with an example. */
function showPatterns(chosen = 0) {
  const panel = byId("ex-panel-patterns");
  panel.replaceChildren();
  const { subject, bins } = meta.bins[chosen];
  const menu = make("select", { "aria-label": "Class", onchange: () => showPatterns(Number(menu.value)) }, ...meta.bins.map((group, k) => make("option", { value: String(k) }, group.subject)));
  menu.value = String(chosen);
  const share = meta.classes ? `share of ${subject}` : "mean target";
  const head = make("tr", {}, make("th", {}, "pattern"), ...["weight", `${words.graph}s`, "with", "without"].map((name) => make("th", { className: "pk-number" }, name)));
  const against = meta.classes && meta.classes.length === 2 ? `, a negative one for ${meta.classes[0]}` : "";
  panel.append(
    make("h2", {}, term("pattern", "Patterns"), meta.classes ? " for " : " for larger predictions", meta.bins.length > 1 ? menu : meta.classes ? subject : ""),
    make("p", { className: "pk-soft" }, `What counts most, one example each. A positive weight is evidence for ${subject}${against}. With and without: ${share} among ${words.graph}s that have the pattern, and among the others.`),
    make("div", { className: "pk-scroll" }, make("table", { className: "pk-table ex-rows" }, make("thead", {}, head), make("tbody", {}, ...bins.map(patternRow)))),
  );
  if (chosen) menu.focus();
}

function patternRow(bin) {
  const cell = make("td", {});
  if (bin.graph !== null) {
    const { n } = app.graphs.graph(bin.graph), inside = new Set(bin.nodes);
    const dimmed = new Set(Array.from({ length: n }, (_, i) => i).filter((i) => !inside.has(i)));
    const everywhere = () => setFilter(graphsWith(bin), `with ${bin.name}`);
    cell.append(make("div", { className: "ex-example" }, thumbnail(bin.graph, { rings: new Set(app.meta.codes[bin.vocabulary].kind === "paths" ? bin.nodes : [bin.node]), dimmed }), make("div", {},
      make("div", {}, app.meta.codes[bin.vocabulary].attributes ? `${bin.name}, similar attributes` : bin.name),
      make("div", {}, pointLink(bin.graph, `in ${meta.ids ? "" : `${words.graph} `}${idOf(bin.graph)}`)),
      make("div", {}, make("button", { type: "button", className: "ex-link", onclick: everywhere }, "on the map")),
    )));
  }
  const show = (value) => (value === null ? "–" : meta.classes ? `${(100 * value).toFixed(0)} %` : plain(value));
  const corrects = bin.with !== null && bin.without !== null && bin.weight * (bin.with - bin.without) < 0;
  const weight = make("td", { className: "pk-number" }, signed(bin.weight), ...(corrects ? [make("div", {}, term("corrects"))] : []));
  return make("tr", {}, cell, weight, ...[plain(bin.count), show(bin.with), show(bin.without)].map((text) => make("td", { className: "pk-number" }, text)));
}

/** Graphs that have a bin, at least as many times as its level says. */
function graphsWith(bin) {
  const { starts, graphs, counts } = app.index.vocabularies[bin.vocabulary].postings[bin.stream];
  const found = [];
  for (let p = starts[bin.bin]; p < starts[bin.bin + 1]; p++) if (counts[p] >= bin.level) found.push(graphs[p]);
  return found;
}

/** Show only some graphs in color; null: all. */
function setFilter(graphs, title) {
  say("");
  app.filter = graphs ? new Set(graphs) : null;
  app.filterTitle = title;
  refilter();
  if (graphs) showSelection();
  byId("ex-tab-selection").hidden = !graphs;
  if (graphs) chooseTab("selection");
  else if (!byId("ex-panel-selection").hidden) chooseTab(noun);
}

/** The graphs that are selected: how many, and what they are called. */
function showSelection() {
  const chosen = [...app.filter];
  const clear = make("button", { type: "button", onclick: () => setFilter(null) }, "Clear");
  byId("ex-panel-selection").replaceChildren(make("div", { className: "ex-title" }, make("h2", {}, `${plain(chosen.length)} ${words.graph}s ${app.filterTitle}`), clear), ...gallery(chosen));
}
