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
from harness_models.shared.decoding.contrastive import (
    check_contrastive,
    contrastive_search,
)
from harness_models.shared.decoding.filters import check_filters, draw, uniforms
from harness_models.shared.decoding.logits import (
    check_logits,
    forbid_stop,
    log_prob_of,
    rank_of,
)
from harness_models.shared.decoding.record import Record
from harness_models.shared.decoding.states import reorder
from harness_models.shared.decoding.types import (
    Decoded,
    DecodingBatch,
    Hypothesis,
    Step,
    Strategy,
)


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

        # Fewer rows are copied only when a quarter of them is idle.
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
    log_probs = log_prob_of(logits, tokens)
    ranks = rank_of(logits, tokens)
    return log_probs.cpu().numpy(), ranks.cpu().numpy()


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
