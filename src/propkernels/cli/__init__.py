"""Commands: ``propkernels demo``, ``evaluate``, ``kernel``, ``datasets`` and ``info``."""
