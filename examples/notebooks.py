"""Write five examples of the gallery as notebooks into this folder.

    python examples/notebooks.py

Needs ``pip install '.[docs]'``. The notebooks hold no output; a test compares them with the examples.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CHOSEN = (
    "explain/plot_molecules",
    "images/plot_flower_pixels",
    "learn/plot_compare_kernels",
    "search/plot_novelty",
    "search/plot_retrieval",
)


def notebook(script: Path) -> dict[str, Any]:
    """Return a notebook with the text and code of an example, the same on every machine."""
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(script))
    made = jupyter_notebook(blocks, dict(DEFAULT_GALLERY_CONF), str(script.parent))
    made["metadata"]["language_info"] = {"name": "python"}
    made["nbformat_minor"] = 5
    for number, cell in enumerate(made["cells"]):
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {}
    return dict(made)


def text(script: Path) -> str:
    """Return the notebook of an example as it is written."""
    return json.dumps(notebook(script), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def notebooks() -> dict[Path, str]:
    """Return what each notebook should contain."""
    scripts = [HERE / "gallery" / f"{name}.py" for name in CHOSEN]
    return {HERE / f"{script.stem.removeprefix('plot_')}.ipynb": text(script) for script in scripts}


def main() -> None:
    """Write all notebooks."""
    for path, content in notebooks().items():
        path.write_text(content, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
