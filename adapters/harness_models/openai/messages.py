"""The messages of a request: the prompt with its fields filled,
and the media of the example.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.contracts import Example
from harness.contracts.parameters import check_fields
from harness.errors import InputError
from harness.files.media import media_label, open_media, require_media
from harness.llm.session import RequestFailed
from harness_models.shared.inputs.pictures import COLUMN_OF_MEDIA
from harness_models.shared.inputs.prompts import fill_prompt
from harness_models.shared.media.kinds import kind_of_name, media_path
from harness_models.shared.media.sound import read_sound, wav_bytes
from harness_models.shared.media.video import check_frames, video_frames

if TYPE_CHECKING:
    pass
from harness_models.openai.content import (
    Part,
    frame_parts,
    image_file_part,
    sound_part,
    video_file_part,
)

_RATE = 16000
"""Samples per second of sound that is sent."""


@dataclass(frozen=True, kw_only=True)
class Messages:
    """Recipe of the messages of an example."""

    prompt: str
    """User message with fields: ``{source}``, ``{id}``, and keys of ``Example.meta``.
    """
    system: str | None = None
    folder: Path | None = None
    """Folder of ``Example.media``."""
    image: bool | None = None
    """True: each request has media; None: those whose example names media; False: none.
    """
    medium: Literal["auto", "image", "video", "audio"] = "auto"
    """``image``, ``video``, ``audio``, or ``auto``:
    by the suffix of the media name, else an image.
    """
    frames: int = 8
    """Number of frames of a video; 0 sends the whole file."""
    frame_choice: str = "uniform"
    max_side: int | None = None
    """Maximum width and height of images and frames in pixels."""

    def __post_init__(self) -> None:
        check_fields("openai", self)
        if self.frames != 0:
            check_frames(self.frames, self.frame_choice, "openai")

    def of(self, example: Example) -> list[dict[str, Any]]:
        """Return the messages of an example.

        Raises
        ------
        InputError
            For a prompt with a field that the example lacks.
        RequestFailed
            For media that are missing or cannot be read.
        """
        text = self.text(example)
        content: Any = text
        if self.image or (self.image is None and example.media is not None):
            content = [*self._media(example), {"type": "text", "text": text}]
        messages = [{"role": "system", "content": self.system}] if self.system else []
        return [*messages, {"role": "user", "content": content}]

    def text(self, example: Example) -> str:
        """Return the prompt of an example; raise :class:`InputError` for a field that
        it lacks.
        """
        return fill_prompt(self.prompt, example)

    def _media(self, example: Example) -> list[Part]:
        if example.media is None:
            medium = "image" if self.medium == "auto" else self.medium
            raise RequestFailed(f"the example names no {medium}; {COLUMN_OF_MEDIA}")

        media = example.media
        label = media_label(example.media, self.folder)
        medium = self.medium
        if medium == "auto":
            medium = kind_of_name(media) or "image"

        if medium == "video":
            return self._read(
                label,
                medium,
                lambda: self._video(media_path(media, self.folder, "video")),
            )
        if medium == "audio":
            return self._read(
                label,
                medium,
                lambda: self._sound(media_path(media, self.folder, "audio")),
            )
        return self._read(
            label,
            medium,
            lambda: [image_file_part(self._content(media), label, self.max_side)],
        )

    def _video(self, path: Path) -> list[Part]:
        if self.frames == 0:
            content = path.read_bytes()
            require_media(content[:32], str(path))
            return [
                video_file_part(
                    content, mimetypes.guess_type(path.name)[0] or "video/mp4"
                )
            ]
        return frame_parts(
            video_frames(path, self.frames, self.frame_choice).images, self.max_side
        )

    @staticmethod
    def _sound(path: Path) -> list[Part]:
        return [sound_part(wav_bytes(read_sound(path, _RATE), _RATE))]

    def _content(self, media: str) -> bytes:
        with open_media(media, self.folder) as file:
            return file.read()

    @staticmethod
    def _read(
        label: str, noun: str, read_parts: Callable[[], list[Part]]
    ) -> list[Part]:
        """Return parts; raise :class:`RequestFailed` where their file is missing,
        damaged, or cannot be read.
        """
        try:
            return read_parts()
        except OSError as error:
            raise RequestFailed(
                f"{label}: the {noun} cannot be read ({error.strerror or error})"
            ) from error
        except InputError as error:
            raise RequestFailed(str(error)) from error
