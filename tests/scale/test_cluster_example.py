"""examples/cluster: its services fit together."""

from pathlib import Path

import pytest

CLUSTER = Path(__file__).parents[2] / "examples" / "cluster"


@pytest.fixture(scope="module")
def services():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((CLUSTER / "compose.yaml").read_text(encoding="utf-8"))["services"]


def test_services_share_an_image_and_a_folder(services):
    assert set(services) == {"scheduler", "worker", "driver"}
    assert len({service["image"] for service in services.values()}) == 1
    assert {tuple(service["volumes"]) for service in services.values()} == {("./data:/data",)}
    assert "build" in services["scheduler"]
    assert (CLUSTER / "Dockerfile").exists()
