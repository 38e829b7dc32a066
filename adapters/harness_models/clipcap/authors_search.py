"""The searches of the code of CLIPCap's authors.

``authors-beam``: token scores are log-softmax(logits / temperature). A finished beam
continues with id 0 at no cost and keeps its length. Candidates are ranked by sum /
length over all beams; the result is all beams, best mean first. ``authors-greedy`` is
their nucleus filter followed by the arg-max; the filter never removes the top token, so
this is greedy search for every top_p.
"""

from __future__ import annotations

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.decode import greedy as authors_greedy
from harness_models.shared.decoding.logits import check_logits
from harness_models.shared.decoding.states import reorder
from harness_models.shared.decoding.trace import Trace, TraceStep
from harness_models.shared.decoding.types import Decoded, DecodingBatch, Step

DEFAULT_BEAMS = 5


def authors_beam(step: Step, decoding: Decoding, batch: DecodingBatch) -> Decoded:
    """Return the best hypotheses of the authors' beam search.

    Parameters
    ----------
    step
        Decoder step of the model.
    decoding
        ``beams`` (default 5, at least ``candidates``), ``candidates`` (1),
        ``temperature`` and ``max_length``.
    batch
        E examples with exactly one end token.

    Returns
    -------
    Decoded
        ``candidates`` hypotheses of each example, best first. Scores are mean
        log-probabilities at ``temperature``.

    Raises
    ------
    HarnessError
        If there are fewer beams than candidates, or more beams than vocabulary entries.
    """
    beams = _beams(decoding)
    limit = decoding.max_length or batch.max_length
    total = len(batch)
    if len(batch.stop) != 1:
        raise HarnessError(
            f"authors-beam requires exactly one end token; found {len(batch.stop)}"
        )

    # Every beam starts from the same first step, with another of the best tokens.
    logits, state = step(batch.start, batch.state)
    check_logits(logits, batch, range(total), 0)
    if logits.shape[-1] < beams:
        raise HarnessError(
            f"decoding: {beams} beams for a vocabulary of {logits.shape[-1]}"
        )

    scores, first = (logits / decoding.temperature).log_softmax(-1).topk(beams, dim=-1)
    device = logits.device
    index = torch.arange(total, device=device).repeat_interleave(beams)
    logits = logits[index]
    state = reorder(step, state, index)
    history = [TraceStep.of(scores, first, torch.zeros_like(first), logits)]
    lengths = torch.ones_like(scores)
    stopped = first == batch.stop[0]

    for position in range(1, limit):
        if bool(stopped.all()):
            break
        logits, state = step(history[-1].tokens.reshape(-1), state)
        check_logits(logits, batch, index.tolist(), position)

        log_probs = (logits / decoding.temperature).log_softmax(-1)
        log_probs = _keep_finished(log_probs.reshape(total, beams, -1), stopped)
        lengths = lengths + (~stopped).to(lengths)
        scores, parents, tokens = _advance(log_probs, scores, lengths)

        lengths = lengths.gather(1, parents)
        stopped = stopped.gather(1, parents) | (tokens == batch.stop[0])
        offsets = torch.arange(total, device=device)[:, None] * beams
        rows = (parents + offsets).reshape(-1)
        history.append(TraceStep.of(scores, tokens, parents, logits[rows]))
        state = reorder(step, state, rows)

    return _collect(
        Trace(history),
        scores / lengths,
        lengths,
        decoding.candidates or 1,
        batch.stop[0],
    )


def _keep_finished(log_probs: torch.Tensor, stopped: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities (E, K, V) in which a finished beam, true in ``stopped``
    (E, K), has one continuation, id 0 at no cost.

    So it competes with the growing beams under its own mean.
    """
    log_probs = log_probs.masked_fill(stopped[:, :, None], float("-inf"))
    log_probs[:, :, 0] = log_probs[:, :, 0].masked_fill(stopped, 0.0)
    return log_probs


def _advance(
    log_probs: torch.Tensor, scores: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return scores, parents and tokens (E, K) of the K best continuations.

    ``log_probs`` (E, K, V) are those of the next token, ``scores`` (E, K) the sums of
    the beams before it, and ``lengths`` (E, K) their lengths with it.
    """
    # The authors rank by the mean over the length after the step, and recover the sum
    # from the chosen mean afterwards.
    means = (scores[:, :, None] + log_probs) / lengths[:, :, None]
    best, flat = means.reshape(len(means), -1).topk(scores.shape[1], dim=-1)

    size = log_probs.shape[-1]
    parents = flat // size
    return best * lengths.gather(1, parents), parents, flat % size


def _beams(decoding: Decoding) -> int:
    beams = decoding.beams or max(DEFAULT_BEAMS, decoding.candidates or 1)
    if (decoding.candidates or 1) > beams:
        raise HarnessError(
            f"decoding: {beams} beams give at most {beams} candidates; "
            f"requested {decoding.candidates}"
        )
    return beams


def _collect(
    trace: Trace, means: torch.Tensor, lengths: torch.Tensor, count: int, stop: int
) -> Decoded:
    """Return the ``count`` best hypotheses per example, by the means (E, K) of the last
    beams and their lengths (E, K).
    """
    order = means.argsort(dim=1, descending=True, stable=True)[:, :count].tolist()
    last = trace.tokens.shape[1] - 1
    averages = means.tolist()
    sizes = lengths.long().tolist()

    # A path is cut at the end of its hypothesis: the ids 0 behind it only kept the beam
    # in the search.
    examples = []
    for e, best in enumerate(order):
        paths = {k: trace.path(e, last, k)[: sizes[e][k]] for k in best}
        examples.append(
            tuple(trace.hypothesis(e, paths[k], averages[e][k], stop) for k in best)
        )
    return Decoded(tuple(examples))


STRATEGIES = {"authors-beam": authors_beam, "authors-greedy": authors_greedy}
