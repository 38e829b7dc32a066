"""Steps of a beam search, from which its hypotheses are read backwards.

A search that copies the tokens of every beam at every step moves T x T numbers per
caption. The parents of the beams are enough: each hypothesis is followed from its
last beam to the first step, once, at the end.

Axes: ``E`` examples, ``K`` beams, ``V`` vocabulary entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from harness_models.shared.decoding.logits import log_prob_of, rank_of
from harness_models.shared.decoding.types import Hypothesis

Path = list[tuple[int, int]]
"""Hypothesis as [(step, beam), ...]."""


@dataclass(frozen=True)
class TraceStep:
    """One step of a search; all tensors are (E, K)."""

    scores: torch.Tensor
    """Score of each beam in the search."""
    tokens: torch.Tensor
    """Token of each beam."""
    parents: torch.Tensor
    """Beam of the step before that each beam continues."""
    log_probs: torch.Tensor
    """Log-probability of each token under the unmodified model."""
    ranks: torch.Tensor
    """Rank of each token under the unmodified model, from 0."""

    @classmethod
    def of(
        cls,
        scores: torch.Tensor,
        tokens: torch.Tensor,
        parents: torch.Tensor,
        parent_logits: torch.Tensor,
    ) -> TraceStep:
        """Return a step; ``parent_logits`` (E K, V) are the model's logits of the beams
        that were continued.
        """
        flat = tokens.reshape(-1)
        log_probs, ranks = (
            f(parent_logits, flat).reshape(tokens.shape) for f in (log_prob_of, rank_of)
        )
        return cls(scores, tokens, parents, log_probs, ranks)


class Trace:
    """All steps of a search; each array is (E, steps, K)."""

    def __init__(self, steps: list[TraceStep]) -> None:
        def stack(name: str) -> np.ndarray:
            values = [getattr(step, name) for step in steps]
            return torch.stack(values, dim=1).cpu().numpy()

        self.scores = stack("scores")
        self.tokens = stack("tokens")
        self.parents = stack("parents")
        self.log_probs = stack("log_probs")
        self.ranks = stack("ranks")

    def path(self, example: int, step: int, beam: int) -> Path:
        """Return the path that ends at ``step`` in ``beam``."""
        path = []
        for position in range(step, -1, -1):
            path.append((position, beam))
            beam = int(self.parents[example, position, beam])
        return path[::-1]

    def hypothesis(
        self, example: int, path: Path, score: float, stop: int
    ) -> Hypothesis:
        """Return the hypothesis of a path; it ended by itself if its last token is
        ``stop``.
        """
        steps, beams = np.array(path).T
        tokens = self.tokens[example, steps, beams]
        reason = "stop" if tokens[-1] == stop else "length"
        log_probs = self.log_probs[example, steps, beams]
        ranks = self.ranks[example, steps, beams]
        return Hypothesis(tokens, log_probs, ranks, reason, score)
