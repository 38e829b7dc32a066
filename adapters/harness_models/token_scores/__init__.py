"""Adapter for token scores in files, for metrics of probabilities and ranks."""

from harness_models.token_scores.adapter import TokenScoresFile

__all__ = ["TokenScoresFile"]
