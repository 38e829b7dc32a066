"""ARB's own beam search, as its code runs it.

K beams; one that has ended stays, at -1e20, and takes no more part. Every end is kept with its score; the search stops when
max(K, candidates) have ended or at the length limit, where unfinished beams count only if none has ended. Scores are divided by
length ** length_penalty (the end token counted).
"""

from __future__ import annotations

import torch

from harness.adapters.shared.decoding.decode import Decoded, DecodingBatch, Hypothesis, Step, log_prob_of, rank_of
from harness.adapters.shared.decoding.types import check_logits, reorder
from harness.contracts import Decoding

DEFAULT_BEAMS = 5
_ENDED = -1e20


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Up to ``candidates`` hypotheses, best first; fewer where fewer have ended, and then the last is repeated."""
    beams, limit, total = decoding.beams or DEFAULT_BEAMS, decoding.max_length or batch.max_length, len(batch)
    wanted, stop = decoding.candidates or 1, batch.stop[0]
    logits, state = step(batch.start, batch.state)
    size = logits.shape[-1]
    index = torch.arange(total, device=logits.device).repeat_interleave(beams)
    logits, state = logits[index], reorder(step, state, index)
    scores = torch.zeros(total, beams, device=logits.device, dtype=logits.dtype)
    paths: list[list[list[tuple[int, float, int]]]] = [[[] for _ in range(beams)] for _ in range(total)]
    found: list[list[tuple[float, list[tuple[int, float, int]]]]] = [[] for _ in range(total)]
    done = [False] * total
    for position in range(limit):
        check_logits(logits, batch, index.tolist(), position)
        log_probs = logits.log_softmax(-1).reshape(total, beams, size)
        rows = torch.arange(total * beams, device=logits.device)
        tokens = torch.full_like(rows, stop)
        for e in range(total):
            if done[e]:
                continue
            parents, chosen = _advance(log_probs[e], scores, paths[e], e, stop, position)
            rows[e * beams : (e + 1) * beams] = parents + e * beams
            tokens[e * beams : (e + 1) * beams] = chosen
            paths[e] = _extended(paths[e], logits[e * beams : (e + 1) * beams], parents, chosen)
            for k in range(beams):
                if int(chosen[k]) == stop and not done[e]:
                    found[e].append((float(scores[e, k]), paths[e][k]))
                    done[e] = len(found[e]) >= max(beams, wanted)
            if position + 1 == limit and not found[e]:
                found[e] = [(float(scores[e, k]), paths[e][k]) for k in range(beams)]
        if all(done) or position + 1 == limit:
            break
        logits, state = step(tokens, reorder(step, state, rows))
    return Decoded(tuple(_best(ended, wanted, stop, decoding.length_penalty) for ended in found))


def _advance(
    log_probs: torch.Tensor,
    scores: torch.Tensor,
    paths: list[list[tuple[int, float, int]]],
    e: int,
    stop: int,
    position: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Parents (K,) and tokens (K,) of the K best continuations of one example; its scores are put in place."""
    beams, size = log_probs.shape
    if position == 0:
        sums = log_probs[0]
    else:
        sums = log_probs + scores[e][:, None]
        ended = torch.tensor([path[-1][0] == stop for path in paths], device=sums.device)
        sums = sums.masked_fill(ended[:, None], _ENDED)
    best, flat = sums.reshape(-1).topk(beams)
    scores[e] = best
    return flat // size, flat % size


def _extended(
    paths: list[list[tuple[int, float, int]]], logits: torch.Tensor, parents: torch.Tensor, chosen: torch.Tensor
) -> list[list[tuple[int, float, int]]]:
    own = logits[parents]
    new = zip(chosen.tolist(), log_prob_of(own, chosen).tolist(), rank_of(own, chosen).tolist())
    return [[*paths[parent], entry] for parent, entry in zip(parents.tolist(), new)]


def _best(
    ended: list[tuple[float, list[tuple[int, float, int]]]], wanted: int, stop: int, alpha: float
) -> tuple[Hypothesis, ...]:
    import numpy as np

    ranked = sorted(((score / len(path) ** alpha, path) for score, path in ended), key=lambda pair: -pair[0])
    ranked += ranked[-1:] * max(0, wanted - len(ranked))
    return tuple(
        Hypothesis(
            np.array([token for token, _, _ in path], dtype=np.int64),
            np.array([log_prob for _, log_prob, _ in path]),
            np.array([rank for _, _, rank in path], dtype=np.int64),
            "stop" if path[-1][0] == stop else "length",
            score,
        )
        for score, path in ranked[:wanted]
    )


STRATEGIES = {"authors-beam": authors_beam}
