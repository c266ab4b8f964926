"""Pages of source code: links back to the reference, also where a module has names of two places.

Sphinx takes all names of a module to be documented in one place: ``propkernels.from_networkx``, and so
``propkernels.to_networkx``, although that is ``propkernels.convert.to_networkx``. The page of a name in the
reference is called by its full name, so that the anchor follows from the page.
"""

from __future__ import annotations

import re
from typing import Any

LINK = re.compile(r'href="(?P<folder>[^"#]*/)(?P<page>propkernels[\w.]*)\.html#(?P<anchor>[\w.]+)"')


def anchor_of(page: str, anchor: str) -> str:
    """Return the anchor of a name on the page of its class or function.

    >>> anchor_of("propkernels.convert.to_networkx", "propkernels.to_networkx")
    'propkernels.convert.to_networkx'
    >>> anchor_of("propkernels.models.Evaluation", "propkernels.Evaluation.compare")
    'propkernels.models.Evaluation.compare'
    """
    last = page.rpartition(".")[2]
    parts = anchor.split(".")
    return ".".join([page, *parts[parts.index(last) + 1 :]]) if last in parts else anchor


def mend_links(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Mend the links of a page of source code."""
    if pagename.startswith("_modules/") and "body" in context:
        context["body"] = LINK.sub(
            lambda found: (
                f'href="{found["folder"]}{found["page"]}.html#{anchor_of(found["page"], found["anchor"])}"'
            ),
            context["body"],
        )


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.setup_extension("sphinx.ext.viewcode")
    app.connect("html-page-context", mend_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
