"""Certificates against exact arithmetic: random and adversarial witnesses of all kinds of problems, at all scales.

``python -m tests.oracle --count 1000000 --jobs 2`` from the root of the project; see `__main__` for what is checked.
"""
