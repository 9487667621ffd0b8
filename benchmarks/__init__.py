"""Benchmarks: one file per command; they print raw figures and assert nothing."""
