"""Policy gradient of sampled captions: samples, their log-probabilities,
baselines and the loss.

The gradient of the expected score of captions is that of a sum of advantage times
log-probability (Williams 1992, REINFORCE). The draw has no gradient: a caption is
sampled step by step without one, and one teacher-forced pass gives its log-probability.

Shapes: ``E`` examples, ``k`` samples of each, ``R`` rows (captions), ``T`` tokens,
``V`` vocabulary entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from harness_models.shared.decoding.types import Step


def sample_tokens(
    step: Step,
    state: Any,
    start: torch.Tensor | None,
    rows: int,
    length: int,
    *,
    stop: Sequence[int],
    fill: int,
    generator: torch.Generator | None = None,
    greedy: bool = False,
) -> torch.Tensor:
    """Return captions (R, T), int64, drawn at temperature 1 without gradient; slots
    after the first end token hold ``fill``.

    Parameters
    ----------
    step
        Model.
    state
        State of the model before the first token, R rows.
    start
        First input tokens (R,), or None for a model that starts from its state.
    rows, length
        R and T.
    stop
        Ids of the end tokens.
    fill
        Id in the slots after the end.
    generator
        Source of random numbers; None is torch's global one.
    greedy
        If true, the most likely token in place of a draw.
    """
    ends = torch.tensor(list(stop))
    out = torch.full((rows, length), fill)
    ended = torch.zeros(rows, dtype=torch.bool)
    last = start

    with torch.no_grad():
        for position in range(length):
            logits, state = step(last, state)
            if greedy:
                last = logits.argmax(-1)
            else:
                chances = logits.float().softmax(-1)
                last = torch.multinomial(chances, 1, generator=generator)[:, 0]

            out[:, position] = torch.where(ended, fill, last)
            ended |= torch.isin(last, ends)
            if bool(ended.all()):
                break
    return out


def spoken_slots(tokens: torch.Tensor, stop: Sequence[int]) -> torch.Tensor:
    """Return True (R, T) for the tokens of captions (R,
    T) up to the first end token, which is included.

    >>> spoken_slots(torch.tensor([[5, 1, 0], [5, 6, 7]]), (1,)).tolist()
    [[True, True, False], [True, True, True]]
    """
    ends = torch.isin(tokens, torch.tensor(list(stop))).long()
    # The running count of ends, less that of the slot itself: 0 up to and including the
    # first end.
    return (ends.cumsum(1) - ends) == 0


def chosen_log_probs(
    log_probs: torch.Tensor, tokens: torch.Tensor, spoken: torch.Tensor
) -> torch.Tensor:
    """Return the log-probability (R,) of captions: the sum over their ``spoken`` slots
    of ``log_probs`` (R, T, V) at ``tokens`` (R, T).
    """
    return (log_probs.gather(-1, tokens[..., None])[..., 0] * spoken).sum(1)


def subtract_others(scores: torch.Tensor) -> torch.Tensor:
    """Return scores (E, k) less the mean score of the other samples of their example,
    k at least 2.

    The mean of the others does not depend on the caption itself, so that it is a
    baseline without bias (Kool, van Hoof and Welling 2019).

    >>> subtract_others(torch.tensor([[1.0, 3.0]])).tolist()
    [[-2.0, 2.0]]
    """
    samples = scores.shape[1]
    return (scores - scores.mean(1, keepdim=True)) * (samples / (samples - 1))


def policy_loss(advantages: torch.Tensor, log_probs: torch.Tensor) -> torch.Tensor:
    """Return minus the mean of advantage times log-probability over rows (R,); its
    gradient is minus that of the expected score.
    """
    return -(advantages * log_probs).mean()
