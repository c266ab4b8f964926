"""Options offer what the library knows, no more and no less."""

import pytest

from propkernels.cli import options
from propkernels.gram.base_kernels import _BY_NAME
from propkernels.hashing.lsh import METRICS
from propkernels.kernels.coder import LABEL_SOURCES
from propkernels.propagation.diffusion import NORMALIZATIONS


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (options.Metric, METRICS),
        (options.Labels, [source or "none" for source in LABEL_SOURCES]),
        (options.Normalization, NORMALIZATIONS),
        (options.BaseKernel, _BY_NAME),
    ],
)
def test_choices(offered, known):
    assert {choice.value for choice in offered} == set(known)
