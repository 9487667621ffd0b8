"""Hostile inputs for everything that reads: `python -m tests.fuzz --help`.

`mutate.py` turns a valid input into a hostile one that is still nearly valid, `targets.py` says what each reader
promises about such an input, `run.py` looks for one that breaks a promise. The corpus holds valid inputs to begin with
and, once they are fixed, inputs that broke a promise.
"""
