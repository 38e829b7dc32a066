"""The run directory.

In: artifacts of work, result records and samples of a run. Out: the same,
typed and read lazily.
"""
