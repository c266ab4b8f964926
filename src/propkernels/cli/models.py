"""Models from files, for the commands that use them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File that 'propkernels fit' wrote.")]


def open_model(path: Path) -> Any:
    """Load a fitted classifier or regressor."""
    from propkernels.storage import load

    model = load(path)
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which predicts nothing: use a model of 'fit'"
        )
    return model
