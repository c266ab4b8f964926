"""Look through a built site: every internal link, anchor, picture, script and style must be there.

    python docs/crawl.py docs/_build/html

The search must list certain pages first. Prints what leads nowhere, one line each, and exits with 1 if there
is any.
"""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOUND_FIRST = {  # a main entry of the index has a score that no other result reaches
    "how fast": "measured",
    "install": "start/install",
    "smiles": "MOLECULES",
    "uncertainty": "guide/how_sure",
}
REFERRING = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """What a page refers to, and the anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.references: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to and what it is called."""
        named = dict(attrs)
        self.anchors |= {str(named[key]) for key in ("id", "name") if named.get(key)}
        target = named.get(REFERRING.get(tag, ""))
        if target is not None:
            self.references.append(target)
        if named.get("srcset"):
            self.references += [part.split()[0] for part in str(named["srcset"]).split(",")]


def written(site: Path) -> list[Path]:
    """Return the pages of a site, without the templates that the theme leaves in its static files."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]


def faults(site: Path) -> list[str]:
    """Return everything in a site that leads nowhere, as 'page: target'."""
    pages = {path.resolve(): Page(path) for path in written(site)}
    found = []
    for path, page in pages.items():
        for reference in dict.fromkeys(page.references):
            if not leads_somewhere(reference, path, pages):
                found.append(f"{path.relative_to(site.resolve())}: {reference}")
    return found


def badly_found(site: Path, wanted: dict[str, str] = FOUND_FIRST) -> list[str]:
    """Return the words for which the search of a site does not list the wanted page first."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = []
    for word, page in wanted.items():
        entries = index["indexentries"].get(word, [])
        first = [index["docnames"][file] for file, _, is_main in entries if is_main]
        if first != [page]:
            found.append(f"search for {word!r}: {first}, not {page}")
    return found


def leads_somewhere(reference: str, path: Path, pages: dict[Path, Page]) -> bool:
    """Whether a reference of a page is outside the site, or a file, or an anchor that exists."""
    parts = urlsplit(reference)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in pages or anchor in pages[target].anchors


def main(site: Path) -> int:
    """Print all faults of a site, and how many pages were read."""
    found = faults(site)
    if (site / "searchindex.js").exists():
        found += badly_found(site)
    print(*found, sep="\n", end="\n" if found else "")
    pages = len(written(site))
    print(f"{pages} pages of {site}: {len(found)} links, pictures, anchors or searches lead nowhere")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
