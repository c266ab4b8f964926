"""Look through a built site: every internal link, anchor, picture, script and style must be there.

    python docs/crawl.py docs/_build/html [--look]

The search must list certain pages first. With --look, every page is also opened in Chromium, wide and narrow,
light and dark: no line of code is cut, nothing is wider than the window, text has contrast, the console stays
silent, and nothing is asked from other hosts. Prints one line per fault, and exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

FOUND_FIRST = {  # a main entry of the index has a score that no other result reaches
    "how fast": "measured/index",
    "install": "start/install",
    "smiles": "guide/molecules",
    "uncertainty": "guide/how_sure",
}
REFERRING = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "object": "data"}

WIDTHS, HEIGHT = (1280, 390), 900
FLAGS = ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking", "disable-sync")
SILENT = ("file:", "data:", "blob:", "about:", "chrome")
CUT = """
const texts = ".bd-article pre, .bd-article p, .bd-article li, .bd-article h1, .bd-footer p";
const cut = [...document.querySelectorAll(texts)]
  .filter((e) => e.getClientRects().length && e.scrollWidth > e.clientWidth + 1)
  .filter((e) => getComputedStyle(e).display !== "inline" && !e.closest("table, .formula, svg, math"))
  .map((e) => `cut: ${e.textContent.trim().slice(0, 60)}`);
const wide = document.documentElement.scrollWidth - innerWidth;
return wide > 1 ? [...cut, `${wide} pixels wider than the window`] : cut
"""
STILL = """
const style = document.createElement("style");
style.textContent = "* { transition: none !important }";
document.head.append(style)
"""
PALE = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const channel = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const color = parse(getComputedStyle(e).backgroundColor);
    if (color.length < 4 || color[3] > 0.5) return color;
  }
  return [255, 255, 255];
};
const found = new Set();
for (const element of document.querySelectorAll(".bd-article *")) {
  const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!says || !element.getClientRects().length || element.closest("svg, math, [disabled]")) continue;
  const style = getComputedStyle(element);
  if (style.visibility === "hidden" || Number(style.opacity) < 1) continue;
  const [a, b] = [light(parse(style.color)), light(ground(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.add(`contrast ${ratio.toFixed(1)}: ${element.textContent.trim().slice(0, 40)}`);
}
return [...found].slice(0, 5)
"""


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
    pages = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]
    return [path for path in pages if path.name != "demo.html"]  # the explorer's


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


def browser(folder: str) -> Any:
    """Return Chromium with a log of its console and of its requests."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"user-data-dir={folder}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def looked_at(site: Path) -> Iterator[str]:
    """Yield what is wrong with pages in a browser, as 'page, width: fault'."""
    with tempfile.TemporaryDirectory() as folder:
        driver = browser(folder)
        try:
            for path in written(site):
                name = path.relative_to(site)
                driver.get(path.resolve().as_uri())
                for width in WIDTHS:
                    size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
                    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                    yield from (f"{name}, {width}: {fault}" for fault in driver.execute_script(CUT))
                driver.execute_script(STILL)
                for theme in ("light", "dark"):
                    driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
                    yield from (f"{name}, {theme}: {fault}" for fault in driver.execute_script(PALE))
                yield from (f"{name}: {fault}" for fault in complaints(driver))
        finally:
            driver.quit()


def complaints(driver: Any) -> list[str]:
    """Return warnings of the console, and requests to other hosts, since the last call."""
    logged = [entry["message"] for entry in driver.get_log("browser") if entry["level"] != "INFO"]
    found = [message for message in logged if "Resetting to auto" not in message]  # first visit of the theme
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            found += [] if url.startswith(SILENT) else [f"asks for {url}"]
    return found


def main(site: Path, look: bool = False) -> int:
    """Print all faults of a site, and how many pages were read."""
    found = faults(site)
    if (site / "searchindex.js").exists():
        found += badly_found(site)
    print(*found, sep="\n", end="\n" if found else "")
    n_seen = 0
    for fault in looked_at(site) if look else ():
        print(fault, flush=True)
        n_seen += 1
    pages = len(written(site))
    print(f"{pages} pages of {site}: {len(found)} links, pictures, anchors or searches lead nowhere")
    if look:
        print(f"{n_seen} lines cut, pale texts, messages of the console or requests")
    return 1 if found or n_seen or not pages else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Look through a built site.")
    parser.add_argument("site", type=Path)
    parser.add_argument("--look", action="store_true", help="Open every page in Chromium, too.")
    options = parser.parse_args()
    sys.exit(main(options.site, options.look))
