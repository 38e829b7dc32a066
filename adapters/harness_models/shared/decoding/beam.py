"""Beam search with length normalisation and n-best lists, and diverse beam search.

Each step takes the ``beams`` best continuations by summed log-probability.
Continuations that end are retired with the score sum / length ** length_penalty (the
end token counts); the next best continuations that do not end take their places. The
search of an example stops when ``beams`` hypotheses are retired and no live beam can
exceed the worst of them. ``options.early_stopping`` selects the bound on a live beam:

- ``never`` (default): the highest score it could have at ``max_length``;
- ``heuristic``: its score at its present length;
- ``true``: none, the search stops when the list is full.

Beams that are alive at ``max_length`` join the list with the stop reason ``length``.

References
----------
Vijayakumar et al. (2018), Diverse Beam Search for Improved Description of Complex
Scenes (AAAI): Hamming diversity.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.logits import (
    check_logits,
    forbid_stop,
    log_norm,
    log_prob_of,
    rank_of,
)
from harness_models.shared.decoding.states import reorder
from harness_models.shared.decoding.types import (
    Decoded,
    DecodingBatch,
    Hypothesis,
    Step,
)

EARLY_STOPPING = ("never", "heuristic", True)
_NEVER = float("-inf")


def beam_search(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return the ``candidates`` best of ``beams`` hypotheses per example, best first.

    The default of ``beams`` is the larger of 5 and ``candidates``. Raises
    :class:`HarnessError` for more candidates than beams.
    """
    return _search(step, decoding, batch, groups=1, diversity=0.0)


def diverse_beam_search(
    step: Step, decoding: Decoding, batch: DecodingBatch
) -> Decoded:
    """Return the hypotheses of diverse beam search: the best of each group, then the
    second of each group, and so on.

    The beams form ``options.groups`` groups (default: one beam per group). A token
    costs a group ``options.diversity`` (default 0.5) for every beam of an earlier group
    that takes the same token at the same step. Raises :class:`HarnessError` if the
    number of groups does not divide the number of beams, or the diversity is negative.
    """
    beams = _beams(decoding)
    groups = int(decoding.options.get("groups", beams))
    if groups < 1 or beams % groups:
        raise HarnessError(
            "decoding: options.groups must divide the number of beams, "
            f"found {groups} groups for {beams} beams"
        )

    diversity = float(decoding.options.get("diversity", 0.5))
    if not diversity >= 0:
        raise HarnessError(
            f"decoding: options.diversity must be 0 or more, found {diversity}"
        )

    return _search(step, decoding, batch, groups, diversity)


def _beams(decoding: Decoding) -> int:
    candidates = 1 if decoding.options.get("repeat") else decoding.candidates or 1
    beams = decoding.beams or max(5, candidates)
    if candidates > beams:
        raise HarnessError(
            f"decoding: {beams} beams give at most {beams} different candidates, "
            f"{candidates} asked for; "
            "raise beams, or set options.repeat to get the best one each time"
        )

    if decoding.options.get("early_stopping", "never") not in EARLY_STOPPING:
        raise HarnessError(
            "decoding: options.early_stopping is one of never, heuristic, true; "
            f"found {decoding.options['early_stopping']!r}"
        )
    return beams


@dataclass
class _Paths:
    """Partial or complete hypotheses: scores (E, W) (-inf: no hypothesis), lengths (E,
    W), and (E, W, L) tokens, log-probs, ranks.
    """

    scores: torch.Tensor
    lengths: torch.Tensor
    tokens: torch.Tensor
    log_probs: torch.Tensor
    ranks: torch.Tensor

    @classmethod
    def empty(
        cls, examples: int, width: int, limit: int, device: torch.device
    ) -> _Paths:
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
        """Return the columns ``index`` (E, W') of every example."""
        return _Paths(
            *(
                f.gather(
                    1,
                    index
                    if f.dim() == 2
                    else index[:, :, None].expand(-1, -1, f.shape[2]),
                )
                for f in self._fields()
            )
        )

    def examples(self, index: torch.Tensor) -> _Paths:
        """Return the examples ``index`` (E',)."""
        return _Paths(*(f.index_select(0, index) for f in self._fields()))

    def put(self, index: torch.Tensor, paths: _Paths) -> None:
        """Write the examples of ``paths`` to the rows ``index``."""
        for target, source in zip(self._fields(), paths._fields()):
            target[index] = source

    def best_of(self, rivals: _Paths, width: int) -> _Paths:
        """Return the ``width`` best of both;
        of equal scores those of ``self`` come first.
        """
        merged = _Paths(
            *(torch.cat(pair, dim=1) for pair in zip(self._fields(), rivals._fields()))
        )
        order = merged.scores.sort(dim=1, descending=True, stable=True).indices[
            :, :width
        ]
        return merged.take(order)


@dataclass
class _Lane:
    """One group of beams: live and retired hypotheses."""

    live: _Paths
    retired: _Paths
    last_tokens: torch.Tensor
    """Tokens of the W best continuations of the last step, shape (E, W),
    end tokens included.
    """
    valid: torch.Tensor
    """True where ``last_tokens`` is a continuation of a hypothesis, shape (E, W)."""

    def examples(self, index: torch.Tensor) -> _Lane:
        """Return the examples ``index`` (E',)."""
        paths = (self.live.examples(index), self.retired.examples(index))
        return _Lane(
            *paths,
            self.last_tokens.index_select(0, index),
            self.valid.index_select(0, index),
        )


def _search(
    step: Step, decoding: Decoding, batch: DecodingBatch, groups: int, diversity: float
) -> Decoded:
    beams = _beams(decoding)
    limit = decoding.max_length or batch.max_length
    width = beams // groups
    total = len(batch)

    logits, state = step(batch.start, batch.state)
    device = logits.device
    # The prefix is computed once per example. All beams of an example start from it,
    # and all but the first have the score -inf, so that the first step offers each
    # continuation once and not `beams` times.
    index = torch.arange(total, device=device).repeat_interleave(beams)
    logits = logits.index_select(0, index)
    state = reorder(step, state, index)

    stop = torch.tensor(batch.stop, dtype=torch.long, device=device)
    lanes = [_fresh_lane(total, width, limit, device) for _ in range(groups)]
    final = [_Paths.empty(total, width, limit, device) for _ in range(groups)]
    active = torch.arange(total, device=device)
    for position in range(limit):
        check_logits(logits, batch, active.repeat_interleave(beams).tolist(), position)
        rows = _advance(lanes, logits, stop, decoding, position, diversity)
        # A complete example stays in the batch, frozen, until a quarter of the batch is
        # complete: copying all states costs more than a few idle rows. Its hypotheses
        # cannot change in the meantime.
        frozen = [_freeze(lane, decoding, position + 1, limit) for lane in lanes]
        complete = torch.stack(frozen).all(0)
        if position + 1 == limit or bool(complete.all()):
            break
        if int(complete.sum()) * 4 >= len(complete):
            ready = torch.nonzero(complete)[:, 0]
            for store, lane in zip(final, lanes):
                store.put(active[complete], lane.retired.examples(ready))
            index = torch.nonzero(~complete)[:, 0]
            active = active[index]
            lanes = [lane.examples(index) for lane in lanes]
            rows = rows.reshape(-1, beams)[index].reshape(-1)

        last = [lane.live.tokens[:, :, position] for lane in lanes]
        tokens = torch.cat(last, dim=1).reshape(-1)
        logits, state = step(tokens, reorder(step, state, rows))

    for store, lane in zip(final, lanes):
        # Beams alive at the length limit compete with the retired ones under the same
        # normalisation.
        scores = _normalise_scores(lane.live, decoding)
        survivors = _Paths(scores, *lane.live._fields()[1:])
        store.put(active, lane.retired.best_of(survivors, width))
    return _collect(final, decoding, batch, set(batch.stop))


def _fresh_lane(total: int, width: int, limit: int, device: torch.device) -> _Lane:
    live, retired = (_Paths.empty(total, width, limit, device) for _ in range(2))
    lane = _Lane(live, retired, live.lengths, live.scores > _NEVER)
    lane.live.scores[:, 0] = 0.0
    return lane


def _advance(
    lanes: list[_Lane],
    logits: torch.Tensor,
    stop: torch.Tensor,
    decoding: Decoding,
    position: int,
    diversity: float,
) -> torch.Tensor:
    """Extend every lane by one token in place;
    return the parent row of every new row, shape (R,).
    """
    examples, width = lanes[0].live.scores.shape
    beams = width * len(lanes)

    by_beam = logits.reshape(examples, beams, -1)
    allowed = forbid_stop(logits, stop, decoding, position).reshape(examples, beams, -1)
    norms = log_norm(logits).reshape(examples, beams)
    penalties = None
    if diversity:
        penalties = logits.new_zeros((examples, logits.shape[-1]))
    # Groups advance one after the other, since a group is penalised for the tokens of
    # the groups before it at this very step. The penalty changes only the order of the
    # continuations; the scores of hypotheses are log-probabilities of the model.
    parents = []
    for g, lane in enumerate(lanes):
        columns = slice(g * width, (g + 1) * width)
        offered = allowed[:, columns]
        if penalties is not None and g > 0:
            offered = offered - diversity * penalties[:, None]
        parent = _grow(
            lane,
            by_beam[:, columns],
            offered,
            norms[:, columns],
            stop,
            decoding,
            position,
        )
        if penalties is not None:
            penalties.scatter_add_(1, lane.last_tokens, lane.valid.to(penalties.dtype))
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
    """Extend one lane in place; return the parents (E, W) of its live beams.

    ``logits`` (E, W, V) are those of the model, ``offered`` (E, W, V) those that rank
    the continuations, ``norms`` (E, W) the log-sum-exp of ``logits``.
    """
    examples, width, size = logits.shape
    # Of the best continuations at most len(stop) per beam end, so that width +
    # len(stop) per beam always contain `width` that go on. The candidates are cut per
    # beam first: a sort over width x vocabulary would dominate the search.
    per_beam = min(width + len(stop), size)

    values, ids = offered.topk(per_beam, dim=-1)
    gains = values.double() - norms[:, :, None]
    sums = (lane.live.scores[:, :, None] + gains).reshape(examples, -1)
    # The stable sort gives ties to the earlier beam and the smaller id, whatever the
    # device and the batch.
    order = sums.sort(dim=1, descending=True, stable=True).indices
    order = order[:, : width * (1 + len(stop))]
    parent = order // per_beam
    grown = lane.live.take(parent)
    tokens = ids.reshape(examples, -1).gather(1, order)

    first_row = torch.arange(examples, device=order.device)[:, None] * width
    rows = (first_row + parent).reshape(-1)
    parent_logits = logits.reshape(-1, size)[rows]
    grown.scores = sums.gather(1, order)
    grown.lengths = grown.lengths + 1
    grown.tokens[:, :, position] = tokens

    log_probs = log_prob_of(parent_logits, tokens.reshape(-1))
    grown.log_probs[:, :, position] = log_probs.reshape(examples, -1)

    ranks = rank_of(parent_logits, tokens.reshape(-1))
    grown.ranks[:, :, position] = ranks.reshape(examples, -1)

    lane.last_tokens = tokens[:, :width]
    lane.valid = grown.scores[:, :width] > _NEVER
    # Only an end among the `width` best continuations retires; a lower one would not
    # have been a beam.
    ends = torch.isin(tokens, stop)
    leading = torch.arange(ends.shape[1], device=ends.device) < width

    scores = _normalise_scores(grown, decoding).masked_fill(~(ends & leading), _NEVER)
    ended = _Paths(scores, *grown._fields()[1:])
    lane.retired = lane.retired.best_of(ended, width)

    # the best that do not end, in order
    survivors = ends.long().sort(dim=1, stable=True).indices[:, :width]
    lane.live = grown.take(survivors)
    # With a vocabulary smaller than the beams, ends fill the places of missing
    # continuations; they must not go on.

    lane.live.scores = lane.live.scores.masked_fill(ends.gather(1, survivors), _NEVER)
    return parent.gather(1, survivors)


def _normalise_scores(paths: _Paths, decoding: Decoding) -> torch.Tensor:
    return paths.scores / paths.lengths.clamp(min=1).double() ** decoding.length_penalty


def _freeze(lane: _Lane, decoding: Decoding, length: int, limit: int) -> torch.Tensor:
    """Return a mask (E,) of the examples whose live beams cannot change the list of
    retired hypotheses.

    The live beams of these examples are removed, so that the length of a search does
    not depend on the other examples of the batch.
    """
    alpha = decoding.length_penalty
    rule = decoding.options.get("early_stopping", "never")
    best = lane.live.scores[:, 0]
    worst = lane.retired.scores[:, -1]
    # A log-probability can only fall as a beam grows. With a positive exponent the
    # division by length ** alpha raises it most at the length limit, which gives the
    # bound of `never`; with alpha <= 0 the present length already is the best that is
    # to come.
    reach = limit if rule == "never" and alpha > 0 else length
    complete = best == _NEVER

    settled = worst > _NEVER
    if rule is not True:
        settled = settled & (best / float(reach) ** alpha <= worst)
    complete |= settled

    lane.live.scores[complete] = _NEVER
    return complete


def _collect(
    final: list[_Paths], decoding: Decoding, batch: DecodingBatch, stop: set[int]
) -> Decoded:
    candidates = decoding.candidates or 1
    repeat = bool(decoding.options.get("repeat"))
    count = 1 if repeat else candidates

    fields = [tuple(f.cpu().numpy() for f in paths._fields()) for paths in final]
    width = final[0].scores.shape[1]
    examples = []
    for e in range(len(batch)):
        hypotheses: list[Hypothesis] = []
        for k in range(width):  # the best of each group, then the second of each, ...
            for scores, lengths, tokens, log_probs, ranks in fields:
                if scores[e, k] == _NEVER or len(hypotheses) == count:
                    continue
                length = int(lengths[e, k])
                ids = tokens[e, k, :length].copy()
                reason = "stop" if int(ids[-1]) in stop else "length"
                hypotheses.append(
                    Hypothesis(
                        ids,
                        log_probs[e, k, :length].copy(),
                        ranks[e, k, :length].copy(),
                        reason,
                        float(scores[e, k]),
                    )
                )

        if len(hypotheses) < count:
            raise HarnessError(
                f"beam search found only {len(hypotheses)} of {candidates} "
                f"candidates for example {batch.name(e)}: "
                "the vocabulary or max_length is too small"
            )
        examples.append(tuple(hypotheses * candidates if repeat else hypotheses))
    return Decoded(tuple(examples))
