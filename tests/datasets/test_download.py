"""Finding and downloading data sets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from propkernels.datasets import download as module
from propkernels.datasets import list_datasets, load
from propkernels.datasets.download import (
    NotOnServerError,
    cache_folder,
    check_name,
    data_folder,
    download,
    find_in,
)
from tests.datasets.tiny import TINY, write_folder, write_zip


@pytest.mark.parametrize("name", ["MUTAG", "REDDIT-BINARY", "Tox21_AR-LBD_testing", "MCF-7H", "p.1"])
def test_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name", ["../MUTAG", "a/b", "a\\b", "/etc/passwd", "C:x", "..", ".", "", "a b", "a*"]
)
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a data set"):
        check_name(name)


def test_a_name_is_a_string() -> None:
    with pytest.raises(TypeError, match="must be a string, got int"):
        check_name(3)


def test_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPKERNELS_DATA", "somewhere")
    assert data_folder() == Path("somewhere")
    monkeypatch.delenv("PROPKERNELS_DATA")
    assert data_folder() is None


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    assert cache_folder(tmp_path / "other") == tmp_path / "other"
    monkeypatch.delenv("PROPKERNELS_CACHE")
    assert "propkernels" in cache_folder().parts


def test_find(tmp_path: Path) -> None:
    assert find_in(None, "TINY") is None
    assert find_in(tmp_path / "nowhere", "TINY") is None
    (tmp_path / "TINY").mkdir()
    assert find_in(tmp_path, "TINY") is None
    folder = write_folder(tmp_path / "TINY" / "raw", TINY).parent
    assert find_in(tmp_path, "TINY") == folder
    archive = write_zip(tmp_path / "TINY.zip", TINY)
    assert find_in(tmp_path, "TINY") == archive


class Site:
    """A site on this machine that serves what a test puts into ``files``."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.missing_bytes = 0
        self.requests: list[str] = []


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            content = site.files.get(self.path)
            self.send_response(404 if content is None else 200)
            body = content or b""
            self.send_header("Content-Length", str(len(body) + site.missing_bytes))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PROPKERNELS_DATA", raising=False)
    monkeypatch.setattr(module, "BASE_URL", f"http://127.0.0.1:{server.server_port}/")
    yield site
    server.shutdown()
    server.server_close()
    thread.join(timeout=5)


@pytest.fixture
def tiny_zip(tmp_path: Path) -> bytes:
    return write_zip(tmp_path / "source.zip", TINY).read_bytes()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_download_once_then_from_the_cache(site: Site, tiny_zip: bytes, cache: Path) -> None:
    site.files["/TINY.zip"] = tiny_zip
    first = load("TINY", cache=cache)
    second = load("TINY", cache=cache)
    assert first.graphs == second.graphs
    assert site.requests == ["/TINY.zip"]
    assert [path.name for path in cache.iterdir()] == ["TINY.zip"]
    assert (cache / "TINY.zip").read_bytes() == tiny_zip


def test_the_data_folder_comes_first(
    site: Site, tiny_zip: bytes, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "TINY.zip").write_bytes(tiny_zip)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "data"))
    assert len(load("TINY", cache=cache).graphs) == 2
    assert site.requests == []
    assert not cache.exists()


def test_the_cache_of_the_environment(
    site: Site, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPKERNELS_CACHE", str(cache))
    site.files["/MUTAG.zip"] = write_zip(cache.parent / "m.zip", TINY, "MUTAG").read_bytes()
    load("MUTAG")
    assert list_datasets()[0].where == "cache"


def test_a_set_that_the_site_does_not_have(site: Site, cache: Path) -> None:
    with pytest.raises(NotOnServerError, match="answered with status 404"):
        download("NOTHING", cache)
    with pytest.raises(ValueError) as caught:
        load("mutagg", cache=cache)
    message = str(caught.value)
    assert message.startswith("no data set 'mutagg' (did you mean 'MUTAG'?): it is not in a data folder")
    assert f"not in the cache {cache}" in message
    assert "list_datasets()" in message
    assert "set PROPKERNELS_DATA to a folder that has mutagg.zip" in message
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("content", [b"<html>Sorry</html>", b""], ids=["a page", "nothing"])
def test_what_is_not_a_zip(site: Site, cache: Path, content: bytes) -> None:
    site.files["/TINY.zip"] = content
    with pytest.raises(ValueError, match=r"cannot be used and was not kept: TINY\.zip is not a zip file"):
        load("TINY", cache=cache)
    assert list(cache.iterdir()) == []


def test_a_zip_of_something_else(site: Site, tiny_zip: bytes, cache: Path) -> None:
    site.files["/OTHER.zip"] = tiny_zip
    with pytest.raises(ValueError, match=r"was not kept: OTHER\.zip holds no file OTHER_A\.txt"):
        load("OTHER", cache=cache)
    assert list(cache.iterdir()) == []


def test_a_connection_that_breaks(site: Site, tiny_zip: bytes, cache: Path) -> None:
    site.files["/TINY.zip"] = tiny_zip[:100]
    site.missing_bytes = len(tiny_zip) - 100
    with pytest.raises((OSError, ValueError)):
        load("TINY", cache=cache)
    assert list(cache.iterdir()) == []


def test_an_interrupted_download(site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(url: str, path: Path) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_fetch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("TINY", cache=cache)
    assert list(cache.iterdir()) == []


def test_no_network(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(module, "BASE_URL", "http://127.0.0.1:1/")
    with pytest.raises(OSError) as caught:
        load("MUTAG", cache=cache)
    message = str(caught.value)
    assert f"it is not in the data folder {tmp_path / 'nowhere'} (which does not exist)" in message
    assert "MUTAG.zip could not be downloaded (ConnectionError)" in message
    assert "did you mean" not in message


def test_progress_is_silent_without_a_terminal(
    site: Site, tiny_zip: bytes, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    site.files["/TINY.zip"] = tiny_zip
    load("TINY", cache=cache)
    assert capfd.readouterr() == ("", "")


def test_progress_on_a_terminal(
    site: Site,
    tiny_zip: bytes,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site.files["/TINY.zip"] = tiny_zip
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    load("TINY", cache=cache)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Downloading TINY.zip" in shown.err
