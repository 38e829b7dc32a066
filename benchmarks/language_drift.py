"""Language drift of an agent's messages (Lazaridou,
Potapenko and Tieleman 2020, section 4).

Structural drift is the log-likelihood of the messages under a language model of the
reference captions. Semantic drift is their log-likelihood given the target under a
captioner that has not played the game. Both are in nats per token, END counted; lower
values mean more drift.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from harness_models.a3ds.model import Speaker
from harness_models.a3ds.vocabulary import END, START, Vocabulary
from harness_tasks.a3ds import grammar, scene


class TrigramModel:
    """Word trigram model of captions with Witten-Bell smoothing.

    Each order is interpolated with the next lower one, and unigrams with the uniform
    distribution.

    Parameters
    ----------
    captions
        Training captions.
    vocabulary
        Words (default: the published ones).

    References
    ----------
    Witten and Bell, "The zero-frequency problem", IEEE Transactions on Information
    Theory 37(4), 1991.
    """

    def __init__(
        self, captions: Iterable[str], vocabulary: Vocabulary | None = None
    ) -> None:
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
        """Return the model of the exhaustive captions of random scenes."""
        ids = np.random.default_rng(seed).integers(0, scene.N_SCENES, scenes)
        return cls(text for captions in grammar.caption_sets(ids) for text in captions)

    def probability(self, context: tuple[int, ...], token: int) -> float:
        """Return P(token | context), where ``context`` holds the last two tokens."""
        value = 1.0 / len(self.vocabulary)
        for order in range(1, 4):
            before = context[len(context) - order + 1 :] if order > 1 else ()
            count = self._context[order - 1][before]
            kinds = self._followers[order - 1][before]
            if count:
                value = (self._counts[order][(*before, token)] + kinds * value) / (
                    count + kinds
                )
        return value

    def log_likelihood(self, message: str) -> tuple[float, int]:
        """Return the sum of natural log-probabilities of the tokens,
        and their number, END counted.
        """
        tokens = [START, *self.vocabulary.encode(message)]
        probabilities = [
            self.probability(tuple(tokens[end - 2 : end]), tokens[end])
            for end in range(2, len(tokens))
        ]
        return float(np.log(probabilities).sum()), len(probabilities)


def structural_drift(messages: Sequence[str], model: TrigramModel) -> float:
    """Return the mean log-likelihood per token of the messages under a language model,
    in nats.
    """
    sums = [model.log_likelihood(message) for message in messages]
    return sum(total for total, _ in sums) / sum(count for _, count in sums)


def semantic_drift(
    messages: Sequence[str], captioner: Speaker, targets: torch.Tensor
) -> float:
    """Return the mean log-likelihood per token of B messages given their targets,
    under a captioner, in nats.

    ``targets`` are the image features (B, D) of the targets.
    """
    rows = [captioner.vocabulary.encode(message) for message in messages]
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[END] * (width - len(row))] for row in rows])
    is_token = (
        torch.arange(width - 1) < torch.tensor([len(row) - 1 for row in rows])[:, None]
    )
    with torch.inference_mode():
        log_probs = captioner(targets[:, None], tokens[:, :-1]).log_softmax(-1)
    scores = log_probs.gather(-1, tokens[:, 1:, None])[..., 0].double()
    return float((scores * is_token).sum() / is_token.sum())
