"""Write what code blocks print below them: ``python docs/outputs.py [PAGE ...]``.

A page is one story: later blocks use what earlier ones made; blocks of a tab, and those of the README,
stand alone. The output of a block that prints is written below it, and replaces an older one. In blocks of
commands, what a line with a prompt prints is written below that line. A picture that a page saves and shows
is copied to ``docs/pictures``. Blocks that need a missing package, and those after them, stay as they are.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).parent
BLOCK = re.compile(r"```console\n(.*?)```\n|(```python\n(.*?)```\n)(?:\n```text\n.*?```\n)?", re.DOTALL)
DARK = (
    b"<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg); } }</style>"
)
LONGEST = 24  # lines of an output
TERMINAL = {"COLUMNS": "80", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm"}
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FOLDERS = ("guide", "start", "concepts", "migration")
ALONE = ("README.md", "guide/similar.md")


def printed(code: str, space: dict[str, object]) -> str:
    """Run a block, and return what it prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "block", "exec"), space)
    return shortened(stream.getvalue())


def answered(commands: str) -> str:
    """Run the lines of a console that have a prompt, and return them with what they print."""
    wanted = [line for line in commands.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{_answer(line[2:])}" for line in wanted) if wanted else commands


def _answer(command: str) -> str:
    done = subprocess.run(command, shell=True, env=os.environ | TERMINAL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    output = shortened(ESCAPES.sub("", done.stdout))
    return f"{output}\n" if output else ""


def shortened(output: str) -> str:
    """Return an output without its last lines, if it is long."""
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    return "\n".join([*lines[:LONGEST], "..."] if len(lines) > LONGEST else lines)


def with_outputs(text: str, alone: bool) -> str:
    """Return a page with the outputs of its blocks."""
    parts = re.split(r"(?=\{tab-item\})", text)
    return "".join(_part(part, alone) for part in parts)


def _part(text: str, alone: bool) -> str:
    space: dict[str, object] = {}
    missing: list[str] = []

    def shown(match: re.Match[str]) -> str:
        nonlocal space
        if missing:
            return match[0]
        if match[1] is not None:
            return f"```console\n{answered(match[1])}```\n"
        space = {} if alone else space
        try:
            output = printed(match[3], space)
        except ImportError as error:
            missing.append(str(error))
            print("stays:", error, file=sys.stderr)
            return match[0]
        return match[2] + (f"\n```text\n{output}\n```\n" if output else "")

    return BLOCK.sub(shown, text)


def keep_pictures(text: str, folder: Path) -> None:
    """Copy pictures that a page shows and has just saved; drawings are dark where the page is."""
    for name in re.findall(r"pictures/([\w.]+)", text):
        if (folder / name).exists():
            drawing = (folder / name).read_bytes()
            if name.endswith(".svg"):
                drawing = re.sub(rb"(<svg[^>]*>)", rb"\1\n" + DARK, drawing, count=1)
            (HERE / "pictures" / name).write_bytes(drawing)


def main(names: list[str]) -> None:
    """Rewrite pages: those that are named, or all of the site."""
    parser = argparse.ArgumentParser(description="Write what code blocks print below them.")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="Default: all pages of the site.")
    os.environ["MPLBACKEND"], os.environ["TQDM_DISABLE"] = "Agg", "1"
    pages = [page.resolve() for page in parser.parse_args(names).pages]
    pages = pages or sorted(
        [*HERE.glob("*.md"), *(p for name in FOLDERS for p in (HERE / name).glob("*.md"))]
    )
    for page in pages:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = with_outputs(text, any(str(page).endswith(name) for name in ALONE))
            keep_pictures(text, Path(folder))
        page.write_text(new, encoding="utf-8")
        print(page.name, "changed" if new != text else "unchanged", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
