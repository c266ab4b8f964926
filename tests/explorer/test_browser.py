"""The page in Chromium: everything a person does with it, and no sound from the console or the network."""

import time
from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.rule import Rule

pytestmark = pytest.mark.slow  # a browser takes seconds
EVIL = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def molecules():
    return pk.datasets.make_molecules(60, random_state=0)


@pytest.fixture(scope="module")
def exploration(molecules):
    ids = [f"molecule {i}" for i in range(59)] + [EVIL]
    named = replace(molecules, graphs=molecules.graphs.with_names({"N": EVIL}))
    columns = {EVIL: np.arange(60) % 3, "height": np.linspace(0, 1, 60)}
    return pk.explore(named, ids=ids, columns=columns, title=EVIL)


@pytest.fixture(scope="module")
def path(exploration, tmp_path_factory):
    return exploration.save(tmp_path_factory.mktemp("pages") / "page.html")


@pytest.fixture
def page(browser, path):
    browser.open(path)
    yield browser
    assert browser.complaints() == []


def point(page, graph):
    """Where a graph is on the screen, from the middle of the map."""
    return page.run(
        "const {map} = propkernels.app; const [x, y] = map.screen(arguments[0]);"
        "return [Math.round(x - map.width / 2), Math.round(y - map.height / 2)]",
        graph,
    )


def alone(page):
    """A graph that no other point covers."""
    return page.run(
        "const {map} = propkernels.app;"
        "for (let i = 0; i < map.n; i++) { if (map.at(...map.screen(i)) === i) return i; } return -1"
    )


def act(page):
    from selenium.webdriver import ActionChains

    return ActionChains(page.driver, duration=20)


def test_points_are_drawn_in_the_colors_of_their_classes(page):
    colors = page.run(
        "const {map} = propkernels.app; map.paint(); const {width, height} = map.canvas;"
        "const {data} = map.canvas.getContext('2d').getImageData(0, 0, width, height);"
        "const seen = new Set(); for (let i = 0; i < map.n; i++) {"
        "const [x, y] = map.screen(i).map((z) => Math.round(z * map.ratio)); const at = 4 * (y * width + x);"
        "seen.add(data.slice(at, at + 3).join()); } return [...seen]"
    )
    assert len(colors) >= 2
    legend = [button.text for button in page.all("#ex-legend button")]
    assert legend == ["apart (30)", "bonded (30)"]


def test_ids_and_labels_are_data(page):
    assert page.find("h1").text == EVIL
    assert not page.all("img")
    page.run("propkernels.select(59)")
    assert page.text("#ex-name") == EVIL
    labels = page.run("return [...document.querySelectorAll('#ex-graph text')].map((t) => t.textContent)")
    assert (f"</ = {EVIL}" in page.text("#ex-names")) == ("</" in labels)
    for menu in ("label", "color"):
        assert EVIL in page.run(
            f"return [...document.querySelectorAll('#ex-{menu} option')].map((o) => o.text)"
        )


def test_hover_draws_the_graph(page):
    graph = alone(page)
    act(page).move_to_element_with_offset(page.find("#ex-map"), *point(page, graph)).perform()
    tip = page.find("#ex-tip")
    assert tip.is_displayed()
    assert f"molecule {graph}" in tip.text
    assert len(page.all("#ex-tip circle")) == page.run(
        "return propkernels.app.graphs.size(arguments[0])", graph
    )


def test_click_opens_the_graph_with_its_decision(page, exploration, molecules):
    graph = alone(page)
    act(page).move_to_element_with_offset(page.find("#ex-map"), *point(page, graph)).click().perform()
    assert page.text("#ex-name") == f"molecule {graph}"
    decision = exploration.model.decision_function(molecules.graphs[[graph]])[0]
    shown = float(page.text("#ex-total").replace("−", "-"))
    assert shown == pytest.approx(decision, abs=5.1e-4)
    assert len(page.all(".ex-neighbor")) == 6


def test_one_iteration_can_be_shown_alone(page, exploration, molecules):
    page.run("propkernels.select(3)")
    assert not page.find("#ex-sums").is_displayed()
    page.click("#ex-steps summary")
    t = 1
    page.click(f"#ex-sums tr:nth-child({t + 1}) button")
    assert page.run("return document.activeElement.textContent") == f"t = {t}", "keys go on"
    assert page.text("#ex-sums tr.ex-now td") == f"t = {t}"
    titles = [node.get_attribute("aria-label") for node in page.all("#ex-graph [data-node]")]
    found = [float(title.rpartition(": ")[2].replace("−", "-")) for title in titles]
    expected = exploration.model.explain(molecules.graphs[[3]]).contributions[:, t]
    np.testing.assert_allclose(found, expected, atol=5.1e-4)


def test_search_finds_an_id_a_number_and_nothing(page):
    from selenium.webdriver import Keys

    for text, name in [("molecule 7", "molecule 7"), ("12", "molecule 12")]:
        page.find("#ex-search").clear()
        page.find("#ex-search").send_keys(text, Keys.ENTER)
        assert page.text("#ex-name") == name
    page.find("#ex-search").clear()
    page.find("#ex-search").send_keys("nobody", Keys.ENTER)
    assert "No graph is called" in page.text("#ex-busy")


def test_an_edit_moves_the_decision_and_is_undone(page):
    page.run("propkernels.select(0)")
    before = page.text("#ex-total")
    page.click("[data-mode=remove]")
    page.click("#ex-graph [data-node='0']")
    assert page.text("#ex-total") != before
    assert "before the edits" in page.text("#ex-verdict")
    page.click("[data-mode=grow]")
    n_nodes = len(page.all("#ex-graph [data-node]"))
    page.click("#ex-graph [data-node='2']")
    assert len(page.all("#ex-graph [data-node]")) == n_nodes + 1
    page.click("#ex-undo")
    page.click("#ex-undo")
    assert page.text("#ex-total") == before
    assert not page.find("#ex-undo").is_enabled()


def test_smallest_changes_flip_the_class(page, exploration, molecules):
    page.run("propkernels.select(4)")
    before = page.text("#ex-verdict b")
    assert page.flips()
    page.click("#ex-flip-list li button")
    assert page.text("#ex-verdict b") != before


@pytest.mark.parametrize("t_max", [0, 1])
def test_edges_are_edited_only_if_the_model_reads_them(browser, molecules, tmp_path, t_max):
    """Without steps only labels count: pairs of nodes, most of all edits, are not tried in vain."""
    model = pk.PropagationClassifier(
        kernel=pk.WeisfeilerLehman(t_max=t_max), t_max=t_max, C=10, random_state=0
    )
    model.fit(molecules.graphs[:30], molecules.target[:30])
    page = pk.explore(molecules.graphs[:20], molecules.target[:20], model)
    browser.open(page.save(tmp_path / "page.html"))
    browser.run("propkernels.app.view.open(3)")
    texts = browser.flips()
    assert ("edits of edges are left out" in browser.text("#ex-flip-text")) == (t_max == 0)
    assert t_max or not any("connect" in text for text in texts)
    assert browser.complaints() == []


def test_errors_bins_and_about(page, exploration, molecules):
    page.click("#ex-tab-errors")
    cells = [cell.text for cell in page.all(".ex-confusion td:not(.pk-number)")]
    predicted = exploration.predictions
    expected = [np.sum((molecules.target == c) & (predicted == p)) for c in (0, 1) for p in (0, 1)]
    assert cells == [str(number) if number else "·" for number in expected]
    page.click("#ex-tab-patterns")
    names = [name.text for name in page.all("#ex-panel-patterns .ex-example > div > div:first-child")]
    assert 5 < len(set(names)) == len(names) <= 10
    page.click("#ex-panel-patterns tbody tr .ex-example div div:last-child .ex-link:last-child")
    shown = page.run("return propkernels.app.map.shown.reduce((a, b) => a + b)")
    assert str(shown) == page.run(
        "return document.querySelector('#ex-panel-patterns tbody tr').children[2].textContent"
    )
    page.click("#ex-tab-about")
    assert "normalized kernel" in page.text("#ex-panel-about")
    assert "Kernel(" not in page.text("#ex-panel-about")


def test_what_neighbors_share_is_lit_up_in_both(page, molecules, exploration):
    page.run("propkernels.select(8)")
    first = page.find(".ex-neighbor")
    other = int(first.get_attribute("data-graph"))
    page.click(".ex-neighbor button")
    assert "shared with" in page.text("#ex-scale")
    app = "const {app} = propkernels; const count = (g) => app.index.count(app.graphs.graph(g));"
    found = page.run(f"{app} return app.similarity.shared(count(8), count({other})).map((x) => [...x])")
    expected = [0.0, 0.0]
    for member in exploration.model.rule_.members:  # the mean of the normalized kernels
        one = pk.PropagationClassifier()
        one.rule_ = Rule([replace(member, normalize=True)])
        why = pk.similar_because(molecules.graphs[8], molecules.graphs[other], kernel=one)
        for k, side in enumerate("gh"):
            expected[k] = expected[k] + why.node_contributions(side).sum(axis=1)
    n_members = len(exploration.model.rule_.members)
    for nodes, shares in zip(found, expected, strict=True):
        np.testing.assert_allclose(nodes, shares / n_members, rtol=1e-9, atol=1e-12)
    shown = float(first.text.split("similarity")[1].split()[0])
    assert sum(found[0]) == pytest.approx(shown, abs=1e-3)


def test_keys_go_from_graph_to_graph(page):
    from selenium.webdriver import Keys

    canvas = page.find("#ex-map")
    canvas.send_keys(Keys.ARROW_RIGHT)
    hovered = page.run("return propkernels.app.map.hovered")
    assert hovered >= 0
    canvas.send_keys(Keys.ENTER)
    assert page.run("return propkernels.app.selected") == hovered
    page.run("document.querySelector(\"#ex-graph [data-node='1']\").focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.text("#ex-hint").split()[1:3] == ["1", "adds"]
    page.run("propkernels.app.view.apply({kind: 'remove', node: 5})")
    assert page.run("return document.activeElement.dataset.node") == "1", "an edit leaves the focus"
    page.run("document.getElementById('ex-save').open = true")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not page.run("return document.getElementById('ex-save').open")


def test_dark_by_the_system_and_by_the_button(browser, path):
    def dark_ground():
        color = browser.run("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in color[4:-1].split(",")) < 200

    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        browser.open(path)
        assert dark_ground()
        browser.click("#pk-theme")
        assert not dark_ground()
        browser.click("#pk-theme")
        assert dark_ground()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert browser.complaints() == []


def test_a_notebook_shows_it_in_a_frame(browser, exploration, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(
        f"<!doctype html><meta charset=utf-8><body>{exploration._repr_html_()}", encoding="utf-8"
    )
    browser.driver.get(notebook.as_uri())
    browser.driver.switch_to.frame(browser.find("iframe"))
    try:
        for _ in range(200):
            if browser.run("return document.body.dataset.ready") == "true":
                break
        assert browser.text("#ex-legend").startswith("apart")
    finally:
        browser.driver.switch_to.default_content()
    assert browser.complaints() == []


def test_numbers_and_graphs_without_target(browser, molecules, tmp_path):
    sizes = molecules.graphs.graph_sizes + 0.5
    page = pk.explore(molecules.graphs, sizes, title="sizes").save(tmp_path / "sizes.html")
    browser.open(page)
    browser.run("propkernels.select(1)")
    assert browser.text("#ex-verdict").startswith("Final model")
    page = pk.explore(molecules.graphs, title="only a map").save(tmp_path / "map.html")
    browser.open(page)
    browser.run("propkernels.select(1)")
    assert not browser.find("#ex-verdict").is_displayed()
    assert len(browser.all(".ex-neighbor")) == 6
    assert browser.complaints() == []


SMILES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "C1=CC=C2C(=C1)C=CN2",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "c1ccc(-c2ccncc2)cc1",
    "C[N+](C)(C)CCO",
    "O=[N+]([O-])c1ccc(Cl)cc1",
    "CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O",
    "C1CC2CCC1C2",
    "FC(F)(F)c1ccsc1",
    "N#Cc1ccc2[nH]cnc2c1",
    "CCOP(=O)(OCC)OCC",
    "BrC=CI",
    "Cc1ccc(N(=O)=O)cc1",
]


@pytest.fixture(scope="module")
def chemistry(tmp_path_factory):
    pytest.importorskip("rdkit")
    target = np.arange(len(SMILES)) % 2
    graphs = pk.from_smiles(SMILES * 2, node_labels="symbol")
    model = pk.PropagationClassifier(
        kernel=pk.WeisfeilerLehman(t_max=2, edge_labels=True), C=10, random_state=0
    )
    model.fit(graphs, np.tile(target, 2))
    page = pk.explore(graphs, np.tile(target, 2), model, molecules=SMILES * 2, class_names=["no", "yes"])
    return model, page.save(tmp_path_factory.mktemp("pages") / "molecules.html")


def test_pasted_smiles_are_decided_as_in_python(browser, chemistry):
    model, path = chemistry
    browser.open(path)
    browser.click("#ex-paste-open")
    for smiles, decision in zip(
        SMILES, model.decision_function(pk.from_smiles(SMILES, node_labels="symbol")), strict=True
    ):
        browser.run("document.querySelector('#ex-paste-text').value = arguments[0]", smiles)
        browser.click("#ex-paste-go")
        assert browser.text("#ex-paste-error") == ""
        assert browser.text("#ex-name") == "Your molecule"
        shown = float(browser.text("#ex-total").replace("\N{MINUS SIGN}", "-"))
        assert shown == pytest.approx(decision, abs=5.1e-4), smiles
    guest = browser.run("return propkernels.app.map.guest")
    assert abs(guest["x"]) <= 0.5
    assert abs(guest["y"]) <= 0.5
    assert browser.complaints() == []


# what no molecule is, and what only looks odd
READ = [
    *(
        "c1cccc1",
        "c1ccccc1C(C)(C)(C)(C)C",
        "C1CC",
        "C?",
        "[Xe]",
        "C(C",
        "c1ccoc1O(C)C",
        "CN(C)(C)C",
        "c1ccnc1",
        "F(C)C",
    ),
    *(
        "c1cc[nH]c1",
        "c1ccoc1",
        "c1cc[o+]cc1",
        "C[n+]1ccccc1",
        "c1ccc2cccc2cc1",
        "CS(=O)(=O)N",
        "[O-][n+]1ccccc1",
    ),
    *(
        "CN(=O)=O",
        "OP(=O)(O)O",
        "c1ccc(cc1)[N+](=O)[O-]",
        "c1cnc2[nH]cnc2c1",
        "O=c1cc[nH]cc1",
        "[nH]1cccc1",
        "c1ccsc1",
    ),
]


def test_the_page_reads_what_rdkit_reads_and_gives_a_reason_otherwise(browser, chemistry):
    chem = pytest.importorskip("rdkit.Chem")
    browser.open(chemistry[1])
    script = "try { return [propkernels.readPasted(arguments[0]).n, ''] } catch (e) { return [0, e.message] }"
    from rdkit.rdBase import BlockLogs

    with BlockLogs():
        for smiles in READ:
            n, reason = browser.run(script, smiles)
            mol = chem.MolFromSmiles(smiles)
            assert n == (0 if mol is None or smiles == "[Xe]" else mol.GetNumAtoms()), (smiles, reason)
            assert (n == 0) == (len(reason) > 8), smiles
    assert "cannot be aromatic" in browser.run(script, "c1cccc1")[1]
    assert "too many bonds" in browser.run(script, "CN(C)(C)C")[1]


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    pytest.importorskip("rdkit")
    page = pk.explore(pk.datasets.load("FAMILIES"))
    return page, page.save(tmp_path_factory.mktemp("pages") / "families.html")


def paste(page, smiles):
    page.run(
        "document.querySelector('#ex-paste-text').value = arguments[0];"
        "document.querySelector('#ex-paste-go').click()",
        smiles,
    )


TNT = "Cc1c([N+](=O)[O-])cc([N+](=O)[O-])cc1[N+](=O)[O-]"


def test_the_page_claims_nothing_that_the_model_does_not_know(browser, families):
    """Foreign molecules have no probability; others have that of Python, and the same class everywhere."""
    page, path = families
    known = ["CC(=O)Nc1ccc(O)cc1", "CC(=O)Oc1ccccc1C(=O)OC", "CN1CCC23C4C1CC5=C2C(=C(C=C5)OC)OC3C(C=C4)O"]
    chances = page.model.predict_proba(pk.from_smiles(known, node_labels="symbol"))
    browser.open(path)
    for smiles in ("CCO", "c1ccccc1", TNT):
        paste(browser, smiles)
        verdict = browser.text("#ex-verdict")
        assert verdict.startswith("Unlike the data: do not trust this prediction."), verdict
        assert "%" not in verdict
        assert browser.run("return propkernels.app.map.guest") is None, "no place on the map"
        assert "nearest: " in browser.text("#ex-status")
    for smiles, expected in zip(known, chances, strict=True):
        paste(browser, smiles)
        found = browser.run(
            "const {app} = propkernels, {view, model} = app;"
            "return model.probabilities(view.decisions, model.nearness(view.counted))"
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        name = str(page.model.class_names_[expected.argmax()])
        assert browser.text("#ex-verdict .ex-chip b") == name
        assert browser.run("return document.querySelector('#ex-class').selectedOptions[0].text") == name
        assert f"decision for {name}" in browser.text("#ex-sum")
        assert "probability" in browser.text("#ex-verdict")
    paste(browser, known[0])
    assert "the same as paracetamol" in browser.text("#ex-status")
    assert "stereochemistry" not in browser.text("#ex-status")
    across, down = browser.run(
        "const find = (text) => [...document.querySelectorAll('#ex-graph text')].find("
        "(e) => e.textContent === text);"
        "return ['x', 'y'].map((axis) => find('H').getAttribute(axis) - find('N').getAttribute(axis))"
    )
    assert across == 0
    assert abs(down) > 0.2, "the H of an amide does not cover its bonds"
    paste(browser, "C[C@H](N)C(=O)O")
    assert "stereochemistry is not read" in browser.text("#ex-status")
    paste(browser, "C1CCCCCCC1")  # the same neighborhoods in other numbers are another molecule
    assert "the same as" not in browser.text("#ex-status")
    assert browser.complaints() == []


def test_an_edited_molecule_is_not_called_by_its_old_name(browser, families):
    chem = pytest.importorskip("rdkit.Chem")
    browser.open(families[1])
    aspirin = browser.run("return propkernels.app.meta.ids.indexOf('aspirin')")
    browser.run("propkernels.select(arguments[0])", aspirin)
    assert "✓" in browser.text("#ex-status")
    assert browser.text("#ex-details code") == "CC(=O)Oc1ccccc1C(=O)O"
    browser.run(
        "const {app} = propkernels, at = app.meta.labels.indexOf('S');"
        "for (const node of [3, 12]) app.view.apply({kind: 'relabel', node, label: at})"
    )
    assert browser.text("#ex-name") == "aspirin, edited"
    assert "✓" not in browser.text("#ex-status")
    drawn = browser.text("#ex-details code")
    assert chem.CanonSmiles(drawn) == chem.CanonSmiles("CC(=O)Sc1ccccc1C(=O)S")
    name = browser.text("#ex-verdict .ex-chip b")
    assert browser.run("return document.querySelector('#ex-class').selectedOptions[0].text") == name
    browser.click("#ex-restore")
    assert browser.text("#ex-name") == "aspirin"
    assert browser.complaints() == []


def test_written_smiles_are_those_of_the_molecule(browser, families):
    chem = pytest.importorskip("rdkit.Chem")
    browser.open(families[1])
    written = browser.run(
        "const {app} = propkernels;"
        "return Array.from({length: app.n}, (_, g) => propkernels.smilesOf(app.graphs.graph(g), app.meta))"
    )
    for smiles, drawn in zip(pk.datasets.load("FAMILIES").extras["smiles"], written, strict=True):
        flat = chem.MolFromSmiles(smiles)
        chem.RemoveStereochemistry(flat)
        assert chem.CanonSmiles(drawn) == chem.MolToSmiles(flat), smiles


def test_hydrogens_of_pasted_molecules_are_those_of_rdkit(browser, chemistry):
    chem = pytest.importorskip("rdkit.Chem")
    browser.open(chemistry[1])
    for smiles in SMILES:
        read = browser.run("return propkernels.readSmiles(arguments[0])", smiles)
        atoms = list(chem.MolFromSmiles(smiles).GetAtoms())
        assert read["hydrogens"] == [atom.GetTotalNumHs() for atom in atoms], smiles
        assert read["charges"] == [atom.GetFormalCharge() for atom in atoms]


def test_an_edge_list_can_be_pasted_and_the_address_keeps_the_graph(page):
    page.driver.get(page.driver.current_url.split("#")[0] + "#graph=molecule%205")
    page.driver.refresh()
    page.wait_until_ready()
    assert page.text("#ex-name") == "molecule 5"
    page.click("#ex-paste-open")
    page.run("document.querySelector('#ex-paste-text').value = 'a b; b c; a: O'")
    page.click("#ex-paste-go")
    assert page.text("#ex-status").startswith("3 nodes · nearest: ")


def test_too_many_bonds_are_marked(browser, chemistry):
    browser.open(chemistry[1])
    browser.run(
        "propkernels.select(0); propkernels.app.view.apply({kind: 'grow', node: 2, label: 0, edgeKind: 0})"
    )
    assert "too many bonds" in browser.text("#ex-warning")
    browser.click("#ex-undo")
    assert browser.text("#ex-warning") == ""


def test_flips_of_molecules_are_molecules(browser, chemistry):
    browser.open(chemistry[1])
    browser.run("propkernels.select(5)")
    texts = browser.flips()
    assert texts
    assert len(set(texts)) == len(texts)
    assert not any("C → S" in text or "C → O" in text for text in texts)  # atoms of aromatic rings


def test_pixels_of_images_are_only_relabeled(browser, tmp_path):
    data = pk.datasets.load("DIGITS").sample(20)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    pixels = data.graphs.to_graphs((1, 4)).with_weights(None)
    page = pk.explore(data, model=model.fit(pixels, data.target))
    browser.open(page.save(tmp_path / "digits.html"))
    assert browser.text("#ex-status").startswith("64 pixels · class")
    buttons = "return [...document.querySelectorAll('#ex-modes button')].filter((b) => !b.hidden)"
    assert browser.run(f"{buttons}.map((b) => b.dataset.mode)") == ["look", "relabel"]
    assert not browser.find("#ex-paste-open").is_displayed()
    areas = (
        "return [...document.querySelectorAll('#ex-graph rect')].map((r) => Number(r.getAttribute('width')))"
    )
    widths = browser.run(areas)
    assert len(widths) > 64, "marks of contributions lie on the pixels"
    assert sorted(widths)[-64] > 1.2 * sorted(widths)[-65], "marks leave the pixels visible"
    texts = browser.flips()
    assert all("→" in text for text in texts)
    assert not any("connect" in text or "add" in text for text in texts)
    numbers = data.extras["numbers"].tolist()
    for number in (numbers[7], next(i for i in range(20) if i not in numbers)):
        browser.find("#ex-search").clear()
        browser.find("#ex-search").send_keys(f"{number}\n")
    assert browser.text("#ex-name") == f"Image {numbers[7]}", "numbers are those of the whole data set"
    assert browser.text("#ex-busy") == f"No image is called “{number}”."
    assert browser.complaints() == []


def test_drawings_have_no_needless_crossings(browser, path):
    browser.open(path)
    faults = browser.run(
        "const {app, laidOut, faultsOf} = propkernels;"
        "return Array.from({length: app.n}, (_, g) => app.graphs.graph(g))"
        ".filter((graph) => faultsOf(laidOut(graph), graph.edges) > 0).length"
    )
    assert faults <= 4


def test_few_molecules_of_a_real_set_have_crossings(browser, data_folder, tmp_path):
    graphs = pk.datasets.load("NCI1").graphs[:188]
    browser.open(pk.explore(graphs).save(tmp_path / "nci1.html"))
    crossed, overlapping = browser.run(
        "const {app, laidOut, faultsOf} = propkernels;"
        "const graphs = Array.from({length: app.n}, (_, g) => app.graphs.graph(g));"
        "const drawn = graphs.map((graph) => [graph, laidOut(graph)]);"
        "return [drawn.filter(([g, points]) => faultsOf(points, g.edges) > 0).length,"
        "drawn.filter(([, points]) => faultsOf(points, []) > 0).length]"
    )
    assert crossed <= 5
    assert overlapping == 0


def test_the_graph_is_zoomed_inside_its_frame_which_scrolls(page):
    script = (
        "const svg = document.getElementById('ex-graph'), frame = svg.parentElement;"
        "const middle = (frame.scrollLeft + frame.clientWidth / 2) / svg.clientWidth;"
        "return [svg.clientWidth / frame.clientWidth, middle, frame.clientHeight,"
        " frame.scrollWidth > frame.clientWidth]"
    )
    _, _, height, scrolls = page.run(script)
    assert not scrolls
    page.click("#ex-graph-in")
    page.click("#ex-graph-in")
    share, middle, same, scrolls = page.run(script)
    assert share == pytest.approx(1.96, abs=0.01)
    assert middle == pytest.approx(0.5, abs=0.01), "what is in the middle stays there"
    assert scrolls
    assert same == pytest.approx(height, abs=20), "the frame stays as it is, up to scrollbars"
    page.click("#ex-graph-out")
    assert page.run(script)[0] == pytest.approx(1.4, abs=0.01)
    page.click("#ex-graph-fit")
    assert page.run(script) == [1, 0.5, height, False]
    page.click("#ex-graph-in")
    page.run("propkernels.select(7)")
    assert not page.run(script)[-1], "another graph is shown whole"


def test_answers_to_a_search_do_not_stay(page):
    def look_for_nothing():
        page.find("#ex-search").clear()
        page.find("#ex-search").send_keys("no such graph\n")
        assert page.text("#ex-busy") == "No graph is called “no such graph”."

    for script in (
        "document.querySelector('#ex-reset').click()",
        "propkernels.setFilter([1, 2], 'two')",
        "document.querySelector('.ex-legend button').click()",
        "propkernels.select(3)",
    ):
        look_for_nothing()
        page.run(script)
        assert page.text("#ex-busy") == "", script


def test_hints_of_edits_do_not_stay(page):
    for button in ("#ex-undo", "#ex-restore"):
        page.run("propkernels.app.view.apply({kind: 'remove', node: 0})")
        assert page.text("#ex-hint").startswith("remove ")
        page.click(button)
        assert page.text("#ex-hint") == ""


PICTURE_IS_SEEN = """
const box = document.getElementById("ex-graph").getBoundingClientRect();
return box.top >= 0 && box.bottom <= innerHeight
"""


def test_what_changes_the_picture_brings_it_into_view(page):
    page.run("propkernels.select(6)")  # which two edits flip
    assert page.flips()
    for selector in (".ex-neighbor button", "#ex-flip-list button"):
        page.run("document.querySelector(arguments[0]).scrollIntoView({block: 'end'})", selector)
        page.run("document.querySelector(arguments[0]).click()", selector)
        page.wait_for(PICTURE_IS_SEEN)


def test_a_tap_on_a_phone_leads_to_the_graph(browser, path):
    driver = browser.driver
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    with browser.screen(390, 844):
        browser.open(path)
        assert (
            browser.run("return getComputedStyle(document.getElementById('ex-map')).touchAction")
            == "pan-y pinch-zoom"
        )
        assert browser.find(".ex-facts").is_displayed()
        wanted = alone(browser)
        x, y = browser.run(
            "const {map} = propkernels.app, box = map.canvas.getBoundingClientRect();"
            "const [x, y] = map.screen(arguments[0]); return [x + box.left, y + box.top]",
            wanted,
        )
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        browser.wait_for("return document.getElementById('ex-tabs').getBoundingClientRect().top < 2")
        assert browser.run("return propkernels.app.selected") == wanted
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_map_table_and_graph_are_saved(page):
    page.run(
        "window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return 'blob:none'; };"
        "HTMLAnchorElement.prototype.click = function () { saved.at(-1).name = this.download; };"
        "propkernels.setFilter([3, 5], 'two')"
    )
    page.run("for (const id of ['ex-png', 'ex-csv', 'ex-svg']) document.getElementById(id).click()")
    page.wait_for("return saved.length === 3")
    found = page.driver.execute_async_script(
        "const done = arguments[0];"
        "const read = async (blob) => [blob.name.split('.').at(-1), (await blob.text()).slice(0, 300)];"
        "Promise.all(saved.map(read)).then(done)"
    )
    texts = dict(found)
    assert set(texts) == {"png", "csv", "svg"}
    assert texts["png"][1:4] == "PNG"
    head, *rows = texts["csv"].strip().splitlines()
    assert head.startswith("graph,")
    assert [row.split(",")[0] for row in rows] == ["molecule 3", "molecule 5"]
    assert texts["svg"].startswith("<svg ")
    assert "var(" not in texts["svg"]


def test_errors_and_selections_have_small_pictures(page):
    from selenium.webdriver import Keys

    tab = page.find("#ex-tab-selection")
    assert not tab.is_displayed()
    page.find("#ex-tab-graph").send_keys(Keys.ARROW_LEFT)
    assert page.find("#ex-panel-about").is_displayed()
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert page.find("#ex-panel-patterns").is_displayed(), "keys pass over a tab that is not there"
    page.run("propkernels.setFilter([3, 5], 'two')")
    page.wait_for("return document.querySelectorAll('#ex-panel-selection .ex-frame svg').length === 2")
    assert tab.is_displayed()
    page.click("#ex-panel-selection .ex-title button")
    assert not tab.is_displayed()
    assert page.find("#ex-panel-graph").is_displayed()
    page.click("#ex-tab-errors")
    if page.all("#ex-panel-errors .ex-frame"):
        page.wait_for("return document.querySelectorAll('#ex-panel-errors .ex-frame svg').length > 0")


def test_new_nodes_are_carbon_and_flips_reach_the_class_they_name(browser, chemistry):
    browser.open(chemistry[1])
    menu = "const menu = document.querySelector('#ex-label'); return menu.options[menu.value].text"
    assert browser.run(menu) == "C"
    browser.run("propkernels.select(5)")
    assert browser.flips()
    listed = browser.find("#ex-flip-list button").text.split("→")[-1].split()[0].rstrip(",")
    browser.run("document.querySelector('#ex-flip-list button').click()")
    assert browser.text("#ex-verdict .ex-chip b") == listed


def test_atoms_have_the_colors_that_chemists_use(browser, chemistry):
    browser.open(chemistry[1])
    browser.run("propkernels.select(0)")
    inks = browser.run(
        "return [...document.querySelectorAll('#ex-graph text')].map((one) => one.getAttribute('fill'))"
    )
    assert set(inks) == {"var(--ink)"}, "a red letter is not read on a red halo"
    browser.run("propkernels.setFilter([0], 'one')")
    browser.wait_for("return document.querySelector('#ex-panel-selection .ex-frame svg')")
    letters = browser.run(
        "return [...document.querySelectorAll('#ex-panel-selection text')].map((one) =>"
        "[one.textContent, getComputedStyle(one).fill.match(/\\d+/g).map(Number)])"
    )
    symbols = [text for text, _ in letters]
    assert not any(text.startswith("C") for text in symbols), "carbon is a corner without a letter"
    oxygens = [color for text, color in letters if "O" in text]
    assert oxygens
    assert all(red > 2 * max(green, blue) for red, green, blue in oxygens)


def test_bins_that_seem_to_contradict_their_share_say_so(page):
    page.click("#ex-tab-patterns")
    rows = page.run(
        "return propkernels.app.meta.bins[0].bins.map((bin, k) => [bin.weight * (bin.with - bin.without) < 0,"
        "document.querySelectorAll('#ex-panel-patterns tbody tr')[k].textContent.includes('corrects')])"
    )
    assert rows
    assert all(contradicts == said for contradicts, said in rows)


def test_the_page_says_which_model_speaks(page):
    assert "held out: " in page.text("#ex-status")
    assert page.text("#ex-verdict").startswith("Final model")
    assert "also on this one" in page.find("#ex-verdict .ex-term").get_attribute("title")
    page.run("propkernels.app.view.apply({kind: 'remove', node: 0})")
    assert page.text("#ex-verdict").startswith("The model predicts")


SHIFTS = """
window.shifts = 0;
window.early = "";
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifts += one.value; })
  .observe({type: "layout-shift", buffered: true});
addEventListener("DOMContentLoaded", () => {
  const verdict = document.getElementById("ex-verdict");
  new MutationObserver(() => { window.early ||= verdict.textContent; }).observe(verdict, {childList: true});
});
"""


def test_the_page_can_be_read_before_the_model_is_ready_and_nothing_jumps(browser, families):
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SHIFTS})
    try:
        with browser.screen(1280, 1600):
            browser.open(families[1])
            time.sleep(0.3)
            assert browser.run("return window.shifts") < 0.002
        browser.open(families[1])
        time.sleep(0.3)
        assert browser.run("return window.shifts") < 0.002
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert browser.run("return window.early").startswith("Held out")


def test_a_search_for_flips_says_how_long_it_takes_and_can_be_stopped(browser, families):
    browser.open(families[1])
    first = browser.run("return propkernels.app.meta.ids.indexOf('cholesterol')")
    browser.run("propkernels.select(arguments[0])", first)
    script = """
    const done = arguments[0], button = document.getElementById("ex-search-flips");
    const text = document.getElementById("ex-flip-text"), seen = [];
    button.click();
    const timer = setInterval(() => {
      seen.push([button.textContent, text.textContent]);
      if (!/Trying/.test(text.textContent)) { clearInterval(timer); done(seen); }
      else if (seen.length === 8) button.click();
    }, 60);
    """
    seen = browser.driver.execute_async_script(script)
    assert seen[0][0] == "Stop"
    assert any("s left" in text for _, text in seen), seen
    assert seen[-1][0] == "Search"
    assert seen[-1][1].startswith("Stopped after "), seen[-1]
    browser.run("document.getElementById('ex-search-flips').click()")
    browser.run("propkernels.select(0)")  # another molecule ends a search
    assert browser.text("#ex-search-flips") == "Search"
    assert browser.text("#ex-flip-text") == ""


def test_nothing_is_cut_and_every_message_has_its_time(browser, families):
    """At 1280 pixels the toolbar is one row, and nothing is cut; answers do not outlive their question."""
    fits = "const e = document.querySelector(arguments[0]); return e.scrollHeight <= e.clientHeight + 1 "
    fits += "&& e.scrollWidth <= e.clientWidth"
    browser.open(families[1])
    assert browser.run("return document.querySelector('.ex-left .ex-bar').offsetHeight") < 52
    assert browser.run(fits, "#ex-legend")
    browser.theme("dark")
    assert "strongest: contribution" in browser.text("#ex-scale")
    ramp, ground = browser.run(
        "const color = (e, name) => getComputedStyle(document.querySelector(e))[name];"
        "return [color('#ex-scale .ex-ramp', 'backgroundImage'), color('.ex-canvas', 'backgroundColor')]"
    )
    assert ground in ramp, "colors fade into the ground of the drawing"
    browser.click("#ex-tab-errors")
    assert browser.run(fits, "#ex-panel-errors .pk-scroll")
    wrong = np.flatnonzero(families[0].predictions != pk.datasets.load("FAMILIES").target)
    assert 2 <= len(browser.all(".ex-confusion tbody tr")) <= 2 * len(wrong)
    assert "Without errors: " in browser.text("#ex-panel-errors")
    paste(browser, "")
    assert "nothing was pasted" in browser.run("return document.querySelector('#ex-paste-error').textContent")
    browser.run("propkernels.select(3)")
    assert browser.run("return document.querySelector('#ex-paste-error').textContent") == ""
    browser.find("#ex-search").send_keys("no such molecule\n")
    assert "No molecule is called" in browser.text("#ex-busy")
    browser.click("#ex-tab-about")
    assert browser.text("#ex-busy") == ""
    with browser.screen(390, 844):
        browser.open(families[1])
        browser.find("#ex-search").send_keys("aspirin\n")
        browser.wait_for("return document.getElementById('ex-tabs').getBoundingClientRect().top < 2")
        assert browser.text("#ex-name") == "aspirin"
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth + 1")
        assert browser.run(fits, "#ex-tabs")
        for tab in ("errors", "patterns"):
            browser.click(f"#ex-tab-{tab}")
            boxes = f"[...document.querySelectorAll('#ex-panel-{tab} .pk-scroll')]"
            assert set(browser.run(f"return {boxes}.map((e) => e.scrollWidth - e.clientWidth)")) == {0}, tab
    assert browser.complaints() == []
