"""Parser of the DOT language of Graphviz: nodes, edges, subgraphs and attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from propkernels.datasets.file_graph import FileGraph

TOKEN = re.compile(
    r"""\s+ | //[^\n]* | ^\#[^\n]* | /\*.*?\*/        # blanks and comments
    | (?P<quoted>"(?:[^"\\]|\\.)*")
    | (?P<word>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]* | -?(?:\.\d+|\d+(?:\.\d*)?))
    | (?P<mark>->|--|[{}\[\];,=:+])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
DEEPEST = 50  # nested subgraphs


def dot_graphs(text: str) -> list[FileGraph]:
    """Return the graphs of a DOT text; HTML-like labels are not supported.

    Examples
    --------
    >>> graph, = dot_graphs('digraph g { node [shape=box]; a -> b -> c [kind="x y"]; c [label=7] }')
    >>> graph.name, graph.nodes["c"], graph.edges[1]
    ('g', {'shape': 'box', 'label': '7'}, ('b', 'c', {'kind': 'x y'}))
    """
    parser = _Parser(_tokens(text))
    graphs = []
    while parser.left():
        graphs.append(parser.graph())
    if not graphs:
        raise ValueError("it has no graph")
    return graphs


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return kinds ("mark", "word" or "quoted") and texts of the tokens."""
    tokens, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"line {text.count(chr(10), 0, place) + 1} has an unexpected {text[place]!r}")
        if match["quoted"] is not None:
            tokens.append(("quoted", match["quoted"][1:-1].replace('\\"', '"').replace("\\\n", "")))
        elif match["word"] is not None:
            tokens.append(("word", match["word"]))
        elif match["mark"] is not None:
            tokens.append(("mark", match["mark"]))
        place = match.end()
    return tokens


@dataclass
class _Scope:
    """Defaults of nodes and edges inside braces."""

    node: dict[str, str] = field(default_factory=dict)
    edge: dict[str, str] = field(default_factory=dict)


class _Parser:
    """Recursive descent over the grammar of DOT."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place, self.depth = tokens, 0, 0

    def left(self) -> bool:
        return self.place < len(self.tokens)

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.left() else ("end", "the end")

    def take(self, mark: str) -> bool:
        """Skip a mark if it is next."""
        if self.peek() == ("mark", mark):
            self.place += 1
            return True
        return False

    def is_name(self) -> bool:
        return self.peek()[0] in ("word", "quoted")

    def keyword(self, *names: str) -> str | None:
        """Return and skip a keyword if it is next; a quoted one is a name."""
        kind, text = self.peek()
        if kind == "word" and text.lower() in names:
            self.place += 1
            return text.lower()
        return None

    def word(self) -> str:
        text = self.peek()[1]
        if not self.is_name():
            raise ValueError(f"a name is expected instead of {text!r}")
        self.place += 1
        while self.take("+"):
            text += self.word()
        return text

    def require(self, mark: str) -> None:
        if not self.take(mark):
            raise ValueError(f"{mark!r} is expected instead of {self.peek()[1]!r}")

    def graph(self) -> FileGraph:
        self.keyword("strict")
        kind = self.keyword("graph", "digraph")
        if kind is None:
            raise ValueError(f"'graph' or 'digraph' is expected instead of {self.peek()[1]!r}")
        name = self.word() if self.is_name() else None
        graph = FileGraph(kind == "digraph", name)
        self.statements(graph, _Scope())
        return graph

    def statements(self, graph: FileGraph, scope: _Scope) -> list[str]:
        """Read statements in braces; return the nodes that they name."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} subgraphs are nested")
        self.require("{")
        named: list[str] = []
        while not self.take("}"):
            if not self.take(";") and not self.take(","):
                named += self.statement(graph, scope)
        self.depth -= 1
        return named

    def statement(self, graph: FileGraph, scope: _Scope) -> list[str]:
        default = self.keyword("graph", "node", "edge")
        if default is not None:
            data = self.attributes()
            {"graph": graph.data, "node": scope.node, "edge": scope.edge}[default].update(data)
            return []
        start = self.place
        if self.is_name() and self.keyword("subgraph") is None:
            name = self.word()
            if self.take("="):
                graph.data[name] = self.word()
                return []
        self.place = start
        return self.chain(graph, scope)

    def chain(self, graph: FileGraph, scope: _Scope) -> list[str]:
        """Read a node or subgraph, or several joined by edges; return the nodes."""
        groups = [self.group(graph, scope)]
        while self.take("->") or self.take("--"):
            groups.append(self.group(graph, scope))
        data = self.attributes()
        if len(groups) == 1:
            for node in groups[0] if data else []:
                graph.add_node(node, data)
        for sources, targets in pairwise(groups):
            for source in sources:
                for target in targets:
                    graph.add_edge(source, target, scope.edge | data)
        return [node for group in groups for node in group]

    def group(self, graph: FileGraph, scope: _Scope) -> list[str]:
        """Read a node, or the nodes of a subgraph."""
        is_subgraph = self.keyword("subgraph") is not None
        if is_subgraph and self.is_name():
            self.word()
        if is_subgraph or self.peek() == ("mark", "{"):
            return self.statements(graph, _Scope(dict(scope.node), dict(scope.edge)))
        node = self.word()
        while self.take(":"):  # port
            self.word()
        if node not in graph.nodes:
            graph.add_node(node, scope.node)
        return [node]

    def attributes(self) -> dict[str, str]:
        """Read lists of attributes in brackets."""
        data: dict[str, str] = {}
        while self.take("["):
            while not self.take("]"):
                if self.take(",") or self.take(";"):
                    continue
                name = self.word()
                data[name] = self.word() if self.take("=") else "true"
        return data
