"""Base class of the ``nacf`` and ``o2na`` adapters: checkpoint, word list, video features, and pseudo-log-likelihoods."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.adapters.nacf.layers import MASK, PAD
from harness.adapters.nacf.model import Encoded, Nacf
from harness.adapters.nacf.video_features import VideoFeatures, open_videos
from harness.adapters.nacf.word_list import WordList
from harness.adapters.shared.decoding.batches import check_batch_size
from harness.adapters.shared.decoding.decode import forced_scores
from harness.adapters.shared.decoding.left_to_right import ROWS, LeftToRight
from harness.adapters.shared.decoding.types import select_rows
from harness.adapters.shared.weights.checkpoint_config import read_config
from harness.adapters.shared.weights.checkpoints import Checkpoint, file_fingerprint, load_checkpoint
from harness.contracts import Decoding, Example, Generation, TaskView, TokenScores
from harness.errors import HarnessError, InputError

FRAMES = 8
"""Default number of frames of each modality, as in the authors' code."""


class VideoAdapter(LeftToRight):
    """Base of the adapters over video features. A subclass sets ``kind`` and ``name`` and calls :meth:`open`."""

    kind: type[Nacf] = Nacf
    """Class of the model."""
    name = "nacf"
    """Name of the adapter."""

    prepare_only_checks = True

    def open(
        self,
        checkpoint: str,
        *,
        features: Mapping[str, Any] | None,
        words: str | None,
        config: Mapping[str, Any] | str | None,
        frames: int | None,
        batch_size: int | str,
        device: str,
    ) -> None:
        """Load the model, the word list and the features.

        Parameters that are None take their values from the ``config.json`` that ``harness train`` wrote.

        Raises
        ------
        HarnessError
            If neither the parameters nor the configuration name words or features.
        InputError
            If a file does not exist or does not fit the checkpoint.
        """
        loaded = load_checkpoint(checkpoint)
        self.config = {**loaded.settings, **read_config(config)}
        self.device = torch.device(device)
        self.model = self.kind.from_checkpoint(loaded, config).to(self.device)
        self.words = self._words(words, loaded)
        if len(self.words) != self.model.sizes.vocabulary:
            where = str(self.words.path)
            raise InputError(f"{len(self.words)} words, the checkpoint has {self.model.sizes.vocabulary}", where)
        self.frames = int(frames or self.config.get("frames") or FRAMES)
        source = features if features is not None else self.config.get("features")
        if source is None:
            raise HarnessError(f"{self.name}: the checkpoint does not name its features: give features")
        self.videos: VideoFeatures = open_videos(source, self.frames)
        self.batch_size = check_batch_size(batch_size)
        self.files = weight_files(checkpoint)
        self._settings = {"config": read_config(config), "frames": self.frames}
        self._fingerprint: str | None = None

    def _words(self, words: str | None, loaded: Checkpoint) -> WordList:
        if words is not None:
            self._word_files = [Path(words)]
            return WordList(words)
        self._word_files = []
        if not isinstance(self.config.get("words"), list):
            raise HarnessError(f"{self.name}: the checkpoint does not hold its words: give words (a file)")
        return WordList(self.config["words"], loaded.path)

    def fingerprint(self) -> str:
        """Return a name that depends on the weights, the word list, the features and the settings."""
        if self._fingerprint is None:
            files = file_fingerprint(*self.files, *self._word_files)
            settings = json.dumps(self._settings, sort_keys=True)
            self._fingerprint = f"{self.name}-{files}-{self.videos.fingerprint()}-{settings}"
        return self._fingerprint

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without features."""
        self.videos.check(task.examples)

    # ------------------------------------------------------------------ inputs
    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        """Return the feature series of each example: one array (frames, width) per modality."""
        return [self.videos.read(example, self.model.sizes.features) for example in examples]

    def category(self, example: Example) -> int:
        """Return the category of a video, from ``Example.meta`` or from the corpus file.

        Raises :class:`InputError` if there is none in the range of the model.
        """
        value = example.meta.get("category", self.words.categories.get(example.id))
        if value is None or not str(value).isdecimal() or int(value) >= self.model.sizes.categories:
            raise InputError(
                f"example '{example.id}' has no category from 0 to {self.model.sizes.categories - 1}; found {value!r}"
            )
        return int(value)

    def longest(self, decoding: Decoding) -> int:
        """Return the largest number of words of a caption: ``decoding.max_length``, limited by the slots of the model."""
        return min(decoding.max_length or self.model.sizes.max_len, self.model.sizes.max_len - 1)

    def encoded(self, model: Nacf, inputs: Sequence[Any], examples: Sequence[Example]) -> Encoded:
        """Return the encoder output of ``model`` for the feature series of examples."""
        parts = [torch.from_numpy(np.stack(series)).to(self.device) for series in zip(*inputs)]
        category = None
        if model.sizes.categories:
            category = torch.tensor([self.category(example) for example in examples], device=self.device)
        return model.encode(parts, category)

    def to_text(self, ids: list[int]) -> str:
        """Return the words of ids, joined by spaces."""
        return self.words.text(ids)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the word of each id."""
        return tuple(self.words.words[i] for i in ids)

    def generation(self, rows: Sequence[list[int]]) -> Generation:
        """Return the candidates of rows of word ids, without log-probabilities: refined captions have no likelihood."""
        lengths = tuple(map(len, rows))
        return Generation(tuple(map(self.words.text, rows)), lengths=lengths, stop_reasons=("stop",) * len(rows))

    # ------------------------------------------------------------------ pseudo-log-likelihood
    def pseudo_scores(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """Return scores of all references, labelled ``pseudo``.

        Each word is scored with its slot masked and all others in place. The last entry is the log-probability of the length.
        """
        flat = [(e, self._slots(example, text)) for e, example in enumerate(examples) for text in example.references]
        scores: list[list[TokenScores]] = [[] for _ in examples]
        with torch.inference_mode():
            videos = self.encoded(self.model, self.inputs(examples), examples)
            for start in range(0, len(flat), ROWS):
                part = flat[start : start + ROWS]
                for (e, _), score in zip(part, self._pseudo(part, videos)):
                    scores[e].append(score)
        return scores

    def _slots(self, example: Example, text: str) -> list[int]:
        ids, longest = self.words.encode(text), self.model.sizes.max_len - 1
        if not 1 <= len(ids) <= longest:
            raise InputError(
                f"a reference of example '{example.id}' has {len(ids)} words; 1 to {longest} can be scored"
            )
        return ids

    def _pseudo(self, part: Sequence[tuple[int, list[int]]], videos: Encoded) -> Iterator[TokenScores]:
        """Yield the scores of (number of the video, word ids) pairs; each word is one row of slots."""
        counts = torch.tensor([len(ids) for _, ids in part])
        tokens = torch.full((len(part), int(counts.max())), PAD)
        for row, (_, ids) in zip(tokens, part):
            row[: len(ids)] = torch.tensor(ids)
        owner = torch.arange(len(part)).repeat_interleave(counts)
        place = torch.cat([torch.arange(len(ids)) for _, ids in part])
        slots = tokens[owner].scatter(1, place[:, None], MASK).to(self.device)
        numbers = torch.tensor([row for row, _ in part])
        rows = select_rows(videos, numbers[owner])
        logits = self.model.logits(slots, rows)[torch.arange(len(owner)), place]
        log_probs, ranks = forced_scores(logits, tokens[owner, place].to(self.device))
        assert videos.lengths is not None
        length, rank = forced_scores(videos.lengths[numbers.to(self.device)], counts.to(self.device))
        ends = counts.cumsum(0).tolist()
        for r, (_, ids) in enumerate(part):
            words = slice(ends[r] - len(ids), ends[r])
            pieces = (*self.pieces(ids), "<length>")
            yield TokenScores(
                np.append(log_probs[words], length[r]), np.append(ranks[words], rank[r]), pieces, "pseudo"
            )


def weight_files(checkpoint: str) -> list[Path]:
    """Return the files that a checkpoint's weights depend on; in the folder of a run, neither the log nor the training state."""
    path = Path(checkpoint)
    if not path.is_dir():
        return [path]
    return [*sorted(path.glob("*.safetensors")), *sorted(path.glob("*.json"))]
