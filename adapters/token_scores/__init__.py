"""Token scores from files: anybody's model can be judged by the metrics that look at probabilities and ranks."""

from harness.adapters.token_scores.adapter import TokenScoresFile

__all__ = ["TokenScoresFile"]
