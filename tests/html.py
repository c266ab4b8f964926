"""Elements of HTML for tests of pages and notebooks."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "circle", "rect", "line", "path", "polyline"}


class Elements(HTMLParser):
    """Names and attributes of elements, all text, and the sources of scripts and styles; all closed in order.

    No attribute is the handler of an event.
    """

    def __init__(self, html):
        super().__init__()
        self.open, self.found, self.names, self.sources, self.text = [], [], [], [], ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.names.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.names.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.found and self.found[-1][0] in ("script", "style") and data.strip():
            self.sources.append((*self.found[-1], data))
