"""Scores that exist already, as a metric."""
