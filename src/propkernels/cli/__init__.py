"""Commands: ``propkernels demo``, ``fit``, ``predict``, ``explain``, ``similar``, ``evaluate`` and others."""
