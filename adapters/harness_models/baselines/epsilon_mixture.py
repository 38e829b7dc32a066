"""The ``epsilon-mixture`` baseline: references mixed with sentences of random words."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness.contracts import Candidates, Example, TaskView
from harness.contracts.parameters import Count, Share, check_arguments
from harness.errors import InputError
from harness_metrics.discrepancy.mixing import draw
from harness_models.baselines.mixed import MixedCaptions
from harness_tasks.readers.lines import words_of


class EpsilonMixture(MixedCaptions):
    """Draws from the distribution ``(1 - epsilon) * empirical + epsilon * noise``.

    Every candidate is an independent draw with the seed of its example. The words of a
    noise sentence are uniform over the distinct words of the references.

    Parameters
    ----------
    epsilon
        Share of noise, from 0 (a model that has memorised the references) to 1.
    length
        Number of words of a noise sentence (5 in the paper), or ``same``: that of a
        random reference.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for references without
        words.

    References
    ----------
    Li et al. (ICML 2020), section 6, Figure 2.
    """

    default_size = 1

    @check_arguments
    def __init__(
        self, *, epsilon: Share, length: Count | Literal["same"] = "same"
    ) -> None:
        self.epsilon = float(epsilon)
        self.length = length
        self._sentences: list[list[str]] = []
        self._vocabulary: list[str] = []

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return f"epsilon-mixture|epsilon:{self.epsilon:g}|length:{self.length}"

    def prepare(self, task: TaskView) -> None:
        """Store the references of all examples;
        raise :class:`InputError` if they contain no word.
        """
        self._sentences = [
            [text] for example in task.examples for text in example.references
        ]
        self._vocabulary = sorted(
            {word for (text,) in self._sentences for word in words_of(text)}
        )
        if not self._vocabulary:
            raise InputError("epsilon-mixture: the references contain no word")

    def mix(self, example: Example, size: int, seed: int) -> Candidates:
        """Return ``size`` draws."""
        rng = np.random.default_rng([seed, 0])
        return tuple(self._draw_caption(rng) for _ in range(size))

    def _draw_caption(self, rng: np.random.Generator) -> str:
        # Drawn for any ``length``, so that cells of a study with other lengths of noise
        # repeat the same references.
        (text,) = self._sentences[int(rng.integers(len(self._sentences)))]
        length = (
            self.length if isinstance(self.length, int) else max(1, len(words_of(text)))
        )
        return " ".join(
            draw(self._sentences, self._vocabulary, self.epsilon, length, rng)
        )
