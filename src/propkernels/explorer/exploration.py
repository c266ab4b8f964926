"""Exploration: the page with its model, map and predictions."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.safe_files import Pathlike, atomic_write
from propkernels._utils.typing import Array
from propkernels.models.classifier import PropagationClassifier
from propkernels.models.regressor import PropagationRegressor
from propkernels.nodes.model import NodeModel
from propkernels.plotting.pages import read_static, render_page

# the order matters: top-level code of a file uses names of earlier files only
SCRIPTS = {
    "page": [
        *("words", "coder", "data", "bins", "model", "similarity"),
        *("layout", "colors", "shell", "draw", "chemistry", "map"),
        *("edits", "paste", "panels", "view", "app", "graph_page"),
    ],
    "nodes": ["data", "layout", "colors", "shell", "draw", "map", "app", "node_view"],
}
Arrays = dict[str, NDArray[Any]]
FRAME_HEIGHT = 760  # pixels, in a notebook
ALIGNMENT = 8  # bytes, of arrays


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """A page that shows graphs, their map and a model, as returned by :func:`explore`.

    Attributes
    ----------
    title : str
    html : str
        The self-contained page.
    model : PropagationClassifier, PropagationRegressor, NodeClassifier, NodeRegressor or None
        The model of the page; None without a target.
    points : ndarray of shape (n, 2)
        Coordinates of the graphs, or of the nodes, on the map.
    predictions : ndarray of shape (n,) or None
        Predictions on the page: class numbers 0, 1, ..., or real numbers.
    novelty : ndarray of shape (n,)
        1 minus the mean similarity to the nearest graphs; empty for nodes.
    how : str
        Origin of the predictions, in a few words.
    noun : str
        What the points are: "graphs", or "nodes" of one graph.

    See Also
    --------
    explore : Returns an Exploration.
    propkernels.plotting.plot_embedding : A map of all graphs as a matplotlib figure.

    References
    ----------
    .. [1] L. van der Maaten and G. Hinton (2008). Visualizing data using t-SNE. Journal of Machine Learning
       Research 9, 2579-2605.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> exploration = pk.explore(data)
    >>> exploration
    Exploration(make_molecules: 30 graphs, 0.2 MB)
    >>> exploration.html.startswith("<!doctype html>")
    True
    """

    title: str
    html: str
    model: PropagationClassifier | PropagationRegressor | NodeModel | None
    points: NDArray[np.float64]
    predictions: Array | None = None
    novelty: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    how: str = ""
    noun: str = "graphs"

    def save(self, path: Pathlike) -> Path:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : str or path
            Usually ending in ".html".

        Returns
        -------
        Path
        """
        with atomic_write(path, text=True) as stream:
            stream.write(self.html)
        return Path(path)

    def __repr__(self) -> str:
        size = len(self.html.encode()) / 1e6
        return f"Exploration({self.title}: {len(self.points):,} {self.noun}, {size:.1f} MB)"

    def _repr_html_(self) -> str:
        """Return the page in a sandboxed frame, for notebooks."""
        style = f"width: 100%; height: {FRAME_HEIGHT}px; border: 1px solid #8884; border-radius: 8px"
        frame = f'<iframe title="{escape(self.title, quote=True)}" style="{style}" '
        return (
            frame
            + f'sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.html, quote=True)}"></iframe>'
        )


def explorer_page(
    kind: str, title: str, meta: dict[str, Any], sections: Mapping[str, Arrays], **texts: Any
) -> str:
    """Return the HTML of a page.

    Parameters
    ----------
    kind : {"page", "nodes"}
        Of graphs, or of the nodes of one graph.
    title : str
    meta : dict
        Settings and short texts, read by ``app.js``.
    sections : mapping
        Arrays by section, see :func:`pack`.
    **texts
        Texts of the template: ``facts`` beside the title, ``notes``, ``reading``, ``about``, ``tabs``, ...
    """
    return render_page(
        f"explorer/{kind}.html.j2",
        title=title,
        data={"ex-meta": meta, "ex-data": {key: pack(arrays) for key, arrays in sections.items()}},
        scripts=["\n".join(read_static(f"explorer/{name}.js") for name in SCRIPTS[kind])],
        styles=[read_static("explorer/explorer.css")],
        glossary=meta["glossary"],
        n_points=meta["n"],
        **texts,
    )


def pack(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return a section of a page: the bytes of all arrays, and the type, offset and length of each.

    Examples
    --------
    >>> section = pack({"sizes": np.array([3, 300])})
    >>> section["arrays"]
    [{'name': 'sizes', 'type': 'u2', 'offset': 0, 'length': 2}]
    """
    parts, places, offset = [], [], 0
    for name, array in arrays.items():
        small = smallest(np.ascontiguousarray(array))
        kind = small.dtype.newbyteorder("<")
        raw = small.astype(kind, copy=False).tobytes()
        places.append({"name": name, "type": kind.str[1:], "offset": offset, "length": small.size})
        padding = -len(raw) % ALIGNMENT
        parts += [raw, bytes(padding)]
        offset += len(raw) + padding
    packed = gzip.compress(b"".join(parts), compresslevel=6, mtime=0)
    return {"base64": b64encode(packed).decode("ascii"), "arrays": places}


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the smallest type that represents them; floats are unchanged.

    Examples
    --------
    >>> smallest(np.array([0, 255])).dtype, smallest(np.array([-1, 255])).dtype
    (dtype('uint8'), dtype('int16'))
    """
    if array.dtype.kind not in "iub":
        return array
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    types = ("u1", "u2", "u4") if least >= 0 else ("i1", "i2", "i4")
    for name in types:
        room = np.iinfo(name)
        if room.min <= least and most <= room.max:
            return array.astype(name)
    raise ValueError(f"a page supports integers of at most 32 bits, got {least} to {most}")
