"""The ``o2na`` adapter: captions around predicted or requested objects.

The design of the model is ours, after the abstract of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from harness.contracts import (
    Decoding,
    Example,
    Failure,
    Generation,
    TaskView,
    TokenScores,
)
from harness_models.o2na.model import O2na
from harness_models.o2na.network import Encoded
from harness_models.o2na.refinement import sampled_words
from harness_models.o2na.three_steps import (
    Draws,
    ObjectRefiner,
    RequestedObjects,
    ThreeSteps,
    least_length,
    place_objects,
    read_objects,
)
from harness_models.o2na.video_adapter import VideoAdapter, refuse_strategy
from harness_models.shared.decoding.filters import uniforms
from harness_models.shared.decoding.states import select_rows
from harness_models.shared.weights.checkpoints import Checkpoint


class O2naAdapter(VideoAdapter):
    """A model that ``harness train o2na`` wrote.

    Strategies: ``refine`` (arg-max; the ``candidates`` best of ``options.lengths``
    lengths) and ``sample`` (objects, positions and words drawn at the temperature, the
    length at ``options.length_temperature``, default 1). Options: objects, iterations,
    keep_objects, threshold, alpha, shortest
    (:class:`~harness_models.o2na.three_steps.ThreeSteps`).

    ``options.objects`` requests objects for all captions, and
    ``Example.meta["objects"]`` for those of one example: a list of words, or a mapping
    of words to positions in the caption (from 1). Reference scores are
    pseudo-log-likelihoods.

    Parameters
    ----------
    checkpoint
        Folder of the run.
    features
        ``{m: file, i: file}`` or ``{scenes: {...}}``. Default: the features of the
        training.
    words
        Word list (JSON). Default: the words of the training.
    frames
        Number of frames per modality. Default: as in training, else 8.
    config
        Mapping or JSON file with settings that tensor shapes do not determine.
    batch_size
        Number of examples per batch, or ``auto``.
    device
        Device of the model.

    References
    ----------
    Liu et al., "O2NA: An Object-Oriented Non-Autoregressive Approach for Controllable
    Video Captioning" (2021), arXiv 2108.02359. The model here is not the authors' one
    (:mod:`harness_models.o2na.model`).
    """

    name = "o2na"
    method = "O2NA"
    model: O2na

    def load_model(
        self, checkpoint: Checkpoint, config: Mapping[str, Any] | str | None
    ) -> O2na:
        """Return the model of a checkpoint."""
        return O2na.from_checkpoint(checkpoint, config)

    @cached_property
    def objects(self) -> list[str]:
        """Object words of the model."""
        return [self.words.words[i] for i in self.model.object_predictor.words.tolist()]

    def prepare(self, task: TaskView) -> None:
        """Check the examples, the requested objects and the decoding settings of a
        task.

        Raises
        ------
        InputError
            If an example has no features, or a requested object is not an object word
            of the model.
        HarnessError
            If the strategy or an option is invalid.
        """
        self._steps(task.decoding)
        for example in task.examples:
            self._read_request(example, task.decoding)
        super().prepare(task)

    @classmethod
    def refuse_decoding(cls, decoding: Decoding) -> str:
        """Return why no model of this kind decodes so, or an empty text."""
        return refuse_strategy(cls.method, decoding)

    def _steps(self, decoding: Decoding) -> ThreeSteps:
        return self.read_steps(decoding, ThreeSteps, 1, "objects")

    def _read_request(
        self, example: Example, decoding: Decoding
    ) -> RequestedObjects | None:
        """Return the objects requested for an example, or None."""
        longest = self.longest(decoding)
        if "objects" in example.meta:
            # What an example requests takes precedence over what the run requests.
            return read_objects(
                example.meta["objects"],
                self.objects,
                longest,
                f"example '{example.id}'",
            )
        if "objects" in decoding.options:
            return read_objects(
                decoding.options["objects"],
                self.objects,
                longest,
                "o2na: options.objects",
            )
        return None

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield one generation per example, without log-probabilities:
        refined captions have no likelihood.
        """
        steps = self._steps(decoding)
        return self.refine(
            examples, seeds, lambda pairs: self._write(pairs, decoding, steps)
        )

    def _write(
        self,
        pairs: Sequence[tuple[Example, int]],
        decoding: Decoding,
        steps: ThreeSteps,
    ) -> list[Generation]:
        """Return the generations of (example, seed) pairs."""
        examples = [example for example, _ in pairs]
        count = decoding.candidates or 1
        videos = self.encode_videos(self.model, self.inputs(examples), examples)
        requests = [self._read_request(example, decoding) for example in examples]

        # One uniform number for the length, two for each object, one for each slot of
        # each pass.
        numbers = None
        if decoding.strategy != "refine":
            words = (steps.iterations + 1) * self.model.sizes.max_len
            size = 1 + 2 * len(self.objects) + words
            numbers = uniforms([seed for _, seed in pairs], count, size)

        lengths = self._lengths(videos, steps, requests, decoding, numbers)
        row_count = lengths.shape[1]
        owner = torch.arange(len(pairs), device=self.device)
        rows = select_rows(videos, owner.repeat_interleave(row_count))

        draws = None if numbers is None else self._draws(numbers, decoding)
        flat = lengths.reshape(-1)
        placed = place_objects(
            self.model,
            rows,
            flat,
            steps,
            [item for item in requests for _ in range(row_count)],
            draws,
        )

        refiner = ObjectRefiner(
            self.model, rows, steps, None if draws is None else draws.words
        )
        slots = refiner.write(flat, placed)
        return self.select_captions(refiner, slots, pairs, decoding)

    def _lengths(
        self,
        videos: Encoded,
        steps: ThreeSteps,
        requests: Sequence[RequestedObjects | None],
        decoding: Decoding,
        numbers: np.ndarray | None,
    ) -> torch.Tensor:
        """Return lengths (E, n), or (E, candidates) for draws with ``numbers``, that
        have room for the requested objects.
        """
        assert videos.lengths is not None

        scores = videos.lengths
        longest = self.longest(decoding)
        requesting = [row for row, item in enumerate(requests) if item]
        if requesting:
            objects = torch.zeros(
                len(requesting), len(self.objects), dtype=torch.bool, device=self.device
            )
            for mask, item in zip(objects, (requests[row] for row in requesting)):
                mask[list(item or ())] = True
            index = torch.tensor(requesting, device=self.device)
            scores = scores.clone()
            scores[index] = self.model.object_predictor.length_log_probs(
                scores[index], videos.mean[index], objects
            )

        lengths = self.choose_lengths(scores, steps, decoding, numbers)
        shortest_lengths = torch.tensor(
            [least_length(item, steps.shortest, longest) for item in requests],
            device=self.device,
        )
        return torch.maximum(lengths, shortest_lengths[:, None])

    def _draws(self, numbers: np.ndarray, decoding: Decoding) -> Draws:
        """Return the draws of objects, positions and words from ``numbers`` (E, n,
        size), whose first column draws the length.
        """
        count = len(self.objects)
        rows = np.ascontiguousarray(numbers.reshape(-1, numbers.shape[2]))
        flat = torch.from_numpy(rows).to(self.device)

        # Numbers 0: the length; then two for each object; then one for each slot of a
        # pass.
        words = sampled_words(
            numbers[:, :, 1 + 2 * count :],
            self.model.sizes.max_len,
            decoding,
            self.device,
        )

        return Draws(
            flat[:, 1 : 1 + count],
            flat[:, 1 + count : 1 + 2 * count],
            decoding.temperature,
            words,
        )

    def _score(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        return self.pseudo_scores(examples)
