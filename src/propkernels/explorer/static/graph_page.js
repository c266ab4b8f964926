// The beginning of a page of graphs.


async function start() {
  const sections = readJSON("ex-data");
  const [map_, graphs] = await Promise.all([unpack(sections.map), unpack(sections.graphs)]);
  app.map_ = map_;
  app.graphs = new Collection(graphs, meta.directed, meta.kinds);
  app.map = new GraphMap(byId("ex-map"), byId("ex-overlay"), map_.xy);
  app.map.order = Uint32Array.from(app.map.order).sort((a, b) => ((a * 2654435761) >>> 0) - ((b * 2654435761) >>> 0));
  meta.columns.forEach((column, k) => byId("ex-color").append(make("option", { value: String(k) }, column.name)));
  if (meta.ids && meta.n <= 5000) byId("ex-ids").append(...meta.ids.map((id) => make("option", { value: id })));
  app.map.groups = meta.groups.map(({ x, y, ...rest }) => ({ x: x / 65535 - 0.5, y: 0.5 - y / 65535, ...rest })).sort((a, b) => b.n - a.n);
  app.view = new GraphView(app);
  listen();
  listenToTabs();
  recolor();
  showErrors();
  showSelection();
  const named = graphOfHash();
  app.selected = app.map.selected = named >= 0 ? named : meta.first;
  app.view.open(app.selected);
  const specs = await Promise.all(meta.codes.map(async (code, v) => ({ ...code, ...await unpack(sections[`code${v}`]) })));
  app.index = new Index(app.graphs, specs);
  await inSlices(app.index, (index) => { app.busy.textContent = `Indexing ${plain(index.done)} of ${plain(app.n)} graphs …`; });
  if (app.index.sums.join() !== meta.sums.join()) throw new Error("this browser computes other codes than Python did: the model cannot be shown");
  const arrays = await unpack(sections.model);
  const members = meta.members.map((member) => newMember(app.index, member, arrays));
  app.similarity = new Similarity(app.index, members);
  if (meta.model) app.model = new Model(app.index, members, meta.model);
  say("");
  showBins();
  listenToPaste();
  if (app.selected >= 0) app.view.open(app.selected);
  document.body.dataset.ready = "true";
}

start().catch((error) => {
  app.busy.hidden = false;
  app.busy.textContent = `The page could not be built: ${error.message}`;
  document.body.dataset.ready = "failed";
  throw error;
});
globalThis.propkernels = { app, select, setFilter, edited, builtGraph, laidOut, faultsOf, readSmiles, readPasted, chemistryOf, contactShares }; // for programs, and for the curious
