"""The three steps of O2NA's decoding: objects and their positions, a draft around them
in one pass, refinement with the video.

Strategy ``refine`` takes the arg-max. Strategy ``sample`` selects every object with
its probability, and draws positions and words; each decision has its own uniform
number. A caption of L words has at most max(1, L // 2) predicted objects, the most
probable ones.

Shapes: ``R`` rows (captions), ``O`` object words, ``T`` slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.contracts import Decoding
from harness.errors import HarnessError, InputError, did_you_mean
from harness_models.o2na.layers import MASK, PAD, VIS
from harness_models.o2na.model import O2na
from harness_models.o2na.network import Encoded
from harness_models.o2na.refinement import Pick, Refiner, Slots, StepSettings
from harness_models.shared.decoding.filters import draw

RequestedObjects = Mapping[int, int | None]
"""Object number to slot (from 0), or None where the model selects the slot."""


@dataclass(frozen=True, kw_only=True)
class ThreeSteps(StepSettings):
    """Settings of the decoding."""

    alpha: float = 1.0
    shortest: int = 1
    iterations: int = 4
    """Number of refining passes after the draft."""
    threshold: float = 0.5
    """Objects above this probability are selected (refine);
    the most probable one always is.
    """
    keep_objects: bool = True
    """If true, the refinement does not change predicted object words. It never changes
    requested ones.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_counts("iterations", minimum=0)
        if not 0 <= self.threshold <= 1:
            raise HarnessError(
                f"decoding: options.threshold is a probability, found {self.threshold}"
            )


@dataclass(frozen=True)
class Draws:
    """Uniform numbers in [0, 1) for R rows and O objects."""

    objects: torch.Tensor
    """(R, O), one per object."""
    positions: torch.Tensor
    """(R, O), used in the order in which objects are placed."""
    temperature: float
    """Temperature of objects and positions."""
    words: Pick
    """Function that draws the words of a pass."""


@dataclass
class PlacedObjects:
    """Result of step 1: objects in their slots."""

    tokens: torch.Tensor
    """Object words (R, T) in their slots, 0 elsewhere."""
    probabilities: torch.Tensor
    """Probability (R, T) of object and position, 1 elsewhere."""
    requested: torch.Tensor
    """(R, T) bool, True at slots of requested objects."""


def read_objects(
    value: Any, names: Sequence[str], longest: int, location: str
) -> dict[int, int | None]:
    """Return requested objects as object numbers and slots.

    Parameters
    ----------
    value
        List of object words, or mapping of object words to their position in the
        caption (from 1; None: any position).
    names
        Object words of the model.
    longest
        Largest number of words of a caption.
    location
        Location for error messages.

    Raises
    ------
    InputError
        If ``value`` is anything else, a word is not an object word of the model, or two
        objects have the same position.

    Examples
    --------
    >>> read_objects({"wall": None, "ball": 3}, ["ball", "wall"], 9, "options.objects")
    {1: None, 0: 2}
    """
    if not isinstance(value, (Mapping, list, tuple)):
        raise InputError(
            "objects is a list of words, or a mapping of words to places; "
            f"found {value!r}",
            location,
        )

    positions = dict(value) if isinstance(value, Mapping) else dict.fromkeys(value)
    index = {name: i for i, name in enumerate(names)}
    objects = {}
    for word, position in positions.items():
        if word not in index:
            more = f", ... ({len(names)} words)" if len(names) > 12 else ""
            raise InputError(
                f"'{word}' is no object word of this model"
                f"{did_you_mean(str(word), names)}; "
                f"it knows {', '.join(names[:12])}{more}",
                location,
            )
        if position is not None and (
            isinstance(position, bool)
            or not isinstance(position, int)
            or not 1 <= position <= longest
        ):
            raise InputError(
                f"the place of '{word}' is a number from 1 to {longest}; "
                f"found {position!r}",
                location,
            )
        objects[index[word]] = None if position is None else position - 1

    slots = [slot for slot in objects.values() if slot is not None]
    if len(set(slots)) < len(slots):
        raise InputError("two objects have the same place", location)
    if len(objects) > longest:
        raise InputError(
            f"{len(objects)} objects for captions of at most {longest} words", location
        )
    return objects


def least_length(objects: RequestedObjects | None, shortest: int, longest: int) -> int:
    """Return the smallest number of words of a caption with requested objects.

    The caption reaches the last requested slot, and has a word beside each object where
    ``longest`` allows it.

    >>> (
    ...     least_length({0: None, 1: 4}, 1, 9),
    ...     least_length({0: None, 1: None}, 1, 9),
    ...     least_length(None, 3, 9),
    ... )
    (5, 4, 3)
    """
    if not objects:
        return min(shortest, longest)
    reach = max((slot + 1 for slot in objects.values() if slot is not None), default=0)
    return min(longest, max(shortest, 2 * len(objects), reach))


def place_objects(
    model: O2na,
    encoded: Encoded,
    lengths: torch.Tensor,
    how: ThreeSteps,
    requests: Sequence[RequestedObjects | None],
    draws: Draws | None,
) -> PlacedObjects:
    """Select objects and place them in slots.

    Parameters
    ----------
    model, encoded
        The model and its encoder output with R rows.
    lengths
        Number of words (R,).
    how
        Settings of the decoding.
    requests
        Requested objects of each row, or None. A row with a request has these objects
        and no others.
    draws
        Uniform numbers, or None for the arg-max.
    """
    # Objects are independent yes-no decisions. In `sample` each is drawn with its own
    # number, so that the caption of an example does not depend on the others of its
    # batch.
    logits = model.object_predictor.object_logits(encoded.mean, lengths)
    probabilities = logits.sigmoid()
    if draws is None:
        selected = probabilities > how.threshold
        selected.scatter_(1, probabilities.argmax(1, keepdim=True), True)
    else:
        selected = draws.objects < (logits.double() / draws.temperature).sigmoid()

    # At most half of a caption's words are predicted objects, the most probable ones.
    limit = (lengths // 2).clamp(min=1)
    rank = (
        probabilities.masked_fill(~selected, -1.0)
        .argsort(dim=1, descending=True, stable=True)
        .argsort(1)
    )
    selected &= rank < limit[:, None]
    slots = torch.full(selected.shape, -1, device=lengths.device)
    # A request replaces the prediction: these objects and no others. Their probability
    # counts as 1 in the score of the caption.
    requested = torch.zeros_like(selected)
    for row, objects in enumerate(requests):
        if objects is not None:
            selected[row] = False
            for number, slot in objects.items():
                selected[row, number] = requested[row, number] = True
                slots[row, number] = -1 if slot is None else slot
    probabilities = probabilities.masked_fill(requested, 1.0)
    return _place(
        model, encoded, lengths, selected, probabilities, slots, requested, draws
    )


def _place(
    model: O2na,
    encoded: Encoded,
    lengths: torch.Tensor,
    selected: torch.Tensor,
    probabilities: torch.Tensor,
    slots: torch.Tensor,
    requested: torch.Tensor,
    draws: Draws | None,
) -> PlacedObjects:
    """Place one object after the other in the best (or a drawn) free slot: first those
    with a requested slot, then the most probable.

    ``selected``, ``probabilities``, ``slots`` (-1: any) and ``requested`` are (R, O).
    """
    logits = model.object_predictor.position_logits(encoded.mean, lengths, selected)
    rows = torch.arange(len(lengths), device=lengths.device)
    size = logits.shape[2]

    out = PlacedObjects(
        torch.full((len(rows), size), PAD, device=lengths.device),
        torch.ones(len(rows), size, device=lengths.device, dtype=probabilities.dtype),
        torch.zeros(len(rows), size, dtype=torch.bool, device=lengths.device),
    )
    # Requested slots come first (+2 exceeds every probability), so that a predicted
    # object cannot take the slot of a requested one.
    priority = (probabilities + 2.0 * (slots >= 0)).masked_fill(~selected, -1.0)
    order = priority.argsort(dim=1, descending=True, stable=True)

    for turn in range(int(selected.sum(1).max())):
        number = order[:, turn]
        active = selected[rows, number]
        free = logits[rows, number].masked_fill(out.tokens != PAD, float("-inf"))
        # Rows without an object in this turn go along with harmless logits; their
        # result is not written.
        free = torch.where(active[:, None], free, torch.zeros_like(free))
        if draws is None:
            slot = free.argmax(1)
        else:
            sample = Decoding("sample", draws.temperature)
            slot = draw(free, draws.positions[:, turn], sample)
        slot = torch.where(slots[rows, number] >= 0, slots[rows, number], slot)
        probability = probabilities[rows, number] * free.softmax(1)[rows, slot]
        here = rows[active]
        at = slot[active]
        out.tokens[here, at] = model.object_predictor.words[number[active]]
        out.probabilities[here, at] = probability[active]
        out.requested[here, at] = requested[here, number[active]]
    return out


class ObjectRefiner(Refiner):
    """Draft and refinement around placed objects.

    Special words are never predicted, so a caption has exactly its length and its
    objects.
    """

    how: ThreeSteps

    def __init__(
        self, model: O2na, encoded: Encoded, how: ThreeSteps, pick: Pick | None
    ) -> None:
        super().__init__(model, encoded, how, pick=pick)

    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits (R, T, V) of tokens (R, T), with -inf at special words."""
        logits = super().logits(tokens)
        logits[..., : VIS + 1] = float("-inf")
        return logits

    def write(self, lengths: torch.Tensor, placed: PlacedObjects) -> Slots:
        """Return drafted and refined rows of the lengths (R,) around the placed
        objects.
        """
        slot_numbers = torch.arange(placed.tokens.shape[1], device=lengths.device)
        pad = slot_numbers[None] >= lengths[:, None]

        is_open = (placed.tokens == PAD) & ~pad
        fixed = ~is_open & ~pad if self.how.keep_objects else placed.requested
        slots = Slots(
            placed.tokens.masked_fill(is_open, MASK),
            placed.probabilities,
            pad,
            [],
            fixed,
        )
        # Step 2, the draft: one pass on `vis` in the open slots, as the training hides
        # them.
        predicted, best = self._predict(slots, slots.tokens.masked_fill(is_open, VIS))
        slots.put(is_open, predicted, best)

        for turn in range(1, self.how.iterations + 1):
            # Step 3: fixed words exceed every probability, so that they never rank
            # among the least probable ones.
            confidence = slots.probabilities.masked_fill(fixed, 2.0)
            share = 1.0 - turn / (self.how.iterations + 1)
            masked = self._least_probable(confidence, slots, share)
            self._mask_and_predict(slots, masked)
        return slots
