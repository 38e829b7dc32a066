"""Inputs and outputs of the decoder: the step protocol, batches, hypotheses.

Axes: ``E`` examples, ``R`` rows (examples x candidates, or examples x beams), ``V``
vocabulary entries, ``L`` tokens.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import torch

from harness.contracts import Decoding, Generation
from harness.errors import HarnessError


def rows_at_once(logits: torch.Tensor) -> int:
    """Return the number of rows of ``logits`` (R, V) to process together.

    On a CPU a block fits into its cache; elsewhere a float64 copy of a block has at
    most 128 MiB.
    """
    entries = 1 << 17 if logits.device.type == "cpu" else 1 << 24
    return max(1, entries // max(1, logits.shape[-1]))


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


def select_rows(state: Any, index: torch.Tensor) -> Any:
    """Return ``state`` with rows ``index`` (R',) of the first axis of every tensor.

    Tuples, lists, mappings and dataclasses are traversed. None, numbers and strings are
    returned unchanged. Objects with a method ``take(index)`` select their own rows, and
    caches of transformers are reordered in place.

    Raises ``TypeError`` for any other type.

    >>> select_rows({"h": torch.tensor([[1], [2], [3]]), "t": 4}, torch.tensor([2, 0]))
    {'h': tensor([[3],
            [1]]), 't': 4}
    """
    if isinstance(state, torch.Tensor):
        return state.index_select(0, index.to(state.device))
    if state is None or isinstance(state, (int, float, str, bool)):
        return state
    if hasattr(state, "take"):
        return state.take(index)
    if isinstance(state, Mapping):
        return {key: select_rows(value, index) for key, value in state.items()}
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        return type(state)(*(select_rows(value, index) for value in state))
    if isinstance(state, (tuple, list)):
        return type(state)(select_rows(value, index) for value in state)
    if hasattr(state, "reorder_cache"):  # transformers' caches reorder in place
        state.reorder_cache(index)
        return state
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        values = {
            f.name: select_rows(getattr(state, f.name), index)
            for f in dataclasses.fields(state)
        }
        return dataclasses.replace(state, **values)
    raise TypeError(
        f"cannot take rows of a state of type {type(state).__name__}: "
        "give the step a reorder(state, index)"
    )


def reorder(step: Step, state: Any, index: torch.Tensor) -> Any:
    """Return rows ``index`` (R',) of ``state``, by the method ``reorder`` of the step
    if it has one, else by :func:`select_rows`.
    """
    method = getattr(step, "reorder", None)
    return method(state, index) if method is not None else select_rows(state, index)


def check_logits(
    logits: torch.Tensor, batch: DecodingBatch, examples: Sequence[int], position: int
) -> None:
    """Raise :class:`HarnessError` for a row of ``logits`` (R, V) with NaN, +inf or no
    finite value; -inf marks forbidden tokens.

    The message names the example and the token. ``examples`` (R,) holds the example of
    each row, ``position`` counts tokens from 0.
    """
    # NaN propagates: one reduction detects NaN, +inf and rows without a finite value
    highest = logits.amax(dim=-1)
    if bool(torch.isfinite(highest).all()):
        return
    row = int(torch.nonzero(~torch.isfinite(highest))[0, 0])
    content = (
        "NaN"
        if torch.isnan(highest[row])
        else "+inf"
        if highest[row] > 0
        else "no finite value"
    )
    raise HarnessError(
        f"the model's logits for example {batch.name(int(examples[row]))} hold "
        f"{content} at token {position + 1}; "
        "check the checkpoint, the features and the number format"
    )


def rank_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the rank of ``tokens`` (R,) in their rows of ``logits`` (R, V),
    shape (R,), int64.

    The rank is the number of larger entries plus the number of equal entries with a
    smaller index; the arg-max has rank 0.

    >>> rank_of(torch.tensor([[0.5, 2.0, 0.5]]).expand(3, 3), torch.tensor([0, 1, 2]))
    tensor([1, 0, 2])
    """
    chunk = rows_at_once(logits)
    return torch.cat(
        [_rank_of(*pair) for pair in zip(logits.split(chunk), tokens.split(chunk))]
    )


def _rank_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    value = logits.gather(-1, tokens[:, None])
    above = (logits > value).sum(-1)
    equal = (logits == value).sum(-1)
    tied = torch.nonzero(equal > 1)[:, 0]
    if len(tied):
        before = (
            torch.arange(logits.shape[-1], device=logits.device)[None]
            < tokens[tied, None]
        )
        above[tied] += ((logits[tied] == value[tied]) & before).sum(-1)
    return above


def log_norm(logits: torch.Tensor) -> torch.Tensor:
    """Return the log-sum-exp of each row of ``logits`` (R, V), shape (R,),
    computed in float64 block by block.
    """
    return torch.cat(
        [chunk.double().logsumexp(-1) for chunk in logits.split(rows_at_once(logits))]
    )


def log_prob_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the log-softmax of ``logits`` (R, V) at ``tokens`` (R,),
    shape (R,), float64.
    """
    return logits.gather(-1, tokens[:, None])[:, 0].double() - log_norm(logits)


def forbid_stop(
    logits: torch.Tensor, stop: torch.Tensor, decoding: Decoding, position: int
) -> torch.Tensor:
    """Return ``logits`` (R, V), with -inf at the end tokens ``stop`` while ``position``
    is below ``options.min_length``.
    """
    if position >= int(decoding.options.get("min_length", 0)):
        return logits
    return logits.index_fill(-1, stop, float("-inf"))


# --------------------------------------------------------------------------- record
# Record of the tokens of captions that grow row by row.


class Record:
    """Tokens, log-probabilities and ranks of R growing rows,
    arrays of shape (R, limit).
    """

    def __init__(self, rows: int, limit: int) -> None:
        self.tokens = np.zeros((rows, limit), dtype=np.int64)
        self.log_probs = np.zeros((rows, limit))
        self.ranks = np.zeros((rows, limit), dtype=np.int64)
        self.lengths = np.zeros(rows, dtype=np.int64)

    def add(
        self,
        position: int,
        rows: torch.Tensor,
        logits: torch.Tensor,
        tokens: torch.Tensor,
        alive: torch.Tensor,
    ) -> None:
        """Add the tokens of the rows that are ``alive`` (R',), a subset of the rows of
        ``logits`` (R', V) and ``tokens`` (R',).

        ``rows`` are their numbers in the record.
        """
        logits = logits[alive.to(logits.device)]
        tokens = tokens[alive.to(tokens.device)]
        index = rows.numpy()
        self.tokens[index, position] = tokens.cpu().numpy()
        self.log_probs[index, position] = log_prob_of(logits, tokens).cpu().numpy()
        self.ranks[index, position] = rank_of(logits, tokens).cpu().numpy()
        self.lengths[index] = position + 1

    def hypotheses(self, stop: set[int]) -> list[Hypothesis]:
        """Return the rows as hypotheses; ``stop`` are the end tokens."""
        result = []
        for row, length in enumerate(self.lengths.tolist()):
            tokens = self.tokens[row, :length].copy()
            log_probs = self.log_probs[row, :length].copy()
            reason = "stop" if length and int(tokens[-1]) in stop else "length"
            result.append(
                Hypothesis(
                    tokens,
                    log_probs,
                    self.ranks[row, :length].copy(),
                    reason,
                    float(log_probs.sum()),
                )
            )
        return result


# --------------------------------------------------------------------------- trace
# Steps of a beam search, from which its hypotheses are read backwards.
#
# A search that copies the tokens of every beam at every step moves T x T numbers per
# caption. The parents of the beams are enough: each hypothesis is followed from its
# last beam to the first step, once, at the end.
#
# Axes: ``E`` examples, ``K`` beams, ``V`` vocabulary entries.
Path = list[tuple[int, int]]
"""Hypothesis as [(step, beam), ...]."""


@dataclass(frozen=True)
class TraceStep:
    """One step of a search; all tensors are (E, K)."""

    scores: torch.Tensor
    """Score of each beam in the search."""
    tokens: torch.Tensor
    """Token of each beam."""
    parents: torch.Tensor
    """Beam of the step before that each beam continues."""
    log_probs: torch.Tensor
    """Log-probability of each token under the unmodified model."""
    ranks: torch.Tensor
    """Rank of each token under the unmodified model, from 0."""

    @classmethod
    def of(
        cls,
        scores: torch.Tensor,
        tokens: torch.Tensor,
        parents: torch.Tensor,
        parent_logits: torch.Tensor,
    ) -> TraceStep:
        """Return a step; ``parent_logits`` (E K, V) are the model's logits of the beams
        that were continued.
        """
        flat = tokens.reshape(-1)
        log_probs, ranks = (
            f(parent_logits, flat).reshape(tokens.shape) for f in (log_prob_of, rank_of)
        )
        return cls(scores, tokens, parents, log_probs, ranks)


class Trace:
    """All steps of a search; each array is (E, steps, K)."""

    def __init__(self, steps: list[TraceStep]) -> None:
        def stack(name: str) -> np.ndarray:
            return (
                torch.stack([getattr(step, name) for step in steps], dim=1)
                .cpu()
                .numpy()
            )

        self.scores = stack("scores")
        self.tokens = stack("tokens")
        self.parents = stack("parents")
        self.log_probs = stack("log_probs")
        self.ranks = stack("ranks")

    def path(self, example: int, step: int, beam: int) -> Path:
        """Return the path that ends at ``step`` in ``beam``."""
        path = []
        for position in range(step, -1, -1):
            path.append((position, beam))
            beam = int(self.parents[example, position, beam])
        return path[::-1]

    def hypothesis(
        self, example: int, path: Path, score: float, stop: int
    ) -> Hypothesis:
        """Return the hypothesis of a path; it ended by itself if its last token is
        ``stop``.
        """
        steps, beams = np.array(path).T
        tokens = self.tokens[example, steps, beams]
        reason = "stop" if tokens[-1] == stop else "length"
        log_probs = self.log_probs[example, steps, beams]
        ranks = self.ranks[example, steps, beams]
        return Hypothesis(tokens, log_probs, ranks, reason, score)
