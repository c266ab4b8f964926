"""Data, a fitted model, readers of pages, and a browser if one is installed."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import time
from base64 import b64decode
from contextlib import contextmanager

import numpy as np
import pytest

import propkernels as pk

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@pytest.fixture(scope="package")
def data():
    return pk.datasets.make_molecules(40, random_state=0)


@pytest.fixture(scope="package")
def model(data):
    kernel = pk.WeisfeilerLehman(t_max=2)
    return pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, data.target)


def embedded(html, name):
    """Return the JSON of a page with the given id."""
    return json.loads(re.search(f'id="{name}">(.*?)</script>', html).group(1))


def unpacked(section):
    """Return the arrays of a section of a page by name."""
    raw = gzip.decompress(b64decode(section["base64"]))
    return {
        place["name"]: np.frombuffer(raw, "<" + place["type"], place["length"], place["offset"])
        for place in section["arrays"]
    }


class Browser:
    """Chromium, and the little of selenium that the tests need."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        """Open a page and wait until its model is there."""
        self.driver.get(path.as_uri())
        self.wait_until_ready()

    def wait_until_ready(self):
        """Wait until the page has its model."""
        self.wait_for("return document.body.dataset.ready")
        assert self.run("return document.body.dataset.ready") == "true", self.text("#ex-busy")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def click(self, selector):
        self.run("arguments[0].scrollIntoView({block: 'center'})", self.find(selector))
        self.find(selector).click()

    def wait_for(self, script):
        """Wait until a script of the page returns true."""
        for _ in range(600):
            if self.run(script):
                return
            time.sleep(0.05)
        raise AssertionError(script)

    def flips(self):
        """Search for the smallest changes that flip the class, and return their texts."""
        self.click("#ex-search-flips")
        self.wait_for("return document.querySelector('#ex-flip-text').textContent.includes('edits tried')")
        return [item.text for item in self.all("#ex-flip-list b")]

    def theme(self, name):
        """Show the page in light or dark."""
        self.run("document.documentElement.dataset.theme = arguments[0]", name)
        self.run("document.dispatchEvent(new CustomEvent('pk-theme'))")

    @contextmanager
    def screen(self, width, height):
        """A screen of another size; a narrow one is that of a phone."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 400}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def complaints(self):
        """What the console holds, and requests for anything but the page itself."""
        errors = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:", "about:", "chrome")):
                    errors.append(f"asked for {url}")
        return errors


@pytest.fixture(scope="package")
def browser(tmp_path_factory):
    """Headless Chromium; the tests are skipped where it or its driver is missing."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("chromium or chromedriver is not installed: pages are not tested in a browser")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield Browser(driver)
    driver.quit()
