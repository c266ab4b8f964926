"""Benchmarks: ``run`` measures seconds and memory (``make bench``), also of GraKeL (``peers``).

``compare`` and ``same_bits`` set two source trees side by side; ``gpu`` and ``scale`` need a machine of their
own; ``edit_distance`` measures bounds and ``levels`` p-values. Nothing here is part of the installed package.
"""
