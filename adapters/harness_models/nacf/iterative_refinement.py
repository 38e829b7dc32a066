"""Non-autoregressive decoding of NAB and NACF: templates, three orders of filling
slots, and rescoring by a teacher.

Orders: ``mp`` mask-predict (all slots at once, then the least probable ones again),
``l2r`` left to right, ``ef`` easy first. With templates (NACF) a first pass on the
``vis`` token places the visual words. Each length candidate is a row; the best one has
the largest sum of log(slot probability x teacher's probability) / length ** alpha (Yang
et al. 2021, section 3.4).

Shapes: ``R`` rows, ``T`` slots, ``V`` words.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.errors import HarnessError
from harness_models.nacf.model import Nacf
from harness_models.o2na.layers import BOS, MASK, PAD, VIS
from harness_models.o2na.network import Encoded
from harness_models.o2na.refinement import Pick, Refiner, Slots, StepSettings

ORDERS = ("mp", "l2r", "ef")


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
    """If true, the teacher's probabilities also select the slots that are masked again
    (mp).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_counts("iterations", "at_once")
        if self.order not in ORDERS:
            raise HarnessError(
                f"decoding: options.order is one of {', '.join(ORDERS)}; "
                f"found {self.order!r}"
            )


class NacfRefiner(Refiner):
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

    how: Refinement

    def __init__(
        self,
        model: Nacf,
        encoded: Encoded,
        how: Refinement,
        *,
        teacher: tuple[Nacf, Encoded] | None = None,
        pick: Pick | None = None,
    ) -> None:
        super().__init__(model, encoded, how, pick=pick)
        self.teacher = teacher

    def fill(
        self, lengths: torch.Tensor, fixed_words: torch.Tensor | None = None
    ) -> Slots:
        """Return filled rows.

        Parameters
        ----------
        lengths
            Number of words of each row, (R,).
        fixed_words
            Word ids (R, longest) that stay in their slots, 0 in free slots. Their
            probability counts as 1.
        """
        size = int(lengths.max())
        pad = torch.arange(size, device=lengths.device)[None] >= lengths[:, None]
        tokens = torch.full(pad.shape, MASK, device=lengths.device)
        tokens = tokens.masked_fill(pad, PAD)
        slots = Slots(tokens, pad.to(self.encoded.memory.dtype), pad, [])
        if fixed_words is not None:
            slots.fixed = (fixed_words != PAD) & ~pad
            slots.tokens = torch.where(slots.fixed, fixed_words, slots.tokens)
            slots.probabilities = slots.probabilities.masked_fill(slots.fixed, 1.0)

        visual = self._template(slots) if self.how.templates else None
        orders = {
            "mp": self._mask_predict,
            "l2r": self._left_to_right,
            "ef": self._easy_first,
        }
        orders[self.how.order](slots, visual)
        return slots

    def probabilities(self, slots: Slots) -> torch.Tensor:
        """Return slot probability x teacher's probability (R, T) of every word."""
        # A slot's probability stems from the pass in which its word was written, when
        # other slots were still masked; the teacher sees the finished caption, and
        # notices words that do not go together.
        return slots.probabilities * self._teacher_probabilities(slots)

    def _template(self, slots: Slots) -> torch.Tensor:
        """Place the visual words and return their slots (R, T)."""
        # Fed with `vis`, the model writes visual words and `mask` elsewhere. The
        # probability 0 of those slots makes them the first that a later pass fills.
        queries = slots.tokens.masked_fill(slots.tokens == MASK, VIS)
        predicted, best = self._predict(slots, queries)
        best = best.masked_fill(predicted == MASK, 0.0)
        slots.put(torch.ones_like(slots.pad), predicted, best)
        return (predicted != MASK) & (predicted != PAD)

    def _mask_predict(self, slots: Slots, visual: torch.Tensor | None) -> None:
        # The template is a pass of its own: with it, the second pass fills all slots
        # that it left open. From then on the share of slots that are masked again falls
        # linearly to 0 (Ghazvininejad et al. 2019), so that the last pass changes the
        # fewest words.
        rounds = self.how.iterations + (visual is not None)
        if visual is None:
            slots.put(torch.ones_like(slots.pad), *self._predict(slots))
        for turn in range(1, rounds):
            if visual is not None and turn == 1:
                mask = slots.tokens == MASK
            else:
                confidence = slots.probabilities
                if self.how.teacher_masks:
                    confidence = self.probabilities(slots)
                mask = self._least_probable(confidence, slots, 1.0 - turn / rounds)
            self._mask_and_predict(slots, mask)

    def _left_to_right(self, slots: Slots, visual: torch.Tensor | None) -> None:
        if visual is None:
            slots.history.append(slots.tokens.clone())

        # Slots are counted among the open ones: words of the template are in place
        # already and take no turn.
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
            # no open slot, or the model predicts the mask itself
            if remaining in (0, before):
                break
            before = remaining

            # Each row has its own number of open slots, so the most confident ones are
            # taken row by row.
            predicted, best = self._predict(slots)
            mask = torch.zeros_like(open_slots)
            confidences = best.masked_fill(~open_slots, 0.0)
            for row, (is_open, confidence) in enumerate(zip(open_slots, confidences)):
                count = min(self.how.at_once, int(is_open.sum()))
                mask[row, confidence.topk(count, sorted=False).indices] = True
            slots.put(mask, predicted, best)
        self._polish(slots, visual)

    def _polish(self, slots: Slots, visual: torch.Tensor | None) -> None:
        """Run the refining passes after l2r and ef."""
        # the same number for every row, independent of the batch
        self.passes = self.model.sizes.max_len + 1
        for turn in range(self.how.more):
            if turn == 0 and visual is not None:
                mask = visual
            else:
                share = 0.4 * (1.0 - turn / self.how.more)
                mask = self._least_probable(slots.probabilities, slots, share)
            self._mask_and_predict(slots, mask)

    def _teacher_probabilities(self, slots: Slots) -> torch.Tensor:
        """Return the teacher's left-to-right probability (R, T) of every word, 1 at
        padding and without a teacher.
        """
        if self.teacher is None:
            return torch.ones_like(slots.probabilities)

        # One teacher-forced pass scores all slots: the teacher reads the words that the
        # student wrote, shifted by one.
        model, encoded = self.teacher
        start = torch.full_like(slots.tokens[:, :1], BOS)
        logits = model.logits(torch.cat([start, slots.tokens[:, :-1]], dim=1), encoded)
        probabilities = logits.softmax(-1).gather(-1, slots.tokens[:, :, None])[:, :, 0]
        return probabilities.masked_fill(slots.pad, 1.0)
