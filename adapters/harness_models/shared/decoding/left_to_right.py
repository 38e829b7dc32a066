"""Base class of the adapters of left-to-right models: batching, failures,
decoding and scoring of references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from harness.contracts import Decoding, Example, Failure, Generation, TokenScores
from harness.errors import HarnessError, InputError
from harness_models.shared.decoding.batches import BatchSize, in_batches
from harness_models.shared.decoding.decode import decode, forced_scores
from harness_models.shared.decoding.memory_meter import MemoryMeter
from harness_models.shared.decoding.throughput import Throughput
from harness_models.shared.decoding.types import Decoded, DecodingBatch, Step, Strategy

ROWS = 64
"""Number of references that are scored in one forward pass."""


@dataclass(frozen=True)
class Prefix:
    """State of E examples before their first token, one row each."""

    state: Any
    """State of the model, as :class:`~harness_models.shared.decoding.types.Step` takes
    it.
    """
    start: torch.Tensor | None = None
    """First input tokens, shape (E,), or None."""


class LeftToRight:
    """Base of adapters whose model is a
    :class:`~harness_models.shared.decoding.types.Step`.

    A subclass sets ``step``, ``stop``, ``max_length`` and ``batch_size`` and defines
    ``inputs``, ``prefix`` and ``words`` or ``to_text``. To score references it also
    defines ``forced_logits``, and ``reference_tokens`` where it has no ``words``.
    """

    strategies: ClassVar[Mapping[str, Strategy]] = {}
    """Strategies of the adapter by name, in addition to the shared ones."""
    prepare_only_checks: ClassVar[bool] = True
    """Captions depend on their example alone."""
    keep_stop: ClassVar[bool] = False
    """True if the end token is part of the text (a full stop)."""
    step: Step
    """The model."""
    stop: tuple[int, ...]
    """Ids of the end tokens."""
    max_length: int
    """Maximum number of tokens of a caption if the decoding gives none."""
    batch_size: int | str
    """Examples per batch, or ``auto``; halved whenever memory runs out."""
    words: Any = None
    """Tokeniser of the captions with ``encode``, ``decode`` and ``pieces``, for
    subclasses that do not define the methods of text.
    """
    _batches: BatchSize | None = None
    _identity: str | None = None
    _throughput: Throughput | None = None

    @property
    def batches(self) -> BatchSize:
        """Size of the batches: ``batch_size``, or the half, quarter, ... of it that
        fits into memory, or under ``auto`` what fills the memory that
        :meth:`memory_meter` watches.
        """
        if self._batches is None or self._batches.requested != self.batch_size:
            self._batches = BatchSize(self.batch_size, self.memory_meter())
        return self._batches

    def memory_meter(self) -> MemoryMeter | None:
        """Return the meter of the devices of the model; by default None: the batches do
        not grow.
        """
        return None

    @property
    def throughput(self) -> Throughput:
        """Captions, tokens and seconds of :meth:`generate` so far."""
        if self._throughput is None:
            self._throughput = Throughput()
        return self._throughput

    def fingerprint(self) -> str:
        """Return :meth:`identify`, which is computed once."""
        if self._identity is None:
            self._identity = self.identify()
        return self._identity

    def identify(self) -> str:
        """Return a name that depends on all that changes captions: weights,
        vocabulary, inputs and settings.
        """
        raise NotImplementedError

    def timings(self) -> dict[str, float]:
        """Return captions, tokens, seconds and tokens per second of :meth:`generate` so
        far, and the size of the batches.
        """
        return {**self.throughput.values(), "batch_size": self.batches.current}

    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return one conditioning input per example, or a
        :class:`~harness.contracts.Failure` for an input that cannot be read.
        """
        raise NotImplementedError

    def prefix(self, inputs: Sequence[Any], examples: Sequence[Example]) -> Prefix:
        """Return the state of the model for the inputs of some examples;
        none of them is a failure.
        """
        raise NotImplementedError

    def groups(self, inputs: Sequence[Any]) -> list[list[int]]:
        """Return lists of indices of inputs that can share a batch;
        by default one list of all indices.
        """
        return [list(range(len(inputs)))] if inputs else []

    def to_text(self, ids: list[int]) -> str:
        """Return the text of token ids."""
        return self.words.decode(ids)

    def check_room(self, decoding: Decoding, name: str, context: str) -> None:
        """Raise :class:`HarnessError` for a ``max_length`` that exceeds the positions
        after the ``context`` of the captions.
        """
        length = decoding.max_length
        room = self.longest_reference()
        if length is not None and length > room:
            raise HarnessError(
                f"{name}: max_length {length} does not fit; "
                f"{room} positions follow the {context}"
            )

    def reference_tokens(self, text: str) -> list[int]:
        """Return the token ids of a reference as the model predicts them, the end token
        included if there is one.
        """
        return [*self.words.encode(text), *self.stop[:1]]

    def longest_reference(self) -> int:
        """Return the maximum number of tokens of a reference."""
        return self.max_length

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) of a teacher-forced pass.

        Parameters
        ----------
        prefix
            State of E examples.
        owner
            Row of the prefix that each row of ``tokens`` continues, shape (N,).
        tokens
            Token ids, shape (N, T). Entry (i, t) of the result predicts token (i, t).
        """
        raise NotImplementedError

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the text of every single token;
        an empty tuple if the model has none.
        """
        return () if self.words is None else self.words.pieces(ids)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield one :class:`Generation` per example,
        or a :class:`Failure` for an input that cannot be read.
        """

        def work(pairs: Sequence[tuple[Example, int]]) -> list[Generation | Failure]:
            inputs = self.inputs([example for example, _ in pairs])
            good = [i for i, item in enumerate(inputs) if not isinstance(item, Failure)]
            out: list[Any] = list(inputs)
            for group in self.groups([inputs[i] for i in good]):
                rows = [good[i] for i in group]
                decoded = self.decode(
                    [inputs[i] for i in rows], [pairs[i] for i in rows], decoding
                )
                generations = decoded.generations(
                    self.to_text, keep_stop=self.keep_stop
                )
                for i, generation in zip(rows, generations):
                    out[i] = generation

            return out

        return self.measure(list(zip(examples, seeds)), work)

    def measure(
        self,
        pairs: Sequence[tuple[Example, int]],
        work: Callable[[Sequence[tuple[Example, int]]], Sequence[Any]],
    ) -> Iterator[Any]:
        """Yield the results of ``work`` on batches of (example, seed) pairs, and count
        its captions, tokens and seconds.
        """

        def time_batch(batch: Sequence[tuple[Example, int]]) -> Sequence[Any]:
            with self.throughput.running():
                results = work(batch)
            self.throughput.count(results)
            return results

        return in_batches(pairs, self.batches, time_batch)

    def decode(
        self,
        inputs: Sequence[Any],
        pairs: Sequence[tuple[Example, int]],
        decoding: Decoding,
    ) -> Decoded:
        """Return the hypotheses of E inputs; ``pairs`` are their (example,
        seed) pairs.
        """
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

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield one :class:`TokenScores` per reference for each example,
        from teacher-forced passes.

        The prefix is computed once per example. Raises :class:`InputError` for an input
        that cannot be read, and for a reference that is empty or too long.
        """
        return in_batches(list(examples), self.batches, self._score)

    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        inputs = self.inputs(examples)
        for example, item in zip(examples, inputs):
            if isinstance(item, Failure):
                raise InputError(
                    f"example '{example.id}' cannot be scored: {item.reason}"
                )

        scores: list[list[TokenScores]] = [[] for _ in examples]
        with torch.inference_mode():
            for group in self.groups(inputs):
                prefix = self.prefix(
                    [inputs[i] for i in group], [examples[i] for i in group]
                )

                flat = [
                    (row, self._tokens(examples[i], t))
                    for row, i in enumerate(group)
                    for t in examples[i].references
                ]

                results = self._score_forced_tokens(prefix, flat)
                for (row, _), score in zip(flat, results):
                    scores[group[row]].append(score)
        return scores

    def _score_forced_tokens(
        self, prefix: Prefix, flat: Sequence[tuple[int, list[int]]]
    ) -> list[TokenScores]:
        """Return the scores of (row of the prefix, tokens) pairs in order; :data:`ROWS`
        pairs of similar length share a padded pass.
        """
        # References of similar length share a pass, since each row is padded to the
        # longest. The order within the batch does not change a score, and `result`
        # restores it.
        result: list[Any] = [None] * len(flat)
        order = sorted(range(len(flat)), key=lambda i: (len(flat[i][1]), flat[i][0]))
        for start in range(0, len(order), ROWS):
            chunk = order[start : start + ROWS]
            scores = self._forced_rows(prefix, [flat[i] for i in chunk])
            for i, score in zip(chunk, scores):
                result[i] = score
        return result

    def _forced_rows(
        self, prefix: Prefix, pairs: Sequence[tuple[int, list[int]]]
    ) -> Iterator[TokenScores]:
        """Yield the scores of pairs from one pass; all tokens are scored in one array,
        because references are short.
        """

        lengths = [len(ids) for _, ids in pairs]
        tokens = torch.zeros(len(pairs), max(lengths), dtype=torch.long)
        is_token = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
        words = torch.tensor([token for _, ids in pairs for token in ids])
        tokens[is_token] = words

        owners = torch.tensor([owner for owner, _ in pairs])
        logits = self.forced_logits(prefix, owners, tokens)
        is_token = is_token.to(logits.device)
        words = words.to(logits.device)
        # Without padding a view saves the copy of the logits, the largest array here.
        is_full = min(lengths) == max(lengths)
        real = logits.flatten(0, 1) if is_full else logits[is_token]

        log_probs, ranks = forced_scores(real, words)
        ends = np.cumsum(lengths)[:-1]
        by_row = zip(pairs, np.split(log_probs, ends), np.split(ranks, ends))
        for (_, ids), row_log_probs, row_ranks in by_row:
            yield TokenScores(row_log_probs, row_ranks, self.pieces(ids))

    def _tokens(self, example: Example, text: str) -> list[int]:
        ids = self.reference_tokens(text.strip())
        if not 1 <= len(ids) <= self.longest_reference():
            raise InputError(
                f"a reference of example '{example.id}' has {len(ids)} tokens; "
                f"1 to {self.longest_reference()} can be scored"
            )
        return ids
