"""Inputs of models of transformers: prompt, image, frames of a video, sound, in the
form of the model's processor.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Example, Failure
from harness.errors import HarnessError, InputError, MissingExtra
from harness.files.media import media_label
from harness_models.shared.inputs.pictures import COLUMN_OF_MEDIA, open_picture
from harness_models.shared.inputs.prompts import fill_prompt
from harness_models.shared.media.kinds import Medium, kind_of_name, media_path
from harness_models.shared.media.sound import read_sound
from harness_models.shared.media.video import (
    CHOICES,
    Frames,
    check_frames,
    video_frames,
)
from harness_models.transformers.loading import LoadedModel

MEDIA = ("image", "video", "audio")
DEFAULT_FRAMES = 8
"""Frames of a video for models whose configuration has no number."""


@dataclass(frozen=True)
class InputSettings:
    """Parameters of the adapter that change inputs."""

    prompt: str
    chat: bool
    system: str | None
    folder: Path | None
    """Folder of ``Example.media``."""
    medium: str = "auto"
    """One of :data:`MEDIA`, or ``auto``: that of the file's name."""
    frames: int | None = None
    frame_choice: str = CHOICES[0]


class InputBuilder:
    """Inputs of one loaded model.

    Parameters
    ----------
    loaded
        The model.
    settings
        Prompt, media and frames.
    where
        Folder or name of the model, for messages.

    Raises
    ------
    HarnessError
        For a medium that the model does not read, and a number or choice of frames out
        of range.
    """

    def __init__(
        self, loaded: LoadedModel, settings: InputSettings, model_name: str
    ) -> None:
        self.loaded = loaded
        self.settings = settings
        self.where = model_name
        self.media = loaded.media

        if settings.medium not in ("auto", *MEDIA):
            raise HarnessError(
                f"transformers: medium is auto or one of {', '.join(MEDIA)}; "
                f"found {settings.medium!r}",
                parameter="medium",
            )
        if settings.medium != "auto" and not self._reads(settings.medium):
            reads = " and ".join(self.media) or "text only"
            raise HarnessError(
                f"transformers: {model_name} reads {reads}, not {settings.medium}",
                parameter="medium",
            )

        self.frames = (
            settings.frames if settings.frames is not None else self._usual_frames()
        )
        check_frames(self.frames, settings.frame_choice, "transformers")

    @property
    def pixels_only(self) -> bool:
        """True for an encoder of images or frames without a prompt
        (vision-encoder-decoder).
        """
        return (
            self.loaded.kind == "image-text"
            and getattr(self.loaded.model.config, "model_type", "")
            == "vision-encoder-decoder"
        )

    @property
    def sound_only(self) -> bool:
        """True for an encoder of sound whose decoder gets a prompt (Whisper)."""
        return self.loaded.kind == "audio-text" and bool(
            self.loaded.model.config.is_encoder_decoder
        )

    def _usual_frames(self) -> int:
        config = self.loaded.model.config
        encoder = getattr(config, "encoder", None)
        return (
            getattr(encoder, "num_frames", None)
            or getattr(config, "num_image_with_embedding", None)
            or DEFAULT_FRAMES
        )

    def _reads(self, medium: str) -> bool:
        """Return True if the model reads a medium; frames of a video can be given as
        images to a model that places images in its prompt.
        """
        return medium in self.media or (
            medium == "video"
            and "image" in self.media
            and self._token("image") is not None
        )

    def _token(self, medium: str) -> str | None:
        token = getattr(self.loaded.processor, f"{medium}_token", None)
        return token if isinstance(token, str) else None

    def build(self, example: Example) -> Any:
        """Return the output of the processor for an example (a dict of tensors with one
        row), or a failure.

        Raises :class:`InputError` for a prompt that does not fit the example or the
        model.
        """
        if not self.media:
            tokens = self.loaded.tokenizer(
                self.text(example),
                return_tensors="pt",
                add_special_tokens=not self.settings.chat,
            )
            return dict(tokens)

        medium = self._medium(example)
        if isinstance(medium, Failure):
            return medium
        content = self._content(example, medium)
        if isinstance(content, Failure):
            return content
        return self._process(example, medium, content)

    def _medium(self, example: Example) -> str | Failure:
        if self.settings.medium != "auto":
            return self.settings.medium
        medium = kind_of_name(example.media or "") or self._usual_medium(example)
        if self._reads(medium):
            return medium
        if medium == "video" and "audio" in self.media:
            return "audio"
        return Failure(
            f"{example.media}: the model reads {' and '.join(self.media)}, not {medium}"
        )

    def _usual_medium(self, example: Example) -> Medium:
        """Return the medium of a name without a suffix: that of the file which exists,
        else the first one that the model reads.
        """
        for medium in self.media:
            try:
                path = media_path(example.media or "", self.settings.folder, medium)
            except (OSError, InputError):
                break  # of a data set: the reason appears when the content is read
            if path.is_file():
                return kind_of_name(path) or medium
        return self.media[0]

    def _content(self, example: Example, medium: str) -> Any:
        """Return the image, the frames or the samples of an example, or a failure."""
        if medium == "image":
            return open_picture(example, self.settings.folder)

        if example.media is None:
            return Failure(f"the example names no {medium}; {COLUMN_OF_MEDIA}")
        try:
            kind = "video" if medium == "video" else "audio"
            path = media_path(example.media, self.settings.folder, kind)
            if medium == "video":
                return video_frames(path, self.frames, self.settings.frame_choice)
            return read_sound(path, self.sampling_rate)
        except MissingExtra:
            raise
        except InputError as error:
            return Failure(str(error))
        except OSError as error:
            label = media_label(example.media, self.settings.folder)
            return Failure(
                f"{label}: the {medium} cannot be read ({error.strerror or error})"
            )

    @property
    def sampling_rate(self) -> int:
        """Samples per second that the model expects."""
        return int(
            getattr(
                getattr(self.loaded.processor, "feature_extractor", None),
                "sampling_rate",
                16000,
            )
        )

    def _process(self, example: Example, medium: str, content: Any) -> dict[str, Any]:
        if self.pixels_only:
            images = list(content.images) if isinstance(content, Frames) else content
            return dict(self.loaded.images(images=images, return_tensors="pt"))
        if self.sound_only:
            return _sound_features(
                self.loaded.processor.feature_extractor, content, self.sampling_rate
            )

        as_images = medium == "video" and "video" not in self.media
        kind = "image" if as_images else medium
        text = self.text(example, kind, self.frames if as_images else 1)
        self._needs_token(kind, text)
        arguments = self._arguments(medium, content, as_images)

        try:
            inputs = dict(
                self.loaded.processor(
                    text=text, return_tensors="pt", **arguments, **self._special(text)
                )
            )
        except (ValueError, TypeError, IndexError) as error:
            line = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"the processor of the model rejects example '{example.id}': {line}",
                self.where,
            ) from error

        # GIT takes the frames of one video as a batch of images.
        if isinstance(content, Frames) and self.loaded.model.config.model_type == "git":
            inputs["pixel_values"] = inputs["pixel_values"][None]
        return inputs

    def _arguments(self, medium: str, content: Any, as_images: bool) -> dict[str, Any]:
        """Return the arguments of the processor for an image, frames or sound."""
        if medium == "image":
            return {"images": content}
        if medium == "audio":
            return {"audio": [content], "sampling_rate": self.sampling_rate}
        if as_images or getattr(self.loaded.processor, "video_processor", None) is None:
            return {"images": list(content.images)}

        frames = np.stack([np.asarray(image) for image in content.images])
        metadata = {
            "total_num_frames": content.total,
            "fps": content.rate,
            "duration": content.duration,
            "frames_indices": list(content.places),
            "height": frames.shape[1],
            "width": frames.shape[2],
        }

        options: dict[str, Any] = {
            "do_sample_frames": False,
            "video_metadata": [metadata],
        }

        call = type(self.loaded.processor.video_processor).__call__
        if "return_metadata" in inspect.signature(call).parameters:
            options["return_metadata"] = False
        return {"videos": [frames], "videos_kwargs": options}

    def _special(self, text: str) -> dict[str, Any]:
        """Return whether the tokenizer adds special tokens: BLIP adds its own, a
        template may have written the start token.
        """
        start = self.loaded.tokenizer.bos_token
        has_start = self.settings.chat and bool(start) and text.startswith(start)
        return {
            "add_special_tokens": not has_start
            and self.loaded.model.config.model_type != "blip"
        }

    def _needs_token(self, medium: str, text: str) -> None:
        """Raise :class:`InputError` if the model reads the medium at a token (LLaVA,
        Qwen-VL) that the prompt does not contain.
        """
        token = self._token(medium)
        if (
            token is None
            or token in text
            or self.loaded.model.config.model_type == "blip-2"
        ):
            return
        raise InputError(
            f"the model reads the {medium} at '{token}', "
            f"which the prompt {text!r} does not contain; add it, "
            "or use a chat template",
            self.where,
        )

    def text(self, example: Example, medium: str = "image", count: int = 1) -> str:
        """Return the prompt of an example, through the chat template if there is one,
        with ``count`` places for a medium.

        Raises :class:`InputError` for a prompt with a key that the example does not
        have.
        """
        settings = self.settings
        text = fill_prompt(self.settings.prompt, example)
        if not settings.chat:
            return text

        content: Any = text
        system: Any = settings.system
        if self.media:
            content = [*[{"type": medium}] * count, *_part(text)]
            system = _part(system)

        messages: list[dict[str, Any]] = []
        if system:
            messages.append({"role": "system", "content": system})
        messages.append({"role": "user", "content": content})

        owner = self.loaded.processor if self.media else self.loaded.tokenizer
        return owner.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )


def _part(text: str | None) -> list[dict[str, str]]:
    """Return a text as the list of parts of a message; an empty text has no parts."""
    return [{"type": "text", "text": text}] if text else []


def _sound_features(extractor: Any, samples: np.ndarray, rate: int) -> dict[str, Any]:
    """Return the features of a sound as the encoder takes them; what exceeds the
    extractor's window is cut.
    """
    import torch

    features = extractor(samples, sampling_rate=rate, return_tensors="pt")
    names = ("input_features", "input_values")
    return {name: torch.as_tensor(features[name]) for name in names if name in features}
