"""draw_molecule: RDKit drawings of molecules with colored atoms and bonds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.safe_files import atomic_write
from propkernels._utils.typing import Estimator, Molecules
from propkernels.convert.asking_rdkit import with_atoms
from propkernels.explain.explanation import Explanation
from propkernels.molecules.depiction import LAST, Panel, depict, light_colors, themed, values_of_bonds
from propkernels.molecules.read_molecules import as_list, as_molecules
from propkernels.plotting.panels import forecast_line
from propkernels.plotting.plot_explanation import explained, scaled, shown

if TYPE_CHECKING:
    from rdkit.Chem import Mol

FORMATS = (".svg", ".png")
COLUMNS = 3  # panels per row


@dataclass(frozen=True, eq=False, repr=False)
class MoleculePicture:
    """A picture of one or several molecules, which notebooks display.

    Attributes
    ----------
    svg : str
        The picture as SVG.
    png : bytes
        The picture as PNG.
    panels : tuple of Panel
        All molecules of the picture, with their values.
    molecule : rdkit.Chem.Mol
        The first molecule; with hydrogens if its graph includes them.
    values : ndarray of shape (atoms,)
        Values of its atoms, shown by their colors.
    bonds : ndarray of shape (bonds,), or None
        Values of its bonds, shown by their colors.
    """

    svg: str
    png: bytes
    panels: tuple[Panel, ...]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a .svg or .png file; an existing file is replaced."""
        file = Path(path)
        if file.suffix.lower() not in FORMATS:
            raise ValueError(f"cannot write {file}: the file name must end with .svg or .png")
        with atomic_write(file) as stream:
            stream.write(self.svg.encode() if file.suffix.lower() == ".svg" else self.png)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Drawing, show_result

        return show_result("", Drawing(themed(self.svg)))

    @property
    def molecule(self) -> Mol:
        """The first molecule."""
        return self.panels[0].molecule

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the atoms of the first molecule."""
        return self.panels[0].values

    @property
    def bonds(self) -> NDArray[np.float64] | None:
        """Values of the bonds of the first molecule, or None."""
        return self.panels[0].bonds

    def __repr__(self) -> str:
        if len(self.panels) > 1:
            return f"MoleculePicture({len(self.panels)} panels)"
        return f"MoleculePicture({len(self.values)} atoms, contributions {self.values.sum():+.3g})"


def draw_molecule(
    explanation: Explanation | Estimator,
    molecules: Molecules,
    graph: int | Sequence[int] = 0,
    *,
    t: int | Sequence[int] | str | None = None,
    classes: object = None,
    title: str | Sequence[str] | None = None,
    coverage: float | None = None,
    size: tuple[int, int] = (450, 350),
) -> MoleculePicture:
    """Draw molecules with atoms and bonds colored by their contributions: red for, blue against.

    The color of an atom shows its contribution to the decision, which at iteration t depends on its
    neighborhood of up to t bonds. The color of a bond shows its share in the neighborhoods of all atoms (see
    ``Explanation.edge_contributions``), on a separate scale because these shares are small.

    Parameters
    ----------
    explanation : Explanation, fitted model, or fitted pipeline
        Result of ``explain``; or a model, or a pipeline that begins with :class:`MoleculesToGraphs`, whose
        ``explain`` is called.
    molecules : sequence of str or rdkit.Chem.Mol
        The explained molecules, as SMILES or RDKit molecules.
    graph : int or sequence of int, default=0
        Positions of the molecules to draw; several are drawn in a grid, with the same color scale.
    t : int, sequence of int, "each" or None, default=None
        Iteration whose contributions are shown; None: the sum over all iterations. Several iterations give
        one panel each, with the same color scale.
    classes : pair, or one class, optional
        With a model: as in ``explain``.
    title : str or sequence of str, optional
        Text below each panel; by default the sum of the contributions, and the meaning of the colors.
    coverage : float, optional
        With a model: also write the prediction below each panel, with its probability and set of classes, or
        with its interval, such as 0.9 for those that hold nine of ten targets.
    size : pair of int, default=(450, 350)
        Width and height of a panel in pixels.

    Returns
    -------
    MoleculePicture
        Picture with ``svg``, ``png`` and ``save``; notebooks display it.

    See Also
    --------
    similar_because : What two molecules share, and its plot.
    propkernels.plotting.plot_explanation : The same as a matplotlib figure, with a color bar.

    Examples
    --------
    >>> import propkernels as pk
    >>> from sklearn.pipeline import make_pipeline
    >>> smiles = ["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"]
    >>> classifier = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=1), random_state=0)
    >>> model = make_pipeline(pk.MoleculesToGraphs(), classifier).fit(smiles, [1, 1, 0, 0, 1, 0])
    >>> picture = pk.molecules.draw_molecule(model, smiles, 1)
    >>> picture.svg.startswith("<?xml"), len(picture.values), len(picture.bonds)
    (True, 4, 3)
    >>> pk.molecules.draw_molecule(model, smiles, [0, 1, 2])
    MoleculePicture(3 panels)
    """
    positions: list[int] = np.atleast_1d(np.asarray(graph, dtype=np.int64)).tolist()
    if not positions:
        raise ValueError("graph must name at least one molecule, got none")
    is_grid = np.ndim(graph) > 0
    panels = [
        panel
        for number in positions
        for panel in _panels(explanation, molecules, number, t, classes, is_grid, coverage)
    ]
    if title is not None:
        titles = [title] * len(panels) if isinstance(title, str) else list(title)
        if len(titles) != len(panels):
            raise ValueError(f"there are {len(panels)} panels, but {len(titles)} titles")
        panels = [replace(panel, title=text) for panel, text in zip(panels, titles, strict=True)]
    is_signed = getattr(explanation, "is_signed", True)
    norm, _ = scaled(np.concatenate([panel.values for panel in panels]), None, is_signed)
    colors = None if is_signed else light_colors("Oranges", 0.0, LAST)
    svg, png = (depict(panels, norm, size, kind, colors, COLUMNS) for kind in ("svg", "png"))
    return MoleculePicture(svg.decode(), png, tuple(panels))


def _panels(
    model: Any,
    molecules: Any,
    graph: int,
    t: Any,
    classes: Any,
    is_grid: bool,
    coverage: float | None,
) -> list[Panel]:
    """Return the panels of one molecule, one per iteration of ``t``."""
    explanation, at, molecule = _on_molecule(model, molecules, graph, classes)
    told = forecast_line(model, explanation, at, coverage, classes).replace("\n", "; ")  # two lines fit below
    contributions = explanation.of_graph(at)
    molecule = with_atoms(molecule, len(contributions), graph)
    steps = shown(contributions, t)
    panels = []
    for step, values in steps.items():
        of_bonds = values_of_bonds(molecule, *explanation.edge_contributions(at, step))
        head = f"{graph}: " if is_grid else ""
        part = f"atoms at t = {step} {values.sum():+.3g}"
        part = explanation.caption(at, "atoms") if step is None else part
        title = f"{head}{told}{part}\n{explanation.key('atoms')}"
        panels.append(Panel(molecule, values, of_bonds, title))
    return panels


def _on_molecule(model: Any, molecules: Any, graph: int, classes: Any) -> tuple[Explanation, int, Any]:
    """Return the explanation, the position in it of the molecule to draw, and the molecule."""
    items = as_list(molecules)
    if not -len(items) <= graph < len(items):
        raise IndexError(f"there are {len(items)} molecules, and no molecule {graph}")
    (molecule,) = as_molecules([items[graph]])
    if isinstance(model, Explanation):
        if len(items) != len(model.graph_ptr) - 1:
            n_explained = len(model.graph_ptr) - 1
            raise ValueError(f"there are {len(items)} molecules, but {n_explained} graphs are explained")
        return *explained(model, None, graph, classes), molecule
    if hasattr(model, "named_steps"):  # a pipeline
        return *explained(model[-1], model[:-1].transform([items[graph]]), 0, classes), molecule
    return *explained(model, [molecule], 0, classes), molecule
