"""scikit-learn's side: parameters, validation, one estimator per algorithm, callbacks, cross-validation.

It may import everything below it (`report`, `model`, `progress`, `algorithms` and what they rest on). Below it, only
reports and pictures load scikit-learn.
"""
