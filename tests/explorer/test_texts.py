"""texts: the line beside the title, and the tab "About"."""

import re

import numpy as np

import propkernels as pk
from propkernels.explorer.texts import page_about


def test_the_header_says_whether_graphs_were_held_out(data, model):
    training = pk.explore(data.graphs, data.target, model).html
    assert "% predicted correctly (given model, probably on its training molecules)" in training
    fewer = pk.explore(data.graphs[:20], data.target[:20], model).html
    assert "(given model; its training molecules may be among them)" in fewer
    held_out = pk.explore(data.graphs, data.target).html
    assert "% predicted correctly (default model, held out)" in held_out
    assert "chosen and learned without it" in held_out


def test_pages_of_molecules_speak_of_molecules_and_about_has_no_code(data):
    html = pk.explore(data.graphs, data.target).html
    text = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", html, flags=re.S)
    assert "chosen and learned without it" in text
    assert not re.search(r"\b(graphs?|nodes?|surroundings)\b", text), text
    assert not re.search(r"\bA atom\b|\b[A-Z]\w+\((?!\.)\w+=", text)
    assert f"{len(data.graphs)} molecules · " in text


def test_a_page_without_a_target_says_so():
    paragraphs = page_about(None, pk.WeisfeilerLehman(), 7)
    assert "exact 7 nearest neighbors" in paragraphs[0]
    assert paragraphs[-1] == "There is no target, so no model was trained."


def test_the_header_names_inputs_that_the_model_ignores(data):
    attributes = np.arange(data.graphs.n_nodes, dtype=float)[:, None]
    graphs = data.graphs.with_attributes(attributes)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    html = pk.explore(graphs, data.target, model.fit(graphs, data.target)).html
    assert "1 node attribute is not used by the model of this page." in html
