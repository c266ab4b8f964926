"""What equalizing takes from the co-occurrence rows of the texture table.

BRODATZ equalizes each patch by itself. Here the same rows are measured on the raw crops as well: gray levels
as they are (GLCM-gray), or cut in three at the same two levels for all patches (GLCM-quant)::

    python -m reproduction.extra.textures
    python -m reproduction.extra.textures --dataset BRODATZ-O-R

The protocol is that of ``python -m reproduction grids``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

import propkernels as pk
from reproduction.data.cooccurrence import gray_cooccurrence, label_cooccurrence
from reproduction.engine.data import load_source
from reproduction.experiments.grids import judge, prepare, rbf_kernels

DATASETS = ("BRODATZ-O-R", "BRODATZ-O-R-S-RS")


def features_of(pictures: Any) -> dict[str, Any]:
    """Features of all rows, by name."""
    images = np.asarray(pictures.images)
    cuts = np.quantile(images, [1 / 3, 2 / 3])
    raw_levels = pk.GridDatabase(list(np.digitize(images, cuts)))
    return {
        "GLCM-gray, equalized": gray_cooccurrence(pictures.images, scale=pictures.scale),
        "GLCM-gray, raw": gray_cooccurrence(pictures.images),
        "GLCM-quant, equalized": label_cooccurrence(pictures.grids),
        "GLCM-quant, raw": label_cooccurrence(raw_levels),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.textures", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--repeat", type=int, default=0, help="which folds")
    options = parser.parse_args(arguments)
    print("| data | method | accuracy |\n|---|---|---|")
    for name in options.dataset:
        pictures = prepare(load_source(name))
        for row, features in features_of(pictures).items():
            kernels = rbf_kernels(np.asarray(features))
            judged = judge(pictures, kernels, options.repeat)
            print(f"| {name} | {row} | {np.mean(judged['paper']['folds']):.1f} |", flush=True)


if __name__ == "__main__":
    main()
