"""Codes and decisions of edited graphs: the page and Python agree."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.explorer.page_codes import NotLive
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation import Diffusion
from tests.conformance.cases import CODERS, NOT_ON_PAGES, carrying, codes_in_python

pytestmark = pytest.mark.slow  # a browser takes seconds
EDITS = 30
SCRIPT = """
const {app} = propkernels;
return arguments[0].map(([g, edits]) => {
  let graph = app.graphs.graph(g);
  for (const edit of edits) {
    if (edit.kind === "toggle") {
      const e = graph.edges.findIndex(([a, b]) => a === edit.a && b === edit.b);
      graph = propkernels.edited(graph, e < 0 ? {...edit, kind: "link"} : {kind: "unlink", edge: e});
    } else graph = propkernels.edited(graph, edit);
  }
  const counted = app.index.count(graph);
  const parts = app.model.contributions(counted, app.model.share(1));
  return {
    shares: [...propkernels.edgeShares(graph, parts, -1)],
    codes: counted.parts.map((part) => part.codes.map((row) => [...row])),
    decisions: [...app.model.decisions(counted)],
    similarities: [...app.similarity.of(counted)],
    chances: app.model.calibration
      && app.model.probabilities(app.model.decisions(counted), app.model.nearness(counted)),
    sums: parts.map((part) => part.reduce((a, b) => a + b, 0)),
  };
});
"""


class Editable:
    """A graph as plain lists: the naive twin of what the page does."""

    def __init__(self, graph):
        matrix = graph.adjacency.tocoo()
        column, kinds = graph.database.label_column, graph.database.edge_label_column
        self.values = () if column is None else column.values
        self.labels = [0] * graph.n_nodes if column is None else column.ids.tolist()
        attributes = graph.database.node_attributes
        self.attributes = None if attributes is None else attributes.tolist()
        self.kind_values = None if kinds is None else kinds.values
        ids = [-1] * matrix.nnz if kinds is None else kinds.ids.tolist()
        pairs = zip(matrix.row.tolist(), matrix.col.tolist(), ids, strict=True)
        self.edges = {(a, b): kind for a, b, kind in pairs if a < b}

    def random_edit(self, rng):
        n = len(self.labels)
        label, kind = (
            int(rng.integers(max(len(self.values), 1))),
            int(rng.integers(max(len(self.kind_values or ()), 1))),
        )
        kind = kind if self.kind_values else -1
        choice = rng.integers(4)
        if choice == 0:
            edit = {"kind": "relabel", "node": int(rng.integers(n)), "label": label}
        elif choice == 1 and n > 2:
            edit = {"kind": "remove", "node": int(rng.integers(n))}
        elif choice == 2:
            edit = {"kind": "grow", "node": int(rng.integers(n)), "label": label, "edgeKind": kind}
        else:
            a, b = rng.choice(n, 2, replace=False).tolist()
            edit = {"kind": "toggle", "a": min(a, b), "b": max(a, b), "edgeKind": kind}
        self.apply(edit)
        return edit

    def apply(self, edit):
        if edit["kind"] == "relabel":
            self.labels[edit["node"]] = edit["label"]
        elif edit["kind"] == "grow":
            self.edges[(edit["node"], len(self.labels))] = edit["edgeKind"]
            self.labels.append(edit["label"])
            if self.attributes is not None:
                self.attributes.append([np.nan] * len(self.attributes[0]))
        elif edit["kind"] == "toggle":
            pair = (edit["a"], edit["b"])
            if pair in self.edges:
                del self.edges[pair]
            else:
                self.edges[pair] = edit["edgeKind"]
        else:
            gone = edit["node"]
            del self.labels[gone]
            if self.attributes is not None:
                del self.attributes[gone]
            kept = {pair: kind for pair, kind in self.edges.items() if gone not in pair}
            self.edges = {tuple(i - (i > gone) for i in pair): kind for pair, kind in kept.items()}

    def graph(self):
        n = len(self.labels)
        both = {**self.edges, **{(b, a): kind for (a, b), kind in self.edges.items()}}
        places = sorted(both)
        rows, columns = ([pair[side] for pair in places] for side in (0, 1))
        matrix = csr_array((np.ones(len(places)), (rows, columns)), shape=(n, n))
        kinds = np.array([both[pair] for pair in places], dtype=np.int32)
        edge_labels = None if self.kind_values is None else LabelColumn(kinds, self.kind_values)
        labels = LabelColumn(np.array(self.labels, dtype=np.int32), self.values) if self.values else None
        return pk.GraphDatabase(matrix, [0, n], labels, self.attributes, edge_labels)


def cases(graphs, seed):
    rng = np.random.default_rng(seed)
    found, edited = [], []
    for _ in range(EDITS):
        g = int(rng.integers(len(graphs)))
        twin = Editable(graphs[g])
        found.append([g, [twin.random_edit(rng) for _ in range(int(rng.integers(0, 5)))]])
        edited.append(twin.graph())
    return found, edited


def similarities_in_python(model, graphs, graph):
    """The mean of the normalized kernels of all members."""
    both = pk.GraphDatabase.concat([graphs, graph])
    found = []
    for bins in model.rule_.shared_bins():
        streams = bins.counter.count(both, None)
        kernel = np.zeros((len(both), len(both)))
        for stream in streams[: bins.n_streams]:
            counts = stream.counts.toarray()
            share = np.minimum if bins.assigned else np.multiply
            shared = np.stack([share(counts, row).sum(axis=1) for row in counts])
            own = np.diag(shared)
            union = np.maximum(own[:, None] + own - shared, 1) if bins.ratio else 1.0
            kernel += stream.weight * shared / union
        length = np.sqrt(np.maximum(np.diag(kernel), 1e-300))
        found.append(kernel[-1, :-1] / length[-1] / length[:-1])
    return np.mean(found, axis=0)


def compare(browser, model, graphs, path, seed=0):
    """Random edits in the page and in Python: the same codes and decisions."""
    browser.open(path)
    asked, edited = cases(graphs, seed)
    for k, (answer, graph) in enumerate(zip(browser.run(SCRIPT, asked), edited, strict=True)):
        for found, vocabulary in zip(answer["codes"], model.rule_.vocabularies, strict=True):
            assert found == codes_in_python(vocabulary.counter, graph)
        decisions = model._decisions(graph)[0]
        scale = max(1.0, float(np.abs(decisions).max()))
        np.testing.assert_allclose(answer["decisions"], decisions, rtol=0, atol=1e-12 * scale)
        second = {} if not hasattr(model, "classes_") else {"classes": model.classes_[1]}
        with warnings.catch_warnings(action="ignore", category=pk.models.ForeignGraphsWarning):
            chances = None if answer["chances"] is None else model.predict_proba(graph)[0]
            explanation = model.explain(graph, **second)
        if chances is not None:
            np.testing.assert_allclose(answer["chances"], chances, rtol=1e-9, atol=1e-12)
        total = float(explanation.contributions.sum())
        assert sum(answer["sums"]) == pytest.approx(total, abs=1e-12 * scale)
        if k < 5:
            ends, shares = explanation.edge_contributions(0)
            expected = {int(a) * graph.n_nodes + int(b): s for (a, b), s in zip(ends, shares, strict=True)}
            assert dict(answer["shares"]) == pytest.approx(expected, abs=1e-12 * scale)
        if k < 5:
            expected = similarities_in_python(model, graphs, graph)
            np.testing.assert_allclose(answer["similarities"], expected, atol=1e-12)
    assert browser.complaints() == []


@pytest.mark.data
@pytest.mark.parametrize("name", ["MUTAG", "BZR", "ENZYMES", "IMDB-BINARY"])
def test_edits_of_real_graphs(browser, data_folder, name, tmp_path):
    data = pk.datasets.load(name)
    some = np.random.default_rng(0).permutation(len(data.graphs))[:100]
    graphs, target = data.graphs[some], data.target[some]
    page = pk.explore(graphs, target)
    compare(browser, page.model, graphs, page.save(tmp_path / "page.html"))


@pytest.mark.parametrize("name", CODERS)
def test_edits_with_every_code_function(browser, name, tmp_path):
    """On graphs of which the model has not seen all; pages refuse some kernels."""
    graphs, target = carrying(CODERS[name])
    model = pk.PropagationClassifier(kernel=CODERS[name], C=10, random_state=0)
    model.fit(graphs[10:], target[10:])
    if name in NOT_ON_PAGES:
        with pytest.raises(NotLive, match=r"no step for the propagation scheme|attributes jointly"):
            pk.explore(graphs[:25], target[:25], model)
        return
    page = pk.explore(graphs[:25], target[:25], model)
    assert page.model is model
    compare(browser, model, graphs[:25], page.save(tmp_path / "page.html"))


SUMMED = Diffusion(0.5, "none")
PARTS = [
    pk.WeisfeilerLehman(t_max=2, base_kernel="intersection"),
    pk.PropagationKernel(t_max=2, random_state=0),
    pk.ShortestPath(),
]
MEMBERS = {
    "levels": pk.PropagationKernel(propagation=SUMMED, t_max=3, base_kernel="intersection", random_state=0),
    "levels of degrees": pk.WeisfeilerLehman(t_max=2, labels="degree", base_kernel="intersection"),
    "jaccard": pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard"),
    "tanimoto": pk.PropagationKernel(t_max=2, n_hashes=2, base_kernel="tanimoto", random_state=0),
    "a sum": pk.SumKernel(PARTS, weights=[2.0, 1.0, 0.5], normalize_parts=False),
    "a normalized sum": pk.SumKernel(PARTS, weights=[2.0, 1.0, 0.5]),
}


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", MEMBERS)
def test_edits_with_every_member(browser, name, normalize, tmp_path):
    data = pk.datasets.make_molecules(50, random_state=1)
    model = pk.PropagationClassifier(kernel=MEMBERS[name], C=10, normalize=normalize, random_state=0)
    model.fit(data.graphs[10:], data.target[10:])
    page = pk.explore(data.graphs[:25], data.target[:25], model)
    compare(browser, model, data.graphs[:25], page.save(tmp_path / "page.html"))


@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_edits_with_several_classes(browser, solver, tmp_path):
    graphs = pk.datasets.make_molecules(60, random_state=1).graphs
    target = np.arange(60) % 4
    kernel = pk.WeisfeilerLehman(t_max=1)
    model = pk.PropagationClassifier(kernel=kernel, C=10, solver=solver, random_state=0).fit(graphs, target)
    page = pk.explore(graphs[:30], target[:30], model)
    compare(browser, model, graphs[:30], page.save(tmp_path / "page.html"))


@pytest.mark.parametrize("base_kernel", ["intersection", "jaccard"])
def test_edits_with_numbers(browser, base_kernel, tmp_path):
    graphs = pk.datasets.make_molecules(40, random_state=1).graphs
    target = 0.5 + graphs.graph_sizes
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel=base_kernel)
    model = pk.PropagationRegressor(kernel=kernel, C=10, random_state=0).fit(graphs, target)
    page = pk.explore(graphs[:20], target[:20], model)
    compare(browser, model, graphs[:20], page.save(tmp_path / "page.html"))
