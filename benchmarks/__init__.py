"""Benchmarks: named cases with targets, measured by ``python -m benchmarks.run`` (``make bench``).

``compare`` and ``same_bits`` set two source trees side by side; ``cores``, ``gpu``, ``scale``,
``collections``, ``nodes`` and ``startup`` (of wheels) measure what needs a machine, data or an environment of
its own. Nothing here is part of the installed package.
"""
