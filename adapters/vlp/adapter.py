"""The ``vlp`` adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.adapters.shared.decoding.batches import check_batch_size
from harness.adapters.shared.decoding.left_to_right import LeftToRight, Prefix
from harness.adapters.shared.tokenisers.wordpiece import WordPiece
from harness.adapters.shared.weights.checkpoint_config import (
    number_format,
    read_settings,
    settings_beside,
    weight_files,
)
from harness.adapters.shared.weights.checkpoints import file_fingerprint
from harness.adapters.vlp.authors import STRATEGIES
from harness.adapters.vlp.model import Vlp, VlpStep
from harness.adapters.vlp.regions import RegionFiles, Regions
from harness.adapters.vlp.region_sources import open_regions
from harness.contracts import Example, PathParam, TaskView
from harness.errors import HarnessError, InputError

MAX_LENGTH, REGIONS = 20, 100
"""Most pieces of a caption and regions of an image, as published."""


class VlpAdapter(LeftToRight):
    """VLP from its checkpoint, over region features.

    checkpoint: ``model.<epoch>.bin``, ``.safetensors``, or a folder that ``harness convert`` or ``harness train vlp`` wrote.
    vocabulary: BERT-base-cased ``vocab.txt`` or its folder (default: the checkpoint's). config: what shapes do not tell, a mapping or
        a JSON file.
    features: prefix of the h5 shards, folder of ``.npy`` files, or one ``.npz``; boxes: the h5 file of boxes; or ``{scenes: {}}`` for
        examples that are numbers of rendered scenes. Default: what the model was trained on, where ``harness train`` wrote it.
    The image is found by the stem of ``Example.media``, else by the example id.
    """

    strategies = STRATEGIES

    def __init__(
        self,
        *,
        checkpoint: PathParam,
        vocabulary: PathParam | None = None,
        features: PathParam | Mapping[str, PathParam | Mapping[str, Any]] | None = None,
        boxes: str | None = None,
        config: Mapping[str, Any] | str | None = None,
        batch_size: int | str = 16,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> None:
        path = self.checkpoint = Path(checkpoint)
        beside = settings_beside(path)
        if features is None and "features" not in beside:
            raise HarnessError("vlp needs features: region features by image (see 'harness show vlp')")
        try:
            self.words = WordPiece(vocabulary if vocabulary is not None else path if path.is_dir() else path.parent)
        except InputError:
            Vlp.from_checkpoint(path, config)  # a checkpoint of another architecture is told first
            raise
        settings = {"special_ids": self.words.special(), **read_settings(config)}
        self.model = Vlp.from_checkpoint(self.checkpoint, settings)
        if len(self.words) != self.model.sizes.bert.vocabulary:
            raise InputError(
                f"{len(self.words)} words, the checkpoint has {self.model.sizes.bert.vocabulary}", str(self.words.path)
            )
        self.regions = open_regions(features if features is not None else beside["features"], boxes)
        self.context = 2 + int(beside.get("regions", REGIONS))
        self.device = torch.device(device)
        self.model.to(self.device, number_format(dtype))
        self.step = VlpStep(self.model)
        self.stop = (self.words.ids["[SEP]"],)
        self.max_length = int(beside.get("max_length", MAX_LENGTH))
        self.batch_size = check_batch_size(batch_size)
        self._settings = {"config": settings, "dtype": dtype}
        self._print: str | None = None

    def fingerprint(self) -> str:
        if self._print is None:
            files = file_fingerprint(*weight_files(self.checkpoint), self.words.path, *self.regions.files())
            seen = "" if isinstance(self.regions, RegionFiles) else self.regions.name
            self._print = f"vlp-{files}{seen}-{json.dumps(self._settings, sort_keys=True)}"
        return self._print

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`HarnessError` for captions longer than the position table, :class:`InputError` for examples that are no scenes."""
        self.regions.check(task.examples)
        room = self.longest_reference()
        if task.decoding.max_length is not None and task.decoding.max_length > room:
            raise HarnessError(
                f"vlp: max_length {task.decoding.max_length} does not fit; {room} positions follow the regions"
            )

    def inputs(self, examples: Sequence[Example]) -> list[Regions]:
        return [self.regions.read(example) for example in examples]

    def prefix(self, inputs: Sequence[Regions], examples: Sequence[Example]) -> Prefix:
        shapes = {(item.features.shape, item.geometry.shape) for item in inputs}
        expected = (self.model.sizes.region, self.model.sizes.geometry)
        for features, where in shapes:
            if (features[1], where[1]) != expected:
                raise InputError(
                    f"regions are {features[1]} and {where[1]} wide, the checkpoint takes {expected[0]} and {expected[1]}",
                    self.regions.name,
                )
        if len(shapes) > 1:
            raise InputError(
                f"images differ in their number of regions: {sorted(s[0][0] for s in shapes)}", self.regions.name
            )
        regions = torch.from_numpy(np.stack([item.features for item in inputs])).to(self.device)
        where = torch.from_numpy(np.stack([item.geometry for item in inputs])).to(self.device)
        return Prefix(self.model.context(regions, where))

    def to_text(self, ids: list[int]) -> str:
        """Cut at the first [PAD], as the authors do."""
        pad = self.words.ids["[PAD]"]
        return self.words.decode(ids[: ids.index(pad)] if pad in ids else ids)

    def reference_tokens(self, text: str) -> list[int]:
        return [*self.words.encode(text), self.stop[0]]

    def longest_reference(self) -> int:
        return self.model.sizes.bert.positions - self.context

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        return self.words.pieces(ids)

    def forced_logits(self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Every reference in one pass, by paired mask slots."""
        return self.model.score_slots(tokens.to(self.device), prefix.state.take(owner))
