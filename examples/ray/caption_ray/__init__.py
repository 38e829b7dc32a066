"""Executor of caption-harness on a Ray cluster."""
