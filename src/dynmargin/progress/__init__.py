"""What is shown of a run while it goes on: live lines on a terminal, a progress bar, the making of a table.

It may import `training` and everything below it.
"""
