"""The ``epsilon-mixture`` adapter: references of the task mixed with sentences of random words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from harness.contracts import Candidates, Decoding, Example, TaskView
from harness.errors import InputError
from harness.plugins.discrepancy.mixing import draw
from harness.tasks.readers.lines import words_of


class EpsilonMixture:
    """Draws from the distribution ``(1 - epsilon) * empirical + epsilon * noise``.

    Every candidate is an independent draw with the seed of its example. The words of a noise sentence are uniform over the distinct
    words of the references.

    Parameters
    ----------
    epsilon
        Share of noise, from 0 (a model that has memorised the references) to 1.
    length
        Number of words of a noise sentence (5 in the paper), or ``same``: that of a random reference.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for references without words.

    References
    ----------
    Li et al. (ICML 2020), section 6, Figure 2.
    """

    def __init__(self, *, epsilon: float, length: int | Literal["same"] = "same") -> None:
        if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0 <= epsilon <= 1:
            raise InputError(f"epsilon-mixture: epsilon is {epsilon!r}; expected a share from 0 to 1")
        if length != "same" and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise InputError(f"epsilon-mixture: length is {length!r}; expected 'same' or a whole number of at least 1")
        self.epsilon, self.length = float(epsilon), length
        self._sentences: list[list[str]] = []
        self._vocabulary: list[str] = []
        self._lengths: list[int] = []

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return f"epsilon-mixture|epsilon:{self.epsilon:g}|length:{self.length}"

    def prepare(self, task: TaskView) -> None:
        """Store the references of all examples; raise :class:`InputError` if they contain no word."""
        self._sentences = [[text] for example in task.examples for text in example.references]
        words = {word for (text,) in self._sentences for word in words_of(text)}
        if not words:
            raise InputError("epsilon-mixture: the references contain no word")
        self._vocabulary = sorted(words)
        self._lengths = [max(1, len(words_of(text))) for (text,) in self._sentences]

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        """Yield ``decoding.candidates`` draws (default 1) per example."""
        for seed in seeds:
            rng = np.random.default_rng([seed, 0])
            yield tuple(self._one(rng) for _ in range(decoding.candidates or 1))

    def _one(self, rng: np.random.Generator) -> str:
        random_length = self._lengths[
            int(rng.integers(len(self._lengths)))
        ]  # drawn for any `length`: equal random streams
        length = self.length if isinstance(self.length, int) else random_length
        return " ".join(draw(self._sentences, self._vocabulary, self.epsilon, length, rng))
