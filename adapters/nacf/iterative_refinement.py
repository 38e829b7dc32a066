"""Non-autoregressive decoding of NAB and NACF: lengths, templates, three orders of filling, rescoring by a teacher.

Orders: ``mp`` mask-predict (all at once, then the least certain again and again), ``l2r`` left to right, ``ef`` easy first. With
templates (NACF) a first pass on the ``vis`` token places the visual words. Length candidates are rows of their own; the best is the
one with the largest sum of log (slot probability x teacher's probability) over length ** alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from harness.adapters.nacf.layers import BOS, MASK, PAD, VIS
from harness.adapters.nacf.model import Encoded, Nacf
from harness.errors import HarnessError

ORDERS = ("mp", "l2r", "ef")
SHORTEST = 4
Pick = Callable[[torch.Tensor, int], torch.Tensor]
"""(logits (R, T, V), pass number) -> tokens (R, T)."""


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """How slots are filled."""

    order: str = "mp"
    lengths: int = 6
    """Length candidates."""
    iterations: int = 5
    templates: bool = False
    alpha: float = 1.35
    at_once: int = 1
    """Slots filled at a time (l2r, ef)."""
    more: int = 0
    """Refining passes after l2r and ef."""
    teacher_masks: bool = False
    """Whether the teacher's probabilities also choose what is masked again (mp)."""
    shortest: int = SHORTEST
    """Fewest words of a caption."""

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise HarnessError(f"decoding: options.order is one of {', '.join(ORDERS)}; found {self.order!r}")
        for name in ("lengths", "iterations", "at_once", "shortest"):
            if getattr(self, name) < 1:
                raise HarnessError(f"decoding: options.{name} must be at least 1, found {getattr(self, name)}")


@dataclass
class Slots:
    """Rows being filled."""

    tokens: torch.Tensor
    """(R, T) ids, 0 after the end."""
    probabilities: torch.Tensor
    """(R, T) of the chosen tokens; 1 at padding."""
    pad: torch.Tensor
    """(R, T) bool."""
    history: list[torch.Tensor]
    """Tokens after every pass."""
    fixed: torch.Tensor | None = None
    """(R, T) bool: slots that hold given words and never change."""

    def rows(self, index: torch.Tensor) -> list[list[int]]:
        """Words of some rows."""
        return [self.tokens[r][~self.pad[r]].tolist() for r in index.tolist()]

    def put(self, where: torch.Tensor, tokens: torch.Tensor, probabilities: torch.Tensor) -> None:
        where = where if self.fixed is None else where & ~self.fixed
        self.tokens = torch.where(where, tokens, self.tokens)
        self.probabilities = torch.where(where, probabilities, self.probabilities)
        self.history.append(self.tokens.clone())


class Refiner:
    """Fills rows of one or more lengths with a model, and scores them."""

    def __init__(
        self,
        model: Nacf,
        encoded: Encoded,
        how: Refinement,
        *,
        teacher: tuple[Nacf, Encoded] | None = None,
        pick: Pick | None = None,
    ) -> None:
        """``encoded`` (and the teacher's) has one row per row to fill. ``pick`` chooses tokens (default: arg-max)."""
        self.model, self.encoded, self.how, self.teacher, self.pick = model, encoded, how, teacher, pick
        self.passes = 0

    def fill(self, lengths: torch.Tensor, given: torch.Tensor | None = None) -> Slots:
        """Rows of the given lengths (R,), filled. ``given`` (R, longest): words that stand in their slots from the start and stay
        (0: free); their probability counts as 1."""
        size = int(lengths.max())
        pad = torch.arange(size, device=lengths.device)[None] >= lengths[:, None]
        tokens = torch.full(pad.shape, MASK, device=lengths.device).masked_fill(pad, PAD)
        slots = Slots(tokens, pad.to(self.encoded.memory.dtype), pad, [])
        if given is not None:
            slots.fixed = (given != PAD) & ~pad
            slots.tokens = torch.where(slots.fixed, given, slots.tokens)
            slots.probabilities = slots.probabilities.masked_fill(slots.fixed, 1.0)
        visual = self._template(slots) if self.how.templates else None
        {"mp": self._mask_predict, "l2r": self._left_to_right, "ef": self._easy_first}[self.how.order](slots, visual)
        return slots

    def scores(self, slots: Slots) -> torch.Tensor:
        """(R,): sum of log (slot probability x teacher's probability) / length ** alpha."""
        certain = (slots.probabilities * self._teacher_probabilities(slots)).log().sum(-1)
        return certain / (~slots.pad).sum(-1).to(certain) ** self.how.alpha

    # ------------------------------------------------------------------ passes
    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        """(R, T, V)."""
        return self.model.logits(tokens, self.encoded)

    def _predict(self, slots: Slots, tokens: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.logits(slots.tokens if tokens is None else tokens)
        probabilities = logits.softmax(-1)
        if self.pick is None:
            best, chosen = probabilities.max(-1)
        else:
            chosen = self.pick(logits, self.passes)
            best = probabilities.gather(-1, chosen[:, :, None])[:, :, 0]
        self.passes += 1
        return chosen.masked_fill(slots.pad, PAD), best.masked_fill(slots.pad, 1.0)

    def _again(self, slots: Slots, where: torch.Tensor) -> None:
        """Mask some slots and predict them anew."""
        where = where if slots.fixed is None else where & ~slots.fixed
        slots.tokens = slots.tokens.masked_fill(where, MASK)
        slots.put(where, *self._predict(slots))

    def _template(self, slots: Slots) -> torch.Tensor:
        """Place the visual words; gives where they stand (R, T)."""
        chosen, best = self._predict(slots, slots.tokens.masked_fill(slots.tokens == MASK, VIS))
        slots.put(torch.ones_like(slots.pad), chosen, best.masked_fill(chosen == MASK, 0.0))
        return (chosen != MASK) & (chosen != PAD)

    def _mask_predict(self, slots: Slots, visual: torch.Tensor | None) -> None:
        rounds = self.how.iterations + (visual is not None)
        if visual is None:
            slots.put(torch.ones_like(slots.pad), *self._predict(slots))
        for turn in range(1, rounds):
            if visual is not None and turn == 1:
                where = slots.tokens == MASK
            else:
                doubted = slots.probabilities
                if self.how.teacher_masks:
                    doubted = doubted * self._teacher_probabilities(slots)
                where = self._least(doubted, slots, 1.0 - turn / rounds)
            self._again(slots, where)

    def _left_to_right(self, slots: Slots, visual: torch.Tensor | None) -> None:
        if visual is None:
            slots.history.append(slots.tokens.clone())
        open_slots = slots.tokens == MASK
        order = open_slots.long().cumsum(-1) - 1
        for start in range(0, slots.tokens.shape[1], self.how.at_once):
            where = open_slots & (order >= start) & (order < start + self.how.at_once)
            if not bool(where.any()):
                break
            self._again(slots, where)
        self._polish(slots, visual)

    def _easy_first(self, slots: Slots, visual: torch.Tensor | None) -> None:
        if visual is None:
            slots.history.append(slots.tokens.clone())
        before = -1
        while True:
            open_slots = slots.tokens == MASK
            remaining = int(open_slots.sum())
            if remaining in (0, before):  # nothing open, or the model answers with the mask itself
                break
            before = remaining
            chosen, best = self._predict(slots)
            where = torch.zeros_like(open_slots)
            for row, (mine, certain) in enumerate(zip(open_slots, best.masked_fill(~open_slots, 0.0))):
                where[row, certain.topk(min(self.how.at_once, int(mine.sum())), sorted=False).indices] = True
            slots.put(where, chosen, best)
        self._polish(slots, visual)

    def _polish(self, slots: Slots, visual: torch.Tensor | None) -> None:
        self.passes = self.model.sizes.max_len + 1  # the same for every row, however long the others of the batch are
        for turn in range(self.how.more):
            if turn == 0 and visual is not None:
                where = visual
            else:
                where = self._least(slots.probabilities, slots, 0.4 * (1.0 - turn / self.how.more))
            self._again(slots, where)

    @staticmethod
    def _least(doubted: torch.Tensor, slots: Slots, share: float) -> torch.Tensor:
        """(R, T) bool: the floor(length x share) least certain slots of each row, at least one."""
        counts = ((~slots.pad).sum(-1).float() * share).long().clamp(min=1).tolist()
        where = torch.zeros_like(slots.pad)
        for row, count in enumerate(counts):
            where[row, doubted[row].topk(count, largest=False, sorted=False).indices] = True
        return where

    def _teacher_probabilities(self, slots: Slots) -> torch.Tensor:
        """(R, T): the teacher's left-to-right probability of every word, 1 at padding and without a teacher."""
        if self.teacher is None:
            return torch.ones_like(slots.probabilities)
        model, encoded = self.teacher
        start = torch.full_like(slots.tokens[:, :1], BOS)
        logits = model.logits(torch.cat([start, slots.tokens[:, :-1]], dim=1), encoded)
        found = logits.softmax(-1).gather(-1, slots.tokens[:, :, None])[:, :, 0]
        return found.masked_fill(slots.pad, 1.0)


def likeliest_lengths(log_probs: torch.Tensor, count: int, max_len: int, shortest: int = SHORTEST) -> torch.Tensor:
    """(B, count) lengths, most likely first, held to [shortest, max_len - 1]; so some may be equal."""
    count = min(count, log_probs.shape[1])
    return log_probs.topk(count, dim=1).indices.clamp(min(shortest, max_len - 1), max_len - 1)
