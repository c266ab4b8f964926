"""Take the explorer's pictures for the README: ``python docs/explorer_pictures.py`` (needs Chromium)."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver

import propkernels as pk

HERE = Path(__file__).parent / "pictures"
TITLE = "Which family does a molecule belong to?"
OPEN, COLORS = "#graph=flurbiprofen", 256
SHOTS = {
    "explorer_map": "",
    "explorer_map_dark": "document.querySelector('#pk-theme').click()",
    "explorer_patterns": "document.querySelector('#ex-tab-patterns').click()",
    "explorer_edits": (
        "document.querySelector('#pk-theme').click();"
        "propkernels.select(propkernels.app.meta.ids.indexOf('amphetamine'));"
        "document.querySelector('#ex-search-flips').click()"
    ),
}


def browser() -> Any:
    """Return Chromium with two device pixels per pixel."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    flags = ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "force-device-scale-factor=2")
    for flag in (*flags, "window-size=1280,860"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def take(driver: Any, page: Path, script: str, path: Path) -> None:
    """Open the page, run a script, and save what the window shows with few colors."""
    from PIL import Image

    driver.get("about:blank")
    driver.get(page.as_uri() + OPEN)
    while driver.execute_script("return document.body.dataset.ready") is None:
        time.sleep(0.1)
    driver.execute_script(script)
    time.sleep(3 if "flips" in script else 1)
    if "flips" in script:
        driver.execute_script("document.querySelector('#ex-flips').scrollIntoView()")
        time.sleep(1)
    driver.save_screenshot(str(path))
    Image.open(path).convert("RGB").quantize(COLORS).save(path, optimize=True)


def main() -> None:
    """Make the page of the demo and take all pictures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = pk.explore(pk.datasets.load("FAMILIES"), title=TITLE).save(Path(folder) / "page.html")
        driver = browser()
        try:
            for name, script in SHOTS.items():
                take(driver, page, script, HERE / f"{name}.png")
                print(HERE / f"{name}.png", file=sys.stderr)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
