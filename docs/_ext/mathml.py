"""Formulas as MathML, which browsers draw themselves: no script, no font and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes


def visit(translator: Any, node: nodes.Element, display: str) -> None:
    """Write a formula, and none of its text."""
    from latex2mathml.converter import convert

    formula = convert(node.astext(), display=display)
    tag = "div" if display == "block" else "span"
    translator.body.append(f'<{tag} class="formula">{formula}</{tag}>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register how HTML shows formulas."""
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: visit(translator, node, "inline"), None),
        (lambda translator, node: visit(translator, node, "block"), None),
    )
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
