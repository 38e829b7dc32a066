"""Decoding that fills slots in several passes: lengths, slots,
and the passes that mask and predict words again.

Shapes: ``E`` examples, ``n`` candidates, ``R`` rows, ``T`` slots, ``V`` words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.o2na.layers import MASK, PAD
from harness_models.o2na.network import Encoded, VideoNetwork
from harness_models.shared.decoding.filters import draw

# --------------------------------------------------------------------------- lengths
# Choice of caption lengths: the most likely ones, or draws with per-example random
# numbers.
SHORTEST = 4
"""Smallest number of words of a caption in the authors' code."""


def most_likely_lengths(
    log_probs: torch.Tensor, count: int, max_len: int, shortest: int = SHORTEST
) -> torch.Tensor:
    """Return the most likely lengths (E, count), most likely first.

    Lengths are clamped to [shortest, max_len - 1], so some can be equal.

    Parameters
    ----------
    log_probs
        Log-probabilities (E, max_len) of the number of words.
    count
        Number of lengths per example, reduced to the number of columns of
        ``log_probs``.

    Examples
    --------
    >>> most_likely_lengths(
    ...     torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log(), 3, max_len=4, shortest=2
    ... ).tolist()
    [[3, 2, 2]]
    """
    count = min(count, log_probs.shape[1])
    return log_probs.topk(count, dim=1).indices.clamp(
        min(shortest, max_len - 1), max_len - 1
    )


def sampled_lengths(
    log_probs: torch.Tensor,
    uniforms: np.ndarray,
    temperature: float,
    shortest: int,
    longest: int,
) -> torch.Tensor:
    """Return lengths (E, n) drawn from softmax(log_probs / temperature),
    clamped to [shortest, longest].

    Parameters
    ----------
    log_probs
        Log-probabilities (E, max_len) of the number of words.
    uniforms
        Uniform numbers (E, n) in [0, 1).
    """
    rows = log_probs.repeat_interleave(uniforms.shape[1], 0)
    flat = torch.from_numpy(np.ascontiguousarray(uniforms.reshape(-1))).to(rows.device)
    lengths = draw(rows, flat, Decoding("sample", temperature))
    return lengths.clamp(min(shortest, longest), longest).reshape(uniforms.shape)


def length_temperature(options: Mapping[str, Any]) -> float:
    """Return ``options.length_temperature`` (default 1); raise :class:`HarnessError` if
    it is not a number above 0.
    """
    temperature = options.get("length_temperature", 1.0)
    if (
        isinstance(temperature, bool)
        or not isinstance(temperature, (int, float))
        or not 0 < temperature < float("inf")
    ):
        raise HarnessError(
            "decoding: options.length_temperature must be a number above 0, "
            f"found {temperature!r}"
        )
    return float(temperature)


Pick = Callable[[torch.Tensor, int], torch.Tensor]
"""Function from logits (R, T, V) and the number of the pass to tokens (R, T)."""


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Settings that every decoding by refinement has.

    Raises :class:`HarnessError` for values out of range.
    """

    lengths: int = 6
    """Number of length candidates."""
    alpha: float = 1.35
    """Exponent of the length in the score that ranks the candidates of ``refine``."""
    shortest: int = SHORTEST
    """Smallest number of words of a caption."""

    def __post_init__(self) -> None:
        self.check_counts("lengths", "shortest")

    def check_counts(self, *names: str, minimum: int = 1) -> None:
        """Raise :class:`HarnessError` for a field that is below ``minimum``."""
        for name in names:
            if getattr(self, name) < minimum:
                raise HarnessError(
                    f"decoding: options.{name} must be at least {minimum}, "
                    f"found {getattr(self, name)}"
                )


@dataclass
class Slots:
    """State of R rows of slots that are being filled."""

    tokens: torch.Tensor
    """Word ids (R, T), 0 after the end."""
    probabilities: torch.Tensor
    """Probabilities (R, T) of the tokens; 1 at padding."""
    pad: torch.Tensor
    """(R, T) bool, True after the end."""
    history: list[torch.Tensor]
    """Tokens (R, T) after every pass."""
    fixed: torch.Tensor | None = None
    """(R, T) bool, True at words that never change."""

    def rows(self, index: torch.Tensor) -> list[list[int]]:
        """Return the word ids of the rows ``index``, without padding."""
        return [self.tokens[r][~self.pad[r]].tolist() for r in index.tolist()]

    def put(
        self, mask: torch.Tensor, tokens: torch.Tensor, probabilities: torch.Tensor
    ) -> None:
        """Write tokens and probabilities (R, T) where ``mask`` (R, T) is True and the
        slot is not fixed.
        """
        mask = mask if self.fixed is None else mask & ~self.fixed
        self.tokens = torch.where(mask, tokens, self.tokens)
        self.probabilities = torch.where(mask, probabilities, self.probabilities)
        self.history.append(self.tokens.clone())


class Refiner:
    """Rows of slots that a model fills, and their scores. A subclass writes the passes.

    Parameters
    ----------
    model
        Network that predicts the words of slots.
    encoded
        Encoder output with one row per row of slots.
    how
        Settings of the decoding.
    pick
        Function that selects the tokens of a pass; the arg-max by default.
    """

    def __init__(
        self,
        model: VideoNetwork,
        encoded: Encoded,
        how: StepSettings,
        *,
        pick: Pick | None = None,
    ) -> None:
        self.model = model
        self.encoded = encoded
        self.how = how
        self.pick = pick
        self.passes = 0

    def probabilities(self, slots: Slots) -> torch.Tensor:
        """Return the probabilities (R, T) of the words from which the score of a row is
        computed.
        """
        return slots.probabilities

    def scores(self, slots: Slots) -> torch.Tensor:
        """Return the score (R,) of each row:
        sum of log(probability) / length ** alpha.
        """
        total = self.probabilities(slots).log().sum(-1)
        return total / (~slots.pad).sum(-1).to(total) ** self.how.alpha

    # ------------------------------------------------------------------ passes
    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits (R, T, V) of tokens (R, T)."""
        return self.model.logits(tokens, self.encoded)

    def _predict(
        self, slots: Slots, tokens: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return predicted tokens and their probabilities, both (R, T), for the input
        ``tokens`` (default: the slots).
        """
        logits = self.logits(slots.tokens if tokens is None else tokens)
        probabilities = logits.softmax(-1)
        if self.pick is None:
            best, predicted = probabilities.max(-1)
        else:
            predicted = self.pick(logits, self.passes)
            best = probabilities.gather(-1, predicted[:, :, None])[:, :, 0]
        self.passes += 1
        return predicted.masked_fill(slots.pad, PAD), best.masked_fill(slots.pad, 1.0)

    def _mask_and_predict(self, slots: Slots, mask: torch.Tensor) -> None:
        """Mask the slots where ``mask`` (R, T) is True and predict them again."""
        mask = mask if slots.fixed is None else mask & ~slots.fixed
        slots.tokens = slots.tokens.masked_fill(mask, MASK)
        slots.put(mask, *self._predict(slots))

    @staticmethod
    def _least_probable(
        confidence: torch.Tensor, slots: Slots, share: float
    ) -> torch.Tensor:
        """Return a mask (R, T) of the floor(length x share) slots of each row with the
        lowest confidence, at least one.
        """
        counts = ((~slots.pad).sum(-1).float() * share).long().clamp(min=1).tolist()
        mask = torch.zeros_like(slots.pad)
        for row, count in enumerate(counts):
            mask[
                row, confidence[row].topk(count, largest=False, sorted=False).indices
            ] = True
        return mask


def sampled_words(
    uniforms: np.ndarray, slots: int, decoding: Decoding, device: torch.device
) -> Pick:
    """Return a function that draws the words of each pass with random numbers reserved
    for that pass.

    Each (example, candidate) has a separate stream of numbers, and each slot of each
    pass a fixed place in it, so that a caption does not depend on the other examples of
    the batch.

    Parameters
    ----------
    uniforms
        Uniform numbers (E, n, passes x slots) in [0, 1).
    slots
        Largest number of slots of a row.
    decoding
        Temperature, top-k and top-p.
    """
    flat = torch.from_numpy(
        np.ascontiguousarray(uniforms.reshape(-1, uniforms.shape[2]))
    ).to(device)

    def pick(logits: torch.Tensor, turn: int) -> torch.Tensor:
        rows, width, _ = logits.shape
        numbers = flat[:, turn * slots : turn * slots + width].reshape(-1)
        return draw(logits.reshape(rows * width, -1), numbers, decoding).reshape(
            rows, width
        )

    return pick
