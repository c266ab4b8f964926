"""The executors: a browser, and a GPU or the host compiler in its place."""

from tests.explorer.conftest import browser
from tests.gpu.conftest import library, runtime

__all__ = ["browser", "library", "runtime"]
