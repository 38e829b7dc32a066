"""Statistics.

In: numbers (scores, statistics, weights, labels). Out: intervals, p-values,
correlations; captions are unknown here.
"""
