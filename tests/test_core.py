"""The pool of threads of the compiled loops, and how they read arrays."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from propkernels import _core


def seats_of(n_pieces, threads, pause=0, fails_at=-1):
    """Which thread ran each piece; -1: none."""
    seats = np.full(n_pieces, -1)
    try:
        _core.take_pieces(seats, pause, fails_at, threads)
    except MemoryError:
        assert fails_at >= 0
    return seats


@pytest.mark.parametrize("threads", [1, 2, 5, 16])
@pytest.mark.parametrize("n_pieces", [0, 1, 2, 3, 100])
def test_each_piece_runs_in_one_of_the_threads(n_pieces, threads):
    for _ in range(20):
        seats = seats_of(n_pieces, threads)
        assert (seats >= 0).all()
        assert (seats < threads).all()


def test_all_threads_take_part():
    assert set(seats_of(60, 4, pause=2000).tolist()) == {0, 1, 2, 3}
    assert set(seats_of(20, 1, pause=10).tolist()) == {0}


def test_computations_side_by_side_end():
    failures = []

    def work():
        for _ in range(50):
            failures.extend(seat for seat in seats_of(40, 3, pause=10) if seat < 0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("threads", [1, 3])
def test_the_error_of_a_piece_is_raised_and_the_pool_goes_on(threads):
    for _ in range(5):
        seats = np.full(1000, -1)
        with pytest.raises(MemoryError):
            _core.take_pieces(seats, 100, 5, threads)
        assert (seats == -1).sum() > 900
        assert (seats_of(30, threads) >= 0).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    seats_of(20, 3, pause=100)
    busy = threading.Thread(target=seats_of, args=(300, 3, 1000))  # the child is born while threads work
    busy.start()
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        seats = seats_of(100, 3, pause=1000)
        os._exit(0 if set(seats.tolist()) == {0, 1, 2} else 1)
    assert os.waitpid(child, 0)[1] == 0
    busy.join()


PRESS = """
import os, signal, threading, time
import numpy as np
from propkernels import _core
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore Ctrl-C
main = threading.main_thread()
threading.Timer(0.2, signal.pthread_kill, (main.ident, signal.SIGINT)).start()
begin = time.monotonic()
try:
    _core.take_pieces(np.zeros(100_000, dtype=np.int64), 1000, -1, {threads})
except KeyboardInterrupt:
    print("stopped" if time.monotonic() - begin < 10 else "late")
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals of threads on this system")
@pytest.mark.parametrize("threads", [1, 2])
def test_pressing_ctrl_c_stops_a_loop(threads):
    run = subprocess.run(
        [sys.executable, "-c", PRESS.format(threads=threads)], capture_output=True, text=True
    )
    assert run.stdout.strip() == "stopped", run.stderr


def test_other_threads_run_while_a_loop_does():
    """The GIL is free."""
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    seats_of(100, 1, pause=2000)
    done.set()
    thread.join()
    assert len(ticks) > 20


@pytest.mark.parametrize(
    "seats",
    [
        np.zeros(4, dtype=np.int32),
        np.zeros(4),
        np.zeros(4, dtype=np.uint64),
        np.zeros(4, dtype=">i8"),
        np.zeros((2, 2), dtype=np.int64),
        np.zeros(8, dtype=np.int64)[::2],
        [0, 1],
        None,
    ],
)
def test_arrays_of_another_type_or_order_are_refused(seats):
    """Nothing is converted: a result would be written to a copy."""
    with pytest.raises(TypeError, match="incompatible"):
        _core.take_pieces(seats, 0, -1, 1)


def test_arrays_that_cannot_be_written_are_refused():
    seats = np.zeros(4, dtype=np.int64)
    seats.flags.writeable = False
    with pytest.raises(TypeError, match="incompatible"):
        _core.take_pieces(seats, 0, -1, 1)
