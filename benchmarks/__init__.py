"""Benchmarks: named cases with targets, measured by ``python -m benchmarks.run`` (``make bench``).

A case is one line in the table ``CASES`` of its group's file. To add one, add a line; to add a group, write
a file with ``CASES`` and ``measure(case, settings)`` and name it in ``benchmarks.run.GROUPS``.
"""
