"""The command line: one file a command; scikit-learn and scipy are not loaded to train, predict or verify."""
