"""Metrics of sets and corpora: coverage of the references, diversity, calibrated
variability, distances of corpora.
"""
