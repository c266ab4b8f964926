"""Where graphs are cut into packets."""

import numpy as np
import pytest

from propkernels.gpu.packets_compiled import cut_packets


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ([2, 2, 2, 2], [0, 2, 4]),
        ([4, 1, 3, 1], [0, 1, 3, 4]),
        ([9, 1, 0, 9, 0, 1], [0, 1, 3, 4, 6]),
        ([0, 0, 0], [0, 3]),
        ([7], [0, 1]),
    ],
)
def test_a_packet_ends_before_the_graph_that_would_not_fit(sizes, first):
    packets = np.full(len(sizes) + 2, -1)
    n_packets = cut_packets(np.concatenate([[0], np.cumsum(sizes)]), 4, packets)
    assert packets[: n_packets + 1].tolist() == first
