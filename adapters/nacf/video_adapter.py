"""What the adapters of the family share: checkpoint, word list, video features, and pseudo-likelihoods."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.adapters.nacf.layers import MASK, PAD
from harness.adapters.nacf.model import Encoded, Nacf
from harness.adapters.nacf.video_features import Videos, open_videos
from harness.adapters.nacf.word_list import Words
from harness.adapters.shared.decoding.batches import check_batch_size
from harness.adapters.shared.decoding.decode import forced_scores
from harness.adapters.shared.decoding.left_to_right import ROWS, LeftToRight
from harness.adapters.shared.decoding.types import select_rows
from harness.adapters.shared.weights.checkpoint_config import read_settings
from harness.adapters.shared.weights.checkpoints import Checkpoint, file_fingerprint, load_checkpoint
from harness.contracts import Decoding, Example, Generation, TaskView, TokenScores
from harness.errors import HarnessError, InputError

FRAMES = 8
"""Frames of each modality where nothing says otherwise (as the authors have it)."""


class VideoAdapter(LeftToRight):
    """Base of ``nacf`` and ``o2na``. A subclass sets ``kind``."""

    kind: type[Nacf] = Nacf
    name = "nacf"

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
        """Model, word list and features; what is not given is taken from the ``config.json`` of a model trained here."""
        loaded = load_checkpoint(checkpoint)
        self.told = {**loaded.settings, **read_settings(config)}
        self.device = torch.device(device)
        self.model = self.kind.from_checkpoint(loaded, config).to(self.device)
        self.words = self._words(words, loaded)
        if len(self.words) != self.model.sizes.vocabulary:
            where = str(self.words.path)
            raise InputError(f"{len(self.words)} words, the checkpoint has {self.model.sizes.vocabulary}", where)
        self.frames = int(frames or self.told.get("frames") or FRAMES)
        source = features if features is not None else self.told.get("features")
        if source is None:
            raise HarnessError(f"{self.name}: this checkpoint does not say where its features come from: give features")
        self.videos: Videos = open_videos(source, self.frames)
        self.batch_size = check_batch_size(batch_size)
        self.files = weight_files(checkpoint)
        self._settings = {"config": read_settings(config), "frames": self.frames}
        self._print: str | None = None

    def _words(self, words: str | None, loaded: Checkpoint) -> Words:
        if words is not None:
            self._word_files = [Path(words)]
            return Words(words)
        self._word_files = []
        if not isinstance(self.told.get("words"), list):
            raise HarnessError(f"{self.name}: this checkpoint comes without its words: give words (a file)")
        return Words(self.told["words"], loaded.path)

    def fingerprint(self) -> str:
        if self._print is None:
            files = file_fingerprint(*self.files, *self._word_files)
            settings = json.dumps(self._settings, sort_keys=True)
            self._print = f"{self.name}-{files}-{self.videos.fingerprint()}-{settings}"
        return self._print

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` for examples without features."""
        self.videos.check(task.examples)

    # ------------------------------------------------------------------ inputs
    def inputs(self, examples: Sequence[Example]) -> list[Any]:
        return [self.videos.read(example, self.model.sizes.features) for example in examples]

    def category(self, example: Example) -> int:
        """The video's category, from its meta or from the corpus file."""
        found = example.meta.get("category", self.words.categories.get(example.id))
        if found is None or not str(found).isdecimal() or int(found) >= self.model.sizes.categories:
            raise InputError(
                f"example '{example.id}' has no category from 0 to {self.model.sizes.categories - 1}; found {found!r}"
            )
        return int(found)

    def longest(self, decoding: Decoding) -> int:
        """Most words of a caption: ``decoding.max_length``, but no more than the model has slots for."""
        return min(decoding.max_length or self.model.sizes.max_len, self.model.sizes.max_len - 1)

    def encoded(self, model: Nacf, inputs: Sequence[Any], examples: Sequence[Example]) -> Encoded:
        parts = [torch.from_numpy(np.stack(series)).to(self.device) for series in zip(*inputs)]
        category = None
        if model.sizes.categories:
            category = torch.tensor([self.category(example) for example in examples], device=self.device)
        return model.encode(parts, category)

    def to_text(self, ids: list[int]) -> str:
        return self.words.text(ids)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        return tuple(self.words.words[i] for i in ids)

    def written(self, rows: Sequence[list[int]]) -> Generation:
        """Candidates from rows of word ids; there is no likelihood to tell."""
        lengths = tuple(map(len, rows))
        return Generation(tuple(map(self.words.text, rows)), lengths=lengths, stop_reasons=("stop",) * len(rows))

    # ------------------------------------------------------------------ pseudo-likelihood
    def pseudo_scores(self, examples: Sequence[Example]) -> list[list[TokenScores]]:
        """Labelled ``pseudo``: every word with its slot alone masked, and last the log-probability of the length."""
        flat = [(e, self._slots(example, text)) for e, example in enumerate(examples) for text in example.references]
        found: list[list[TokenScores]] = [[] for _ in examples]
        with torch.inference_mode():
            once = self.encoded(self.model, self.inputs(examples), examples)
            for start in range(0, len(flat), ROWS):
                part = flat[start : start + ROWS]
                for (e, _), scores in zip(part, self._pseudo(part, once)):
                    found[e].append(scores)
        return found

    def _slots(self, example: Example, text: str) -> list[int]:
        ids, longest = self.words.encode(text), self.model.sizes.max_len - 1
        if not 1 <= len(ids) <= longest:
            raise InputError(
                f"a reference of example '{example.id}' has {len(ids)} words; 1 to {longest} can be scored"
            )
        return ids

    def _pseudo(self, part: Sequence[tuple[int, list[int]]], once: Encoded) -> Iterator[TokenScores]:
        """For (row, words) pairs: one row of slots for every word."""
        counts = torch.tensor([len(ids) for _, ids in part])
        tokens = torch.full((len(part), int(counts.max())), PAD)
        for row, (_, ids) in zip(tokens, part):
            row[: len(ids)] = torch.tensor(ids)
        owner = torch.arange(len(part)).repeat_interleave(counts)
        place = torch.cat([torch.arange(len(ids)) for _, ids in part])
        slots = tokens[owner].scatter(1, place[:, None], MASK).to(self.device)
        videos = torch.tensor([row for row, _ in part])
        rows = select_rows(once, videos[owner])
        logits = self.model.logits(slots, rows)[torch.arange(len(owner)), place]
        log_probs, ranks = forced_scores(logits, tokens[owner, place].to(self.device))
        assert once.lengths is not None
        length, rank = forced_scores(once.lengths[videos.to(self.device)], counts.to(self.device))
        ends = counts.cumsum(0).tolist()
        for r, (_, ids) in enumerate(part):
            own = slice(ends[r] - len(ids), ends[r])
            pieces = (*self.pieces(ids), "<length>")
            yield TokenScores(np.append(log_probs[own], length[r]), np.append(ranks[own], rank[r]), pieces, "pseudo")


def weight_files(checkpoint: str) -> list[Path]:
    """What a checkpoint's numbers come from: of a run's folder neither the log nor the state of its training."""
    path = Path(checkpoint)
    if not path.is_dir():
        return [path]
    return [*sorted(path.glob("*.safetensors")), *sorted(path.glob("*.json"))]
