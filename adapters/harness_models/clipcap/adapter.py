"""The ``clipcap`` adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch

from harness.contracts import Example, Failure, PathParam, TaskView
from harness.errors import HarnessError, InputError
from harness_models.clipcap.authors_search import STRATEGIES
from harness_models.clipcap.clip_images import ClipImages
from harness_models.clipcap.model import ClipCap, ClipCapStep
from harness_models.shared.decoding.batches import check_batch_size
from harness_models.shared.decoding.left_to_right import LeftToRight, Prefix
from harness_models.shared.inputs.features import FeatureFile
from harness_models.shared.inputs.scenes import SceneVectors
from harness_models.shared.inputs.vectors import open_vectors
from harness_models.shared.tokenisers.gpt2_bpe import Gpt2Bpe
from harness_models.shared.weights.checkpoint_config import (
    config_beside,
    read_config,
    torch_dtype,
    weight_files,
)
from harness_models.shared.weights.fingerprints import file_fingerprint

MAX_LENGTH = 67
"""Maximum number of tokens of a caption in the authors' code."""


class ClipCapAdapter(LeftToRight):
    """CLIPCap over CLIP vectors from a file, over images, or over rendered scenes.

    Parameters
    ----------
    checkpoint
        ``.pt`` or ``.safetensors`` file, or a folder that ``harness convert`` or
        ``harness train clipcap`` wrote.
    tokenizer
        Folder with GPT-2's vocab.json and merges.txt (default: the folder of the
        checkpoint).
    config
        Mapping or JSON file with the values that tensor shapes do not determine:
        ``n_head``, ``mapper_heads``, ``normalise``.
    features
        File of CLIP vectors by example id (``.safetensors``, ``.npz``, or the authors'
        pickle), or ``{scenes: {}}`` for examples that are ids of rendered scenes.
        Default: the features of the training, if ``harness train`` wrote the
        checkpoint.
    clip
        Instead of ``features``: ``{weights: ...}``, a file, folder or name as for
        :class:`~harness_models.clipcap.clip_images.ClipImages`; plain weights need
        ``model`` too, the name of the architecture in open_clip.
    images
        Folder of the paths in ``Example.media``, for ``clip``.
    stop
        Text of the single token that ends a caption.
    batch_size
        Number of examples per batch, or ``auto``.
    device, dtype
        Device and number format of the model.

    References
    ----------
    Mokady, Hertz and Bermano, "ClipCap: CLIP Prefix for Image Captioning" (2021), arXiv
    2111.09734.
    """

    strategies = STRATEGIES
    keep_stop: ClassVar[bool] = True

    def __init__(
        self,
        *,
        checkpoint: PathParam,
        tokenizer: str | None = None,
        config: Mapping[str, Any] | str | None = None,
        features: PathParam | Mapping[str, PathParam | Mapping[str, Any]] | None = None,
        clip: Mapping[str, str] | None = None,
        images: PathParam | None = None,
        stop: str = ".",
        batch_size: int | str = 32,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> None:
        path = self.checkpoint = Path(checkpoint)
        if features is None and clip is None:
            features = config_beside(path).get("features")
        if (features is None) == (clip is None):
            raise HarnessError(
                "clipcap needs either features (a file of CLIP vectors) "
                "or clip ({model, weights})"
            )

        self.model = ClipCap.from_checkpoint(path, config)
        beside = path if path.is_dir() else path.parent
        self.words = Gpt2Bpe(tokenizer if tokenizer is not None else beside)
        if len(self.words) > self.model.sizes.gpt2.vocabulary:
            raise InputError(
                f"the tokenizer has {len(self.words)} tokens, "
                f"the checkpoint {self.model.sizes.gpt2.vocabulary}",
                str(self.words.files[0]),
            )

        self.stop = self._stop(stop)
        self.batch_size = check_batch_size(batch_size)
        self.device = torch.device(device)
        self.dtype = torch_dtype(dtype)
        self.model.to(self.device, self.dtype)
        self.step = ClipCapStep(self.model)
        self.max_length = min(MAX_LENGTH, self.longest_reference())

        self.features = open_vectors(features) if features is not None else None
        self.clip = None
        if clip is not None:
            self.clip = ClipImages(**clip, images=images, device=device)

        self._settings = {
            "config": read_config(config),
            "stop": stop,
            "dtype": dtype,
            "clip": self.clip.fingerprint if self.clip else None,
        }

    def _stop(self, text: str) -> tuple[int]:
        ids = self.words.encode(text)
        if len(ids) != 1:
            raise HarnessError(
                f"clipcap: stop must be one token; {text!r} is {len(ids)}"
            )
        return (ids[0],)

    def identify(self) -> str:
        """Return a name that depends on the weights, the tokenizer,
        the feature files and the settings.
        """
        sources = [self.features.path] if isinstance(self.features, FeatureFile) else []
        files = file_fingerprint(
            *weight_files(self.checkpoint), *self.words.files, *sources
        )
        scenes = self.features.name if isinstance(self.features, SceneVectors) else ""
        return f"clipcap-{files}{scenes}-{json.dumps(self._settings, sort_keys=True)}"

    def prepare(self, task: TaskView) -> None:
        """Check the examples and the decoding settings of a task.

        Raises
        ------
        InputError
            If an example has no image vector.
        HarnessError
            If ``max_length`` exceeds the positions of GPT-2 that follow the prefix.
        """
        if self.features is not None:
            self.features.check(task.examples)
        self.check_room(task.decoding, "clipcap", "prefix")

    def inputs(self, examples: Sequence[Example]) -> list[torch.Tensor | Failure]:
        """Return one CLIP vector (clip,) per example,
        or a failure where its image cannot be read.
        """
        if self.clip is not None:
            return [
                self._check_vector(e, v) if isinstance(v, torch.Tensor) else v
                for e, v in zip(examples, self.clip.encode(examples))
            ]
        assert self.features is not None
        return [
            self._check_vector(e, torch.from_numpy(self.features.row(e).reshape(-1)))
            for e in examples
        ]

    def _check_vector(self, example: Example, vector: torch.Tensor) -> torch.Tensor:
        if vector.shape != (self.model.sizes.clip,):
            raise InputError(
                f"the CLIP vector of example '{example.id}' has {vector.numel()} "
                f"numbers, the checkpoint takes {self.model.sizes.clip}"
            )
        return vector / vector.norm() if self.model.sizes.normalise else vector

    def prefix(
        self, inputs: Sequence[torch.Tensor], examples: Sequence[Example]
    ) -> Prefix:
        """Return the mapped prefix (E, prefix_length, width) of CLIP vectors."""
        vectors = torch.stack(list(inputs)).to(self.device, self.dtype)
        return Prefix({"prefix": self.model.prefix_embeddings(vectors)})

    def to_text(self, ids: list[int]) -> str:
        """Return the text of token ids, without blanks at its ends."""
        return self.words.decode(ids).strip()

    def reference_tokens(self, text: str) -> list[int]:
        """Return the token ids of a reference; no end token is added."""
        return self.words.encode(text)

    def longest_reference(self) -> int:
        """Return the number of GPT-2's positions that follow the prefix."""
        return self.model.sizes.gpt2.positions - self.model.sizes.prefix_length

    def forced_logits(
        self, prefix: Prefix, owner: torch.Tensor, tokens: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (N, T, V) that predict tokens (N, T); row i continues row
        ``owner[i]`` of the cached prefix.
        """
        owner = owner.to(self.device)
        first, past = self.step(None, prefix.state)
        if tokens.shape[1] == 1:
            return first[owner][:, None]
        words = self.model.gpt.transformer.wte(tokens[:, :-1].to(self.device))
        hidden = self.model.gpt(words, past.take(owner))
        return torch.cat([first[owner][:, None], self.model.gpt.logits(hidden)], dim=1)
