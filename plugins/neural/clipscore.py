"""CLIPScore and RefCLIPScore (Hessel et al. 2021) through open_clip with local weights.

CLIPScore = 2.5 max(cos(image, caption), 0) (section 3), captions with the prefix "A photo depicts "; RefCLIPScore is its harmonic mean
with max(max over references of cos(caption, reference), 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec, PathParam
from harness.errors import HarnessError, InputError
from harness.plugins.kernel.embeddings import Clip

WEIGHT = 2.5
PREFIX = "A photo depicts "


class _Prefixed:
    """The text tower on prefixed captions."""

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.name = "clip"

    def signature(self) -> str:
        return f"{self.clip.signature()}|prefix"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Nothing to fit."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return self.clip.encode([PREFIX + text for text in texts])


class ClipScore(MeanMetric):
    """CLIPScore, mean over candidates; higher is better, needs the images.

    weights: a local file of open_clip weights. model: open_clip's name of the architecture. images: the folder of the images; the
    reader's media names are looked up there. Raises :class:`InputError` naming an image that is missing or does not decode.
    """

    label = "clipscore"
    needs = frozenset({"images", "embeddings"})

    def __init__(
        self,
        *,
        weights: PathParam | None = None,
        model: str = "ViT-B-32",
        images: PathParam | None = None,
        batch_size: int = 64,
    ) -> None:
        if weights is None:
            raise HarnessError(
                f"metric '{self.label}' needs weights: a local file of open_clip weights for {model} (for example the "
                "open_clip_pytorch_model.bin of the hub model laion/CLIP-ViT-B-32-laion2B-s34B-b79K)"
            )
        self.clip = Clip(weights=weights, model=model, batch_size=batch_size)
        self.images = Path(images).expanduser() if images else None
        self.batch_size = batch_size
        self.spec = MetricSpec(self.label, higher_is_better=True, needs=self.needs, bounds=(0.0, WEIGHT))

    def signature(self) -> str:
        return f"{self.label}|w:{WEIGHT}|{self.clip.signature()}"

    def image_vectors(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, d) unit vectors of the examples' images, each file encoded once per run."""
        known: dict[str, np.ndarray] = features.memo((self.signature(), "images"), dict)
        files = [self._file(item.id, item.media) for item in batch.sets]
        missing = list(dict.fromkeys(str(file) for file in files if str(file) not in known))
        for start in range(0, len(missing), self.batch_size):
            names = missing[start : start + self.batch_size]
            known.update(zip(names, self._encode([self._open(name) for name in names])))
        return np.stack([known[str(file)] for file in files])

    def _file(self, name: str, media: str | None) -> Path:
        if not media:
            raise InputError(f"metric '{self.label}' needs images, and the example '{name}' names none")
        file = self.images / media if self.images else Path(media)
        if not file.is_file():
            raise InputError(
                f"no such image (example '{name}'); metric '{self.label}' takes the folder as images: DIR", str(file)
            )
        return file

    @staticmethod
    def _open(name: str) -> Any:
        from PIL import Image, UnidentifiedImageError

        try:
            with Image.open(name) as image:
                return image.convert("RGB")
        except (UnidentifiedImageError, Image.DecompressionBombError, OSError) as error:
            raise InputError(f"the image does not decode: {error}", name) from error

    def _encode(self, images: Sequence[Any]) -> np.ndarray:
        import torch

        model, preprocess = self.clip.loaded_with_preprocess()
        with torch.inference_mode():
            pixels = torch.stack([preprocess(image) for image in images])
            return model.encode_image(pixels, normalize=True).float().numpy()

    def caption_scores(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, n) CLIPScore of each candidate."""
        texts = features.vectors(_Prefixed(self.clip), batch.candidate_ids).astype(np.float64)
        images = self.image_vectors(batch, features).astype(np.float64)
        return WEIGHT * np.maximum(np.einsum("bnd,bd->bn", texts, images), 0.0)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        return self.caption_scores(batch, features).mean(axis=1)


class RefClipScore(ClipScore):
    """RefCLIPScore: harmonic mean of CLIPScore and the cosine with the best reference, mean over candidates."""

    label = "refclipscore"
    needs = frozenset({"images", "references", "embeddings"})

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        clip = self.caption_scores(batch, features)
        embedding = _Prefixed(self.clip)
        candidates = features.vectors(embedding, batch.candidate_ids).astype(np.float64)
        references = features.vectors(embedding, batch.reference_ids).astype(np.float64)
        best = np.maximum(np.einsum("bnd,bmd->bnm", candidates, references).max(axis=2), 0.0)
        total = clip + best
        return np.where(total > 0, 2 * clip * best / np.where(total > 0, total, 1.0), 0.0).mean(axis=1)
