"""The pictures of docs/guide/molecules.md, drawn into docs/pictures.

::

    python -m reproduction.molecules.pictures

It needs ``moleculenet.zip`` in the folder that PROPKERNELS_DATA names.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.molecules import Picture
from reproduction.molecules import sets

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
ESTERS = "CCOC(=O)c1ccccc1", "CCOC(=O)C1CCCC1N"


def by_iteration() -> Picture:
    """An inhibitor of BACE that the model did not learn from, iteration by iteration."""
    data = sets.load("BACE")
    target = data.target[:, 0].astype(int)
    held, others = data.mols[24], [i for i in range(0, len(target), 8) if i != 24]
    kernel = pk.WeisfeilerLehman(t_max=2, edge_labels=True, base_kernel="intersection")
    classifier = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0)
    model = make_pipeline(pk.MoleculesToGraphs(), classifier)
    model.fit([data.mols[i] for i in others], target[others])
    return pk.molecules.draw_molecule(model, [held], t="each", size=(380, 300))


def shared() -> Picture:
    """Two esters of ethanol."""
    kernel = pk.WeisfeilerLehman(t_max=2, edge_labels=True)
    return pk.molecules.draw_similarity(*ESTERS, kernel=kernel, size=(380, 300))


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.molecules.pictures",
        description="Draw the pictures of docs/guide/molecules.md.",
    )
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER")
    folder = parser.parse_args(arguments).output
    by_iteration().save(folder / "molecule_by_iteration.png")
    shared().save(folder / "molecules_shared.png")


if __name__ == "__main__":
    main()
