"""CLIPScore and RefCLIPScore (Hessel et al. 2021), PAC-S and RefPAC-S (Sarto et al.
2023) with the towers of a CLIP model.

CLIPScore is 2.5 max(cos(image, caption), 0), with the prefix "A photo depicts " before
the caption. RefCLIPScore is the harmonic mean of CLIPScore and max(max over references
of cos(caption, reference), 0). PAC-S is the same with the factor 2 and weights of its
own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec, PathParam
from harness.contracts.parameters import Count
from harness.encoders.decoded_images import count_cores
from harness.encoders.devices import Devices
from harness.encoders.long_texts import Long
from harness.encoders.pictures import decode_picture
from harness.encoders.precision import Precision
from harness.encoders.replicas import spread_vectors
from harness.encoders.towers import encode_images
from harness.encoders.vector_store import current_store, encode_with_store
from harness.errors import HarnessError, InputError
from harness.files.announcements import log
from harness.files.image_names import image_folder
from harness.files.media import MediaCell, media_file, media_label, open_media
from harness.files.user_path import user_path
from harness_metrics.embeddings.clip import DEFAULT_WEIGHTS, Clip

if TYPE_CHECKING:
    from PIL.Image import Image

WEIGHT = 2.5
"""Factor w of the paper, which spreads typical values over [0, 1]."""
PREFIX = "A photo depicts "
PAC_WEIGHTS = "clip_ViT-B-32.pth of github.com/aimagelab/pacscore"


def open_picture(name: str) -> Image:
    """Return the image of a file or of a cell of a data set, in RGB.

    Raises :class:`InputError` for one that cannot be decoded.
    """
    with open_media(name) as file:
        return decode_picture(file, media_label(name))


def _content_hash(name: str) -> str:
    """Return the SHA-256 of the bytes of an image."""
    with open_media(name) as file:
        return hashlib.sha256(file.read()).hexdigest()


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

    def reads(self) -> str:
        """Return model and length of the texts that it reads."""
        return self.clip.reads()

    def cut_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Return the number of tokens of each text that are not read, shape (T,)."""
        return self.clip.cut_tokens([PREFIX + text for text in texts])


class ClipScore(MeanMetric):
    """CLIPScore of the candidates with the image of the example, mean over candidates;
    higher is better, in [0, 2.5].

    Parameters
    ----------
    weights : str
        Weights of the model, as for :class:`~harness_metrics.embeddings.clip.Clip`. The
        default is OpenAI's ViT-B/32, the published model.
    model : str, optional
        Name of the architecture in open_clip, which only plain weights and tags need.
    images : str, optional
        Folder in which the media names of the examples are looked up; the image of an
        example without one is the file whose name, stem, or number at the end of the
        stem is the example's id. The default takes media names as paths.
    batch_size : int, optional
        Texts or images per forward pass.
    device : str or list of str, default "auto"
        Device of the model: ``auto`` is the first accelerator, else the CPU. ``all``
        accelerators, or a list of devices, share texts and images.
    dtype : {'float32', 'tf32', 'bfloat16', 'float16'}
        Precision of the forward pass.
    long : {'cut', 'windows'}
        Reading of captions beyond the context of the model.

    References
    ----------
    Hessel et al. 2021, *CLIPScore: A Reference-free Evaluation Metric for Image
    Captioning*, section 3.
    """

    label = "clipscore"
    needs = frozenset({"images", "embeddings"})
    factor = WEIGHT
    model_class: type[Clip] = Clip
    """Model of the towers."""

    def __init__(
        self,
        *,
        weights: PathParam = DEFAULT_WEIGHTS,
        model: str | None = None,
        images: PathParam | None = None,
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
        long: Long = "cut",
    ) -> None:
        self.clip = self.model_class(
            weights=weights,
            model=model,
            batch_size=batch_size,
            device=device,
            dtype=dtype,
            long=long,
        )
        self.clip.needed_by = f"metric '{self.label}'"
        self.embedding = PrefixedClip(self.clip)
        self.images = user_path(images) if images else None
        self.shows_images = False
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
        if missing:
            vectors.update(zip(missing, self._encode(missing)))
        return np.stack([vectors[file] for file in files])

    def _file(self, example: str, media: str | None) -> str:
        """Return the name of the image of an example, with its folder; raise
        :class:`InputError` for a file that is not there.
        """
        if not media and self.images is not None:
            file, manner = image_folder(self.images).find(example)
            if not self.shows_images:
                log.info("the image of '%s' is %s (found by %s)", example, file, manner)
                self.shows_images = True
            return str(file)
        if not media:
            raise InputError(
                f"metric '{self.label}' needs images, and the example '{example}' "
                "has none; name the folder of the images "
                f"(-m {self.label}:images=FOLDER)"
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

    def _encode(self, names: Sequence[str]) -> np.ndarray:
        """Return unit vectors of images by their names, float32, shape (T, d)."""

        def compute(missing: Sequence[str]) -> np.ndarray:
            copies = [
                partial(
                    encode_images,
                    towers,
                    open_image=open_picture,
                    batch_size=self.batch_size,
                    workers=max(1, count_cores() // len(self.clip.copies)),
                )
                for towers in self.clip.copies
            ]
            sizes = [1] * len(missing)
            return spread_vectors(missing, sizes, copies, self.clip.dtype)

        if current_store() is None:
            return compute(names)
        hashes = [_content_hash(name) for name in names]
        name_of = dict(zip(hashes, names))
        return encode_with_store(
            f"{self.clip.signature()}|image",
            self.clip.device,
            hashes,
            lambda missing: compute([name_of[item] for item in missing]),
        )

    def caption_scores(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the CLIPScore of each candidate, float64, shape (B, n)."""
        texts = features.vectors(self.embedding, batch.candidate_ids)
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
        candidates = features.vectors(self.embedding, batch.candidate_ids)
        references = features.vectors(self.embedding, batch.reference_ids)
        candidates = candidates.astype(np.float64)
        references = references.astype(np.float64)
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
    images, batch_size, device, dtype, long
        Those of :class:`ClipScore`.

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
    """Weights that the message about missing ones names."""

    def __init__(
        self,
        *,
        weights: PathParam | None = None,
        model: str = "ViT-B-32-quickgelu",
        images: PathParam | None = None,
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
        long: Long = "cut",
    ) -> None:
        if weights is None:
            raise HarnessError(
                f"metric '{self.label}' needs weights: "
                f"a local file of weights for {model} (for example {self.example})"
            )
        super().__init__(
            weights=weights,
            model=model,
            images=images,
            batch_size=batch_size,
            device=device,
            dtype=dtype,
            long=long,
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
