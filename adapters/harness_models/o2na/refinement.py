"""Decoding that fills slots in several passes: lengths, slots,
and the passes that mask and predict words again.

Shapes: ``E`` examples, ``n`` candidates, ``R`` rows, ``T`` slots, ``V`` words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.o2na.layers import MASK, PAD
from harness_models.o2na.lengths import SHORTEST
from harness_models.o2na.network import Encoded, VideoNetwork
from harness_models.shared.decoding.filters import draw

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
    rows = np.ascontiguousarray(uniforms.reshape(-1, uniforms.shape[2]))
    flat = torch.from_numpy(rows).to(device)

    def pick(logits: torch.Tensor, turn: int) -> torch.Tensor:
        rows, width, _ = logits.shape
        numbers = flat[:, turn * slots : turn * slots + width].reshape(-1)
        words = draw(logits.reshape(rows * width, -1), numbers, decoding)
        return words.reshape(rows, width)

    return pick
