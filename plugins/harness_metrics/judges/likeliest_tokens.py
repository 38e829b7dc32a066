"""The likeliest tokens of each step of a generation, noted as it runs: the logits of a
long answer of a batch take gigabytes.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class LikeliestTokens:
    """Log-probabilities of the likeliest tokens of each step, by the logits of the
    model, and of the token that is taken.

    It is a logits processor of transformers, which changes nothing: what it is given
    has the penalties of the decoder, and tells the token that is taken.

    Parameters
    ----------
    count : int
        Number of likeliest tokens of a step.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._logits: Any = None
        self._steps: list[list[dict[int, float]]] = []
        """Token -> log-probability, of the rows of each step."""

    @contextmanager
    def watch(self, model: Any) -> Generator[None]:
        """Context in which a model generates."""
        handle = model.register_forward_hook(self._keep_logits)
        try:
            yield
        finally:
            handle.remove()
            self._logits = None

    def _keep_logits(self, model: Any, inputs: Any, output: Any) -> None:
        self._logits = output.logits[:, -1]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Note a step and return its scores (B, V) as they are."""
        import torch

        log_probs: Any = self._logits.float().log_softmax(dim=-1)
        self._logits = None
        best = log_probs.topk(min(self.count, log_probs.shape[1]), dim=-1).indices
        taken = scores.argmax(dim=-1, keepdim=True)
        numbers: Any = torch.cat([taken, best], dim=-1)
        values = log_probs.gather(-1, numbers)
        self._steps.append(
            [dict(zip(*row)) for row in zip(numbers.tolist(), values.tolist())]
        )
        return scores

    def of_row(self, row: int) -> list[dict[int, float]]:
        """Return the tokens of each step of a row with their log-probabilities: the one
        that is taken, then the likeliest ones.
        """
        return [step[row] for step in self._steps]
