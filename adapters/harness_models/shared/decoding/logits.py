"""Logits of a step: checks, ranks, log-probabilities, the end of a caption."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.types import DecodingBatch


def rows_at_once(logits: torch.Tensor) -> int:
    """Return the number of rows of ``logits`` (R, V) to process together.

    On a CPU a block fits into its cache; elsewhere a float64 copy of a block has at
    most 128 MiB.
    """
    entries = 1 << 17 if logits.device.type == "cpu" else 1 << 24
    return max(1, entries // max(1, logits.shape[-1]))


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
    if torch.isnan(highest[row]):
        content = "NaN"
    else:
        content = "+inf" if highest[row] > 0 else "no finite value"
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
