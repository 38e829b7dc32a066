"""What the adapters of left-to-right models share: batches, failures, decoding, text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from harness.adapters.shared.decoding.batches import in_batches
from harness.adapters.shared.decoding.decode import Decoded, DecodingBatch, Step, Strategy, decode, forced_scores
from harness.contracts import Decoding, Example, Failure, Generation, TokenScores
from harness.errors import InputError

ROWS = 64
"""References scored at a time."""


@dataclass(frozen=True)
class Prefix:
    """The state of some examples before their first token, one row each."""

    state: Any
    start: torch.Tensor | None = None


class LeftToRight:
    """Base of adapters whose model is a :class:`~harness.adapters.shared.decoding.decode.Step`.

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

    def groups(self, inputs: Sequence[Any]) -> list[list[int]]:
        """Which inputs may share a batch (indices); all of them, unless a subclass says otherwise."""
        return [list(range(len(inputs)))] if inputs else []

    def to_text(self, ids: list[int]) -> str:
        raise NotImplementedError

    def reference_tokens(self, text: str) -> list[int]:
        """Ids of a reference as the model would have to give them, the end token included where it has one."""
        raise NotImplementedError

    def longest_reference(self) -> int:
        """Most tokens of a reference that can be scored."""
        return self.max_length

    def forced_logits(self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """(N, T, V): entry t predicts token t of ``tokens`` (N, T), row i continuing row ``owner[i]`` of the prefix."""
        raise NotImplementedError

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """The text of every single token."""
        return ()

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """One :class:`Generation` per example; a :class:`Failure` where its input could not be read."""

        def work(pairs: Sequence[tuple[Example, int]]) -> list[Generation | Failure]:
            found = self.inputs([example for example, _ in pairs])
            good = [i for i, item in enumerate(found) if not isinstance(item, Failure)]
            out: list[Any] = list(found)
            for part in self.groups([found[i] for i in good]):
                rows = [good[i] for i in part]
                decoded = self.decode([found[i] for i in rows], [pairs[i] for i in rows], decoding)
                for i, generation in zip(rows, decoded.generations(self.to_text, keep_stop=self.keep_stop)):
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

    # ------------------------------------------------------------------ references
    def score_references(self, examples: Sequence[Example]) -> Iterator[list[TokenScores]]:
        """Forced passes over all references of a batch of examples; the prefix is computed once per example.

        Raises :class:`InputError` for an input that cannot be read and for a reference without tokens or too long.
        """
        return in_batches(list(examples), self.batch_size, self._score)

    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        found = self.inputs(examples)
        for example, item in zip(examples, found):
            if isinstance(item, Failure):
                raise InputError(f"example '{example.id}' cannot be scored: {item.reason}")
        scores: list[list[TokenScores]] = [[] for _ in examples]
        with torch.inference_mode():
            for part in self.groups(found):
                prefix = self.prefix([found[i] for i in part], [examples[i] for i in part])
                flat = [
                    (row, self._tokens(examples[i], t)) for row, i in enumerate(part) for t in examples[i].references
                ]
                for (row, _), score in zip(flat, self._forced(prefix, flat)):
                    scores[part[row]].append(score)
        return scores

    def _forced(self, prefix: Prefix, flat: Sequence[tuple[int, list[int]]]) -> list[TokenScores]:
        """Scores of (row of the prefix, tokens) pairs: those of like length together, padded at their ends, ``ROWS`` at a time."""
        found: list[Any] = [None] * len(flat)
        order = sorted(range(len(flat)), key=lambda i: (len(flat[i][1]), flat[i][0]))
        for start in range(0, len(order), ROWS):
            some = order[start : start + ROWS]
            for i, score in zip(some, self._forced_rows(prefix, [flat[i] for i in some])):
                found[i] = score
        return found

    def _forced_rows(self, prefix: Prefix, part: Sequence[tuple[int, list[int]]]) -> Iterator[TokenScores]:
        """The tokens of all references in one array: references are short, calls are not free."""
        lengths = [len(ids) for _, ids in part]
        tokens = torch.zeros(len(part), max(lengths), dtype=torch.long)
        inside = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
        words = torch.tensor([token for _, ids in part for token in ids])
        tokens[inside] = words
        logits = self.forced_logits(prefix, torch.tensor([owner for owner, _ in part]), tokens)
        inside, words = inside.to(logits.device), words.to(logits.device)
        real = logits.flatten(0, 1) if min(lengths) == max(lengths) else logits[inside]
        log_probs, ranks = forced_scores(real, words)
        ends = np.cumsum(lengths)[:-1]
        for (_, ids), own, rank in zip(part, np.split(log_probs, ends), np.split(ranks, ends)):
            yield TokenScores(own, rank, self.pieces(ids))

    def _tokens(self, example: Example, text: str) -> list[int]:
        ids = self.reference_tokens(text.strip())
        if not 1 <= len(ids) <= self.longest_reference():
            raise InputError(
                f"a reference of example '{example.id}' has {len(ids)} tokens; 1 to {self.longest_reference()} can be scored"
            )
        return ids
