"""Rendering: an audit as Markdown and as a page."""
