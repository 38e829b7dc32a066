"""Meta-evaluation.

In: human judgments, metrics. Out: agreement of each metric with people,
intervals, tests between metrics.
"""
