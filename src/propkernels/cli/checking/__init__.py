"""Commands that look before anyone believes: ``propkernels audit`` and ``novelty``."""
