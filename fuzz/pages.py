"""Pages and notebook fragments of hostile texts and targets: no foreign element, and no "nan" to be read."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Wrong, try_to
from fuzz.forging import pick
from fuzz.graphs import database, random_graphs
from fuzz.parts import scratch
from propkernels.models.evaluation_page import write_evaluations

Generator = np.random.Generator
EVIL = "pk-evil"
PAYLOADS = (
    f"<{EVIL} onload=x>",
    f"'\"><{EVIL}>",
    f"</script><{EVIL}>",
    f"<!--<{EVIL}>",
    "]]>",
    "&lt;",
    "{{7*7}}",
)
PAYLOADS += ("\ud800", "\0", "C", "é", "", "javascript:1", f"</style><{EVIL}>", f"<svg><{EVIL}/>")
NOT_A_NUMBER = re.compile(r"(?<![A-Za-z])(nan|NaN|inf|-inf|Infinity)(?![A-Za-z])")


class Reader(HTMLParser):
    """The elements, handlers and visible texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.handlers: set[str] = set()
        self.texts: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.handlers |= {name for name, _ in attrs if name.startswith("on")}
        self.handlers |= {name for name, value in attrs if (value or "").strip().startswith("javascript:")}
        self._hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = self._hidden and tag not in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def check_page(html: str, what: str) -> None:
    """A page has no element and no handler of a payload, and shows no number that is not one."""
    reader = Reader()
    reader.feed(html)
    if EVIL in reader.elements or reader.handlers:
        raise Wrong(f"{what}: a foreign element or handler {reader.handlers}")
    found = NOT_A_NUMBER.search("\n".join(reader.texts))
    if found:
        text = "\n".join(reader.texts)
        raise Wrong(f"{what}: {text[max(found.start() - 60, 0) : found.end() + 20]!r}")
    html.encode("utf-8")


def graphs(rng: Generator, n: int) -> pk.GraphDatabase:
    """Small graphs whose labels are payloads."""
    data = database([graph for graph in random_graphs(rng, n + 8) if graph.n][:n])
    labels = np.empty(data.n_nodes, dtype=object)
    labels[:] = [pick(rng, PAYLOADS) for _ in range(data.n_nodes)]
    return pk.GraphDatabase(data.adjacency, data.graph_ptr, labels)


def targets(rng: Generator, n: int) -> Any:
    """Classes by any name, or numbers of any size, some missing."""
    style = int(rng.integers(6))
    if style == 0:
        return np.array([pick(rng, PAYLOADS[:7]) for _ in range(n)], dtype=object).astype(str)
    if style == 1:
        return rng.integers(0, 2, size=n)
    values = rng.normal(size=n)
    if style == 2:
        values = values * pick(rng, (1e-200, 1e-12, 1e12, 1e150, 1e160, 1e300))
    elif style == 3:
        values = np.round(values * 2.0**54)
    elif style == 4:
        values[rng.random(n) < 0.3] = np.nan
    return values


def explored(rng: Generator, seed: int) -> None:
    data = graphs(rng, 14)
    target = targets(rng, len(data))
    names = {"title": pick(rng, PAYLOADS), "ids": [pick(rng, PAYLOADS) for _ in range(len(data))]}
    page = try_to(lambda: pk.explore(data, target, **names))
    known = np.array([value == value for value in target])  # NaN is not itself
    predictions = page.predictions
    if (
        predictions is not None
        and np.asarray(predictions).dtype.kind == "f"
        and np.isnan(_of_known(predictions, known)).any()
    ):
        raise Wrong(f"predictions {predictions} of {target}"[:300])
    with scratch(str(seed), {}) as folder:
        folder.mkdir(exist_ok=True)
        page.save(folder / "page.html")
        check_page((folder / "page.html").read_text(encoding="utf-8"), "explore")


def _of_known(predictions: Any, known: np.ndarray) -> Any:
    """Predictions of graphs with a target; a page may leave out the others."""
    return predictions if len(predictions) == known.sum() else predictions[known]


def audited(rng: Generator, seed: int) -> None:
    data = graphs(rng, 14)
    found = try_to(lambda: pk.audit(data, targets(rng, len(data)), t_max=1))
    check_page(found.to_html(), "audit")
    check_page(found._repr_html_(), "fragment of an audit")
    found.to_markdown().encode("utf-8", "surrogatepass")


def evaluated(rng: Generator, seed: int) -> None:
    data = graphs(rng, 14)
    target = targets(rng, len(data))
    result = try_to(
        lambda: pk.evaluate(data, target, pk.LabelHistogram(), cv=2, C=1.0, inner_cv=2, random_state=0)
    )
    check_page(result._repr_html_(), "fragment of an evaluation")
    with scratch(str(seed), {}) as folder:
        folder.mkdir(exist_ok=True)
        write_evaluations(folder / "page.html", {pick(rng, PAYLOADS): result}, [pick(rng, PAYLOADS)])
        check_page((folder / "page.html").read_text(encoding="utf-8"), "evaluate")


def fragments(rng: Generator, seed: int) -> None:
    """What notebooks show of graphs, bins, explanations and similarities."""
    data = graphs(rng, 4)
    check_page(data._repr_html_(), "graphs")
    check_page(data[0]._repr_html_() if hasattr(data[0], "_repr_html_") else "", "one graph")
    kernel = pk.WeisfeilerLehman(t_max=1).fit(data)
    check_page(try_to(lambda: pk.similar_because(kernel, data[0], data[1]))._repr_html_(), "similar_because")


CHECKS: dict[str, tuple[Callable[[Generator, int], None], float]] = {
    "fragments": (fragments, 0.7),
    "evaluated": (evaluated, 0.15),
    "audited": (audited, 0.1),
    "explored": (explored, 0.05),
}
EDGES = np.cumsum([share for _, share in CHECKS.values()])
NAMES = list(CHECKS)


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 30])
    at = int(np.searchsorted(EDGES, rng.random() * EDGES[-1], side="right"))
    return Case("pages", seed, NAMES[at])


def run(case: Case) -> None:
    CHECKS[case.check][0](np.random.default_rng([case.seed, 31]), case.seed)
