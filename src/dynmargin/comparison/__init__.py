"""Any algorithms side by side on the same data, ours and those of other libraries.

It may import `classifiers`, `displays` and everything below them.
"""
