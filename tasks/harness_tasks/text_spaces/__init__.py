"""Exact numbers of models over all texts of one length, after Li et al. 2020."""
