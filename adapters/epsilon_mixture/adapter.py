"""The ``epsilon-mixture`` adapter: the task's own references, drawn at random, mixed with sentences of random words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from harness.contracts import Candidates, Decoding, Example, TaskView
from harness.errors import InputError
from harness.plugins.discrepancy.mixing import draw
from harness.tasks.readers.lines import words_of


class EpsilonMixture:
    """Q = (1 - epsilon) empirical + epsilon * noise, one independent draw per candidate from the example's seed.

    epsilon: the share of noise, from 0 (a model that has learnt the references by heart) to 1.
    length: words of a noise sentence, a number (the paper: 5) or ``same`` (as long as a reference drawn at random). Words are
        uniform over the distinct words of the references.

    Source: Li et al. (ICML 2020), section 6, Figure 2.
    """

    def __init__(self, *, epsilon: float, length: int | Literal["same"] = "same") -> None:
        if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0 <= epsilon <= 1:
            raise InputError(f"epsilon-mixture: epsilon is {epsilon!r}; expected a share from 0 to 1")
        if length != "same" and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise InputError(
                f"epsilon-mixture: length is {length!r}; expected 'same' or a number of words of at least 1"
            )
        self.epsilon, self.length = float(epsilon), length
        self._sentences: list[list[str]] = []
        self._vocabulary: list[str] = []
        self._lengths: list[int] = []

    def fingerprint(self) -> str:
        return f"epsilon-mixture|epsilon:{self.epsilon:g}|length:{self.length}"

    def prepare(self, task: TaskView) -> None:
        """Take the references of all examples; raises :class:`InputError` when they hold no word."""
        self._sentences = [[text] for example in task.examples for text in example.references]
        words = {word for (text,) in self._sentences for word in words_of(text)}
        if not words:
            raise InputError("epsilon-mixture: the references hold no word to draw from")
        self._vocabulary = sorted(words)
        self._lengths = [max(1, len(words_of(text))) for (text,) in self._sentences]

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        for seed in seeds:
            rng = np.random.default_rng([seed, 0])
            yield tuple(self._one(rng) for _ in range(decoding.candidates or 1))

    def _one(self, rng: np.random.Generator) -> str:
        drawn = self._lengths[int(rng.integers(len(self._lengths)))]  # always, so that both kinds of noise draw alike
        length = self.length if isinstance(self.length, int) else drawn
        return " ".join(draw(self._sentences, self._vocabulary, self.epsilon, length, rng))
