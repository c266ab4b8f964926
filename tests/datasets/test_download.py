"""Finding and downloading data sets."""

import hashlib
import io
from itertools import repeat

import pytest
import requests
from requests import Response
from requests.adapters import BaseAdapter

from propkernels.datasets import load
from propkernels.datasets import loader as module
from propkernels.datasets.dataset import CATALOGUE, check_name, data_folder
from propkernels.datasets.loader import NotOnServerError, UnverifiedError, download
from tests.datasets.tiny import TINY, write_zip


class Site(BaseAdapter):
    """Answers https requests: bytes are a file, a text the address of another place, None has no end."""

    def __init__(self):
        super().__init__()
        self.files = {}
        self.requests = []

    def send(self, request, *_, **__):
        response, name = Response(), str(request.url).rpartition("/")[2]
        self.requests.append(name)
        content = self.files.get(name, b"")
        response.status_code = 302 if isinstance(content, str) else 200 if name in self.files else 404
        response.url, response.request = str(request.url), request
        response.raw = io.BytesIO(content if isinstance(content, bytes) else b"")
        response.headers["Location"] = str(content)
        if content is None:
            response.iter_content = lambda size: repeat(bytes(size))  # type: ignore[assignment]
        return response

    def close(self):
        pass


@pytest.fixture
def site(monkeypatch):
    site = Site()

    class Session(requests.Session):
        def __init__(self):
            super().__init__()
            self.mount("https://", site)

    monkeypatch.setattr(requests, "Session", Session)
    monkeypatch.delenv("PROPKERNELS_DATA", raising=False)
    return site


@pytest.fixture
def tiny_zip(tmp_path):
    return write_zip(tmp_path / "source.zip", TINY).read_bytes()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_download_once_then_from_the_cache(site, tiny_zip, cache):
    site.files["TINY.zip"] = tiny_zip
    with pytest.raises(ValueError, match="its checksum is not known: allow_unverified=True"):
        load("TINY")
    first = load("TINY", allow_unverified=True)
    assert first.graphs == load("TINY").graphs
    assert site.requests == ["TINY.zip"]
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == {"TINY.zip": tiny_zip}


def test_the_data_folder_comes_first(site, cache, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "data"))
    write_zip(tmp_path / "data" / "MUTAG.zip", TINY, "MUTAG")
    assert load("mutag").name == "MUTAG"
    write_zip(tmp_path / "data" / "mutag.zip", TINY, "mutag")
    assert load("mutag").name == "mutag"  # a set of exactly that name comes first
    assert site.requests == []
    assert not cache.exists()


def test_a_set_that_the_site_does_not_have(site, cache):
    with pytest.raises(NotOnServerError, match="answered with status 404"):
        download("NOTHING", cache, allow_unverified=True)
    with pytest.raises(ValueError, match=r"^no data set 'mutagg': did you mean 'MUTAG'\? list_datasets\(\)"):
        load("mutagg", allow_unverified=True)
    with pytest.raises(ValueError, match=r"no data set 'XY' in a data folder .* or the cache "):
        load("XY", allow_unverified=True)
    assert list(cache.iterdir()) == []


def test_what_is_not_kept(site, cache, tiny_zip, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 2**18)
    cases = {
        "PAGE": (b"<html>Sorry</html>", r"was not kept: PAGE\.zip is not a zip file"),
        "NOTHING": (b"", r"was not kept: NOTHING\.zip is not a zip file"),
        "OTHER": (tiny_zip, r"was not kept: OTHER\.zip holds no file OTHER_A\.txt"),
        "ENDLESS": (None, r"is longer than the 262,144 bytes expected"),
        "REDIRECT": ("http://127.0.0.1/x.zip", "does not stay with https"),
    }
    for name, (content, message) in cases.items():
        site.files[f"{name}.zip"] = content
        with pytest.raises((ValueError, OSError), match=message):
            load(name, allow_unverified=True)
    site.files["MUTAG.zip"] = None
    with pytest.raises(UnverifiedError, match=r"is longer than the 24,437 bytes expected"):
        download("MUTAG", cache)
    assert list(cache.iterdir()) == []


def test_an_interrupted_download(site, cache, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.ProgressBar, "step", interrupt)
    site.files["TINY.zip"] = b"half"
    with pytest.raises(KeyboardInterrupt):
        load("TINY", allow_unverified=True)
    assert list(cache.iterdir()) == []


def test_no_network(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(module, "BASE_URL", "https://127.0.0.1:1/")
    for name in ("../MUTAG", "a/b", "a\\b", "/etc/passwd", "C:x", "..", ".", "", "a b", "a*"):
        with pytest.raises(ValueError, match="cannot be the name of a data set"):
            check_name(name)
    with pytest.raises(OSError, match=r"nowhere \(which does not exist\).* could not be downloaded \(Conn"):
        load("MUTAG")
    monkeypatch.setattr(module, "BASE_URL", "http://127.0.0.1:1/")
    with pytest.raises(OSError, match="does not stay with https"):
        download("TINY", cache, allow_unverified=True)


def test_a_forged_set_is_not_kept(site, cache, tmp_path, monkeypatch):
    """A zip of the right form under a known name."""
    site.files["MUTAG.zip"] = write_zip(tmp_path / "m.zip", TINY, "MUTAG").read_bytes()
    with pytest.raises(UnverifiedError, match=r"has another SHA-256 than 3d31485b.*allow_unverified=True"):
        download("MUTAG", cache)
    with pytest.raises(ValueError, match="no data set 'MUTAG'"):
        load("MUTAG")
    assert list(cache.iterdir()) == []
    assert len(load("MUTAG", allow_unverified=True).graphs) == 2
    content = write_zip(tmp_path / "t.zip", TINY).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setitem(CATALOGUE, "TINY", {"bytes": len(content), "sha256": digest})
    site.files["TINY.zip"] = content
    assert len(load("TINY").graphs) == 2


@pytest.mark.data
@pytest.mark.parametrize("name", CATALOGUE)
def test_checksums_are_those_of_the_files(name):
    folder = data_folder()
    archive = None if folder is None else folder / f"{name}.zip"
    if archive is None or not archive.is_file():
        pytest.skip(f"{name}.zip is not in the data folder")
    content = archive.read_bytes()
    found = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert found.items() <= CATALOGUE[name].items()
