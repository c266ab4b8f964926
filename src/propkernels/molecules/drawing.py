"""Explanations on molecules, as RDKit depicts them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.explain.explanation import Explanation
from propkernels.molecules.depiction import depict, with_atoms
from propkernels.molecules.reading import as_list, as_molecules
from propkernels.plotting.plot_explanation import centered, explained, shown
from propkernels.utils.files import atomic_write

FORMATS = (".svg", ".png")


@dataclass(frozen=True, eq=False, repr=False)
class MoleculePicture:
    """A drawing of a molecule, which notebooks show.

    Attributes
    ----------
    molecule : rdkit.Chem.Mol
        With hydrogens, if the graph has them.
    values : ndarray of shape (atoms,)
        Contributions that colors stand for.
    svg : str
        The drawing as SVG.
    png : bytes
        The drawing as PNG.
    """

    molecule: Any
    values: NDArray[np.float64]
    svg: str
    png: bytes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file whose name ends in .svg or .png; a file that exists is replaced."""
        place = Path(path)
        if place.suffix.lower() not in FORMATS:
            raise ValueError(f"cannot write {place}: molecules are drawn as .svg or .png")
        with atomic_write(place) as stream:
            stream.write(self.svg.encode() if place.suffix.lower() == ".svg" else self.png)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"MoleculePicture({len(self.values)} atoms, contributions {self.values.sum():+.3g})"


def draw_molecule(
    explanation: Any,
    molecules: Any,
    graph: int = 0,
    *,
    t: int | None = None,
    classes: Any = None,
    limit: float | None = None,
    title: str | None = None,
    size: tuple[int, int] = (450, 350),
) -> MoleculePicture:
    """Draw a molecule with atoms colored by their contribution: red speaks for, blue against.

    Parameters
    ----------
    explanation : Explanation, fitted model, or fitted pipeline
        What ``explain`` returned; or a model, or a pipeline that begins with :class:`MoleculesToGraphs`:
        it then explains.
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules, those that are explained.
    graph : int, default=0
        Which of them to draw.
    t : int, optional
        Iteration whose contributions are shown; by default their sum.
    classes : pair, or one class, optional
        With a model: as in ``explain``.
    limit : float, optional
        Contribution that has the full color, for or against; by default the largest.
    title : str, optional
        Text below the molecule; by default what the contributions add up to.
    size : pair of int, default=(450, 350)
        Width and height in pixels.

    Returns
    -------
    MoleculePicture
        With ``svg``, ``png`` and ``save``; notebooks show it.

    See Also
    --------
    plot_explanation : The same within matplotlib's figures, with a color bar.

    Examples
    --------
    >>> import propkernels as pk
    >>> from sklearn.pipeline import make_pipeline
    >>> smiles = ["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"]
    >>> classifier = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=1), random_state=0)
    >>> model = make_pipeline(pk.MoleculesToGraphs(), classifier).fit(smiles, [1, 1, 0, 0, 1, 0])
    >>> picture = pk.draw_molecule(model, smiles, 1)
    >>> picture.svg.startswith("<?xml"), len(picture.values)
    (True, 4)
    """
    found, at, molecule = _on_molecule(explanation, molecules, graph, classes)
    contributions = found.of_graph(at)
    molecule = with_atoms(molecule, len(contributions), graph)
    (values,) = shown(contributions, None if t is None else int(t)).values()
    if title is None:
        which = "atoms" if t is None else f"atoms at t = {t}"
        title = f"{which} {values.sum():+.3g} {found.subject}"
    norm, _ = centered(values, limit)
    svg, png = (depict(molecule, values, norm, title, size, kind) for kind in ("svg", "png"))
    return MoleculePicture(molecule, values, svg.decode(), png)


def _on_molecule(model: Any, molecules: Any, graph: int, classes: Any) -> tuple[Explanation, int, Any]:
    """The explanation, the position in it of the molecule to draw, and the molecule."""
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
