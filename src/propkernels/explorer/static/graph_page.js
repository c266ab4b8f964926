// The beginning of a page of graphs.

async function start() {
  const sections = readJSON("ex-data");
  const [map_, graphs] = await Promise.all([unpack(sections.map), unpack(sections.graphs)]);
  app.map_ = map_;
  app.graphs = new Collection(graphs, meta.directed, meta.kinds);
  begin(GraphView);
  if (meta.model) showErrors();
  const specs = await Promise.all(meta.codes.map(async (code, v) => ({ ...code, ...await unpack(sections[`code${v}`]) })));
  app.index = new Index(app.graphs, specs);
  await inSlices(app.index, (index) => { app.busy.textContent = `Indexing ${plain(index.done)} of ${plain(app.n)} ${words.graph}s …`; });
  if (app.index.vocabularies.map(({ sum }) => sum).join() !== meta.sums.join()) throw new Error("this browser computes other codes than Python did: the model cannot be shown");
  const arrays = await unpack(sections.model);
  const members = meta.members.map((member) => newMember(app.index, member, arrays));
  app.similarity = new Similarity(app.index, members);
  if (meta.model) app.model = new Model(app.index, members, meta.model);
  say("");
  if (meta.model) showPatterns();
  listenToPaste();
  if (app.selected >= 0) app.view.open(app.selected);
  document.body.dataset.ready = "true";
}

start().catch(failed);
globalThis.propkernels = { app, select, setFilter, edited, builtGraph, laidOut, faultsOf, readSmiles, readPasted, chemistryOf, smilesOf, isSame, edgeShares, Counterfactuals }; // for programs, and for the curious
