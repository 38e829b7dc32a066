"""CLIPCap's own searches, as their code runs them.

``authors-beam``: scores are log-softmax(logits / temperature); a stopped beam goes on with id 0 at no cost and keeps its length;
candidates are ranked by sum / length over all beams; what comes out are all beams, best mean first. ``authors-greedy`` is their
nucleus filter followed by arg-max, which is greedy search whatever top_p is (the top token is never filtered out).
"""

from __future__ import annotations

import torch

from harness.adapters.shared.decoding.decode import Decoded, DecodingBatch, Hypothesis, Step, log_prob_of, rank_of
from harness.adapters.shared.decoding.decode import greedy as authors_greedy
from harness.adapters.shared.decoding.types import check_logits, reorder
from harness.contracts import Decoding
from harness.errors import HarnessError

__all__ = ["STRATEGIES", "authors_beam", "authors_greedy"]
DEFAULT_BEAMS = 5


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """``beams`` (default 5) hypotheses, of which the ``candidates`` best; scores are mean log-probabilities at ``temperature``."""
    beams = _beams(decoding)
    limit, total = decoding.max_length or batch.max_length, len(batch)
    if len(batch.stop) != 1:
        raise HarnessError("authors-beam knows one end token")
    logits, state = step(batch.start, batch.state)
    check_logits(logits, batch, range(total), 0)
    if logits.shape[-1] < beams:
        raise HarnessError(f"decoding: {beams} beams for a vocabulary of {logits.shape[-1]}")
    scores, first = (logits / decoding.temperature).log_softmax(-1).topk(beams, dim=-1)
    device = logits.device
    index = torch.arange(total, device=device).repeat_interleave(beams)
    logits, state = logits[index], reorder(step, state, index)
    tokens = first[:, :, None]  # (E, K, t)
    numbers = _numbers(logits, first)  # (2, E, K, t): log-probability, rank
    lengths = torch.ones_like(scores)
    stopped = first == batch.stop[0]
    for position in range(1, limit):
        if bool(stopped.all()):
            break
        logits, state = step(tokens[:, :, -1].reshape(-1), state)
        check_logits(logits, batch, index.tolist(), position)
        log_probs = (logits / decoding.temperature).log_softmax(-1).reshape(total, beams, -1)
        log_probs = log_probs.masked_fill(stopped[:, :, None], float("-inf"))
        log_probs[:, :, 0] = log_probs[:, :, 0].masked_fill(stopped, 0.0)
        grown = lengths + (~stopped).to(lengths)
        means = ((scores[:, :, None] + log_probs) / grown[:, :, None]).reshape(total, -1)
        best, flat = means.topk(beams, dim=-1)
        parent, chosen = flat // logits.shape[-1], flat % logits.shape[-1]
        rows = (parent + torch.arange(total, device=device)[:, None] * beams).reshape(-1)
        lengths, was_stopped = grown.gather(1, parent), stopped.gather(1, parent)
        scores = best * lengths
        tokens = torch.cat([_rows(tokens, parent), chosen[:, :, None]], dim=2)
        new = _numbers(logits[rows], chosen)
        numbers = torch.cat([torch.stack([_rows(n, parent) for n in numbers]), new], dim=3)
        stopped = was_stopped | (chosen == batch.stop[0])
        state = reorder(step, state, rows)
    return _collect(tokens, numbers, scores / lengths, lengths, stopped, decoding.candidates or 1)


def _beams(decoding: Decoding) -> int:
    beams = decoding.beams or max(DEFAULT_BEAMS, decoding.candidates or 1)
    if (decoding.candidates or 1) > beams:
        raise HarnessError(f"decoding: {beams} beams give {beams} candidates, {decoding.candidates} asked for")
    return beams


def _rows(values: torch.Tensor, parent: torch.Tensor) -> torch.Tensor:
    return values.gather(1, parent[:, :, None].expand(-1, -1, values.shape[2]))


def _numbers(logits: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    flat = chosen.reshape(-1)
    pair = torch.stack([log_prob_of(logits, flat), rank_of(logits, flat).double()])
    return pair.reshape(2, *chosen.shape, 1)


def _collect(
    tokens: torch.Tensor,
    numbers: torch.Tensor,
    means: torch.Tensor,
    lengths: torch.Tensor,
    stopped: torch.Tensor,
    n: int,
) -> Decoded:
    order = means.argsort(dim=1, descending=True, stable=True).cpu().numpy()
    ids, log_probs, ranks = tokens.cpu().numpy(), numbers[0].cpu().numpy(), numbers[1].long().cpu().numpy()
    ends, sizes, averages = stopped.cpu().numpy(), lengths.long().cpu().numpy(), means.cpu().numpy()
    return Decoded(
        tuple(
            tuple(
                Hypothesis(
                    ids[e, k, : sizes[e, k]].copy(),
                    log_probs[e, k, : sizes[e, k]].copy(),
                    ranks[e, k, : sizes[e, k]].copy(),
                    "stop" if ends[e, k] else "length",
                    float(averages[e, k]),
                )
                for k in order[e, :n].tolist()
            )
            for e in range(len(ids))
        )
    )


STRATEGIES = {"authors-beam": authors_beam, "authors-greedy": authors_greedy}
