"""ARB's beam search as its authors published it.

``authors-beam``: K beams. A finished beam stays with the score -1e20 and takes no
further part. Every end is stored with its score. The search stops when max(K,
candidates) hypotheses have ended or at the length limit; unfinished beams count only if
none has ended. Scores are divided by length ** length_penalty, with the end token
counted in the length.
"""

from __future__ import annotations

import torch

from harness.contracts import Decoding
from harness_models.shared.decoding.logits import check_logits
from harness_models.shared.decoding.states import reorder
from harness_models.shared.decoding.trace import Trace, TraceStep
from harness_models.shared.decoding.types import Decoded, DecodingBatch, Step

DEFAULT_BEAMS = 5
"""Number of beams that the authors use."""
_ENDED = -1e20
"""Score of a beam that has ended, which no other beam has."""


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return up to ``candidates`` hypotheses of each example, best first.

    If fewer have ended, the last one is repeated.

    Parameters
    ----------
    step
        Decoder step of an ARB model.
    decoding
        ``beams`` (default 5), ``candidates`` (1), ``length_penalty`` and
        ``max_length``.
    batch
        E examples; the first end token counts.
    """
    beams = decoding.beams or DEFAULT_BEAMS
    limit = decoding.max_length or batch.max_length
    total = len(batch)
    count = decoding.candidates or 1
    stop = batch.stop[0]

    logits, state = step(batch.start, batch.state)
    size = logits.shape[-1]
    index = torch.arange(total, device=logits.device).repeat_interleave(beams)
    logits = logits[index]
    state = reorder(step, state, index)

    scores = torch.zeros(total, beams, device=logits.device, dtype=logits.dtype)
    history: list[TraceStep] = []
    # score, step and beam of every end
    ended: list[list[tuple[float, int, int]]] = [[] for _ in range(total)]
    finished = [False] * total
    for position in range(limit):
        check_logits(logits, batch, index.tolist(), position)
        log_probs = logits.log_softmax(-1).reshape(total, beams, size)

        # Examples that are finished keep feeding the end token, so that the rows of a
        # batch stay in place.
        parents = torch.arange(beams, device=logits.device).repeat(total, 1)
        tokens = torch.full_like(parents, stop)
        for e in range(total):
            if not finished[e]:
                last = history[-1].tokens[e] if history else None
                scores[e], parents[e], tokens[e] = _advance(
                    log_probs[e], scores[e], last, stop
                )
        offsets = torch.arange(total, device=logits.device)[:, None] * beams
        rows = (parents + offsets).reshape(-1)
        history.append(TraceStep.of(scores.clone(), tokens, parents, logits[rows]))

        for e in range(total):
            for k in range(beams):
                if int(tokens[e, k]) == stop and not finished[e]:
                    ended[e].append((float(scores[e, k]), position, k))
                    finished[e] = len(ended[e]) >= max(beams, count)
            # unfinished beams count only where none has ended
            if position + 1 == limit and not ended[e]:
                ended[e] = [(float(scores[e, k]), position, k) for k in range(beams)]

        if all(finished) or position + 1 == limit:
            break
        logits, state = step(tokens.reshape(-1), reorder(step, state, rows))

    return _collect(Trace(history), ended, count, stop, decoding.length_penalty)


def _advance(
    log_probs: torch.Tensor, scores: torch.Tensor, last: torch.Tensor | None, stop: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return scores, parents and tokens (K,) of the K best continuations of one
    example.

    ``log_probs`` (K, V) are those of the next token, ``scores`` (K,) those of the
    beams, and ``last`` (K,) their last tokens, None at the first step, where all beams
    are equal and only the first proposes tokens.
    """
    if last is None:
        sums = log_probs[0]
    else:
        sums = log_probs + scores[:, None]
        sums = sums.masked_fill((last == stop)[:, None], _ENDED)
    best, flat = sums.reshape(-1).topk(len(log_probs))
    return best, flat // log_probs.shape[1], flat % log_probs.shape[1]


def _collect(
    trace: Trace,
    ended: list[list[tuple[float, int, int]]],
    count: int,
    stop: int,
    alpha: float,
) -> Decoded:
    """Return the ``count`` hypotheses of each example with the largest score / length
    ** alpha; the last is repeated if there are fewer.
    """
    examples = []
    for e, ends in enumerate(ended):
        # the sort is stable: of equal scores the one that ended first leads
        ranked = [(score / (t + 1) ** alpha, t, k) for score, t, k in ends]
        ranked.sort(key=lambda entry: -entry[0])
        ranked += ranked[-1:] * max(0, count - len(ranked))

        hypotheses = [
            trace.hypothesis(e, trace.path(e, t, k), score, stop)
            for score, t, k in ranked[:count]
        ]
        examples.append(tuple(hypotheses))
    return Decoded(tuple(examples))


STRATEGIES = {"authors-beam": authors_beam}
