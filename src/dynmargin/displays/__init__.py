"""Pictures of fitted classifiers: the bounds against time, the margins of rows, everything against C.

It may import `certificate`, `training`, `path` and everything below them. scikit-learn and matplotlib are loaded when
something is drawn.
"""
