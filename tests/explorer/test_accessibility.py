"""Pages in Chromium: controls have names, text has contrast, keys reach everything, nothing is fetched."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.models.evaluation_result import write_evaluations

pytestmark = pytest.mark.slow  # a browser takes seconds

NAMELESS = """
const kinds = 'button, select, input, textarea, a[href], [role=button], [tabindex="0"]';
const named = (e) => e.textContent.trim() || e.title || (e.labels && e.labels.length)
  || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby');
return [...document.querySelectorAll(kinds)].filter((e) => e.getClientRects().length && !named(e))
  .map((e) => e.outerHTML.slice(0, 120))
"""
PALE = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const channel = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const color = parse(getComputedStyle(e).backgroundColor);
    if (color.length < 4 || color[3] > 0.5) return color;
  }
  return [255, 255, 255];
};
const found = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.getClientRects().length || element.closest('svg, [disabled], script, style')) continue;
  const style = getComputedStyle(element);
  if (style.visibility === 'hidden' || Number(style.opacity) < 1) continue;
  const [a, b] = [light(parse(style.color)), light(ground(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 90)}`);
}
return found
"""
TABS = ("graph", "errors", "patterns", "selection", "about")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    data = pk.datasets.load("FAMILIES")
    part = data.take(range(0, 317, 4))
    page = pk.explore(part, columns={"size": part.graphs.graph_sizes + 0.5})
    return page.save(tmp_path_factory.mktemp("pages") / "page.html")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", TABS)
def test_controls_have_names_and_texts_contrast(browser, path, tab, theme):
    browser.open(path)
    browser.theme(theme)
    browser.run("propkernels.setFilter([1, 2], 'two')")
    browser.click(f"#ex-tab-{tab}")
    assert browser.run(NAMELESS) == []
    assert browser.run(PALE) == []


def test_nothing_is_fetched_and_ids_are_unique(browser, path):
    browser.open(path)
    assert browser.run("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    assert browser.run(DOUBLED) == []
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.complaints() == []


def test_keys_reach_the_map_the_tabs_and_the_atoms(browser, path):
    from selenium.webdriver.common.keys import Keys

    browser.open(path)
    reached = set()
    browser.run("document.activeElement.blur()")
    for _ in range(40):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(
            browser.run(
                "const e = document.activeElement; return e.id || e.dataset.node || e.className.baseVal"
            )
        )
    assert {"ex-color", "ex-search", "ex-map", "ex-tab-graph"} <= reached
    assert browser.run("return document.querySelectorAll('#ex-graph [tabindex]').length") > 3


def test_a_narrow_window_does_not_scroll_sideways(browser, path):
    with browser.screen(500, 800):
        browser.open(path)
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth + 1")


# other pages: nodes of one graph, reports


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("other_pages")


def write_nodes(path):
    club = nx.karate_club_graph()
    sides = np.array([club.nodes[i]["club"] for i in club])
    graph = nx.to_scipy_sparse_array(club, weight=None, format="csr")
    known = [0, 1, 2, 3, 30, 31, 32, 33]
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(graph, sides[known], nodes=known)
    pk.explore(graph, sides, model, title="Club").save(path)


def write_audit(path):
    pk.audit(pk.datasets.make_molecules(40, random_state=0)).save(path)


def write_evaluation(path):
    data = pk.datasets.make_molecules(40, random_state=0)
    kernel = pk.WeisfeilerLehman(t_max=1)
    found = pk.evaluate(data.graphs, data.target, kernel, cv=2, random_state=0)
    write_evaluations(path, {"Weisfeiler-Lehman": found})


WRITERS = {
    "nodes": write_nodes,
    "audit": write_audit,
    "evaluation": write_evaluation,
}
DOUBLED = """
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
return ids.filter((id, k) => ids.indexOf(id) !== k)
"""
UNREACHED = """
const kinds = "button, select, input, textarea, a[href], summary";
return [...document.querySelectorAll(kinds)].filter((e) => e.getClientRects().length && !e.disabled
  && e.tabIndex < 0 && e.getAttribute("role") !== "tab").map((e) => e.outerHTML.slice(0, 120))
"""


@pytest.mark.parametrize("kind", WRITERS)
def test_other_pages_can_be_used_by_everyone(browser, folder, kind):
    path = folder / f"{kind}.html"
    WRITERS[kind](path)
    browser.driver.get(path.as_uri())
    if browser.all("#ex-map"):
        browser.wait_until_ready()
    for theme in ("light", "dark"):
        browser.theme(theme)
        assert browser.run(NAMELESS) == []
        assert browser.run(PALE) == []
    assert browser.run(DOUBLED) == []
    assert browser.run(UNREACHED) == []
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.run("return document.title")
    assert browser.run("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    with browser.screen(500, 800):
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth + 1")
    assert browser.complaints() == []


# notebooks

NOTEBOOKS = {
    "VS Code, dark": '<html><body class="vscode-dark" style="background:#1e1e1e">',
    "VS Code, light": '<html><body class="vscode-light" style="background:#ffffff">',
    "Colab, dark": '<html theme="dark"><body style="background:#111111">',
    "Colab, light": '<html theme="light"><body style="background:#ffffff">',
    "JupyterLab, dark": '<html><body data-jp-theme-light="false" style="background:#111111">',
    "JupyterLab, light": '<html><body data-jp-theme-light="true" style="background:#ffffff">',
}


def test_results_can_be_read_in_light_and_dark_notebooks(browser, folder):
    data = pk.datasets.make_molecules(12, random_state=0)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    explanation = model.fit(data.graphs, data.target).explain(data.graphs[:2])
    shown = "".join(one._repr_html_() for one in (data, data.graphs, data.graphs[0], explanation))
    try:
        for system in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": system}]}
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            for name, start in NOTEBOOKS.items():
                path = folder / "notebook.html"
                path.write_text(f"<!doctype html>{start}{shown}</body></html>", encoding="utf-8")
                browser.driver.get(path.as_uri())
                assert browser.run(PALE) == [], (name, system)
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
