"""JSON inside a page, escaped so that no string in it is parsed as markup."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels._utils.checks import kind_of

if TYPE_CHECKING:
    from markupsafe import Markup

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
