"""One HTML file that stands alone: templates, the shared style, and a policy that forbids connections."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propkernels._pages.data import embed_json
from propkernels._utils.safe_files import Pathlike, atomic_write
from propkernels._version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(
    template: str,
    *,
    title: str,
    data: Mapping[str, Any] | None = None,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    **context: Any,
) -> str:
    """Render a template that extends ``pages/base.html.j2`` into a whole page.

    The page's Content-Security-Policy allows the given scripts and styles, by their hashes, and pictures that
    are part of the page (``data:``); it forbids connections. Everything that a template prints is escaped.

    Parameters
    ----------
    template : str
        "explorer/page.html.j2" is ``templates/page.html.j2`` in the folder ``explorer`` of the package.
    title : str
        Title of the page, and its heading.
    data : mapping, optional
        Values by the id of their ``<script type="application/json">``, for scripts to read.
    scripts : sequence of str, optional
        Source texts in JavaScript, each a module of its own; see :func:`read_static`.
    styles : sequence of str, optional
        Source texts in CSS, after the shared one.
    **context
        What the template prints.

    Returns
    -------
    str

    Examples
    --------
    >>> page = render_page("_pages/base.html.j2", title="<b>", data={"numbers": [1, 2]})
    >>> "<title>&lt;b&gt;</title>" in page, 'id="numbers">[1,2]</script>' in page
    (True, True)
    """
    own_styles = [read_static("_pages/style.css"), *styles]
    own_scripts = [read_static("_pages/theme.js"), *scripts]
    return _encodable(
        _environment()
        .get_template(template)
        .render(
            title=title,
            policy=_policy(own_scripts, own_styles),
            page_styles=[_verbatim(text, "style") for text in own_styles],
            page_scripts=[_verbatim(text, "script") for text in own_scripts],
            page_data={name: embed_json(value) for name, value in (data or {}).items()},
            **context,
        )
    )


def write_page(path: Pathlike, template: str, **arguments: Any) -> Path:
    """Render a page into a file, which is complete or as it was before.

    Parameters
    ----------
    path : str or path
    template : str
    **arguments
        As of :func:`render_page`.

    Returns
    -------
    Path
    """
    page = render_page(template, **arguments)
    with atomic_write(path, text=True) as stream:
        stream.write(page)
    return Path(path)


def render_fragment(template: str, **context: Any) -> str:
    """Render a template that extends ``pages/fragment.html.j2`` into a piece of HTML for a notebook.

    It carries the shared style, which only concerns what is inside an element of class ``pk``; no script.

    Parameters
    ----------
    template : str
        As of :func:`render_page`.
    **context
        What the template prints.

    Examples
    --------
    >>> render_fragment("_pages/fragment.html.j2").endswith("</div>")
    True
    """
    style = _verbatim(read_static("_pages/style.css"), "style")
    return _encodable(_environment().get_template(template).render(page_styles=[style], **context).strip())


def _encodable(text: str) -> str:
    r"""A text that UTF-8 can hold: halves of surrogate pairs, as in names of files, become ``\udce9``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def read_static(name: str) -> str:
    """Return a text file of the package: "explorer/map.js" is ``static/map.js`` in its ``explorer``."""
    return _resource(name, "static")


def _resource(name: str, kind: str) -> str:
    folder, _, file = name.rpartition("/")
    return files("propkernels").joinpath(*folder.split("/"), kind, file).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: _resource(name, "templates")),
    )
    environment.filters["number"] = show_number
    environment.globals["version"] = __version__
    return environment


def show_number(value: Any, digits: int = 4) -> str:
    """Return a number as people write it: thousands apart, few digits, a true minus sign.

    Examples
    --------
    >>> [show_number(x) for x in (41127, 0.123456, -2.0, 1e-9)]
    ['41,127', '0.1235', '−2', '1e−09']
    """
    whole = isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15)
    text = f"{int(value):,}" if whole else f"{value:.{digits}g}"
    return text.replace("-", "−")


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """What the page may do. Style attributes are allowed: escaped, they can only paint."""
    rules = {
        "default-src": ["'none'"],
        "script-src": [_hash(text) for text in scripts],
        "style-src-elem": [_hash(text) for text in styles],
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": ["data:", "blob:"],
        "connect-src": ["'none'"],
        "form-action": ["'none'"],
        "base-uri": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _verbatim(text: str, element: str) -> Any:
    """Source text as it is; refused where it would end its own element, or start a comment."""
    from markupsafe import Markup

    lower = text.lower()
    if f"</{element}" in lower or "<!--" in lower or "\r" in text:
        raise ValueError(f"the source of a {element} holds '</{element}', '<!--' or a carriage return")
    return Markup(text)
