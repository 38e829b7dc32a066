"""VLP's own beam search, as its code runs it.

Every beam proposes K tokens, scores are plain sums. A beam that has ended pays 10000 to go on. All steps up to the length limit are
taken; then, among all hypotheses that end in [SEP] at any step and all beams of the last useful step (the first where all K ended,
else the last), the one with the largest score + length_penalty x number of steps wins. ``options``: ``min_length`` steps without
an end, ``ngram`` (default 0: off) forbids repeating n-grams of that size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from harness.adapters.shared.decoding.decode import (
    Decoded,
    DecodingBatch,
    Hypothesis,
    Step,
    greedy,
    log_prob_of,
    rank_of,
)
from harness.adapters.shared.decoding.types import check_logits, reorder
from harness.contracts import Decoding
from harness.errors import HarnessError

DEFAULT_BEAMS = 5
_PENALTY = -10000.0


@dataclass(frozen=True)
class Trace:
    """All steps of a search over E examples with K beams, each (E, steps, K)."""

    scores: np.ndarray
    tokens: np.ndarray
    parents: np.ndarray
    log_probs: np.ndarray
    ranks: np.ndarray


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """The ``candidates`` best (the authors' code gives the first alone)."""
    found = search(step, decoding, batch)
    wanted, stop = decoding.candidates or 1, batch.stop[0]
    examples = []
    for e in range(len(batch)):
        ranked = _finals(found, e, stop, decoding.length_penalty)[:wanted]
        if len(ranked) < wanted:
            raise HarnessError(
                f"authors-beam found only {len(ranked)} of {wanted} candidates for example {batch.name(e)}; raise beams"
            )
        examples.append(tuple(_hypothesis(found, e, path, score, stop) for score, path in ranked))
    return Decoded(tuple(examples))


def search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Trace:
    """The search itself, kept whole."""
    beams, limit = decoding.beams or DEFAULT_BEAMS, decoding.max_length or batch.max_length
    total, stop = len(batch), batch.stop[0]
    if (decoding.candidates or 1) > 1 and beams < (decoding.candidates or 1):
        raise HarnessError(f"decoding: {beams} beams for {decoding.candidates} candidates; raise beams")
    logits, state = step(batch.start, batch.state)
    if logits.shape[-1] < beams:
        raise HarnessError(f"decoding: {beams} beams for a vocabulary of {logits.shape[-1]}")
    base = torch.arange(total, device=logits.device)[:, None] * beams
    history: list[tuple[torch.Tensor, ...]] = []
    texts: list[list[int]] = [[] for _ in range(total * beams)]
    for position in range(limit):
        width = len(logits) // total
        check_logits(logits, batch, [row // width for row in range(len(logits))], position)
        log_probs = logits.log_softmax(-1)
        _forbid(log_probs, texts, decoding, position, stop)
        scores, ids = log_probs.topk(beams, dim=-1)
        if history:
            before = history[-1]
            ended = (before[1] == stop).to(scores)
            scores = scores.reshape(total, beams, beams) + (ended * _PENALTY + before[0])[:, :, None]
        scores, flat = scores.reshape(total, -1).topk(beams, dim=-1)
        parents = flat // beams if history else torch.zeros_like(flat)
        tokens = ids.reshape(total, -1).gather(1, flat)
        rows = (parents + (base if history else base // beams)).reshape(-1)
        chosen = logits[rows]
        numbers = [f(chosen, tokens.reshape(-1)).reshape(total, beams) for f in (log_prob_of, rank_of)]
        history.append((scores, tokens, parents, *numbers))
        texts = [[*texts[row], token] for row, token in zip(rows.tolist(), tokens.reshape(-1).tolist())]
        if position + 1 < limit:
            logits, state = step(tokens.reshape(-1), reorder(step, state, rows))
    return Trace(*(torch.stack(series, dim=1).cpu().numpy() for series in zip(*history)))


def _forbid(log_probs: torch.Tensor, texts: list[list[int]], decoding: Decoding, position: int, stop: int) -> None:
    """Take 10000 from what would repeat an n-gram, and put the end at -10000 while too few words stand; in place."""
    size = int(decoding.options.get("ngram", 0))
    if size > 1 and position >= size:
        for row, words in enumerate(texts[: len(log_probs)]):
            tail = words[len(words) - (size - 1) :]
            again = {words[i + size - 1] for i in range(len(words) - size + 1) if words[i : i + size - 1] == tail}
            if again:
                log_probs[row, sorted(again)] += _PENALTY
    if position < int(decoding.options.get("min_length", 0)):
        log_probs[:, stop] = _PENALTY


def _finals(found: Trace, e: int, stop: int, penalty: float) -> list[tuple[float, list[tuple[int, int]]]]:
    """(score, path) of everything that may win, best first; a path is [(step, beam), ...]."""
    tokens = found.tokens[e]
    all_ended = (tokens == stop).all(axis=1)
    last = int(np.argmax(all_ended)) if all_ended.any() else len(tokens) - 1
    ranked = []
    for t in range(last + 1):
        for k in range(tokens.shape[1]):
            if tokens[t, k] != stop and t != last:
                continue
            path = _path(found, e, t, k)
            if any(tokens[s, b] == stop for s, b in path[:-1]):
                continue  # goes on after its end
            ranked.append((float(found.scores[e, t, k] + penalty * (t + 1)), path))
    return sorted(ranked, key=lambda pair: -pair[0])


def _path(found: Trace, e: int, t: int, k: int) -> list[tuple[int, int]]:
    path = []
    while t >= 0:
        path.append((t, k))
        k = int(found.parents[e, t, k])
        t -= 1
    return path[::-1]


def _hypothesis(found: Trace, e: int, path: list[tuple[int, int]], score: float, stop: int) -> Hypothesis:
    steps, beams = np.array(path).T
    tokens = found.tokens[e, steps, beams]
    reason = "stop" if tokens[-1] == stop else "length"
    return Hypothesis(tokens, found.log_probs[e, steps, beams], found.ranks[e, steps, beams], reason, score)


STRATEGIES = {"authors-beam": authors_beam, "authors-greedy": greedy}
