"""What the decoder takes and gives: the step protocol, the batch, hypotheses.

``E`` examples, ``R`` rows (examples x candidates or beams), ``V`` vocabulary entries, ``L`` tokens.
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
    """Rows of ``logits`` (R, V) to work on at a time: on a CPU what stays in its cache, elsewhere copies of 128 MiB at most."""
    entries = 1 << 17 if logits.device.type == "cpu" else 1 << 24
    return max(1, entries // max(1, logits.shape[-1]))


class Step(Protocol):
    """A left-to-right model, many rows at once; recurrent, cached and cache-less models look alike from here.

    A step may also define ``reorder(state, index) -> state``: row ``i`` of the new state is row ``index[i]`` of the old one
    (``index`` is a LongTensor of any length: rows are repeated, dropped and exchanged). Without it :func:`select_rows` is used,
    which takes rows along the first axis of every tensor in the state. The old state is not used again.
    """

    def __call__(self, tokens: torch.Tensor | None, state: Any) -> tuple[torch.Tensor, Any]:
        """Logits (R, V) of the next token and the new state, given the last tokens (R,) and the state before them.

        The first call gets ``batch.start`` (None where the model begins from a prefix held in the state) and ``batch.state``.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class DecodingBatch:
    """What one call of ``decode`` works on: E examples, one row each."""

    state: Any
    """The model's state before the first token, one row per example; the decoder never looks inside."""
    seeds: Sequence[int]
    """(E,) one non-negative integer per example: all randomness of its captions comes from it."""
    stop: tuple[int, ...]
    """Token ids that end a caption."""
    max_length: int
    """Most tokens of a caption (the end token counted) where the decoding does not say."""
    start: torch.Tensor | None = None
    """(E,) first input tokens, or None."""
    ids: Sequence[str] = ()
    """Example ids, for error messages."""

    def __len__(self) -> int:
        return len(self.seeds)

    def name(self, row: int) -> str:
        return repr(self.ids[row]) if row < len(self.ids) else f"number {row}"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One caption as token ids; the numbers are those of the unmodified model (temperature 1, nothing filtered)."""

    tokens: np.ndarray
    """(L,) int64, the end token included where there is one."""
    log_probs: np.ndarray
    """(L,) float64 natural log-probability of each token."""
    ranks: np.ndarray
    """(L,) 0 where the token was the arg-max, else how many were before it (ties: smaller index first)."""
    stop_reason: Literal["stop", "length"]
    score: float
    """What the search ranked by: the sum of ``log_probs``, length-normalised in beam search."""

    @property
    def words(self) -> np.ndarray:
        """(L,) or (L - 1,) the tokens without the end token."""
        return self.tokens[:-1] if self.stop_reason == "stop" else self.tokens


@dataclass(frozen=True)
class Decoded:
    """Hypotheses of E examples: ``decoded[example][candidate]``, best first where the strategy ranks."""

    examples: tuple[tuple[Hypothesis, ...], ...]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> tuple[Hypothesis, ...]:
        return self.examples[index]

    def __iter__(self) -> Iterator[tuple[Hypothesis, ...]]:
        return iter(self.examples)

    def generations(self, to_text: Callable[[list[int]], str], *, keep_stop: bool = False) -> list[Generation]:
        """The hypotheses as :class:`~harness.contracts.Generation`; ``to_text`` gets ids without the end token
        (with it where ``keep_stop``, for models whose end token is a full stop)."""
        return [
            Generation(
                candidates=tuple(to_text((h.tokens if keep_stop else h.words).tolist()) for h in hypotheses),
                log_probs=tuple(float(h.log_probs.sum()) for h in hypotheses),
                lengths=tuple(len(h.tokens) for h in hypotheses),
                stop_reasons=tuple(h.stop_reason for h in hypotheses),
            )
            for hypotheses in self.examples
        ]


Strategy = Callable[[Step, Decoding, DecodingBatch], Decoded]
"""A way to search. An adapter gives its own to ``decode(..., strategies={name: strategy})``."""


def select_rows(state: Any, index: torch.Tensor) -> Any:
    """``state`` with rows ``index`` (R',) of every tensor's first axis, through tuples, lists, dicts, dataclasses and
    transformers caches; None and plain numbers stay; what has a ``take(index)`` of its own does it itself. Raises TypeError for
    anything else."""
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
        values = {f.name: select_rows(getattr(state, f.name), index) for f in dataclasses.fields(state)}
        return dataclasses.replace(state, **values)
    raise TypeError(
        f"cannot take rows of a state of type {type(state).__name__}: give the step a reorder(state, index)"
    )


def reorder(step: Step, state: Any, index: torch.Tensor) -> Any:
    """The step's own ``reorder`` where it has one, else :func:`select_rows`."""
    own = getattr(step, "reorder", None)
    return own(state, index) if own is not None else select_rows(state, index)


def check_logits(logits: torch.Tensor, batch: DecodingBatch, examples: Sequence[int], position: int) -> None:
    """Raise :class:`HarnessError` naming the example and the token position when a row of ``logits`` (R, V) holds NaN or +inf,
    or nothing finite; -inf marks forbidden tokens. ``examples`` (R,) says which example a row belongs to."""
    highest = logits.amax(dim=-1)  # NaN wins, so one reduction finds NaN, +inf and rows of -inf alone
    if bool(torch.isfinite(highest).all()):
        return
    row = int(torch.nonzero(~torch.isfinite(highest))[0, 0])
    found = "NaN" if torch.isnan(highest[row]) else "+inf" if highest[row] > 0 else "no finite value"
    raise HarnessError(
        f"the model's logits for example {batch.name(int(examples[row]))} hold {found} at token {position + 1}; "
        "check the checkpoint, the features and the number format"
    )


def rank_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """(R,) entries of each row of ``logits`` (R, V) above the one at ``tokens`` (R,), plus equal ones of smaller index."""
    chunk = rows_at_once(logits)
    return torch.cat([_rank_of(*pair) for pair in zip(logits.split(chunk), tokens.split(chunk))])


def _rank_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    own = logits.gather(-1, tokens[:, None])
    above, equal = (logits > own).sum(-1), (logits == own).sum(-1)
    tied = torch.nonzero(equal > 1)[:, 0]
    if len(tied):
        before = torch.arange(logits.shape[-1], device=logits.device)[None] < tokens[tied, None]
        above[tied] += ((logits[tied] == own[tied]) & before).sum(-1)
    return above


def log_norm(logits: torch.Tensor) -> torch.Tensor:
    """(R,) float64 log-sum-exp of each row of ``logits`` (R, V), worked out in float64, some rows at a time."""
    return torch.cat([part.double().logsumexp(-1) for part in logits.split(rows_at_once(logits))])


def log_prob_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """(R,) float64: log-softmax of each row of ``logits`` (R, V) at ``tokens`` (R,)."""
    return logits.gather(-1, tokens[:, None])[:, 0].double() - log_norm(logits)


def forbid_stop(logits: torch.Tensor, stop: torch.Tensor, decoding: Decoding, position: int) -> torch.Tensor:
    """``logits`` with the end tokens at -inf while fewer than ``options.min_length`` tokens stand."""
    if position >= int(decoding.options.get("min_length", 0)):
        return logits
    return logits.index_fill(-1, stop, float("-inf"))
