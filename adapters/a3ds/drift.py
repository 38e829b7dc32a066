"""How far an agent's messages have drifted from the language it was taught (Lazaridou et al. 2020, section 4).

Structural drift: the messages' log-likelihood under a language model of the reference captions. Semantic drift: their log-likelihood
given the target under a captioner that never played the game. Both in nats per token, END counted; lower is further away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from harness.adapters.a3ds.model import Speaker
from harness.adapters.a3ds.vocabulary import END, START, Vocabulary
from harness.tasks.a3ds import scene


class TrigramModel:
    """Word trigrams of captions, each order smoothed with the next lower one (Witten & Bell 1991), unigrams with a uniform one."""

    def __init__(self, captions: Iterable[str], vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = vocabulary or Vocabulary()
        self._counts: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(4)]
        self._followers: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(3)]
        for caption in captions:
            tokens = [START, *self.vocabulary.encode(caption)]
            for end in range(2, len(tokens)):
                for order in range(1, 4):
                    gram = tuple(tokens[end - order + 1 : end + 1])
                    if not self._counts[order][gram]:
                        self._followers[order - 1][gram[:-1]] += 1
                    self._counts[order][gram] += 1
        self._context: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(3)]
        for order in range(1, 4):
            for gram, count in self._counts[order].items():
                self._context[order - 1][gram[:-1]] += count

    @classmethod
    def of_grammar(cls, scenes: int = 2000, seed: int = 0) -> TrigramModel:
        """From the exhaustive captions of random scenes."""
        ids = np.random.default_rng(seed).integers(0, scene.N_SCENES, scenes)
        return cls(text for captions in scene.caption_sets(ids) for text in captions)

    def probability(self, context: tuple[int, ...], token: int) -> float:
        """P(token | the last two tokens)."""
        value = 1.0 / len(self.vocabulary)
        for order in range(1, 4):
            before = context[len(context) - order + 1 :] if order > 1 else ()
            seen, kinds = self._context[order - 1][before], self._followers[order - 1][before]
            if seen:
                value = (self._counts[order][(*before, token)] + kinds * value) / (seen + kinds)
        return value

    def log_likelihood(self, message: str) -> tuple[float, int]:
        """(sum of natural log-probabilities, tokens), END counted."""
        tokens = [START, *self.vocabulary.encode(message)]
        found = [self.probability(tuple(tokens[end - 2 : end]), tokens[end]) for end in range(2, len(tokens))]
        return float(np.log(found).sum()), len(found)


def structural_drift(messages: Sequence[str], model: TrigramModel) -> float:
    """Mean log-likelihood per token of the messages under a language model."""
    sums = [model.log_likelihood(message) for message in messages]
    return sum(total for total, _ in sums) / sum(count for _, count in sums)


def semantic_drift(messages: Sequence[str], captioner: Speaker, targets: torch.Tensor) -> float:
    """Mean log-likelihood per token of the messages given their targets' features (B, D) under a captioner."""
    rows = [captioner.vocabulary.encode(message) for message in messages]
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[END] * (width - len(row))] for row in rows])
    said = torch.arange(width - 1) < torch.tensor([len(row) - 1 for row in rows])[:, None]
    with torch.inference_mode():
        log_probs = captioner(targets[:, None], tokens[:, :-1]).log_softmax(-1)
    own = log_probs.gather(-1, tokens[:, 1:, None])[..., 0].double()
    return float((own * said).sum() / said.sum())
