"""Triangle-rank metric: matrices of pairwise distances in,
statistics and permutation p-values out.
"""
