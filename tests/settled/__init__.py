"""Settled predictions against the exact optimum of small problems, in rational arithmetic."""
