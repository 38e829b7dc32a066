"""CLIPScore and RefCLIPScore (Hessel et al. 2021), PAC-S and RefPAC-S (Sarto et al.
2023) through open_clip with local weights.

CLIPScore is 2.5 max(cos(image, caption), 0), with the prefix "A photo depicts " before
the caption. RefCLIPScore is the harmonic mean of CLIPScore and max(max over references
of cos(caption, reference), 0). PAC-S is the same with the factor 2 and weights of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec, PathParam
from harness.errors import HarnessError, InputError
from harness.files.media import MediaCell, media_file, media_label, open_media
from harness.files.user_path import user_path
from harness_metrics.embeddings.clip import Clip

if TYPE_CHECKING:
    from PIL.Image import Image

WEIGHT = 2.5
"""Factor w of the paper, which spreads typical values over [0, 1]."""
PREFIX = "A photo depicts "
PAC_WEIGHTS = "clip_ViT-B-32.pth of github.com/aimagelab/pacscore"


class PrefixedClip:
    """Embedding of captions with the prefix of the paper by the text tower of a CLIP
    model.
    """

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.name = "clip"

    def signature(self) -> str:
        """Return the signature of the model, followed by ``|prefix``."""
        return f"{self.clip.signature()}|prefix"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: the weights are fixed."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors of the prefixed texts, float32, shape (T, d)."""
        return self.clip.encode([PREFIX + text for text in texts])


class ClipScore(MeanMetric):
    """CLIPScore of the candidates with the image of the example, mean over candidates;
    higher is better, in [0, 2.5].

    Parameters
    ----------
    weights : str
        Local file of open_clip weights.
    model : str
        Name of the architecture in open_clip.
    images : str, optional
        Folder in which the media names of the examples are looked up. The default takes
        them as paths.
    batch_size : int
        Texts or images per forward pass.

    Raises
    ------
    HarnessError
        If ``weights`` is missing.

    References
    ----------
    Hessel et al. 2021, *CLIPScore: A Reference-free Evaluation Metric for Image
    Captioning*, section 3.
    """

    label = "clipscore"
    needs = frozenset({"images", "embeddings"})
    factor = WEIGHT
    example = (
        "the open_clip_pytorch_model.bin of the hub model "
        "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
    )
    """Weights that the error message for missing weights names."""

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
                f"metric '{self.label}' needs weights: "
                f"a local file of open_clip weights for {model} (for example "
                f"{self.example})"
            )
        self.clip = Clip(weights=weights, model=model, batch_size=batch_size)
        self.images = user_path(images) if images else None
        self.batch_size = batch_size

        largest = self.factor
        if "references" in self.needs:
            # the harmonic mean of the factor and of a cosine of 1
            largest = 2 * self.factor / (self.factor + 1)
        self.spec = MetricSpec(
            self.label, higher_is_better=True, needs=self.needs, bounds=(0.0, largest)
        )

    def signature(self) -> str:
        """Return ``clipscore|w:2.5|`` (``refclipscore|...``) and the signature of the
        model.
        """
        return f"{self.label}|w:{self.factor}|{self.clip.signature()}"

    def image_vectors(self, batch: Batch, features: Features) -> np.ndarray:
        """Return unit vectors of the images of the examples, float32, shape (B, d).

        Each file is encoded once per run.

        Raises :class:`InputError` with the example or file if an image is not listed,
        missing or not decodable.
        """
        vectors = features.memo((self.signature(), "images"), dict[str, np.ndarray])
        files = [self._file(item.id, item.media) for item in batch.sets]
        missing = [file for file in dict.fromkeys(files) if file not in vectors]
        for start in range(0, len(missing), self.batch_size):
            names = missing[start : start + self.batch_size]
            images = [self._open(name) for name in names]
            vectors.update(zip(names, self._encode(images)))
        return np.stack([vectors[file] for file in files])

    def _file(self, example: str, media: str | None) -> str:
        """Return the name of the image of an example, with its folder; raise
        :class:`InputError` for a file that is not there.
        """
        if not media:
            raise InputError(
                f"metric '{self.label}' needs images, and the example '{example}' "
                "has none"
            )
        if MediaCell.parse(media) is not None:
            return media

        file = media_file(media, self.images)
        if not file.is_file():
            raise InputError(
                f"no such image (example '{example}'); "
                f"set the parameter images of '{self.label}' to its folder",
                str(file),
            )
        return str(file)

    @staticmethod
    def _open(name: str) -> Image:
        from PIL import Image, UnidentifiedImageError

        try:
            with open_media(name) as file, Image.open(file) as image:
                return image.convert("RGB")
        except (
            UnidentifiedImageError,
            Image.DecompressionBombError,
            OSError,
            ValueError,
            SyntaxError,
        ) as error:
            raise InputError(
                f"the image cannot be decoded: {error}", media_label(name)
            ) from error

    def _encode(self, images: Sequence[Image]) -> np.ndarray:
        """Return unit vectors of images, float32, shape (len(images), d)."""
        import torch

        model, preprocess = self.clip.loaded_with_preprocess()
        with torch.inference_mode():
            pixels = torch.stack([preprocess(image) for image in images])
            return model.encode_image(pixels, normalize=True).float().numpy()

    def caption_scores(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the CLIPScore of each candidate, float64, shape (B, n)."""
        texts = features.vectors(PrefixedClip(self.clip), batch.candidate_ids)
        images = self.image_vectors(batch, features)
        cosines = np.einsum(
            "bnd,bd->bn", texts.astype(np.float64), images.astype(np.float64)
        )
        return self.factor * np.maximum(cosines, 0.0)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean over candidates, shape (B,)."""
        return self.caption_scores(batch, features).mean(axis=1)


class RefClipScore(ClipScore):
    """Harmonic mean of CLIPScore and the cosine with the best reference, mean over
    candidates; higher is better.

    In [0, 10/7]: the harmonic mean of 2.5 and 1. Parameters are those of
    :class:`ClipScore`.

    References
    ----------
    Hessel et al. 2021, section 3, RefCLIPScore.
    """

    label = "refclipscore"
    needs = frozenset({"images", "references", "embeddings"})

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean over candidates, shape (B,);
        0 for a candidate with both parts 0.
        """
        clip = self.caption_scores(batch, features)
        embedding = PrefixedClip(self.clip)
        candidates = features.vectors(embedding, batch.candidate_ids).astype(np.float64)
        references = features.vectors(embedding, batch.reference_ids).astype(np.float64)
        cosines = np.einsum("bnd,bmd->bnm", candidates, references)
        best = np.maximum(cosines.max(axis=2), 0.0)

        total = clip + best
        means = 2 * clip * best / np.where(total > 0, total, 1.0)
        return np.where(total > 0, means, 0.0).mean(axis=1)


class PacScore(ClipScore):
    """PAC-S of the candidates with the image of the example, mean over candidates;
    higher is better, in [0, 2].

    CLIPScore with the factor 2 and a CLIP model that is fine-tuned on generated images
    and captions.

    Parameters
    ----------
    weights : str
        Local file of the authors' weights, or any other CLIP weights.
    model : str
        Name of the architecture in open_clip; the authors' weights have the activation
        of OpenAI's models.
    images : str, optional
        Folder in which the media names of the examples are looked up. The default takes
        them as paths.
    batch_size : int
        Texts or images per forward pass.

    Raises
    ------
    HarnessError
        If ``weights`` is missing.

    References
    ----------
    Sarto et al. 2023, *Positive-Augmented Contrastive Learning for Image and Video
    Captioning Evaluation*, section 3.
    """

    label = "pac-score"
    factor = 2.0
    example = PAC_WEIGHTS

    def __init__(
        self,
        *,
        weights: PathParam | None = None,
        model: str = "ViT-B-32-quickgelu",
        images: PathParam | None = None,
        batch_size: int = 64,
    ) -> None:
        super().__init__(
            weights=weights, model=model, images=images, batch_size=batch_size
        )


class RefPacScore(PacScore, RefClipScore):
    """Harmonic mean of PAC-S and the cosine with the best reference, mean over
    candidates; higher is better, in [0, 4/3].

    Parameters are those of :class:`PacScore`.

    References
    ----------
    Sarto et al. 2023, section 3, RefPAC-S.
    """

    label = "ref-pac-score"
