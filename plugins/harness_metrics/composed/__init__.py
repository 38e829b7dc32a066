"""Metrics that are composed of others: SPIDEr, SPIDEr-max, FENSE,
any distance as a metric.
"""
