"""Verdicts on a new version against a baseline."""
