"""The algorithms: one registry, and one file per small family that trains on packed problems.

It may import `training` and everything below it. The registry itself imports nothing.
"""
