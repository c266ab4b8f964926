"""Render self-contained HTML pages: templates, shared style, inert JSON, and a Content-Security-Policy."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels._utils.checks import kind_of
from propkernels._utils.safe_files import packaged_text
from propkernels._version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def render_page(
    template: str,
    *,
    title: str,
    data: Mapping[str, Any] | None = None,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    **context: Any,
) -> str:
    """Return the page rendered from a template that extends ``plotting/base.html.j2``.

    The Content-Security-Policy of the page allows the scripts and styles, by their hashes, and embedded
    images (``data:`` and ``blob:``); it forbids connections. Template variables are escaped.

    Parameters
    ----------
    template : str
        Folder and file name: "explorer/page.html.j2" is ``explorer/templates/page.html.j2``.
    title : str
        Title and heading of the page.
    data : mapping, optional
        JSON values by the id of their ``<script type="application/json">`` element.
    scripts : sequence of str, optional
        JavaScript sources, one module each; see :func:`read_static`.
    styles : sequence of str, optional
        CSS sources, added after the shared style.
    **context
        Variables of the template.

    Returns
    -------
    str

    Examples
    --------
    >>> page = render_page("plotting/base.html.j2", title="<b>", data={"numbers": [1, 2]})
    >>> "<title>&lt;b&gt;</title>" in page, 'id="numbers">[1,2]</script>' in page
    (True, True)
    """
    all_styles = [read_static("plotting/style.css"), *styles]
    all_scripts = [read_static("plotting/theme.js"), *scripts]
    return _encodable(
        _environment()
        .get_template(template)
        .render(
            title=title,
            policy=_policy(all_scripts, all_styles),
            page_styles=[_verbatim(text, "style") for text in all_styles],
            page_scripts=[_verbatim(text, "script") for text in all_scripts],
            page_data={name: embed_json(value) for name, value in (data or {}).items()},
            **context,
        )
    )


def render_fragment(template: str, **context: Any) -> str:
    """Return HTML for a notebook, rendered from a template that extends ``plotting/fragment.html.j2``.

    The HTML includes the shared style, which applies only inside elements of class ``pk``, and no scripts.

    Parameters
    ----------
    template : str
        As in :func:`render_page`.
    **context
        Variables of the template.

    Examples
    --------
    >>> render_fragment("plotting/fragment.html.j2").endswith("</div>")
    True
    """
    style = _verbatim(read_static("plotting/style.css"), "style")
    return _encodable(_environment().get_template(template).render(page_styles=[style], **context).strip())


def _encodable(text: str) -> str:
    r"""Return text that UTF-8 can encode: lone surrogates, as in file names, become ``\udce9``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def read_static(name: str) -> str:
    """Return a text file of the package: "explorer/map.js" is ``explorer/static/map.js``."""
    return _resource(name, "static")


def _resource(name: str, kind: str) -> str:
    """Return the text of a file in the folder "static" or "templates" of a package."""
    folder, _, file = name.rpartition("/")
    return packaged_text(*folder.split("/"), kind, file)


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
    """Return a number as text: thousands separators, few digits, a typographic minus sign.

    Examples
    --------
    >>> [show_number(x) for x in (41127, 0.123456, -2.0, 1e-9)]
    ['41,127', '0.1235', '−2', '1e−09']
    """
    whole = isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15)
    text = f"{int(value):,}" if whole else f"{value:.{digits}g}"
    return text.replace("-", "−")


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return the Content-Security-Policy; style attributes are allowed, since their values are escaped."""
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
    """Return the source expression of a policy that allows a script or style with this text."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _verbatim(text: str, element: str) -> Any:
    """Return source text as markup; raise ValueError if it would end its element or start a comment."""
    from markupsafe import Markup

    lower = text.lower()
    if f"</{element}" in lower or "<!--" in lower or "\r" in text:
        raise ValueError(f"the source of a {element} contains '</{element}', '<!--' or a carriage return")
    return Markup(text)


# "</script>" and "<!--" would end the script element or start a comment; "&" and "'" matter outside scripts
_INERT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"})


def embed_json(value: Any) -> Markup:
    r"""Return JSON that is safe inside ``<script type="application/json">``, and everywhere else in a page.

    Parameters
    ----------
    value : object
        Dicts, sequences, strings, finite numbers, None, and numpy scalars and arrays.

    Raises
    ------
    ValueError
        If a number is NaN or infinite, which JSON cannot represent.

    Examples
    --------
    >>> print(embed_json({"id": "</script>"}))
    {"id":"\u003c/script\u003e"}
    """
    from markupsafe import Markup

    text = json.dumps(value, default=_plain, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_INERT))


def _plain(value: Any) -> Any:
    """Return a numpy scalar or array as Python numbers and lists."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a page can hold numbers, strings, lists and dicts; got {kind_of(value)}")
