"""texts: the line beside the title, and the tab "About"."""

import numpy as np

import propkernels as pk
from propkernels.explorer.page_contents import WORDS
from propkernels.explorer.texts import kernel_texts, page_about


def test_the_header_says_whether_graphs_were_held_out(data, model):
    training = pk.explore(data.graphs, data.target, model).html
    assert "% predicted correctly (given model, probably on its training graphs)" in training
    fewer = pk.explore(data.graphs[:20], data.target[:20], model).html
    assert "(given model; its training graphs may be among them)" in fewer
    held_out = pk.explore(data.graphs, data.target).html
    assert "% predicted correctly (default model, held out)" in held_out
    assert "chosen and learned without it" in held_out


def test_kernels_of_a_sum_are_listed_without_seeds():
    kernel = pk.SumKernel([pk.WeisfeilerLehman(n_jobs=2), pk.PropagationKernel(t_max=3, random_state=5)])
    assert kernel_texts(kernel) == ["WeisfeilerLehman()", "PropagationKernel(t_max=3)"]


def test_a_page_without_a_target_says_so():
    paragraphs = page_about(None, pk.WeisfeilerLehman(), 7, WORDS)
    assert "the normalized kernel WeisfeilerLehman()" in paragraphs[0]
    assert "exact 7 nearest neighbors" in paragraphs[0]
    assert paragraphs[-1] == "There is no target, so no model was trained."


def test_the_header_names_inputs_that_the_model_ignores(data):
    attributes = np.arange(data.graphs.n_nodes, dtype=float)[:, None]
    graphs = data.graphs.with_attributes(attributes)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    html = pk.explore(graphs, data.target, model.fit(graphs, data.target)).html
    assert "1 node attribute is not used by the model of this page." in html
