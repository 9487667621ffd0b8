"""What holds at every C: a path of proven gaps, and bounds of the cross-validation error between fits.

It may import `algorithms`, `model` and everything below them, and needs NumPy only.
"""
