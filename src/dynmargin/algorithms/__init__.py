"""One file an algorithm: how it trains on a task. Nothing here needs scikit-learn."""
