"""Beam search with length normalisation and n-best lists, and diverse beam search (Vijayakumar et al. 2018, Hamming diversity).

Each step takes the ``beams`` best continuations by summed log-probability. Those that end are retired with the score
sum / length ** length_penalty (end token counted); their places go to the next best that do not end. The search of an example
stops when ``beams`` hypotheses are retired and none that lives can still beat the worst of them. ``options.early_stopping``
chooses the bound: ``never`` (default: the most that a live beam could reach by ``max_length``), ``heuristic`` (its score at its
present length), ``true`` (stop as soon as the list is full). Beams still alive at ``max_length`` enter with reason ``length``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.adapters.shared.decoding.types import (
    Decoded,
    DecodingBatch,
    Hypothesis,
    Step,
    check_logits,
    forbid_stop,
    log_norm,
    log_prob_of,
    rank_of,
    reorder,
)
from harness.contracts import Decoding
from harness.errors import HarnessError

EARLY_STOPPING = ("never", "heuristic", True)
_NEVER = float("-inf")


def beam_search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """The ``candidates`` best of ``beams`` (default: the larger of 5 and ``candidates``), best first."""
    return _search(step, decoding, batch, groups=1, diversity=0.0)


def diverse_beam_search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Beams in ``options.groups`` (default: one beam each); a later group pays ``options.diversity`` (default 0.5) for every
    beam of an earlier group that took the same token at the same step. Given back: the best of each group, then the second."""
    beams = _beams(decoding)
    groups = int(decoding.options.get("groups", beams))
    if groups < 1 or beams % groups:
        raise HarnessError(
            f"decoding: options.groups must divide the number of beams, found {groups} groups for {beams} beams"
        )
    diversity = float(decoding.options.get("diversity", 0.5))
    if not diversity >= 0:
        raise HarnessError(f"decoding: options.diversity must be 0 or more, found {diversity}")
    return _search(step, decoding, batch, groups, diversity)


def _beams(decoding: Decoding) -> int:
    candidates = 1 if decoding.options.get("repeat") else decoding.candidates or 1
    beams = decoding.beams or max(5, candidates)
    if candidates > beams:
        raise HarnessError(
            f"decoding: {beams} beams give at most {beams} different candidates, {candidates} asked for; "
            "raise beams, or set options.repeat to get the best one each time"
        )
    if decoding.options.get("early_stopping", "never") not in EARLY_STOPPING:
        raise HarnessError(
            f"decoding: options.early_stopping is one of never, heuristic, true; found {decoding.options['early_stopping']!r}"
        )
    return beams


# --------------------------------------------------------------------------- hypotheses side by side
@dataclass
class _Paths:
    """(E, W) partial or whole hypotheses: search scores (-inf: no hypothesis), lengths, and (E, W, L) tokens and their numbers."""

    scores: torch.Tensor
    lengths: torch.Tensor
    tokens: torch.Tensor
    log_probs: torch.Tensor
    ranks: torch.Tensor

    @classmethod
    def empty(cls, examples: int, width: int, limit: int, device: torch.device) -> _Paths:
        shape = (examples, width, limit)
        return cls(
            torch.full((examples, width), _NEVER, dtype=torch.float64, device=device),
            torch.zeros((examples, width), dtype=torch.long, device=device),
            torch.zeros(shape, dtype=torch.long, device=device),
            torch.zeros(shape, dtype=torch.float64, device=device),
            torch.zeros(shape, dtype=torch.long, device=device),
        )

    def _fields(self) -> tuple[torch.Tensor, ...]:
        return self.scores, self.lengths, self.tokens, self.log_probs, self.ranks

    def take(self, index: torch.Tensor) -> _Paths:
        """Columns ``index`` (E, W') of every example."""
        return _Paths(
            *(
                f.gather(1, index if f.dim() == 2 else index[:, :, None].expand(-1, -1, f.shape[2]))
                for f in self._fields()
            )
        )

    def examples(self, index: torch.Tensor) -> _Paths:
        return _Paths(*(f.index_select(0, index) for f in self._fields()))

    def put(self, index: torch.Tensor, other: _Paths) -> None:
        """Write the examples of ``other`` at rows ``index``."""
        for mine, theirs in zip(self._fields(), other._fields()):
            mine[index] = theirs

    def best_of(self, other: _Paths, width: int) -> _Paths:
        """The ``width`` best of both, ties to ``self``."""
        both = _Paths(*(torch.cat(pair, dim=1) for pair in zip(self._fields(), other._fields())))
        order = both.scores.sort(dim=1, descending=True, stable=True).indices[:, :width]
        return both.take(order)


@dataclass
class _Lane:
    """One group of beams: those alive and those retired."""

    live: _Paths
    retired: _Paths
    took: torch.Tensor
    """(E, W) the tokens of the W best continuations of the last step, those that end included."""
    counts: torch.Tensor
    """(E, W) bool: where ``took`` is a real continuation."""

    def examples(self, index: torch.Tensor) -> _Lane:
        parts = (self.live.examples(index), self.retired.examples(index))
        return _Lane(*parts, self.took.index_select(0, index), self.counts.index_select(0, index))


# --------------------------------------------------------------------------- the search
def _search(step: Step, decoding: Decoding, batch: DecodingBatch, groups: int, diversity: float) -> Decoded:
    beams, limit = _beams(decoding), decoding.max_length or batch.max_length
    width, total = beams // groups, len(batch)
    logits, state = step(batch.start, batch.state)
    device = logits.device
    index = torch.arange(total, device=device).repeat_interleave(beams)
    logits, state = logits.index_select(0, index), reorder(step, state, index)
    stop = torch.tensor(batch.stop, dtype=torch.long, device=device)
    lanes = [_fresh_lane(total, width, limit, device) for _ in range(groups)]
    final = [_Paths.empty(total, width, limit, device) for _ in range(groups)]
    active = torch.arange(total, device=device)
    for position in range(limit):
        check_logits(logits, batch, active.repeat_interleave(beams).tolist(), position)
        rows = _advance(lanes, logits, stop, decoding, position, diversity)
        done = torch.stack([_freeze(lane, decoding, position + 1, limit) for lane in lanes]).all(0)
        if position + 1 == limit or bool(done.all()):
            break
        if int(done.sum()) * 4 >= len(done):
            for store, lane in zip(final, lanes):
                store.put(active[done], lane.retired.examples(torch.nonzero(done)[:, 0]))
            kept = torch.nonzero(~done)[:, 0]
            active, lanes = active[kept], [lane.examples(kept) for lane in lanes]
            rows = rows.reshape(-1, beams)[kept].reshape(-1)
        tokens = torch.cat([lane.live.tokens[:, :, position] for lane in lanes], dim=1).reshape(-1)
        logits, state = step(tokens, reorder(step, state, rows))
    for store, lane in zip(final, lanes):
        whole = _Paths(_normalised(lane.live, decoding), *lane.live._fields()[1:])
        store.put(active, lane.retired.best_of(whole, width))
    return _collect(final, decoding, batch, set(batch.stop))


def _fresh_lane(total: int, width: int, limit: int, device: torch.device) -> _Lane:
    live, retired = (_Paths.empty(total, width, limit, device) for _ in range(2))
    lane = _Lane(live, retired, live.lengths, live.scores > _NEVER)
    lane.live.scores[:, 0] = 0.0
    return lane


def _advance(
    lanes: list[_Lane], logits: torch.Tensor, stop: torch.Tensor, decoding: Decoding, position: int, diversity: float
) -> torch.Tensor:
    """Grow every lane by one token in place; gives the parent row of every new row (R,)."""
    examples, width = lanes[0].live.scores.shape
    beams = width * len(lanes)
    by_beam = logits.reshape(examples, beams, -1)
    allowed = forbid_stop(logits, stop, decoding, position).reshape(examples, beams, -1)
    norms = log_norm(logits).reshape(examples, beams)
    taken = torch.zeros((examples, logits.shape[-1]), dtype=logits.dtype, device=logits.device) if diversity else None
    parents = []
    for g, lane in enumerate(lanes):
        part = slice(g * width, (g + 1) * width)
        offered = allowed[:, part] if taken is None or g == 0 else allowed[:, part] - diversity * taken[:, None]
        parent = _grow(lane, by_beam[:, part], offered, norms[:, part], stop, decoding, position)
        if taken is not None:
            taken.scatter_add_(1, lane.took, lane.counts.to(taken.dtype))
        parents.append(parent + g * width)
    base = torch.arange(examples, device=logits.device)[:, None] * beams
    return (torch.cat(parents, dim=1) + base).reshape(-1)


def _grow(
    lane: _Lane,
    logits: torch.Tensor,
    offered: torch.Tensor,
    norms: torch.Tensor,
    stop: torch.Tensor,
    decoding: Decoding,
    position: int,
) -> torch.Tensor:
    """One step of one lane: ``logits`` and ``offered`` (what is ranked) are (E, W, V). Gives the parents (E, W) of the live beams."""
    examples, width, size = logits.shape
    per_beam = min(width + len(stop), size)
    values, ids = offered.topk(per_beam, dim=-1)
    sums = (lane.live.scores[:, :, None] + (values.double() - norms[:, :, None])).reshape(examples, -1)
    order = sums.sort(dim=1, descending=True, stable=True).indices[:, : width * (1 + len(stop))]
    parent = order // per_beam
    grown = lane.live.take(parent)
    tokens = ids.reshape(examples, -1).gather(1, order)
    rows = (torch.arange(examples, device=order.device)[:, None] * width + parent).reshape(-1)
    chosen = logits.reshape(-1, size)[rows]
    grown.scores = sums.gather(1, order)
    grown.lengths = grown.lengths + 1
    grown.tokens[:, :, position] = tokens
    grown.log_probs[:, :, position] = log_prob_of(chosen, tokens.reshape(-1)).reshape(examples, -1)
    grown.ranks[:, :, position] = rank_of(chosen, tokens.reshape(-1)).reshape(examples, -1)
    lane.took, lane.counts = tokens[:, :width], grown.scores[:, :width] > _NEVER
    ends = torch.isin(tokens, stop)
    leading = torch.arange(ends.shape[1], device=ends.device) < width
    ended = _Paths(_normalised(grown, decoding).masked_fill(~(ends & leading), _NEVER), *grown._fields()[1:])
    lane.retired = lane.retired.best_of(ended, width)
    goes_on = ends.long().sort(dim=1, stable=True).indices[:, :width]  # the best that do not end, in order
    lane.live = grown.take(goes_on)
    lane.live.scores = lane.live.scores.masked_fill(ends.gather(1, goes_on), _NEVER)
    return parent.gather(1, goes_on)


def _normalised(paths: _Paths, decoding: Decoding) -> torch.Tensor:
    return paths.scores / paths.lengths.clamp(min=1).double() ** decoding.length_penalty


def _freeze(lane: _Lane, decoding: Decoding, length: int, limit: int) -> torch.Tensor:
    """(E,) bool: nothing that lives in this lane can change its list. Such lanes are ended here, so that what else is in the
    batch does not decide how long they go on."""
    alpha, rule = decoding.length_penalty, decoding.options.get("early_stopping", "never")
    best, worst = lane.live.scores[:, 0], lane.retired.scores[:, -1]
    reach = limit if rule == "never" and alpha > 0 else length
    done = best == _NEVER
    done |= (worst > _NEVER) if rule is True else (worst > _NEVER) & (best / float(reach) ** alpha <= worst)
    lane.live.scores[done] = _NEVER
    return done


# --------------------------------------------------------------------------- results
def _collect(final: list[_Paths], decoding: Decoding, batch: DecodingBatch, stop: set[int]) -> Decoded:
    wanted = decoding.candidates or 1
    repeat = bool(decoding.options.get("repeat"))
    fields = [tuple(f.cpu().numpy() for f in paths._fields()) for paths in final]
    width = final[0].scores.shape[1]
    examples = []
    for e in range(len(batch)):
        found: list[Hypothesis] = []
        for k in range(width):  # the best of each group first
            for scores, lengths, tokens, log_probs, ranks in fields:
                if scores[e, k] == _NEVER or len(found) == (1 if repeat else wanted):
                    continue
                length = int(lengths[e, k])
                ids = tokens[e, k, :length].copy()
                reason = "stop" if int(ids[-1]) in stop else "length"
                found.append(
                    Hypothesis(
                        ids, log_probs[e, k, :length].copy(), ranks[e, k, :length].copy(), reason, float(scores[e, k])
                    )
                )
        if len(found) < (1 if repeat else wanted):
            raise HarnessError(
                f"beam search found only {len(found)} of {wanted} candidates for example {batch.name(e)}: "
                "the vocabulary or max_length is too small"
            )
        examples.append(tuple(found * wanted if repeat else found))
    return Decoded(tuple(examples))
