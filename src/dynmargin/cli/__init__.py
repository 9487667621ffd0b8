"""The command ``dynmargin``: one file per command, and `options` for what several of them share.

It may import everything; what a command needs is imported when it runs. The docstring of a command, without its first
line, is the end of its help.
"""
