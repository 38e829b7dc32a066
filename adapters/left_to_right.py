"""What the adapters of left-to-right models share: batches, failures, decoding, text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from harness.adapters.batches import in_batches
from harness.adapters.decoding import Decoded, DecodingBatch, Step, Strategy, decode
from harness.contracts import Decoding, Example, Failure, Generation


@dataclass(frozen=True)
class Prefix:
    """The state of some examples before their first token, one row each."""

    state: Any
    start: torch.Tensor | None = None


class LeftToRight:
    """Base of adapters whose model is a :class:`~harness.adapters.decoding.Step`.

    A subclass sets ``step``, ``stop``, ``max_length`` and ``batch_size`` and defines ``inputs``, ``prefix`` and ``to_text``.
    """

    strategies: ClassVar[Mapping[str, Strategy]] = {}
    keep_stop: ClassVar[bool] = False
    """Whether the end token is part of the text (a full stop)."""
    step: Step
    stop: tuple[int, ...]
    max_length: int
    batch_size: int | str

    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """One conditioning input per example, or a :class:`~harness.contracts.Failure`."""
        raise NotImplementedError

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """The model's state for inputs that are no failures."""
        raise NotImplementedError

    def to_text(self, ids: list[int]) -> str:
        raise NotImplementedError

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """One :class:`Generation` per example; a :class:`Failure` where its input could not be read."""

        def work(pairs: Sequence[tuple[Example, int]]) -> list[Generation | Failure]:
            found = self.inputs([example for example, _ in pairs])
            good = [i for i, item in enumerate(found) if not isinstance(item, Failure)]
            out: list[Any] = list(found)
            if good:
                decoded = self.decode([found[i] for i in good], [pairs[i] for i in good], decoding)
                for i, generation in zip(good, decoded.generations(self.to_text, keep_stop=self.keep_stop)):
                    out[i] = generation
            return out

        return in_batches(list(zip(examples, seeds)), self.batch_size, work)

    def decode(self, inputs: Sequence[Any], pairs: Sequence[tuple[Example, int]], decoding: Decoding) -> Decoded:
        """Hypotheses for inputs with their (example, seed) pairs."""
        with torch.inference_mode():
            prefix = self.prefix(inputs, [example for example, _ in pairs])
            batch = DecodingBatch(
                state=prefix.state,
                start=prefix.start,
                seeds=[seed for _, seed in pairs],
                stop=self.stop,
                max_length=self.max_length,
                ids=[example.id for example, _ in pairs],
            )
            return decode(self.step, decoding, batch, self.strategies)
