"""Metrics, a distance and an embedding for caption-harness, each of one function."""
