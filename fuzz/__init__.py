"""The harness that attacks propkernels: random cases, kills and soaks. It is not part of the wheel.

``python -m fuzz`` puts generated inputs through every public estimator, ``python -m fuzz.kill`` ends
processes at random moments of writing, ``python -m fuzz.soak`` works from four threads for an hour,
``python -m fuzz.faults`` takes away what programs rely on (room on the disk, a home, a terminal). Each keeps
its counts in ``fuzz/counts``, from which ``python -m fuzz.report`` writes ``docs/RELIABILITY.md``.
"""
