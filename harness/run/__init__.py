"""The run.

In: a loaded spec. Out: captions, features, scores and result records,
written to a run directory.
"""
