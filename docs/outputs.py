"""Write what code blocks print below them: ``python docs/outputs.py [PAGE ...]``.

A page is one story: later blocks use what earlier ones made; blocks of a tab, and those of the README,
stand alone. The output of a block that prints is written below it, and replaces an older one.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).parent
BLOCK = re.compile(r"(```python\n(.*?)```\n)(?:\n```text\n.*?```\n)?", re.DOTALL)
LONGEST = 24  # lines of an output
FOLDERS = ("guide", "start", "concepts", "migration")
ALONE = ("README.md", "guide/similar.md", "guide/save.md")


def printed(code: str, space: dict[str, object]) -> str:
    """Run a block, and return what it prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "block", "exec"), space)
    lines = stream.getvalue().rstrip().splitlines()
    return "\n".join([*lines[:LONGEST], "..."] if len(lines) > LONGEST else lines)


def with_outputs(text: str, alone: bool) -> str:
    """Return a page with the outputs of its blocks."""
    parts = re.split(r"(?=\{tab-item\})", text)
    return "".join(_part(part, alone) for part in parts)


def _part(text: str, alone: bool) -> str:
    space: dict[str, object] = {}

    def shown(match: re.Match[str]) -> str:
        nonlocal space
        space = {} if alone else space
        output = printed(match[2], space)
        return match[1] + (f"\n```text\n{output}\n```\n" if output else "")

    return BLOCK.sub(shown, text)


def main(names: list[str]) -> None:
    """Rewrite pages: those that are named, or all of the site; pages that need a missing package stay."""
    os.environ["MPLBACKEND"], os.environ["TQDM_DISABLE"] = "Agg", "1"
    pages = [Path(name).resolve() for name in names]
    pages = pages or sorted(
        [*HERE.glob("*.md"), *(p for name in FOLDERS for p in (HERE / name).glob("*.md"))]
    )
    for page in pages:
        text = page.read_text(encoding="utf-8")
        try:
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                new = with_outputs(text, any(str(page).endswith(name) for name in ALONE))
        except ImportError as error:
            print(page.name, "stays:", error, file=sys.stderr)
            continue
        page.write_text(new, encoding="utf-8")
        print(page.name, "changed" if new != text else "unchanged", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
