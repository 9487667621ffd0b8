"""How the commands end."""

DONE = 0  # what was asked for is done, or proven
NOT_PROVEN = (
    1  # train: the model is written, but epsilon is not proven; verify: a bound is not proven; paper: a cell failed
)
OTHER_DATA = 2  # verify: the data are not those that the model was trained on
FAILED = 3  # nothing was done: the command line, a file or its contents are wrong; a sentence on stderr says how
INTERRUPTED = 130  # Ctrl-C, as shells have it
