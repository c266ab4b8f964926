"""The harness that attacks propkernels; it is not part of the wheel.

``python -m fuzz`` runs random cases of the families in ``families.py``: each is one generated input put
through one check. ``calls``, ``memory``, ``races``, ``kill``, ``soak``, ``faults`` and ``costs`` are programs
of their own (``python -m fuzz.calls``): system calls that fail, memory that runs out, several processes on
one folder, kills, four threads for an hour, a machine without what programs rely on, and time and memory
against size.

Each keeps its counts in ``fuzz/counts``, from which ``python -m fuzz.report`` writes
``docs/measured/reliability.md``.
Files that once broke something are in ``fuzz/corpus``.
"""
