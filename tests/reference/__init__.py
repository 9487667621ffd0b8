"""The algorithms in plain NumPy, written to be read; the core must agree with them update by update."""
