"""Pictures of fitted classifiers: the bounds against time, the margins of rows.

It may import `certificate`, `training` and everything below them. scikit-learn and matplotlib are loaded when something
is drawn.
"""
