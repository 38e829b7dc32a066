"""Record of the tokens of captions that grow row by row."""

from __future__ import annotations

import numpy as np
import torch

from harness_models.shared.decoding.logits import log_prob_of, rank_of
from harness_models.shared.decoding.types import Hypothesis


class Record:
    """Tokens, log-probabilities and ranks of R growing rows,
    arrays of shape (R, limit).
    """

    def __init__(self, rows: int, limit: int) -> None:
        self.tokens = np.zeros((rows, limit), dtype=np.int64)
        self.log_probs = np.zeros((rows, limit))
        self.ranks = np.zeros((rows, limit), dtype=np.int64)
        self.lengths = np.zeros(rows, dtype=np.int64)

    def add(
        self,
        position: int,
        rows: torch.Tensor,
        logits: torch.Tensor,
        tokens: torch.Tensor,
        alive: torch.Tensor,
    ) -> None:
        """Add the tokens of the rows that are ``alive`` (R',), a subset of the rows of
        ``logits`` (R', V) and ``tokens`` (R',).

        ``rows`` are their numbers in the record.
        """
        logits = logits[alive.to(logits.device)]
        tokens = tokens[alive.to(tokens.device)]
        index = rows.numpy()
        self.tokens[index, position] = tokens.cpu().numpy()
        self.log_probs[index, position] = log_prob_of(logits, tokens).cpu().numpy()
        self.ranks[index, position] = rank_of(logits, tokens).cpu().numpy()
        self.lengths[index] = position + 1

    def hypotheses(self, stop: set[int]) -> list[Hypothesis]:
        """Return the rows as hypotheses; ``stop`` are the end tokens."""
        result = []
        for row, length in enumerate(self.lengths.tolist()):
            tokens = self.tokens[row, :length].copy()
            log_probs = self.log_probs[row, :length].copy()
            reason = "stop" if length and int(tokens[-1]) in stop else "length"
            result.append(
                Hypothesis(
                    tokens,
                    log_probs,
                    self.ranks[row, :length].copy(),
                    reason,
                    float(log_probs.sum()),
                )
            )
        return result
