"""One page about a model, for people who did not train it: a single HTML file that needs no network.

It may import `displays`, `model`, `data`, `training`, `certificate` and `problem`. scikit-learn and matplotlib are
loaded when a report is made.
"""
