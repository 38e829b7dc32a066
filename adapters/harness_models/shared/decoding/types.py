"""Inputs and outputs of the decoder: the step protocol, batches, hypotheses.

Axes: ``E`` examples, ``R`` rows (examples x candidates, or examples x beams), ``V``
vocabulary entries, ``L`` tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import torch

from harness.contracts import Decoding, Generation


class Step(Protocol):
    """One step of a left-to-right model for many rows: recurrent,
    with or without a cache.

    A step may also define ``reorder(state, index) -> state``: row ``i`` of the new
    state is row ``index[i]`` of the old state. ``index`` is an int64 tensor (R',); it
    may repeat, drop and exchange rows. Without ``reorder`` the decoder uses
    :func:`select_rows`. The decoder does not use the old state again. A step may define
    ``last_hidden() -> (R, d)``, the vectors that gave the logits of the last call,
    which contrastive search compares.
    """

    def __call__(
        self, tokens: torch.Tensor | None, state: Any
    ) -> tuple[torch.Tensor, Any]:
        """Return the logits (R, V) of the next token and the new state.

        Parameters
        ----------
        tokens
            Last tokens, shape (R,). In the first call ``batch.start``, which is None
            for a model that starts from a prefix in its state.
        state
            State before ``tokens``; in the first call ``batch.state``.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class DecodingBatch:
    """Input of one call of ``decode``: E examples, one row each."""

    state: Any
    """State of the model before the first token,
    one row per example. The decoder does not read it.
    """
    seeds: Sequence[int]
    """One non-negative integer per example, shape (E,). All random numbers of an
    example derive from its seed.
    """
    stop: tuple[int, ...]
    """Token ids that end a caption."""
    max_length: int
    """Maximum number of tokens of a caption, the end token included,
    if the decoding gives none.
    """
    start: torch.Tensor | None = None
    """First input tokens, shape (E,), or None."""
    ids: Sequence[str] = ()
    """Example ids, for error messages."""

    def __len__(self) -> int:
        return len(self.seeds)

    def name(self, row: int) -> str:
        """Return the id of example ``row`` in quotes, or its number,
        for error messages.
        """
        return repr(self.ids[row]) if row < len(self.ids) else f"number {row}"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One caption as token ids.

    Log-probabilities and ranks are those of the unmodified model (temperature 1,
    no filters).
    """

    tokens: np.ndarray
    """Token ids, shape (L,), int64; the end token is included if there is one."""
    log_probs: np.ndarray
    """Natural log-probability of each token, shape (L,), float64."""
    ranks: np.ndarray
    """Rank of each token, shape (L,), int64: the number of tokens with a higher logit,
    plus tokens of equal logit and smaller id.
    """
    stop_reason: Literal["stop", "length"]
    score: float
    """Score of the search: the sum of ``log_probs``,
    in beam search divided by a power of the length.
    """

    @property
    def words(self) -> np.ndarray:
        """Tokens without the end token, shape (L,) or (L - 1,)."""
        return self.tokens[:-1] if self.stop_reason == "stop" else self.tokens


@dataclass(frozen=True)
class Decoded:
    """Hypotheses of E examples: ``decoded[example][candidate]``;
    strategies that rank put the best first.
    """

    examples: tuple[tuple[Hypothesis, ...], ...]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> tuple[Hypothesis, ...]:
        return self.examples[index]

    def __iter__(self) -> Iterator[tuple[Hypothesis, ...]]:
        return iter(self.examples)

    def generations(
        self, to_text: Callable[[list[int]], str], *, keep_stop: bool = False
    ) -> list[Generation]:
        """Return one :class:`~harness.contracts.Generation` per example.

        Parameters
        ----------
        to_text
            Function from token ids to text. The ids do not contain the end token.
        keep_stop
            If true, the ids contain the end token, for models whose end token is a full
            stop.
        """
        return [
            Generation(
                candidates=tuple(
                    to_text((h.tokens if keep_stop else h.words).tolist())
                    for h in hypotheses
                ),
                log_probs=tuple(float(h.log_probs.sum()) for h in hypotheses),
                lengths=tuple(len(h.tokens) for h in hypotheses),
                stop_reasons=tuple(h.stop_reason for h in hypotheses),
            )
            for hypotheses in self.examples
        ]


Strategy = Callable[[Step, Decoding, DecodingBatch], Decoded]
"""Search strategy. Adapters pass their own to
``decode(..., strategies={name: strategy})``.
"""
