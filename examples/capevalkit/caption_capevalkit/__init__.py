"""Metrics of capevalkit for caption-harness, by its own command."""
