"""Models without scikit-learn: a linear model that predicts and can be verified, our file format, LIBLINEAR's.

It may import `training`, `data`, `certificate`, `problem` and the core.
"""
