"""The compiled loops of ``src/core``; their comments say what each takes and gives."""

from typing import Any

def __getattr__(name: str) -> Any: ...
