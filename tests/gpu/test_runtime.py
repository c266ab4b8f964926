"""What is said without CuPy or without a GPU, and the kernels of the source."""

import re
import sys
from importlib.resources import files
from types import SimpleNamespace

import pytest

from propkernels.gpu import runtime


def test_cupy_that_is_missing_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"pip install .*cupy"):
        runtime.import_cupy()
    assert not runtime.is_available()


@pytest.mark.parametrize("breaks", [False, True])
def test_no_gpu(monkeypatch, breaks):
    class NoDriverError(Exception):
        pass

    def count():
        if breaks:
            raise NoDriverError
        return 0

    fake = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=NoDriverError)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=fake)))
    with pytest.raises(RuntimeError, match='needs an NVIDIA GPU, and none was found: use device="cpu"'):
        runtime.import_cupy()


def test_every_launched_kernel_is_in_the_source():
    folder = files("propkernels.gpu")
    source = folder.joinpath("kernels.cu").read_text(encoding="utf-8")
    modules = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.endswith(".py")]
    names = {name for text in modules for name in re.findall(r'launch\(\s*"(\w+)"', text)}
    assert len(names) > 10
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", source)] == []
