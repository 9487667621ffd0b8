"""The algorithms that take turns in a race: what each has done, and what it will take to close a gap.

Work is counted in multiplications of a pass over the rows, as the core counts those of Newton's method.
"""
