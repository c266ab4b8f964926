"""Benchmarks: named cases with targets, measured by ``python -m benchmarks.run`` (``make bench``).

``compare`` and ``same_bits`` set two source trees side by side; ``cores``, ``gpu``, ``scale``,
``collections``, ``nodes`` and ``edit_distance`` measure what needs a machine or data of its own. Nothing here
is part of the installed package.
"""
