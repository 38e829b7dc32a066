"""Contrastive search: likely tokens whose hidden vector is unlike those of the caption
so far.

Among the ``top_k`` (default 4) most likely tokens v, each step takes the one with the
largest

    (1 - alpha) p(v) - alpha max over earlier positions j of cos(h_v, h_j),

where alpha is ``options.alpha`` (default 0.6). h_v is the vector from which the model
predicts the token after v; the earlier positions are the last one of the prefix and the
tokens of the caption. The search is deterministic: every candidate is the same. Each
step runs the model on ``top_k`` rows per example.

References
----------
Su et al. (2022), A Contrastive Framework for Neural Text Generation, section 3.3; there
the whole prefix is among the earlier positions.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.logits import check_logits, forbid_stop
from harness_models.shared.decoding.record import Record
from harness_models.shared.decoding.states import reorder
from harness_models.shared.decoding.types import Decoded, DecodingBatch, Step

ALPHA = 0.6
TOP_K = 4
"""Defaults of the source."""


def check_contrastive(decoding: Decoding) -> None:
    """Raise :class:`HarnessError` if the strategy is ``contrastive`` and
    ``options.alpha`` is not a number from 0 to 1.
    """
    alpha = decoding.options.get("alpha", ALPHA)
    number = isinstance(alpha, (int, float)) and not isinstance(alpha, bool)
    if decoding.strategy == "contrastive" and not (number and 0 <= alpha <= 1):
        raise HarnessError(
            f"decoding: options.alpha must be a number from 0 to 1, found {alpha!r}",
            parameter="alpha",
            value=alpha,
        )


def contrastive_search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return the caption of contrastive search, once per candidate.

    Raises :class:`HarnessError` for a step without the method
    ``last_hidden() -> (R, d)``, which returns the vectors that gave the logits of the
    last call.
    """
    last_hidden: Callable[[], torch.Tensor] | None = getattr(step, "last_hidden", None)
    if last_hidden is None:
        raise HarnessError(
            "decoding: strategy contrastive needs the hidden vectors of the model, "
            "which this adapter does not give"
        )

    alpha = float(decoding.options.get("alpha", ALPHA))
    limit = decoding.max_length or batch.max_length
    logits, state = step(batch.start, batch.state)
    earlier = _unit(last_hidden())[:, None]  # (R, positions, d)
    stop = torch.tensor(batch.stop, dtype=torch.long, device=logits.device)
    rows = torch.arange(len(batch))
    record = Record(len(batch), limit)

    for position in range(limit):
        # The penalty of a token needs the hidden vector that follows it, which exists
        # only after a step with that token. So all `width` candidates are tried in one
        # step of R x width rows, and the state of the chosen one is kept: one pass per
        # token, not two.
        check_logits(logits, batch, rows.tolist(), position)
        allowed = forbid_stop(logits, stop, decoding, position)
        width = min(decoding.top_k or TOP_K, logits.shape[-1])
        p, ids = allowed.double().softmax(-1).topk(width, dim=-1)

        index = torch.arange(len(rows), device=logits.device)

        tried = reorder(step, state, index.repeat_interleave(width))
        after, state = step(ids.reshape(-1), tried)
        hidden = _unit(last_hidden()).reshape(len(rows), width, -1)
        likeness = torch.einsum("rkd,rtd->rkt", hidden, earlier).amax(-1)

        # A forbidden token (p = 0) could win on unlikeness alone.
        score = ((1 - alpha) * p - alpha * likeness).masked_fill(p == 0, float("-inf"))
        best = score.argmax(-1)
        tokens = ids.gather(-1, best[:, None])[:, 0]

        every_row = torch.ones(len(rows), dtype=torch.bool)
        record.add(position, rows, logits, tokens, every_row)
        alive = ~torch.isin(tokens, stop)
        if position + 1 == limit or not bool(alive.any()):
            break
        # Finished rows leave the batch at once: each would cost `width` rows in the
        # next step.
        selected = (index * width + best)[alive]
        logits = after[selected]
        state = reorder(step, state, selected)
        earlier = torch.cat([earlier, hidden[index, best][:, None]], dim=1)[alive]
        rows = rows[alive.cpu()]

    hypotheses = record.hypotheses(set(batch.stop))
    count = decoding.candidates or 1
    return Decoded(tuple((hypothesis,) * count for hypothesis in hypotheses))


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    """Return vectors (R, d) scaled to unit length, float64."""
    return torch.nn.functional.normalize(vectors.double(), dim=-1)
