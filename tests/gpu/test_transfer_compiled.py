"""Which numbers are written to have their pages."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from propkernels.gpu.transfer_compiled import touch_pages, write_chunks


@pytest.mark.parametrize(("stop", "written"), [(0, [3, 515, 1027, 1539]), (1, [])])
def test_one_number_per_page_is_written_until_told_to_stop(stop, written):
    flat = np.ones(2000)
    touch_pages(flat, 3, 2000, 512, np.array([stop]))
    assert np.flatnonzero(flat == 0).tolist() == written


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float64])
def test_chunks_are_written_when_they_have_arrived(dtype):
    n_slots, length, n = 4, 7, 61
    source, flat = np.arange(n).astype(dtype), np.full(n, -1.0)
    slots, n_chunks = np.zeros((n_slots, length), dtype=dtype), -(-n // length)
    ready, done = np.zeros((2, n_slots), dtype=np.int64)
    with ThreadPoolExecutor(2) as threads:
        workers = [
            threads.submit(write_chunks, slots, worker, 2, n_chunks, ready, done, flat) for worker in (0, 1)
        ]
        for chunk in range(n_chunks):
            while chunk >= n_slots and done[chunk % n_slots] <= chunk - n_slots:
                pass
            part = source[chunk * length : (chunk + 1) * length]
            slots[chunk % n_slots, : len(part)] = part
            ready[chunk % n_slots] = chunk + 1
        for worker in workers:
            worker.result()
    np.testing.assert_array_equal(flat, source)


def test_workers_end_when_nothing_comes():
    flat, ready = np.zeros(8), np.full(2, -1)
    write_chunks(np.ones((2, 4)), 0, 1, 2, ready, np.zeros(2, dtype=np.int64), flat)
    assert not flat.any()
