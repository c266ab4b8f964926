"""The design of all HTML that the package writes: pages that stand alone, and fragments for notebooks.

Below the stations, beside ``utils``: any station may show itself. Nothing here knows about graphs.
"""

from propkernels._pages.data import embed_json
from propkernels._pages.render import read_static, render_fragment, render_page, write_page

__all__ = ["embed_json", "read_static", "render_fragment", "render_page", "write_page"]
