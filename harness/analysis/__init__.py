"""Analysis of finished runs.

In: run directories, tables, judgments. Out: comparisons, correlations, power, strata.
"""
