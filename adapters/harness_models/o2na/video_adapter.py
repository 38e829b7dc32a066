"""Base class of adapters whose models fill the slots of a caption: checkpoint, words,
video features, pseudo-log-likelihoods.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

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
from harness.contracts.parameters import PathParam
from harness.errors import HarnessError, InputError
from harness_models.o2na.layers import MASK, PAD
from harness_models.o2na.lengths import (
    length_temperature,
    most_likely_lengths,
    sampled_lengths,
)
from harness_models.o2na.network import Encoded, VideoNetwork
from harness_models.o2na.refinement import Refiner, Slots, StepSettings
from harness_models.o2na.word_list import VideoWords
from harness_models.shared.decoding.batches import check_batch_size
from harness_models.shared.decoding.decode import check_decoding, forced_scores
from harness_models.shared.decoding.left_to_right import ROWS, LeftToRight
from harness_models.shared.decoding.states import select_rows
from harness_models.shared.inputs.videos import open_videos
from harness_models.shared.training.caption_tokens import pad_rows
from harness_models.shared.weights.checkpoint_config import read_config, weight_files
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint
from harness_models.shared.weights.fingerprints import file_fingerprint

REFINING = ("refine", "sample", "nucleus")
"""Strategies of models that fill slots."""
Steps = TypeVar("Steps", bound=StepSettings)
FRAMES = 8
"""Default number of frames of each modality, as in the authors' code."""


def refuse_strategy(method: str, decoding: Decoding) -> str:
    """Return why a method that fills slots cannot decode so, or an empty text."""
    if decoding.strategy in REFINING:
        return ""
    return f"{method} decodes by {', '.join(REFINING)}; found '{decoding.strategy}'"


class VideoAdapter(LeftToRight):
    """Base of the adapters over video features.

    Parameters that are None take their values from the ``config.json`` of the training.
    """

    name: str
    """Name of the adapter."""
    method: str
    """Name of the method, for messages."""
    model: VideoNetwork
    words_class = VideoWords
    """Class of the word list."""

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
        loaded = load_checkpoint(checkpoint)
        self.config = {**loaded.settings, **read_config(config)}
        self.device = torch.device(device)
        self.model = self.load_model(loaded, config).to(self.device)

        self.words = self._words(words, loaded)
        if len(self.words) != self.model.sizes.vocabulary:
            path = str(self.words.path)
            raise InputError(
                f"{len(self.words)} words, the checkpoint has "
                f"{self.model.sizes.vocabulary}",
                path,
            )

        self.frames = int(frames or self.config.get("frames") or FRAMES)
        source = features if features is not None else self.config.get("features")
        if source is None:
            raise HarnessError(
                f"{self.name}: the checkpoint does not name its features: give features"
            )

        self.videos = open_videos(source, self.frames)
        self.batch_size = check_batch_size(batch_size)
        self.files = weight_files(checkpoint)
        self._settings = {"config": read_config(config), "frames": self.frames}

    def load_model(
        self, checkpoint: Checkpoint, config: Mapping[str, Any] | str | None
    ) -> VideoNetwork:
        """Return the model of a checkpoint."""
        raise NotImplementedError

    def _words(self, words: str | None, loaded: Checkpoint) -> VideoWords:
        if words is not None:
            self._word_files = [Path(words)]
            return self.words_class(words)
        self._word_files = []
        if not isinstance(self.config.get("words"), list):
            raise HarnessError(
                f"{self.name}: the checkpoint does not hold its words: "
                "give words (a file)"
            )
        return self.words_class(self.config["words"], loaded.path)

    def identify(self) -> str:
        """Return a name that depends on the weights, the word list,
        the features and the settings.
        """
        files = file_fingerprint(*self.files, *self._word_files)
        settings = json.dumps(self._settings, sort_keys=True)
        return f"{self.name}-{files}-{self.videos.fingerprint()}-{settings}"

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without features."""
        self.videos.check(task.examples)

    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return the feature series of each example: one array (frames, width) per
        modality.
        """
        return [
            self.videos.read(example, self.model.sizes.features) for example in examples
        ]

    def longest(self, decoding: Decoding) -> int:
        """Return the largest number of words of a caption: ``decoding.max_length``,
        limited by the slots of the model.
        """
        return min(
            decoding.max_length or self.model.sizes.max_len,
            self.model.sizes.max_len - 1,
        )

    def encode_videos(
        self, model: VideoNetwork, inputs: Sequence[Any], examples: Sequence[Example]
    ) -> Encoded:
        """Return the encoder output of ``model`` for the feature series of examples."""
        features = [
            torch.from_numpy(np.stack(series)).to(self.device)
            for series in zip(*inputs)
        ]
        return model.encode(features, self.categories(model, examples))

    def categories(
        self, model: VideoNetwork, examples: Sequence[Example]
    ) -> torch.Tensor | None:
        """Return the categories (E,) of the videos for a model that has categories,
        else None.
        """
        return None

    def read_steps(
        self, decoding: Decoding, kind: type[Steps], shortest: int, *others: str
    ) -> Steps:
        """Return the settings of a refining decoding: ``decoding.options`` as an
        instance of the dataclass ``kind``.

        Parameters
        ----------
        decoding
            Strategy, candidates and options.
        kind
            Dataclass of the settings.
        shortest
            Default of the option ``shortest``, if the training wrote none.
        others
            Options that are no settings.

        Raises
        ------
        HarnessError
            For a strategy that does not refine, an unknown option, and values out of
            range.
        """
        sizes = self.model.sizes
        if decoding.strategy not in REFINING:
            raise HarnessError(f"{self.name}: {refuse_strategy(self.method, decoding)}")

        check_decoding(decoding)
        names = [field.name for field in fields(kind)]
        allowed = [*names, *others, "length_temperature"]
        for name in decoding.options:
            if name not in allowed:
                raise HarnessError.of_name(
                    f"{self.name}: unknown option", name, allowed, "options are"
                )

        length_temperature(decoding.options)
        options = {
            "shortest": self.config.get("shortest", shortest),
            **decoding.options,
        }
        steps = kind(**{name: options[name] for name in options if name in names})

        # Each length gives one caption.
        if decoding.strategy == "refine" and (decoding.candidates or 1) > min(
            steps.lengths, sizes.max_len
        ):
            raise HarnessError(
                f"{self.name}: {steps.lengths} lengths give at most {steps.lengths} "
                f"candidates; requested {decoding.candidates}"
            )
        return steps

    def refine(
        self,
        examples: Sequence[Example],
        seeds: Sequence[int],
        write: Callable[[Sequence[tuple[Example, int]]], list[Generation]],
    ) -> Iterator[Generation | Failure]:
        """Yield the results of ``write`` on batches of (example, seed) pairs,
        without log-probabilities.
        """
        return self.measure(list(zip(examples, seeds)), torch.inference_mode()(write))

    def choose_lengths(
        self,
        scores: torch.Tensor,
        steps: StepSettings,
        decoding: Decoding,
        numbers: np.ndarray | None,
    ) -> torch.Tensor:
        """Return the lengths (E, n) of the rows from log-probabilities (E, max_len):
        the most likely, or draws.

        ``numbers`` (E, n, size) are the uniform numbers of the draws, of which the
        first of each row draws the length, or None.
        """
        longest = self.longest(decoding)
        if numbers is None:
            return most_likely_lengths(
                scores, steps.lengths, longest + 1, steps.shortest
            )
        return sampled_lengths(
            scores,
            numbers[:, :, 0],
            length_temperature(decoding.options),
            steps.shortest,
            longest,
        )

    def select_captions(
        self, refiner: Refiner, slots: Slots, pairs: Sequence[Any], decoding: Decoding
    ) -> list[Generation]:
        """Return the generation of each of E pairs from rows (E x n): the best by score
        under ``refine``, else all draws in order.
        """
        count = decoding.candidates or 1
        rows = len(slots.tokens) // len(pairs)
        order = torch.arange(count).expand(len(pairs), -1)

        if decoding.strategy == "refine":
            scores = refiner.scores(slots).reshape(len(pairs), -1)
            order = scores.argsort(dim=1, descending=True, stable=True)[:, :count].cpu()
        captions = [slots.rows(e * rows + order[e]) for e in range(len(pairs))]
        # Refined captions have no likelihood, so they have no log-probabilities.
        return [
            Generation(
                tuple(map(self.words.decode, ids)),
                lengths=tuple(map(len, ids)),
                stop_reasons=("stop",) * len(ids),
            )
            for ids in captions
        ]

    def pseudo_scores(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """Return scores of all references, labelled ``pseudo``.

        Each word is scored with its slot masked and all others in place. The last entry
        is the log-probability of the length.

        """
        flat = [
            (e, self._slots(example, text))
            for e, example in enumerate(examples)
            for text in example.references
        ]
        scores: list[list[TokenScores]] = [[] for _ in examples]

        with torch.inference_mode():
            videos = self.encode_videos(self.model, self.inputs(examples), examples)
            for start in range(0, len(flat), ROWS):
                chunk = flat[start : start + ROWS]
                for (e, _), score in zip(chunk, self._pseudo(chunk, videos)):
                    scores[e].append(score)
        return scores

    def _slots(self, example: Example, text: str) -> list[int]:
        ids = self.words.encode(text)
        longest = self.model.sizes.max_len - 1
        if not 1 <= len(ids) <= longest:
            raise InputError(
                f"a reference of example '{example.id}' has {len(ids)} words; "
                f"1 to {longest} can be scored"
            )
        return ids

    def _pseudo(
        self, chunk: Sequence[tuple[int, list[int]]], videos: Encoded
    ) -> Iterator[TokenScores]:
        """Yield the scores of (number of the video, word ids) pairs;
        each word is one row of slots.
        """

        # One row for each word of each caption: the word is masked, all others are in
        # place.
        counts = torch.tensor([len(ids) for _, ids in chunk])
        tokens = pad_rows([ids for _, ids in chunk], PAD)
        owner = torch.arange(len(chunk)).repeat_interleave(counts)
        slot = torch.cat([torch.arange(len(ids)) for _, ids in chunk])
        slots = tokens[owner].scatter(1, slot[:, None], MASK).to(self.device)
        numbers = torch.tensor([row for row, _ in chunk])
        rows = select_rows(videos, numbers[owner])
        logits = self.model.logits(slots, rows)[torch.arange(len(owner)), slot]
        log_probs, ranks = forced_scores(logits, tokens[owner, slot].to(self.device))

        assert videos.lengths is not None
        length, rank = forced_scores(
            videos.lengths[numbers.to(self.device)], counts.to(self.device)
        )

        ends = counts.cumsum(0).tolist()
        for r, (_, ids) in enumerate(chunk):
            words = slice(ends[r] - len(ids), ends[r])
            pieces = (*self.pieces(ids), "<length>")
            yield TokenScores(
                np.append(log_probs[words], length[r]),
                np.append(ranks[words], rank[r]),
                pieces,
                "pseudo",
            )
