"""Benchmarks: they print raw figures and assert nothing."""
