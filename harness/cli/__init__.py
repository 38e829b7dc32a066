"""The command line.

In: arguments. Out: one call of :mod:`harness.api` per verb,
and one rendering of its result.
"""
