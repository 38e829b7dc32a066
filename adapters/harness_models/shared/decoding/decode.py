"""Decoder of left-to-right models: greedy, beam, diverse beam, and sampling with
temperature and truncation.

Rows are batched over examples and candidates: the prefix is computed once per example
and its state is expanded. A caption depends on the seed of its example and the index of
the candidate only, not on batch size, order or sharding. Each caption has the
log-probabilities and ranks of its tokens under the unmodified model (temperature 1, no
filters) and its stop reason.

Strategies (``Decoding.strategy``):

- ``greedy``: the most likely token at each step;
- ``beam``, ``diverse-beam``: see :mod:`harness_models.shared.decoding.beam`;
- ``sample``: independent draws, filtered by ``top_k`` and ``top_p`` if set, and by
  ``options.min_p``, ``options.typical_p`` and ``options.eta``
  (:mod:`harness_models.shared.decoding.filters`); ``nucleus``: the same, ``top_p`` is
  required;
- ``min-p``, ``typical``, ``eta``: the same, the option of that name is required;
- ``contrastive``: see :mod:`harness_models.shared.decoding.decode`.

Greedy and beam search ignore temperature, top_k and top_p. ``options.min_length``
forbids the end token before that many tokens. For several candidates greedy search
repeats its caption, and beam search returns its n best (``options.repeat: true``: its
best, n times).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError, UnknownName
from harness_models.shared.decoding.beam import beam_search, diverse_beam_search
from harness_models.shared.decoding.filters import check_filters, draw, uniforms
from harness_models.shared.decoding.types import (
    Decoded,
    DecodingBatch,
    Hypothesis,
    Record,
    Step,
    Strategy,
    check_logits,
    forbid_stop,
    log_prob_of,
    rank_of,
    reorder,
)

# --------------------------------------------------------------------------- contrastive
# Contrastive search: likely tokens whose hidden vector is unlike those of the caption
# so far.
#
# Among the ``top_k`` (default 4) most likely tokens v, each step takes the one with the
# largest
#
#     (1 - alpha) p(v) - alpha max over earlier positions j of cos(h_v, h_j),        alpha = options.alpha (default 0.6).
#
# h_v is the vector from which the model predicts the token after v; the earlier
# positions are the last one of the prefix and the tokens of the caption. The search is
# deterministic: every candidate is the same. Each step runs the model on ``top_k`` rows
# per example.
#
# References
# ----------
# Su et al. (2022), A Contrastive Framework for Neural Text Generation, section 3.3;
# there the whole prefix is among the earlier positions.
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
        p, ids = (
            allowed.double()
            .softmax(-1)
            .topk(min(decoding.top_k or TOP_K, logits.shape[-1]), dim=-1)
        )
        width = ids.shape[1]
        index = torch.arange(len(rows), device=logits.device)
        after, state = step(
            ids.reshape(-1), reorder(step, state, index.repeat_interleave(width))
        )
        hidden = _unit(last_hidden()).reshape(len(rows), width, -1)
        likeness = torch.einsum("rkd,rtd->rkt", hidden, earlier).amax(-1)
        # A forbidden token (p = 0) could win on unlikeness alone.
        score = ((1 - alpha) * p - alpha * likeness).masked_fill(p == 0, float("-inf"))
        best = score.argmax(-1)
        tokens = ids.gather(-1, best[:, None])[:, 0]
        record.add(
            position, rows, logits, tokens, torch.ones(len(rows), dtype=torch.bool)
        )
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
    return Decoded(
        tuple(
            (hypothesis,) * (decoding.candidates or 1)
            for hypothesis in record.hypotheses(set(batch.stop))
        )
    )


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    """Return vectors (R, d) scaled to unit length, float64."""
    return torch.nn.functional.normalize(vectors.double(), dim=-1)


def decode(
    step: Step,
    decoding: Decoding,
    batch: DecodingBatch,
    strategies: Mapping[str, Strategy] | None = None,
) -> Decoded:
    """Return the captions of a batch.

    Parameters
    ----------
    step
        The model.
    decoding
        Strategy and settings.
    batch
        E examples.
    strategies
        Strategies of an adapter by name. They are added to the shared strategies and
        replace those of the same name.

    Raises
    ------
    HarnessError
        For a setting out of range, and for NaN or infinite logits (the message names
        the example and the token).
    UnknownName
        For an unknown strategy.
    """
    by_name = {**STRATEGIES, **(strategies or {})}
    if decoding.strategy not in by_name:
        raise UnknownName.of_name(
            "unknown decoding strategy", decoding.strategy, by_name, "strategies are"
        )
    check_decoding(decoding)
    if len(batch) == 0:
        return Decoded(())
    if decoding.max_length is None:
        decoding = replace(decoding, max_length=batch.max_length)
    with torch.inference_mode():
        return by_name[decoding.strategy](step, decoding, batch)


def check_decoding(decoding: Decoding) -> None:
    """Raise :class:`HarnessError` for a count or a filter out of range."""
    check_filters(decoding)
    check_contrastive(decoding)
    for name in ("candidates", "beams", "max_length"):
        value = getattr(decoding, name)
        if value is not None and value < 1:
            raise HarnessError(f"decoding: {name} must be at least 1, found {value}")
    if decoding.strategy == "nucleus" and decoding.top_p is None:
        raise HarnessError(
            "decoding: strategy nucleus needs top_p (for example top_p: 0.9)"
        )


# --------------------------------------------------------------------------- one caption per row, token by token
def greedy(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return the caption of the most likely tokens, once per candidate; of equally
    likely tokens the smaller id is taken.
    """
    rolled = rollout(
        step, decoding, batch, 1, lambda logits, rows, position: logits.argmax(-1)
    )
    return Decoded(
        tuple(hypotheses * (decoding.candidates or 1) for hypotheses in rolled)
    )


def sample(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return ``candidates`` independent draws per example, after temperature,
    top-k and top-p.
    """
    candidates = decoding.candidates or 1
    numbers = torch.from_numpy(
        uniforms(batch.seeds, candidates, decoding.max_length or 0)
    )
    numbers = numbers.reshape(len(batch) * candidates, -1)

    def choose(logits: torch.Tensor, rows: torch.Tensor, position: int) -> torch.Tensor:
        return draw(logits, numbers[rows, position].to(logits.device), decoding)

    return Decoded(rollout(step, decoding, batch, candidates, choose))


Choose = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
"""Function (logits (R, V), rows (R,) on the CPU, position) -> tokens (R,), with row =
example x candidates + candidate.
"""


def rollout(
    step: Step,
    decoding: Decoding,
    batch: DecodingBatch,
    candidates: int,
    choose: Choose,
) -> tuple[tuple[Hypothesis, ...], ...]:
    """Return ``candidates`` hypotheses per example, each extended by ``choose`` up to
    an end token or ``decoding.max_length``.

    Complete rows are removed from the batch when they are a quarter of it.
    """
    limit = decoding.max_length or batch.max_length
    logits, state = step(batch.start, batch.state)
    rows = torch.arange(len(batch) * candidates)
    if candidates > 1:
        index = (rows // candidates).to(logits.device)
        logits = logits.index_select(0, index)
        state = reorder(step, state, index)
    # `rows` are the numbers of the captions still in the batch; the record has a place
    # for every caption from the start.
    record = Record(len(rows), limit)
    stop = torch.tensor(batch.stop, dtype=torch.long, device=logits.device)
    alive = torch.ones(len(rows), dtype=torch.bool)
    for position in range(limit):
        check_logits(logits, batch, (rows // candidates).tolist(), position)
        allowed = forbid_stop(logits, stop, decoding, position)
        # forbidding the end may leave a row without any token
        if allowed is not logits:
            check_logits(allowed, batch, (rows // candidates).tolist(), position)
        tokens = choose(allowed, rows, position)
        # Log-probabilities and ranks are those of `logits`, not of the filtered ones:
        # they describe the model, not the search.
        record.add(position, rows[alive], logits, tokens, alive)
        alive = alive & ~torch.isin(tokens, stop).cpu()
        if position + 1 == limit or not bool(alive.any()):
            break
        if int(alive.sum()) * 4 <= 3 * len(alive):
            index = torch.nonzero(alive)[:, 0]
            rows = rows[index]
            alive = alive[index]
            index = index.to(tokens.device)
            tokens = tokens[index]
            state = reorder(step, state, index)
        logits, state = step(tokens, state)
    hypotheses = record.hypotheses(set(batch.stop))
    return tuple(
        tuple(hypotheses[e * candidates : (e + 1) * candidates])
        for e in range(len(batch))
    )


def forced_scores(
    logits: torch.Tensor, tokens: torch.Tensor
) -> tuple[np.ndarray, np.ndarray]:
    """Return log-probabilities (L,), float64, and ranks (L,), int64, of ``tokens`` (L,)
    under the ``logits`` (L, V) that predict them.
    """
    return log_prob_of(logits, tokens).cpu().numpy(), rank_of(
        logits, tokens
    ).cpu().numpy()


STRATEGIES: dict[str, Strategy] = {
    "greedy": greedy,
    "beam": beam_search,
    "diverse-beam": diverse_beam_search,
    "sample": sample,
    "nucleus": sample,
    "min-p": sample,
    "typical": sample,
    "eta": sample,
    "contrastive": contrastive_search,
}
"""Shared strategies by name; adapters add their own through
``decode(..., strategies=...)``.
"""
