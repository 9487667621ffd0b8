"""Pictures in the style of scikit-learn's displays; they need matplotlib (``pip install dynmargin[plots]``)."""
