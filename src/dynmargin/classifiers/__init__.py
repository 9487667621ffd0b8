"""scikit-learn's side: parameters, validation, one estimator per algorithm, callbacks, cross-validation.

It may import everything below it (`model`, `progress`, `algorithms` and what they rest on). Only this package and those
above it load scikit-learn.
"""
