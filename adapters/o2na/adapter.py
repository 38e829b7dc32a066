"""The ``o2na`` adapter: captions around objects, predicted or given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from harness.adapters.nacf.video_adapter import VideoAdapter
from harness.adapters.nacf.model import Encoded
from harness.adapters.nacf.iterative_refinement import likeliest_lengths
from harness.adapters.nacf.lengths import drawn_lengths, length_temperature, picker
from harness.adapters.o2na.model import O2na
from harness.adapters.o2na.three_step_decoding import (
    Draws,
    Given,
    ObjectRefiner,
    ThreeSteps,
    focus,
    least_length,
    read_objects,
)
from harness.adapters.shared.decoding.batches import in_batches
from harness.adapters.shared.decoding.decode import check_decoding
from harness.adapters.shared.decoding.filters import uniforms
from harness.adapters.shared.decoding.types import select_rows
from harness.contracts import Decoding, Example, Failure, Generation, PathParam, TaskView, TokenScores
from harness.errors import HarnessError, did_you_mean

STRATEGIES = ("refine", "sample", "nucleus")
_OWN = ("objects", "length_temperature")


class O2naAdapter(VideoAdapter):
    """A model that ``harness train o2na`` wrote.

    checkpoint: the run's folder. features, words, frames: as in training unless given (see ``nacf``).

    ``refine``: arg-max; the ``candidates`` best of ``options.lengths`` lengths. ``sample``: objects, places and words drawn at the
    temperature, the length at ``options.length_temperature`` (1). Options: objects, iterations, keep_objects, threshold, alpha, shortest.
    Objects for all captions: ``options.objects``, for those of one example ``Example.meta["objects"]``: a list of words, or a
    mapping of words to places in the caption (from 1). Likelihoods are ``pseudo``.
    """

    kind = O2na
    name = "o2na"
    model: O2na

    def __init__(
        self,
        *,
        checkpoint: PathParam,
        features: Mapping[str, PathParam | Mapping[str, Any]] | None = None,
        words: PathParam | None = None,
        config: Mapping[str, Any] | str | None = None,
        frames: int | None = None,
        batch_size: int | str = 64,
        device: str = "cpu",
    ) -> None:
        self.open(
            checkpoint, features=features, words=words, config=config, frames=frames, batch_size=batch_size, device=device
        )  # fmt: skip
        self.objects = [self.words.words[i] for i in self.model.object_predictor.words.tolist()]

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without features and objects that the model does not know."""
        self._how(task.decoding)
        for example in task.examples:
            self._given(example, task.decoding)
        super().prepare(task)

    def _how(self, decoding: Decoding) -> ThreeSteps:
        if decoding.strategy not in STRATEGIES:
            raise HarnessError(f"o2na: decodes by {', '.join(STRATEGIES)}; found '{decoding.strategy}'")
        check_decoding(decoding)
        known = [*(field.name for field in fields(ThreeSteps)), *_OWN]
        for name in decoding.options:
            if name not in known:
                raise HarnessError(
                    f"o2na: unknown option '{name}'{did_you_mean(name, known)}; options are {', '.join(known)}"
                )
        length_temperature(decoding.options)
        given = {"shortest": self.told.get("shortest", 1), **decoding.options}
        how = ThreeSteps(**{name: value for name, value in given.items() if name not in _OWN})
        if decoding.strategy == "refine" and (decoding.candidates or 1) > min(how.lengths, self.model.sizes.max_len):
            raise HarnessError(
                f"o2na: {how.lengths} lengths give {how.lengths} candidates, {decoding.candidates} asked for"
            )
        return how

    def _given(self, example: Example, decoding: Decoding) -> Given | None:
        longest = self.longest(decoding)
        if "objects" in example.meta:
            return read_objects(example.meta["objects"], self.objects, longest, f"example '{example.id}'")
        if "objects" in decoding.options:
            return read_objects(decoding.options["objects"], self.objects, longest, "o2na: options.objects")
        return None

    # ------------------------------------------------------------------ generation
    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """One :class:`Generation` per example; log-probabilities are left out: there is no likelihood."""
        how = self._how(decoding)

        def work(pairs: Sequence[tuple[Example, int]]) -> list[Generation]:
            with torch.inference_mode():
                return self._write(pairs, decoding, how)

        return in_batches(list(zip(examples, seeds)), self.batch_size, work)  # type: ignore[return-value]

    def _write(self, pairs: Sequence[tuple[Example, int]], decoding: Decoding, how: ThreeSteps) -> list[Generation]:
        examples, wanted = [example for example, _ in pairs], decoding.candidates or 1
        once = self.encoded(self.model, self.inputs(examples), examples)
        given = [self._given(example, decoding) for example in examples]
        numbers = None
        if decoding.strategy != "refine":
            size = 1 + 2 * len(self.objects) + (how.iterations + 1) * self.model.sizes.max_len
            numbers = uniforms([seed for _, seed in pairs], wanted, size)
        lengths = self._lengths(once, how, given, decoding, numbers)
        each = lengths.shape[1]
        rows = select_rows(once, torch.arange(len(pairs), device=self.device).repeat_interleave(each))
        draws = None if numbers is None else self._draws(numbers, decoding)
        flat = lengths.reshape(-1)
        placed = focus(self.model, rows, flat, how, [item for item in given for _ in range(each)], draws)
        refiner = ObjectRefiner(self.model, rows, how, None if draws is None else draws.words)
        slots = refiner.write(flat, placed)
        order = torch.arange(wanted).expand(len(pairs), -1)
        if draws is None:
            scores = refiner.scores(slots).reshape(len(pairs), -1)
            order = scores.argsort(dim=1, descending=True, stable=True)[:, :wanted].cpu()
        return [self.written(slots.rows(e * each + order[e])) for e in range(len(pairs))]

    def _lengths(
        self, once: Encoded, how: ThreeSteps, given: Sequence[Given | None], decoding: Decoding, numbers: np.ndarray | None
    ) -> torch.Tensor:  # fmt: skip
        """(E, n or candidates for the length), long enough for the given objects."""
        assert once.lengths is not None
        scores, longest = once.lengths, self.longest(decoding)
        told = [row for row, item in enumerate(given) if item]
        if told:
            named = torch.zeros(len(told), len(self.objects), dtype=torch.bool, device=self.device)
            for row, item in zip(named, (given[row] for row in told)):
                row[list(item or ())] = True
            index = torch.tensor(told, device=self.device)
            scores = scores.clone()
            scores[index] = self.model.object_predictor.lengths_with(scores[index], once.mean[index], named)
        if numbers is None:
            found = likeliest_lengths(scores, how.lengths, longest + 1, how.shortest)
        else:
            temperature = length_temperature(decoding.options)
            found = drawn_lengths(scores, numbers[:, :, 0], temperature, how.shortest, longest)
        least = torch.tensor([least_length(item, how.shortest, longest) for item in given], device=self.device)
        return torch.maximum(found, least[:, None])

    def _draws(self, numbers: np.ndarray, decoding: Decoding) -> Draws:
        count = len(self.objects)
        flat = torch.from_numpy(np.ascontiguousarray(numbers.reshape(-1, numbers.shape[2]))).to(self.device)
        words = picker(numbers[:, :, 1 + 2 * count :], self.model.sizes.max_len, decoding, self.device)
        return Draws(flat[:, 1 : 1 + count], flat[:, 1 + count : 1 + 2 * count], decoding.temperature, words)

    # ------------------------------------------------------------------ references
    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        return self.pseudo_scores(examples)
