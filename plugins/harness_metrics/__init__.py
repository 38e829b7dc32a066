"""Metrics, distances and embeddings shipped with the harness, one folder per family."""
