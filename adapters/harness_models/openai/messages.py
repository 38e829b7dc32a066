"""The messages of a request: the prompt with its fields filled,
and the media of the example.
"""

from __future__ import annotations

import base64
import io
import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.contracts import Example
from harness.contracts.parameters import check_fields
from harness.errors import InputError
from harness.files.media import media_label, open_media, require_media
from harness.llm.session import RequestFailed
from harness_models.shared.inputs.pictures import (
    COLUMN_OF_MEDIA,
    decode_picture,
    to_rgb,
)
from harness_models.shared.inputs.prompts import fill_prompt
from harness_models.shared.media import (
    check_frames,
    kind_of_name,
    media_path,
    read_sound,
    video_frames,
    wav_bytes,
)

# --------------------------------------------------------------------------- content
# Content parts of a chat message: images, frames of a video, sound, whole video files.
if TYPE_CHECKING:
    from PIL import Image as PilImage

Part = dict[str, Any]
_SENT_AS_THEY_ARE = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
"""Formats of Pillow that servers read -> their media types."""
_PLAIN_MODES = ("RGB", "RGBA", "L", "LA", "P", "1")


def data_url(content: bytes, media_type: str) -> str:
    """Return content as a data URL.

    >>> data_url(b"abc", "audio/wav")
    'data:audio/wav;base64,YWJj'
    """
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def image_part(image: PilImage.Image) -> Part:
    """Return an image as a part, encoded as PNG (RGB, 8 bits)."""
    file = io.BytesIO()
    to_rgb(image).save(file, "PNG")
    return _image(file.getvalue(), "image/png")


def image_file_part(content: bytes, label: str, max_side: int | None = None) -> Part:
    """Return an image file as a part.

    A PNG, JPEG, WebP or GIF of 8 bits is sent unchanged. Other formats and modes (CMYK,
    16 bits), and images larger than ``max_side``, are sent as RGB images in PNG.

    Parameters
    ----------
    content : bytes
        The file.
    label : str
        Name of the image for messages.
    max_side : int, optional
        Maximum width and height in pixels; a larger image is reduced, with its
        proportions.

    Raises
    ------
    InputError
        For content that is no image, is truncated, or has too many pixels.
    """
    from PIL import Image

    decoded = decode_picture(io.BytesIO(content), label)
    with Image.open(io.BytesIO(content)) as image:
        media_type = _SENT_AS_THEY_ARE.get(image.format or "")
        plain = media_type is not None and image.mode in _PLAIN_MODES
    if max_side is not None and max(decoded.size) > max_side:
        decoded.thumbnail((max_side, max_side))
        plain = False
    return _image(content, media_type) if plain and media_type else image_part(decoded)


def _image(content: bytes, media_type: str) -> Part:
    return {"type": "image_url", "image_url": {"url": data_url(content, media_type)}}


def frame_parts(
    frames: Sequence[PilImage.Image], max_side: int | None = None
) -> list[Part]:
    """Return frames of a video as image parts, in their order; frames larger than
    ``max_side`` pixels are reduced.
    """
    images: list[Part] = []
    for frame in frames:
        if max_side is not None and max(frame.size) > max_side:
            frame = frame.copy()
            frame.thumbnail((max_side, max_side))
        images.append(image_part(frame))
    return images


def sound_part(wav: bytes) -> Part:
    """Return the bytes of a WAV file as a part."""
    return {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(wav).decode("ascii"), "format": "wav"},
    }


def video_file_part(content: bytes, media_type: str) -> Part:
    """Return a whole video file as a part ``video_url``,
    which vLLM and SGLang accept.
    """
    return {"type": "video_url", "video_url": {"url": data_url(content, media_type)}}


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
        medium = (
            self.medium if self.medium != "auto" else kind_of_name(media) or "image"
        )
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
