"""Every test runs on the emulator, and on a GPU where there is one."""

import pytest

from tests.gpu import emulator


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    if emulator.compiler() is None:
        pytest.skip("no C++ compiler to run the CUDA source without a GPU")
    return emulator.build(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(params=["host", "cuda"])
def runtime(request):
    """The device to test on."""
    if request.param == "host":
        return emulator.HostRuntime(request.getfixturevalue("library"))
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("no NVIDIA GPU")
    from propkernels.gpu.runtime import cuda

    return cuda()
