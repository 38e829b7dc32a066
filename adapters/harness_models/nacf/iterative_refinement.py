"""Non-autoregressive decoding of NAB and NACF: templates, three orders of filling slots, and rescoring by a teacher.

Orders: ``mp`` mask-predict (all slots at once, then the least probable ones again), ``l2r`` left to right, ``ef`` easy first. With
templates (NACF) a first pass on the ``vis`` token places the visual words. Each length candidate is a row; the best one has the largest
sum of log(slot probability x teacher's probability) / length ** alpha (Yang et al. 2021, section 3.4).

Shapes: ``R`` rows, ``T`` slots, ``V`` words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.nacf.layers import BOS, MASK, PAD, VIS
from harness_models.nacf.model import Encoded, Nacf
from harness_models.shared.decoding.filters import draw

# --------------------------------------------------------------------------- lengths
# Choice of caption lengths: the most likely ones, or draws with per-example random numbers.
#
# Shapes: ``E`` examples, ``n`` candidates.
SHORTEST = 4
"""Smallest number of words of a caption in the authors' code."""


def most_likely_lengths(log_probs: torch.Tensor, count: int, max_len: int, shortest: int = SHORTEST) -> torch.Tensor:
    """Return the most likely lengths (E, count), most likely first.

    Lengths are clamped to [shortest, max_len - 1], so some can be equal.

    Parameters
    ----------
    log_probs
        Log-probabilities (E, max_len) of the number of words.
    count
        Number of lengths per example, reduced to the number of columns of ``log_probs``.

    Examples
    --------
    >>> most_likely_lengths(torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log(), 3, max_len=4, shortest=2).tolist()
    [[3, 2, 2]]
    """
    count = min(count, log_probs.shape[1])
    return log_probs.topk(count, dim=1).indices.clamp(min(shortest, max_len - 1), max_len - 1)


def sampled_lengths(log_probs: torch.Tensor, uniforms: np.ndarray, temperature: float, shortest: int, longest: int) -> torch.Tensor:
    """Return lengths (E, n) drawn from softmax(log_probs / temperature), clamped to [shortest, longest].

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
    """Return ``options.length_temperature`` (default 1); raise :class:`HarnessError` if it is not a number above 0."""
    temperature = options.get("length_temperature", 1.0)
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not 0 < temperature < float("inf"):
        raise HarnessError(f"decoding: options.length_temperature must be a number above 0, found {temperature!r}")
    return float(temperature)


ORDERS = ("mp", "l2r", "ef")
Pick = Callable[[torch.Tensor, int], torch.Tensor]
"""Function from logits (R, T, V) and the number of the pass to tokens (R, T)."""


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Settings that every decoding by refinement has. Raises :class:`HarnessError` for values out of range."""

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
                raise HarnessError(f"decoding: options.{name} must be at least {minimum}, found {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class Refinement(StepSettings):
    """Settings of the decoding of NAB and NACF."""

    order: str = "mp"
    """Order of filling: mp, l2r or ef."""
    iterations: int = 5
    """Number of passes (mp)."""
    templates: bool = False
    """If true, a first pass places the visual words (NACF)."""
    at_once: int = 1
    """Number of slots filled per pass (l2r, ef)."""
    more: int = 0
    """Number of refining passes after l2r and ef."""
    teacher_masks: bool = False
    """If true, the teacher's probabilities also select the slots that are masked again (mp)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_counts("iterations", "at_once")
        if self.order not in ORDERS:
            raise HarnessError(f"decoding: options.order is one of {', '.join(ORDERS)}; found {self.order!r}")


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

    def put(self, mask: torch.Tensor, tokens: torch.Tensor, probabilities: torch.Tensor) -> None:
        """Write tokens and probabilities (R, T) where ``mask`` (R, T) is True and the slot is not fixed."""
        mask = mask if self.fixed is None else mask & ~self.fixed
        self.tokens = torch.where(mask, tokens, self.tokens)
        self.probabilities = torch.where(mask, probabilities, self.probabilities)
        self.history.append(self.tokens.clone())


class Refiner:
    """Decoder that fills rows of slots with a model, and scores them.

    Parameters
    ----------
    model
        NAB or NACF model.
    encoded
        Encoder output with one row per row of slots.
    how
        Settings of the decoding.
    teacher
        ARB model and its encoder output, with the same rows, or None.
    pick
        Function that selects the tokens of a pass; the arg-max by default.
    """

    def __init__(
        self, model: Nacf, encoded: Encoded, how: Refinement, *, teacher: tuple[Nacf, Encoded] | None = None, pick: Pick | None = None
    ) -> None:
        self.model, self.encoded, self.how, self.teacher, self.pick = model, encoded, how, teacher, pick
        self.passes = 0

    def fill(self, lengths: torch.Tensor, fixed_words: torch.Tensor | None = None) -> Slots:
        """Return filled rows.

        Parameters
        ----------
        lengths
            Number of words of each row, (R,).
        fixed_words
            Word ids (R, longest) that stay in their slots, 0 in free slots. Their probability counts as 1.
        """
        size = int(lengths.max())
        pad = torch.arange(size, device=lengths.device)[None] >= lengths[:, None]
        tokens = torch.full(pad.shape, MASK, device=lengths.device).masked_fill(pad, PAD)
        slots = Slots(tokens, pad.to(self.encoded.memory.dtype), pad, [])
        if fixed_words is not None:
            slots.fixed = (fixed_words != PAD) & ~pad
            slots.tokens = torch.where(slots.fixed, fixed_words, slots.tokens)
            slots.probabilities = slots.probabilities.masked_fill(slots.fixed, 1.0)
        visual = self._template(slots) if self.how.templates else None
        {"mp": self._mask_predict, "l2r": self._left_to_right, "ef": self._easy_first}[self.how.order](slots, visual)
        return slots

    def scores(self, slots: Slots) -> torch.Tensor:
        """Return the score (R,) of each row: sum of log(slot probability x teacher's probability) / length ** alpha."""
        # A slot's probability stems from the pass in which its word was written, when other slots were still masked; the teacher sees the
        # finished caption, and notices words that do not go together.
        total = (slots.probabilities * self._teacher_probabilities(slots)).log().sum(-1)
        return total / (~slots.pad).sum(-1).to(total) ** self.how.alpha

    # ------------------------------------------------------------------ passes
    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits (R, T, V) of tokens (R, T)."""
        return self.model.logits(tokens, self.encoded)

    def _predict(self, slots: Slots, tokens: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return predicted tokens and their probabilities, both (R, T), for the input ``tokens`` (default: the slots)."""
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

    def _template(self, slots: Slots) -> torch.Tensor:
        """Place the visual words and return their slots (R, T)."""
        # Fed with `vis`, the model writes visual words and `mask` elsewhere. The probability 0 of those slots makes them the first that a
        # later pass fills.
        predicted, best = self._predict(slots, slots.tokens.masked_fill(slots.tokens == MASK, VIS))
        slots.put(torch.ones_like(slots.pad), predicted, best.masked_fill(predicted == MASK, 0.0))
        return (predicted != MASK) & (predicted != PAD)

    def _mask_predict(self, slots: Slots, visual: torch.Tensor | None) -> None:
        # The template is a pass of its own: with it, the second pass fills all slots that it left open. From then on the share of slots
        # that are masked again falls linearly to 0 (Ghazvininejad et al. 2019), so that the last pass changes the fewest words.
        rounds = self.how.iterations + (visual is not None)
        if visual is None:
            slots.put(torch.ones_like(slots.pad), *self._predict(slots))
        for turn in range(1, rounds):
            if visual is not None and turn == 1:
                mask = slots.tokens == MASK
            else:
                confidence = slots.probabilities
                if self.how.teacher_masks:
                    confidence = confidence * self._teacher_probabilities(slots)
                mask = self._least_probable(confidence, slots, 1.0 - turn / rounds)
            self._mask_and_predict(slots, mask)

    def _left_to_right(self, slots: Slots, visual: torch.Tensor | None) -> None:
        if visual is None:
            slots.history.append(slots.tokens.clone())
        # Slots are counted among the open ones: words of the template are in place already and take no turn.
        open_slots = slots.tokens == MASK
        order = open_slots.long().cumsum(-1) - 1
        for start in range(0, slots.tokens.shape[1], self.how.at_once):
            mask = open_slots & (order >= start) & (order < start + self.how.at_once)
            if not bool(mask.any()):
                break
            self._mask_and_predict(slots, mask)
        self._polish(slots, visual)

    def _easy_first(self, slots: Slots, visual: torch.Tensor | None) -> None:
        if visual is None:
            slots.history.append(slots.tokens.clone())
        before = -1
        while True:
            open_slots = slots.tokens == MASK
            remaining = int(open_slots.sum())
            if remaining in (0, before):  # no open slot, or the model predicts the mask itself
                break
            before = remaining
            # Each row has its own number of open slots, so the most confident ones are taken row by row.
            predicted, best = self._predict(slots)
            mask = torch.zeros_like(open_slots)
            for row, (is_open, confidence) in enumerate(zip(open_slots, best.masked_fill(~open_slots, 0.0))):
                count = min(self.how.at_once, int(is_open.sum()))
                mask[row, confidence.topk(count, sorted=False).indices] = True
            slots.put(mask, predicted, best)
        self._polish(slots, visual)

    def _polish(self, slots: Slots, visual: torch.Tensor | None) -> None:
        """Run the refining passes after l2r and ef."""
        self.passes = self.model.sizes.max_len + 1  # the same number for every row, independent of the batch
        for turn in range(self.how.more):
            if turn == 0 and visual is not None:
                mask = visual
            else:
                mask = self._least_probable(slots.probabilities, slots, 0.4 * (1.0 - turn / self.how.more))
            self._mask_and_predict(slots, mask)

    @staticmethod
    def _least_probable(confidence: torch.Tensor, slots: Slots, share: float) -> torch.Tensor:
        """Return a mask (R, T) of the floor(length x share) slots of each row with the lowest confidence, at least one."""
        counts = ((~slots.pad).sum(-1).float() * share).long().clamp(min=1).tolist()
        mask = torch.zeros_like(slots.pad)
        for row, count in enumerate(counts):
            mask[row, confidence[row].topk(count, largest=False, sorted=False).indices] = True
        return mask

    def _teacher_probabilities(self, slots: Slots) -> torch.Tensor:
        """Return the teacher's left-to-right probability (R, T) of every word, 1 at padding and without a teacher."""
        if self.teacher is None:
            return torch.ones_like(slots.probabilities)
        # One teacher-forced pass scores all slots: the teacher reads the words that the student wrote, shifted by one.
        model, encoded = self.teacher
        start = torch.full_like(slots.tokens[:, :1], BOS)
        logits = model.logits(torch.cat([start, slots.tokens[:, :-1]], dim=1), encoded)
        probabilities = logits.softmax(-1).gather(-1, slots.tokens[:, :, None])[:, :, 0]
        return probabilities.masked_fill(slots.pad, 1.0)


def sampled_words(uniforms: np.ndarray, slots: int, decoding: Decoding, device: torch.device) -> Pick:
    """Return a function that draws the words of each pass with random numbers reserved for that pass.

    Each (example, candidate) has a separate stream of numbers, and each slot of each pass a fixed place in it, so that a caption does
    not depend on the other examples of the batch.

    Parameters
    ----------
    uniforms
        Uniform numbers (E, n, passes x slots) in [0, 1).
    slots
        Largest number of slots of a row.
    decoding
        Temperature, top-k and top-p.
    """
    flat = torch.from_numpy(np.ascontiguousarray(uniforms.reshape(-1, uniforms.shape[2]))).to(device)

    def pick(logits: torch.Tensor, turn: int) -> torch.Tensor:
        rows, width, _ = logits.shape
        numbers = flat[:, turn * slots : turn * slots + width].reshape(-1)
        return draw(logits.reshape(rows * width, -1), numbers, decoding).reshape(rows, width)

    return pick
