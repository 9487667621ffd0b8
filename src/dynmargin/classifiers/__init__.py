"""The scikit-learn estimators: `base` holds what all share, each algorithm is a short class."""
