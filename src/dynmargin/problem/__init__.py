"""What is to be solved: the matrix as the core sees it, two-class and joint problems, problems over packed rows.

It may import the core, and nothing else of the package.
"""
