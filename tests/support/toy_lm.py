"""Small left-to-right models for tests of the decoder."""

from __future__ import annotations

import itertools

import torch
from torch import nn


class Recurrent(nn.Module):
    """A GRU language model as a decoder step; its state is the hidden vector (R, H)."""

    def __init__(
        self, vocabulary: int = 7, width: int = 8, seed: int = 0, scale: float = 3.0
    ) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embed = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocabulary)
        with torch.no_grad():
            for weight in self.parameters():
                weight.mul_(scale)
        self.double().requires_grad_(False)

    def __call__(self, tokens, state):
        """Return logits (R, V) of the next token and the hidden vector (R, H),
        in float64.
        """
        hidden = self.hidden = self.cell(self.embed(tokens), state)
        return self.head(hidden), hidden

    def last_hidden(self) -> torch.Tensor:
        """Return the hidden vectors (R, H) of the last call."""
        return self.hidden

    def prefix(self, examples: int, seed: int = 0) -> torch.Tensor:
        """Return random hidden vectors, shape (examples, H)."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(
            examples, self.cell.hidden_size, generator=generator, dtype=torch.float64
        )

    def log_probs(
        self, start: int, state: torch.Tensor, tokens: list[int]
    ) -> torch.Tensor:
        """Return the teacher-forced log-probabilities (L,) of ``tokens`` for one
        example with the hidden vector ``state`` (H,).
        """
        values = []
        state = state[None]
        for last, token in zip([start, *tokens], tokens):
            logits, state = self(torch.tensor([last]), state)
            values.append(logits.log_softmax(-1)[0, token])
        return torch.stack(values)


def every_sequence(vocabulary: int, stop: int, limit: int):
    """Yield all token lists that end at their first ``stop`` or have ``limit`` tokens
    without it.
    """
    for length in range(1, limit + 1):
        for body in itertools.product(
            [t for t in range(vocabulary) if t != stop], repeat=length - 1
        ):
            yield [*body, stop]
    for body in itertools.product(
        [t for t in range(vocabulary) if t != stop], repeat=limit
    ):
        yield list(body)
