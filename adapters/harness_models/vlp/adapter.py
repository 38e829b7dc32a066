"""The ``vlp`` adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.contracts import Example, PathParam, TaskView
from harness.errors import HarnessError, InputError
from harness_models.shared.decoding.batches import check_batch_size
from harness_models.shared.decoding.left_to_right import LeftToRight, Prefix
from harness_models.shared.tokenisers.wordpiece import WordPiece
from harness_models.shared.weights.checkpoint_config import (
    config_beside,
    read_config,
    torch_dtype,
    weight_files,
)
from harness_models.shared.weights.fingerprints import file_fingerprint
from harness_models.vlp.authors_search import STRATEGIES
from harness_models.vlp.model import Vlp, VlpStep
from harness_models.vlp.region_sources import open_regions
from harness_models.vlp.regions import RegionFiles, Regions

MAX_LENGTH = 20
REGIONS = 100
"""Maximum number of pieces of a caption, and number of regions of an image,
as published.
"""


class VlpAdapter(LeftToRight):
    """VLP over region features.

    The regions of an example are found by the stem of ``Example.media``, else by the
    example id.

    Parameters
    ----------
    checkpoint
        ``model.<epoch>.bin`` or ``.safetensors`` file, or a folder that
        ``harness convert`` or ``harness train vlp`` wrote.
    vocabulary
        ``vocab.txt`` of BERT-base-cased or its folder (default: the folder of the
        checkpoint).
    features
        Prefix of h5 shards, folder of ``.npy`` files, one ``.npz``, or ``{scenes: {}}``
        for examples that are ids of rendered scenes. Default: the features of the
        training, if ``harness train`` wrote the checkpoint.
    boxes
        h5 file of boxes, for shards and folders.
    config
        Mapping or JSON file with the values that tensor shapes do not determine:
        ``num_attention_heads``, ``special_ids``, ``new_segment_ids``.
    batch_size
        Number of examples per batch, or ``auto``.
    device, dtype
        Device and number format of the model.

    References
    ----------
    Zhou et al., "Unified Vision-Language Pre-Training for Image Captioning and VQA"
    (2020), arXiv 1909.11059.
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
        beside = config_beside(path)
        if features is None and "features" not in beside:
            raise HarnessError(
                "vlp needs features: region features by image (see 'harness show vlp')"
            )

        try:
            folder = path if path.is_dir() else path.parent
            self.words = WordPiece(vocabulary if vocabulary is not None else folder)
        except InputError:
            # report a checkpoint of another architecture first
            Vlp.from_checkpoint(path, config)
            raise

        settings = {"special_ids": self.words.special(), **read_config(config)}
        self.model = Vlp.from_checkpoint(self.checkpoint, settings)
        if len(self.words) != self.model.sizes.bert.vocabulary:
            raise InputError(
                f"{len(self.words)} words, the checkpoint has "
                f"{self.model.sizes.bert.vocabulary}",
                str(self.words.path),
            )

        source = features if features is not None else beside["features"]
        self.regions = open_regions(source, boxes)
        self.context = 2 + int(beside.get("regions", REGIONS))

        self.device = torch.device(device)
        self.model.to(self.device, torch_dtype(dtype))
        self.step = VlpStep(self.model)
        self.stop = (self.words.ids["[SEP]"],)
        self.max_length = int(beside.get("max_length", MAX_LENGTH))
        self.batch_size = check_batch_size(batch_size)
        self._settings = {"config": settings, "dtype": dtype}

    def identify(self) -> str:
        """Return a name that depends on the weights, the vocabulary,
        the region files and the settings.
        """
        files = file_fingerprint(
            *weight_files(self.checkpoint), self.words.path, *self.regions.files()
        )
        scenes = "" if isinstance(self.regions, RegionFiles) else self.regions.name
        return f"vlp-{files}{scenes}-{json.dumps(self._settings, sort_keys=True)}"

    def prepare(self, task: TaskView) -> None:
        """Check the examples and the decoding settings of a task.

        Raises
        ------
        InputError
            If an example names no rendered scene, where the features are rendered
            scenes.
        HarnessError
            If ``max_length`` exceeds the positions that follow the regions.
        """
        self.regions.check(task.examples)
        self.check_room(task.decoding, "vlp", "regions")

    def inputs(self, examples: Sequence[Example]) -> list[Regions]:
        """Return the regions of each example;
        raise :class:`InputError` for an example without regions.
        """
        return [self.regions.read(example) for example in examples]

    def prefix(self, inputs: Sequence[Regions], examples: Sequence[Example]) -> Prefix:
        """Return the context of the images; raise :class:`InputError` if shapes differ
        from each other or from the checkpoint's.
        """
        shapes = {(item.features.shape, item.geometry.shape) for item in inputs}
        expected = (self.model.sizes.region, self.model.sizes.geometry)
        for features, geometry in shapes:
            if (features[1], geometry[1]) != expected:
                raise InputError(
                    f"regions are {features[1]} and {geometry[1]} wide, "
                    f"the checkpoint takes {expected[0]} and {expected[1]}",
                    self.regions.name,
                )

        if len(shapes) > 1:
            raise InputError(
                "images differ in their number of regions: "
                f"{sorted(s[0][0] for s in shapes)}",
                self.regions.name,
            )

        regions = torch.from_numpy(np.stack([item.features for item in inputs]))
        geometry = torch.from_numpy(np.stack([item.geometry for item in inputs]))
        context = self.model.context(regions.to(self.device), geometry.to(self.device))
        return Prefix(context)

    def to_text(self, ids: list[int]) -> str:
        """Return the text of token ids up to the first [PAD],
        as in the authors' code.
        """
        pad = self.words.ids["[PAD]"]
        return self.words.decode(ids[: ids.index(pad)] if pad in ids else ids)

    def longest_reference(self) -> int:
        """Return the number of positions that follow the regions."""
        return self.model.sizes.bert.positions - self.context

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) that predict tokens (N, T) of the images ``owner``
        (N,), in one pass by paired mask slots.
        """
        return self.model.score_slots(tokens.to(self.device), prefix.state.take(owner))
