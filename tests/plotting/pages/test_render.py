"""Pages are self-contained: texts are escaped, and only scripts and styles with known hashes are allowed."""

import base64
import hashlib
import json
import os
import re

import pytest

from propkernels.plotting.pages import read_static, render_fragment, render_page
from tests.html import Elements

EVIL = "</script><img src=x onerror=alert(1)><!--<script>&'\"\u2028"


def test_all_scripts_and_styles_are_allowed_by_hash_and_connections_are_not():
    page = render_page("plotting/base.html.j2", title="t", scripts=["let a = 1 < 2;"], styles=["p > a {}"])
    (policy,) = (a["content"] for _, a in Elements(page).found if "http-equiv" in a)
    assert "connect-src 'none'" in policy
    assert "default-src 'none'" in policy
    sources = Elements(page).sources
    assert [text for tag, _, text in sources if tag == "script"][1] == "let a = 1 < 2;"
    for _, _, text in sources:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_markup_in_data_and_titles_is_inert():
    page = render_page("plotting/base.html.j2", title=EVIL, data={"d": {EVIL: [EVIL]}})
    elements = Elements(page)
    assert not [tag for tag, _ in elements.found if tag == "img"]
    (text,) = (text for _, attributes, text in elements.sources if attributes.get("id") == "d")
    assert json.loads(text) == {EVIL: [EVIL]}


@pytest.mark.parametrize("source", ["x = '</script>'", "<!-- no", "a\r\nb"])
def test_sources_that_would_end_their_element_are_refused(source):
    with pytest.raises(ValueError, match="source of a script"):
        render_page("plotting/base.html.j2", title="t", scripts=[source])


def test_parts_escape_and_align():
    from propkernels.plotting.pages.render import _environment

    source = (
        '{% from "plotting/parts.html.j2" import table, figures, note %}'
        "{{ table(['name', 'n'], rows, 'c') }}{{ figures([(1234, 'graphs')]) }}{{ note(evil, 'bad') }}"
    )
    html = _environment().from_string(source).render(rows=[(EVIL, 1.5), (None, -2)], evil=EVIL)
    assert [tag for tag, _ in Elements(html).found if tag == "img"] == []
    assert '<td class="pk-number">−2</td>' in html
    assert "<td>–</td>" in html
    assert "<dd>1,234</dd>" in html
    assert 'class="pk-note pk-bad"' in html


def test_a_fragment_has_no_script_and_its_style_stays_inside():
    fragment = render_fragment("plotting/fragment.html.j2")
    assert "<script" not in fragment
    rules = re.sub(r"/\*.*?\*/", "", read_static("plotting/style.css"), flags=re.DOTALL)
    selectors = re.findall(r"(?:^|[{}])\s*([^{}@;]+?)\s*\{", rules)
    assert len(selectors) > 30
    for selector in selectors:
        assert all(".pk" in part for part in selector.split(",")), selector


def test_halves_of_surrogate_pairs_can_be_saved():
    """A label, or the name of a file that is not UTF-8."""
    name = os.fsdecode(b"caf\xe9") if os.name == "posix" else "caf\udce9"
    data = {"names": [name]}
    page = render_page("plotting/base.html.j2", title=name, data=data).encode("utf-8").decode()
    assert "<title>caf\\udce9</title>" in page
    assert '["caf\\udce9"]' in page
    from propkernels.plotting.pages.fragments import Remark, show_result

    assert "caf\\udce9" in show_result(name, Remark(name)).encode("utf-8").decode()
