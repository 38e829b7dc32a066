"""O2NA's three steps at work: focused objects and their places, a draft around them in one pass, refinement with the video.

Arg-max (``refine``) or drawn (``sample``): then every object is taken with its probability, places and words are drawn, each decision
with a uniform number of its own. A caption of L words has at most max(1, L // 2) predicted objects, the most probable ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.adapters.nacf.layers import MASK, PAD, VIS
from harness.adapters.nacf.model import Encoded
from harness.adapters.nacf.iterative_refinement import Pick, Refinement, Refiner, Slots
from harness.adapters.o2na.model import O2na
from harness.adapters.shared.decoding.filters import draw
from harness.contracts import Decoding
from harness.errors import HarnessError, InputError, did_you_mean

Given = Mapping[int, int | None]
"""Object number -> slot (from 0), or None where the model is to place it."""


@dataclass(frozen=True, kw_only=True)
class ThreeSteps:
    """How a caption is made."""

    lengths: int = 6
    """Length candidates (refine)."""
    iterations: int = 4
    """Refining passes after the draft."""
    alpha: float = 1.0
    """Length normalisation of the score by which candidates are ranked (refine)."""
    threshold: float = 0.5
    """Objects above this probability are focused (refine); the most probable one always is."""
    keep_objects: bool = True
    """Whether predicted object words stay as they are while the draft is refined. Given ones always do."""
    shortest: int = 1
    """Fewest words of a caption."""

    def __post_init__(self) -> None:
        Refinement(lengths=self.lengths, iterations=max(1, self.iterations), shortest=self.shortest)
        if self.iterations < 0:
            raise HarnessError(f"decoding: options.iterations must be at least 0, found {self.iterations}")
        if not 0 <= self.threshold <= 1:
            raise HarnessError(f"decoding: options.threshold is a probability, found {self.threshold}")


@dataclass(frozen=True)
class Draws:
    """Uniform numbers for R rows and O objects."""

    objects: torch.Tensor
    """(R, O)"""
    places: torch.Tensor
    """(R, O), used in the order in which objects are placed."""
    temperature: float
    words: Pick


@dataclass
class Placed:
    """What step 1 gives."""

    tokens: torch.Tensor
    """(R, T) object words in their slots, 0 elsewhere."""
    certain: torch.Tensor
    """(R, T) probability of object and place."""
    given: torch.Tensor
    """(R, T) bool: slots of objects that the user gave."""


def read_objects(given: Any, names: Sequence[str], longest: int, where: str) -> dict[int, int | None]:
    """Objects from a list of words, or a mapping of words to their place in the caption (from 1; null: anywhere).

    Raises :class:`InputError` for anything else, words that are no objects of the model (with the nearest one), and places taken twice.
    """
    if not isinstance(given, (Mapping, list, tuple)):
        raise InputError(f"objects is a list of words, or a mapping of words to places; found {given!r}", where)
    asked = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
    index, found = {name: i for i, name in enumerate(names)}, {}
    for word, place in asked.items():
        if word not in index:
            known = ", ".join(names[:12]) + (f", ... ({len(names)} words)" if len(names) > 12 else "")
            raise InputError(
                f"'{word}' is no object word of this model{did_you_mean(str(word), names)}; it knows {known}", where
            )
        if place is not None and (isinstance(place, bool) or not isinstance(place, int) or not 1 <= place <= longest):
            raise InputError(f"the place of '{word}' is a number from 1 to {longest}; found {place!r}", where)
        found[index[word]] = None if place is None else place - 1
    places = [place for place in found.values() if place is not None]
    if len(set(places)) < len(places):
        raise InputError("two objects are given the same place", where)
    if len(found) > longest:
        raise InputError(f"{len(found)} objects for captions of at most {longest} words", where)
    return found


def least_length(given: Given | None, shortest: int, longest: int) -> int:
    """Words a caption needs for the given objects: their places, and a word beside each where there is room."""
    if not given:
        return min(shortest, longest)
    reach = max((place + 1 for place in given.values() if place is not None), default=0)
    return min(longest, max(shortest, 2 * len(given), reach))


# --------------------------------------------------------------------------- step 1
def focus(
    model: O2na, encoded: Encoded, lengths: torch.Tensor, how: ThreeSteps, given: Sequence[Given | None], draws: Draws | None
) -> Placed:  # fmt: skip
    """Objects and places for R rows; rows whose user gave objects have those and no others."""
    logits = model.object_predictor.detected(encoded.mean, lengths)
    certain = logits.sigmoid()
    if draws is None:
        chosen = certain > how.threshold
        chosen.scatter_(1, certain.argmax(1, keepdim=True), True)
    else:
        chosen = draws.objects < (logits.double() / draws.temperature).sigmoid()
    most = (lengths // 2).clamp(min=1)
    rank = certain.masked_fill(~chosen, -1.0).argsort(dim=1, descending=True, stable=True).argsort(1)
    chosen &= rank < most[:, None]
    wanted = torch.full(chosen.shape, -1, device=lengths.device)
    told = torch.zeros_like(chosen)
    for row, objects in enumerate(given):
        if objects is not None:
            chosen[row] = False
            for number, place in objects.items():
                chosen[row, number] = told[row, number] = True
                wanted[row, number] = -1 if place is None else place
    return _place(model, encoded, lengths, chosen, certain.masked_fill(told, 1.0), wanted, told, draws)


def _place(
    model: O2na, encoded: Encoded, lengths: torch.Tensor, chosen: torch.Tensor, certain: torch.Tensor,
    wanted: torch.Tensor, told: torch.Tensor, draws: Draws | None,
) -> Placed:  # fmt: skip
    """One object after the other into the best (or a drawn) free slot: first those with a wanted place, then the most certain."""
    logits = model.object_predictor.placed(encoded.mean, lengths, chosen)
    rows, size = torch.arange(len(lengths), device=lengths.device), logits.shape[2]
    out = Placed(
        torch.full((len(rows), size), PAD, device=lengths.device),
        torch.ones(len(rows), size, device=lengths.device, dtype=certain.dtype),
        torch.zeros(len(rows), size, dtype=torch.bool, device=lengths.device),
    )
    order = (certain + 2.0 * (wanted >= 0)).masked_fill(~chosen, -1.0).argsort(dim=1, descending=True, stable=True)
    for turn in range(int(chosen.sum(1).max())):
        number = order[:, turn]
        active = chosen[rows, number]
        free = logits[rows, number].masked_fill(out.tokens != PAD, float("-inf"))
        free = torch.where(active[:, None], free, torch.zeros_like(free))
        slot = (
            free.argmax(1)
            if draws is None
            else draw(free, draws.places[:, turn], Decoding("sample", draws.temperature))
        )
        slot = torch.where(wanted[rows, number] >= 0, wanted[rows, number], slot)
        probability = certain[rows, number] * free.softmax(1)[rows, slot]
        here, at = rows[active], slot[active]
        out.tokens[here, at] = model.object_predictor.words[number[active]]
        out.certain[here, at] = probability[active]
        out.given[here, at] = told[here, number[active]]
    return out


# --------------------------------------------------------------------------- steps 2 and 3
class ObjectRefiner(Refiner):
    """Draft and refinement around placed objects. Special words are never written: a caption has its length, and its objects."""

    def __init__(self, model: O2na, encoded: Encoded, how: ThreeSteps, pick: Pick | None) -> None:
        super().__init__(model, encoded, Refinement(alpha=how.alpha), pick=pick)
        self.steps = how

    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = super().logits(tokens)
        logits[..., : VIS + 1] = float("-inf")
        return logits

    def write(self, lengths: torch.Tensor, placed: Placed) -> Slots:
        """Rows of the given lengths, drafted and refined."""
        pad = torch.arange(placed.tokens.shape[1], device=lengths.device)[None] >= lengths[:, None]
        is_open = (placed.tokens == PAD) & ~pad
        fixed = ~is_open & ~pad if self.steps.keep_objects else placed.given
        slots = Slots(placed.tokens.masked_fill(is_open, MASK), placed.certain, pad, [], fixed)
        chosen, best = self._predict(slots, slots.tokens.masked_fill(is_open, VIS))
        slots.put(is_open, chosen, best)
        for turn in range(1, self.steps.iterations + 1):
            doubted = slots.probabilities.masked_fill(fixed, 2.0)
            self._again(slots, self._least(doubted, slots, 1.0 - turn / (self.steps.iterations + 1)))
        return slots
