"""The searches of the code of VLP's authors.

``authors-beam``: every beam proposes K tokens, and scores are plain sums. Continuing a
finished beam costs 10000. The search takes all steps up to the length limit. The
candidates are all hypotheses that end in [SEP] at any step, and all beams of the last
step that counts (the first step at which all K beams end in [SEP], else the last step).
They are ranked by score + length_penalty x number of steps. ``options``: ``min_length``
forbids the end for that many steps; ``ngram`` (default 0: off) forbids repeated n-grams
of that size. ``authors-greedy`` is the arg-max.
"""

from __future__ import annotations

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.decode import greedy
from harness_models.shared.decoding.logits import check_logits
from harness_models.shared.decoding.states import reorder
from harness_models.shared.decoding.trace import Path, Trace, TraceStep
from harness_models.shared.decoding.types import Decoded, DecodingBatch, Step

DEFAULT_BEAMS = 5
_PENALTY = -10000.0


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return the best hypotheses of the authors' beam search, ``candidates`` for each
    example (the authors' code returns one).

    Raises :class:`HarnessError` when a search has fewer hypotheses than candidates.
    """
    trace = search(step, decoding, batch)
    count = decoding.candidates or 1
    stop = batch.stop[0]

    examples = []
    for e in range(len(batch)):
        ranked = _finals(trace, e, stop, decoding.length_penalty)[:count]
        if len(ranked) < count:
            raise HarnessError(
                f"authors-beam has only {len(ranked)} of {count} candidates for "
                f"example {batch.name(e)}; raise beams"
            )
        examples.append(
            tuple(trace.hypothesis(e, path, score, stop) for score, path in ranked)
        )
    return Decoded(tuple(examples))


def search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Trace:
    """Return all steps of the authors' beam search.

    Parameters
    ----------
    step
        Decoder step of the model.
    decoding
        ``beams`` (default 5, at least ``candidates``), ``max_length``, and the options
        ``min_length`` and ``ngram``.
    batch
        E examples; the first end token counts.

    Raises
    ------
    HarnessError
        If there are fewer beams than candidates, or more beams than vocabulary entries.
    """
    beams = decoding.beams or DEFAULT_BEAMS
    limit = decoding.max_length or batch.max_length
    total = len(batch)
    stop = batch.stop[0]
    if (decoding.candidates or 1) > 1 and beams < (decoding.candidates or 1):
        raise HarnessError(
            f"decoding: {beams} beams for {decoding.candidates} candidates; raise beams"
        )

    logits, state = step(batch.start, batch.state)
    if logits.shape[-1] < beams:
        raise HarnessError(
            f"decoding: {beams} beams for a vocabulary of {logits.shape[-1]}"
        )

    base = torch.arange(total, device=logits.device)[:, None] * beams
    history: list[TraceStep] = []
    texts: list[list[int]] = [[] for _ in range(total * beams)]
    for position in range(limit):
        width = len(logits) // total
        owners = [row // width for row in range(len(logits))]
        check_logits(logits, batch, owners, position)
        log_probs = logits.log_softmax(-1)
        _forbid(log_probs, texts, decoding, position, stop)
        # K tokens of each beam, then the K best of the K x K: the same result as over
        # all tokens, since no beam can give more than K.
        scores, ids = log_probs.topk(beams, dim=-1)
        if history:
            before = history[-1]
            ended = (before.tokens == stop).to(scores)
            so_far = (ended * _PENALTY + before.scores)[:, :, None]
            scores = scores.reshape(total, beams, beams) + so_far
        scores, flat = scores.reshape(total, -1).topk(beams, dim=-1)
        # The first step has one row per example, later ones K: hence the two ways to
        # number the rows.
        parents = flat // beams if history else torch.zeros_like(flat)
        tokens = ids.reshape(total, -1).gather(1, flat)
        rows = (parents + (base if history else base // beams)).reshape(-1)
        history.append(TraceStep.of(scores, tokens, parents, logits[rows]))

        texts = [
            [*texts[row], token]
            for row, token in zip(rows.tolist(), tokens.reshape(-1).tolist())
        ]

        if position + 1 < limit:
            logits, state = step(tokens.reshape(-1), reorder(step, state, rows))
    return Trace(history)


def _forbid(
    log_probs: torch.Tensor,
    texts: list[list[int]],
    decoding: Decoding,
    position: int,
    stop: int,
) -> None:
    """Subtract 10000 from tokens that would repeat an n-gram, and set the end to -10000
    before ``min_length`` steps; in place.
    """
    size = int(decoding.options.get("ngram", 0))
    if size > 1 and position >= size:
        for row, words in enumerate(texts[: len(log_probs)]):
            tail = words[len(words) - (size - 1) :]
            again = {
                words[i + size - 1]
                for i in range(len(words) - size + 1)
                if words[i : i + size - 1] == tail
            }
            if again:
                log_probs[row, sorted(again)] += _PENALTY

    if position < int(decoding.options.get("min_length", 0)):
        log_probs[:, stop] = _PENALTY


def _finals(
    trace: Trace, e: int, stop: int, penalty: float
) -> list[tuple[float, Path]]:
    """Return (score, path) of all candidates of example ``e``, best first;
    a path is [(step, beam), ...].
    """
    # Steps after the one at which all beams end continue finished hypotheses only, at a
    # cost of 10000 each.
    tokens = trace.tokens[e]
    all_ended = (tokens == stop).all(axis=1)
    last = int(np.argmax(all_ended)) if all_ended.any() else len(tokens) - 1

    ranked = []
    for t in range(last + 1):
        for k in range(tokens.shape[1]):
            if tokens[t, k] != stop and t != last:
                continue
            path = trace.path(e, t, k)
            if any(tokens[s, b] == stop for s, b in path[:-1]):
                continue  # the path continues after its end
            ranked.append((float(trace.scores[e, t, k] + penalty * (t + 1)), path))
    return sorted(ranked, key=lambda pair: -pair[0])


STRATEGIES = {"authors-beam": authors_beam, "authors-greedy": greedy}
