"""Promises of deciding verbs (sizes of tests, coverages of intervals), measured by
simulation: ``python -m benchmarks.promises``.
"""
