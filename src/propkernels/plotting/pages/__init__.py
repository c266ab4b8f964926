"""HTML of the package in one design: self-contained pages, and fragments for notebooks.

All packages may import this one; it imports nothing about graphs.
"""

from propkernels.plotting.pages.render import (
    embed_json,
    read_static,
    render_fragment,
    render_page,
)

__all__ = ["embed_json", "read_static", "render_fragment", "render_page"]
