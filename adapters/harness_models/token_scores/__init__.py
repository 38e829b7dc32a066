"""Adapter for token scores in files, for metrics of probabilities and ranks."""
