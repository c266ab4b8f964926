"""Ctrl-C at any moment leaves no lock held, no limit set and no half of a file."""

import gc
import os
import sys
from dis import opname
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import propkernels as pk
from propkernels._utils.parallel import active_device, thread_count, workers

# CPython runs signal handlers after these instructions, and nowhere else in Python code.
LOOKS = ("RESUME", "JUMP_BACKWARD", "CALL", "INSTRUMENTED_")
WATCHED = ("search/index.py", "contextlib.py")
WATCHED += ("_utils/parallel.py", "_utils/locks.py", "_utils/safe_files.py")


class Interrupts:
    """Raises KeyboardInterrupt where CPython may, the k-th time of one instruction; else counts them all."""

    def __init__(self, place=None, k=0):
        self.place, self.left, self.seen, self.before = place, k, {}, {}

    def __call__(self, frame, event, _):
        path = frame.f_code.co_filename
        if event == "call":
            frame.f_trace_lines = False
            frame.f_trace_opcodes = path.endswith(WATCHED)
            return self if frame.f_trace_opcodes else None
        if event == "opcode":
            before, self.before[frame] = self.before.get(frame), opname[frame.f_code.co_code[frame.f_lasti]]
            if before is not None and before.startswith(LOOKS):
                place = frame.f_code, frame.f_lasti
                self.seen[place] = self.seen.get(place, 0) + 1
                if place == self.place:
                    self.left -= 1
                    if self.left == 0:
                        raise KeyboardInterrupt
        elif event == "return":
            self.before.pop(frame, None)
        return self

    def through(self, work):
        """Do some work, which this may interrupt; return the instructions, with the number of times."""
        others = sys.gettrace()  # such as a measurement of coverage
        sys.settrace(self)
        try:
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(others)
        self.before.clear()
        gc.collect()  # a generator that was left is closed
        return self.seen


def jobs(folder):
    """Things that users do, with threads where there are any."""
    graphs = pk.datasets.make_molecules(12, random_state=0, mean_nodes=6).graphs
    y = np.arange(12) % 2
    kernel = pk.PropagationKernel(t_max=1, random_state=0, n_jobs=2).fit(graphs)
    index = pk.GraphIndex(kernel=kernel, n_jobs=2).fit(graphs)
    return {
        "save": lambda: pk.save_model(kernel, folder / "model.pk"),
        "fit": lambda: pk.PropagationClassifier(kernel=kernel, n_jobs=2).fit(graphs, y),
        "query": lambda: index.query(graphs[:3], k=2),
        "add": lambda: index.add(graphs[:1]),
    }


def blas_limits():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("job", ["save", "fit", "query", "add"])
def test_after_an_interrupt_anywhere_other_threads_go_on(tmp_path, job):
    work = jobs(tmp_path)[job]
    gc.collect()
    gc.freeze()  # what is there already stays; only what an interrupt leaves is looked at
    with threadpool_limits(2, user_api="blas"):
        work()
        before, places = blas_limits(), Interrupts().through(work)
        assert len(places) > 10
        for number, (place, times) in enumerate(places.items()):
            Interrupts(place, 1 + number % times).through(work)
            code, at = place
            where = f"{job}: {Path(code.co_filename).name}, {code.co_qualname}, instruction {at}"
            assert blas_limits() == before, f"{where}: the limit of BLAS stays"
            assert (thread_count(), active_device()) == (1, None), (
                f"{where}: this thread is still in the call"
            )
            with workers(7):
                assert thread_count() == 7, f"{where}: this thread is still in the call"
            other = Thread(target=work, daemon=True)
            other.start()
            other.join(30)
            assert not other.is_alive(), f"{where}: another thread waits for ever"
            assert os.listdir(tmp_path) in ([], ["model.pk"]), f"{where}: an unfinished file is left"
