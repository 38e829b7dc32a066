"""Baselines built from references: captions that a metric should or should not
prefer.
"""
