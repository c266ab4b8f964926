"""Settings and fixtures shared by all tests."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Few examples, for every commit; make fuzz looks for what they miss, with other graphs each time.
settings.register_profile(
    "default", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("default"), max_examples=300)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of real TU data sets; the test is skipped where PROPKERNELS_DATA does not name one."""
    value = os.environ.get("PROPKERNELS_DATA")
    if not value:
        pytest.skip("PROPKERNELS_DATA is not set: no real data sets to test on")
    folder = Path(value)
    if not folder.is_dir():
        pytest.skip(f"PROPKERNELS_DATA names {value!r}, which is not a folder")
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need a browser, which ``make check`` runs."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


def pytest_collection_finish() -> None:
    """Leave the tests themselves, a million objects that stay, out of every garbage collection."""
    gc.collect()
    gc.freeze()
