"""Run the Python blocks of a Markdown file as a reader would: ``readme_blocks.py FILE``.

It imports nothing of the source tree, so that it can test an installed wheel.
"""

import re
import sys
from pathlib import Path


def blocks(text: str) -> list[str]:
    """Return the Python blocks of a Markdown text."""
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    found = blocks(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for number, block in enumerate(found):
        exec(compile(block, f"block {number}", "exec"), {"__name__": f"block_{number}"})
    print(f"{len(found)} blocks ran")
    sys.exit(not found)
