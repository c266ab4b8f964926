"""Parsers of GraphML and GXL, on expat alone: no entity is expanded, and nothing is loaded."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from propkernels.datasets.file_graph import FileGraph


def graphml_graphs(text: str) -> list[FileGraph]:
    """Return the graphs of a GraphML text; names of data come from its keys.

    Examples
    --------
    >>> graph, = graphml_graphs(
    ...     '<graphml><key id="d0" for="node" attr.name="kind"/><graph edgedefault="directed">'
    ...     '<node id="a"><data key="d0">x</data></node><edge source="a" target="b"/></graph></graphml>'
    ... )
    >>> graph.directed, graph.nodes, graph.edges
    (True, {'a': {'kind': 'x'}, 'b': {}}, [('a', 'b', {})])
    """
    return _parsed(_GraphML(), text)


def gxl_graphs(text: str) -> list[FileGraph]:
    """Return the graphs of a GXL text.

    Examples
    --------
    >>> graph, = gxl_graphs(
    ...     '<gxl><graph id="g"><node id="a"><attr name="chem"><int>6</int></attr></node>'
    ...     '<edge from="a" to="b"/></graph></gxl>'
    ... )
    >>> graph.name, graph.nodes["a"], graph.edges
    ('g', {'chem': '6'}, [('a', 'b', {})])
    """
    return _parsed(_GXL(), text)


def _parsed(handler: _Handler, text: str) -> list[FileGraph]:
    parser = expat.ParserCreate()
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise ValueError(f"it is not valid XML ({error})") from None
    return handler.graphs


def _refuse_entity(*_: Any) -> None:
    raise ValueError("it declares entities, which are not expanded")


class _Handler:
    """Graphs from the elements graph, node and edge; subclasses read their data."""

    ends = ("source", "target")

    def __init__(self) -> None:
        self.graphs: list[FileGraph] = []
        self.owner: dict[str, Any] | None = None
        self.name: str | None = None
        self.content: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        kind = tag.rpartition(":")[2]
        if kind == "graph":
            directed = attributes.get("edgedefault", attributes.get("edgemode", "")) == "directed"
            self.graphs.append(FileGraph(directed, attributes.get("id")))
            self.owner = self.graphs[-1].data
        elif kind in ("node", "edge") and not self.graphs:
            raise ValueError(f"an element {kind} is outside of a graph")
        elif kind == "node":
            key = _required(attributes, "id", kind)
            self.graphs[-1].add_node(key)
            self.owner = self.graphs[-1].nodes[key]
        elif kind == "edge":
            self.owner = {}
            source, target = (_required(attributes, end, kind) for end in self.ends)
            self.graphs[-1].add_edge(source, target, self.owner)
        else:
            self.datum(kind, attributes)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        kind = tag.rpartition(":")[2]
        if kind in ("node", "edge") and self.graphs:
            self.owner = self.graphs[-1].data
        if kind in ("data", "attr") and self.owner is not None and self.name is not None:
            self.owner[self.name] = "".join(self.content).strip()
            self.name = None

    def text(self, data: str) -> None:
        """Handle text between tags."""
        if self.name is not None:
            self.content.append(data)

    def datum(self, kind: str, attributes: dict[str, str]) -> None:
        """Handle the start of another element."""
        raise NotImplementedError


class _GraphML(_Handler):
    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, str] = {}

    def datum(self, kind: str, attributes: dict[str, str]) -> None:
        if kind == "key":
            key = _required(attributes, "id", kind)
            self.keys[key] = attributes.get("attr.name", key)
        elif kind == "data":
            key = _required(attributes, "key", kind)
            self.name, self.content = self.keys.get(key, key), []


class _GXL(_Handler):
    ends = ("from", "to")

    def datum(self, kind: str, attributes: dict[str, str]) -> None:
        if kind == "attr":
            self.name, self.content = _required(attributes, "name", kind), []


def _required(attributes: dict[str, str], name: str, kind: str) -> str:
    if name not in attributes:
        raise ValueError(f"an element {kind} has no attribute {name!r}")
    return attributes[name]
