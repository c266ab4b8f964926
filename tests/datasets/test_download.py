"""Finding and downloading data sets."""

from __future__ import annotations

import contextlib
import hashlib
import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter

from propkernels.datasets import load
from propkernels.datasets import loader as module
from propkernels.datasets.dataset import (
    check_name,
    data_folder,
)
from propkernels.datasets.loader import (
    CHECKSUMS,
    Checksum,
    NotOnServerError,
    UnverifiedError,
    download,
)
from tests.datasets.tiny import TINY, write_zip


@pytest.mark.parametrize(
    "name", ["../MUTAG", "a/b", "a\\b", "/etc/passwd", "C:x", "..", ".", "", "a b", "a*"]
)
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a data set"):
        check_name(name)


class Site:
    """A site on this machine that serves what a test puts into ``files``."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.endless: set[str] = set()
        self.sent = 0
        self.missing_bytes = 0
        self.requests: list[str] = []


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            if self.path in site.endless:
                self.send_stream()
                return
            content = site.files.get(self.path)
            self.send_response(404 if content is None else 200)
            body = content or b""
            self.send_header("Content-Length", str(len(body) + site.missing_bytes))
            self.end_headers()
            self.wfile.write(body)

        def send_stream(self) -> None:
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while site.sent < 2**28:
                    site.sent += self.wfile.write(bytes(2**16))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PROPKERNELS_DATA", raising=False)
    monkeypatch.setattr(module, "BASE_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setattr(module, "SCHEMES", ("http://",))
    yield site
    server.shutdown()
    server.server_close()
    thread.join(timeout=5)


@pytest.fixture
def tiny_zip(tmp_path: Path) -> bytes:
    return write_zip(tmp_path / "source.zip", TINY).read_bytes()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_download_once_then_from_the_cache(site: Site, tiny_zip: bytes, cache: Path) -> None:
    site.files["/TINY.zip"] = tiny_zip
    first = load("TINY", allow_unverified=True)
    second = load("TINY")
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
    assert len(load("TINY").graphs) == 2
    assert site.requests == []
    assert not cache.exists()


def test_a_set_that_the_site_does_not_have(site: Site, cache: Path) -> None:
    with pytest.raises(NotOnServerError, match="answered with status 404"):
        download("NOTHING", cache, allow_unverified=True)
    with pytest.raises(ValueError) as caught:
        load("mutagg", allow_unverified=True)
    message = str(caught.value)
    assert message == "no data set 'mutagg': did you mean 'MUTAG'? list_datasets() has all names"
    with pytest.raises(ValueError, match=r"no data set 'XY' in a data folder .* or the cache "):
        load("XY", allow_unverified=True)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("content", [b"<html>Sorry</html>", b""], ids=["a page", "nothing"])
def test_what_is_not_a_zip(site: Site, cache: Path, content: bytes) -> None:
    site.files["/TINY.zip"] = content
    with pytest.raises(ValueError, match=r"cannot be used and was not kept: TINY\.zip is not a zip file"):
        load("TINY", allow_unverified=True)
    assert list(cache.iterdir()) == []


def test_a_zip_of_something_else(site: Site, tiny_zip: bytes, cache: Path) -> None:
    site.files["/OTHER.zip"] = tiny_zip
    with pytest.raises(ValueError, match=r"was not kept: OTHER\.zip holds no file OTHER_A\.txt"):
        load("OTHER", allow_unverified=True)
    assert list(cache.iterdir()) == []


def test_an_interrupted_download(site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(url: str, archive: Path, most_bytes: int) -> str:
        archive.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_fetch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("TINY", allow_unverified=True)
    assert list(cache.iterdir()) == []


def test_no_network(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(module, "BASE_URL", "https://127.0.0.1:1/")
    with pytest.raises(OSError) as caught:
        load("MUTAG")
    message = str(caught.value)
    assert f"in the data folder {tmp_path / 'nowhere'} (which does not exist)" in message
    assert "MUTAG.zip could not be downloaded (ConnectionError)" in message
    assert "did you mean" not in message


def test_a_forged_set_is_not_kept(site: Site, cache: Path, tmp_path: Path) -> None:
    """A zip of the right form under a known name."""
    forged = write_zip(tmp_path / "m.zip", TINY, "MUTAG").read_bytes()
    site.files["/MUTAG.zip"] = forged
    with pytest.raises(UnverifiedError, match=r"has another SHA-256 than 3d31485b.*allow_unverified=True"):
        download("MUTAG", cache)
    with pytest.raises(ValueError, match="no data set 'MUTAG'"):
        load("MUTAG")
    assert list(cache.iterdir()) == []
    assert len(load("MUTAG", allow_unverified=True).graphs) == 2


def test_a_known_set(site: Site, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Checksum(len(tiny_zip), hashlib.sha256(tiny_zip).hexdigest())
    monkeypatch.setitem(CHECKSUMS, "TINY", known)
    site.files["/TINY.zip"] = tiny_zip
    assert len(load("TINY").graphs) == 2
    assert [path.name for path in cache.iterdir()] == ["TINY.zip"]


@pytest.mark.parametrize("name", ["TINY", "MUTAG"], ids=["unknown size", "known size"])
def test_a_stream_without_end(site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 2**18)
    site.endless.add(f"/{name}.zip")
    with pytest.raises((OSError, UnverifiedError), match=r"is longer than the [0-9,]+ bytes expected"):
        download(name, cache, allow_unverified=name == "TINY")
    assert site.sent < 2**27
    assert list(cache.iterdir()) == []


def test_http_is_refused(site: Site, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCHEMES", ("https://",))
    site.files["/TINY.zip"] = tiny_zip
    with pytest.raises(OSError, match="does not stay with https"):
        download("TINY", cache, allow_unverified=True)
    assert site.requests == []


class Redirect(BaseAdapter):
    """Answers every request with the address of another place."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self.target = target

    def send(self, request: PreparedRequest, *_: object, **__: object) -> Response:
        response = Response()
        response.status_code, response.url, response.request = 302, str(request.url), request
        response.headers["Location"] = self.target
        response.raw = io.BytesIO()
        return response

    def close(self) -> None:
        pass


def test_redirects_to_http_are_refused(
    site: Site, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/TINY.zip"] = tiny_zip
    target = f"{module.BASE_URL}TINY.zip"
    monkeypatch.setattr(module, "BASE_URL", "https://127.0.0.1:1/")
    monkeypatch.setattr(module, "SCHEMES", ("https://",))

    class Redirected(requests.Session):
        def __init__(self) -> None:
            super().__init__()
            self.mount("https://", Redirect(target))

    monkeypatch.setattr(requests, "Session", Redirected)
    with pytest.raises(OSError, match="does not stay with https"):
        download("TINY", cache, allow_unverified=True)
    assert site.requests == []


@pytest.mark.data
@pytest.mark.parametrize("name", CHECKSUMS)
def test_checksums_are_those_of_the_files(name: str) -> None:
    folder = data_folder()
    archive = None if folder is None else folder / f"{name}.zip"
    if archive is None or not archive.is_file():
        pytest.skip(f"{name}.zip is not in the data folder")
    content = archive.read_bytes()
    assert CHECKSUMS[name] == (len(content), hashlib.sha256(content).hexdigest())


def test_names_in_lower_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    write_zip(tmp_path / "MUTAG.zip", TINY, "MUTAG")
    assert load("mutag").name == "MUTAG"
    assert load("digits").name == "DIGITS"
    write_zip(tmp_path / "mutag.zip", {k.replace("MUTAG", "mutag"): v for k, v in TINY.items()}, "mutag")
    assert load("mutag").name == "mutag"  # a set of exactly that name comes first
