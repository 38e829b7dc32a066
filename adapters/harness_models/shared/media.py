"""Media files: their kinds by name, containers opened by PyAV, sound,
and frames of videos.
"""

from __future__ import annotations

import io
import mimetypes
import os
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness.errors import HarnessError, InputError, require
from harness.files.media import media_file, require_media

Medium = Literal["image", "video", "audio"]
_MORE: dict[str, Medium] = {
    ".mkv": "video",
    ".webm": "video",
    ".avi": "video",
    ".m4v": "video",
    ".mts": "video",
    ".ts": "video",
    ".gif": "video",
    ".flac": "audio",
    ".ogg": "audio",
    ".opus": "audio",
    ".m4a": "audio",
    ".wav": "audio",
    ".webp": "image",
    ".heic": "image",
}
"""Suffixes that the tables of some systems lack or read otherwise."""


def kind_of_name(path: str | Path) -> Medium | None:
    """Return the kind of a media file by its suffix, or None for another suffix.

    >>> (
    ...     kind_of_name("video7010.mp4"),
    ...     kind_of_name("rain.FLAC"),
    ...     kind_of_name("dog.jpg"),
    ...     kind_of_name("notes.txt"),
    ... )
    ('video', 'audio', 'image', None)
    """
    suffix = Path(path).suffix.lower()
    if suffix in _MORE:
        return _MORE[suffix]
    kind = (mimetypes.guess_type(f"x{suffix}")[0] or "").partition("/")[0]
    return kind if kind in ("image", "video", "audio") else None


SUFFIXES: dict[Medium, tuple[str, ...]] = {
    "image": (".jpg", ".jpeg", ".png", ".webp"),
    "video": (".mp4", ".webm", ".mkv", ".avi"),
    "audio": (".wav", ".flac", ".mp3", ".ogg", ".m4a"),
}
"""Suffixes that are tried for names without one, in this order."""


def media_path(name: str, folder: Path | None, medium: Medium) -> Path:
    """Return the path of a media file.

    A name that is no file (``video7010``,
    a YouTube id) is that of a file with a usual suffix.

    Parameters
    ----------
    name
        ``Example.media``.
    folder
        Folder of the files; None: the name is a path.
    medium
        Kind of file to look for; the path of a file that does not exist is returned as
        it is.
    """
    path = media_file(name, folder)  # of a cell of a data set: a file of the cache
    if path.is_file() or kind_of_name(path) is not None:
        return path
    candidates = (media_file(f"{name}{suffix}", folder) for suffix in SUFFIXES[medium])
    return next((candidate for candidate in candidates if candidate.is_file()), path)


# --------------------------------------------------------------------------- container
# Media files opened by PyAV, with one-line messages.
Source = str | Path | bytes
"""A file, or its content."""


def name_of(source: Source) -> str:
    """Return the name of a source for messages."""
    return f"{len(source)} bytes" if isinstance(source, bytes) else str(source)


@contextmanager
def open_container(source: Source, noun: str) -> Iterator[Any]:
    """Open a media file as a container of PyAV;
    FFmpeg's log is silent and its errors become messages.

    Parameters
    ----------
    source
        File or its content.
    noun
        ``video`` or ``sound``, for messages.

    Raises
    ------
    InputError
        For a file that is missing, or that FFmpeg does not open or decode.
    MissingExtra
        If PyAV is not installed.
    """
    av: Any = require("av", extra="media", needed_by=f"reading a {noun} file")
    name = name_of(source)
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise InputError(f"no such {noun}", name)
    with (
        BytesIO(source)
        if isinstance(source, bytes)
        else Path(source).open("rb") as file
    ):
        # FFmpeg opens lists of other files and addresses too
        require_media(file.read(32), name)
    try:
        with av.open(
            BytesIO(source) if isinstance(source, bytes) else str(source)
        ) as container:
            yield container
    except (av.FFmpegError, OSError, ValueError, UnicodeDecodeError) as error:
        message = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(
            f"the {noun} does not decode ({message[:120]})", name
        ) from error


# --------------------------------------------------------------------------- sound
# Sound of audio and video files, read by the package PyAV: one channel at any sampling
# rate, and as the bytes of a WAV file.
MAX_SECONDS = 3600.0
"""Longest sound that is read."""
_EXACT = ("flac", "mov", "matroska")
"""Formats whose header has the exact length."""


def read_sound(source: Source, rate: int = 16000) -> np.ndarray:
    """Return the sound of a file as one channel, the mean of its channels.

    Parameters
    ----------
    source : path or bytes
        File of a format that FFmpeg reads (WAV, FLAC, MP3, Ogg, M4A, a video with
        sound), or its content.
    rate : int
        Samples per second of the result, at least 1000.

    Returns
    -------
    ndarray
        Samples in about [-1, 1], float32, shape (seconds * rate,).

    Raises
    ------
    InputError
        For a file without sound, that is truncated or longer than :data:`MAX_SECONDS`,
        or does not decode.
    HarnessError
        For a rate out of range.
    MissingExtra
        If PyAV is not installed.
    """
    if rate < 1000:
        raise HarnessError(f"the sampling rate is at least 1000; found {rate}")
    with open_container(source, "sound") as container:
        _check_riff(source)
        if not container.streams.audio:
            raise InputError("the file has no sound", name_of(source))
        samples = _resample(container, container.streams.audio[0], rate, source)
        if not len(samples):
            raise InputError(
                "the file has no sound: it holds 0 samples", name_of(source)
            )
        _check_length(container, len(samples) / rate, source)
        return samples


def _resample(container: Any, stream: Any, rate: int, source: Source) -> np.ndarray:
    import av

    resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
    chunks: list[np.ndarray] = []
    length = 0
    for frame in container.decode(stream):
        frame.pts = None  # gaps in the times of packets are not filled with silence
        chunks += [chunk.to_ndarray()[0] for chunk in resampler.resample(frame)]
        length += len(chunks[-1]) if chunks else 0
        if length > MAX_SECONDS * rate:
            raise InputError(
                f"the sound is longer than {MAX_SECONDS:.0f} s", name_of(source)
            )
    if chunks:
        chunks += [chunk.to_ndarray()[0] for chunk in resampler.resample(None)]
    return (
        np.concatenate(chunks).astype(np.float32)
        if chunks
        else np.zeros(0, dtype=np.float32)
    )


def _check_riff(source: Source) -> None:
    """Raise :class:`InputError` for a WAV file that is shorter than its header says,
    which FFmpeg accepts.
    """
    if isinstance(source, bytes):
        head = source[:12]
        size = len(source)
    else:
        with open(source, "rb") as file:
            head = file.read(12)
            size = os.path.getsize(source)
    promised = 8 + int.from_bytes(head[4:8], "little")
    if (
        head[:4] == b"RIFF"
        and head[8:12] == b"WAVE"
        and promised < 2**32
        and promised > size
    ):
        raise InputError(
            f"the file is truncated: its header promises {promised} bytes, "
            f"it has {size}",
            name_of(source),
        )


def _check_length(container: Any, seconds: float, source: Source) -> None:
    """Raise :class:`InputError` for a sound that is shorter than its header says."""
    stream = container.streams.audio[0]
    promised = (
        float(stream.duration * stream.time_base)
        if stream.duration
        else (container.duration or 0) / 1e6
    )
    if len(container.streams) > 1 and not stream.duration:
        return
    if (
        any(name in _EXACT for name in container.format.name.split(","))
        and seconds < 0.98 * promised - 0.1
    ):
        raise InputError(
            f"the file is truncated: its header promises {promised:.1f} s, "
            f"it has {seconds:.1f} s",
            name_of(source),
        )


def wav_bytes(samples: np.ndarray, rate: int = 16000) -> bytes:
    """Return samples in [-1, 1], shape (T,), as the bytes of a WAV file of 16 bits and
    one channel, as servers take sounds.
    """
    levels = np.clip(
        np.round(np.asarray(samples, dtype=np.float64) * 32767), -32768, 32767
    ).astype("<i2")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(levels.tobytes())
    return buffer.getvalue()


# --------------------------------------------------------------------------- video
# Frames of videos, read by the package PyAV: at equal distances in time, or key frames.
if TYPE_CHECKING:
    from PIL import Image as PilImage

CHOICES = ("uniform", "key")
"""Ways to choose frames."""
MAX_FRAMES = 4096
"""Largest number of frames of one video."""


@dataclass(frozen=True)
class Frames:
    """Frames of a video, in the order of time."""

    images: tuple[PilImage.Image, ...]
    """RGB images of equal size."""
    seconds: tuple[float, ...]
    """Time of each frame from the start of the video."""
    duration: float
    """Length of the video in seconds."""
    total: int
    """Number of frames of the video."""

    @property
    def rate(self) -> float:
        """Frames of the video per second."""
        return self.total / self.duration if self.duration > 0 else 1.0

    @property
    def places(self) -> tuple[int, ...]:
        """Index of each frame in the video."""
        return tuple(
            min(self.total - 1, round(time * self.rate)) for time in self.seconds
        )


def check_frames(count: int, choice: str, owner: str) -> None:
    """Raise :class:`HarnessError` unless ``count`` is in 1 .. :data:`MAX_FRAMES` and
    ``choice`` one of :data:`CHOICES`.
    """
    if (
        isinstance(count, bool)
        or not isinstance(count, int)
        or not 1 <= count <= MAX_FRAMES
    ):
        raise HarnessError(
            f"{owner}: frames is a number from 1 to {MAX_FRAMES}; found {count!r}",
            parameter="frames",
        )
    if choice not in CHOICES:
        raise HarnessError(
            f"{owner}: frame_choice is one of {', '.join(CHOICES)}; found {choice!r}",
            parameter="frame_choice",
        )


def video_frames(source: Source, count: int = 8, choice: str = "uniform") -> Frames:
    """Return frames of a video.

    Parameters
    ----------
    source : path or bytes
        File of a format that FFmpeg reads (MP4, WebM, AVI, GIF, ...), or its content.
    count : int
        Number of frames, in 1 .. :data:`MAX_FRAMES`.
    choice : {'uniform', 'key'}
        ``uniform``: the video is divided into ``count`` parts of equal numbers of
        frames, and the middle frame of each is returned; a video with fewer frames
        repeats some. ``key``: the key frames of the codec, at most ``count`` of them,
        chosen likewise.

    Raises
    ------
    InputError
        For a file that is no video, has no frames, is truncated, or does not decode.
    HarnessError
        For a count or choice out of range.
    MissingExtra
        If PyAV is not installed.
    """
    check_frames(count, choice, "video")
    with open_container(source, "video") as container:
        if not container.streams.video:
            raise InputError("the file has no video stream", name_of(source))
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        times, keys = _packet_times(container, stream, source)
        eligible = keys if choice == "key" else times
        number = min(count, len(eligible)) if choice == "key" else count
        targets = [
            eligible[(2 * i + 1) * len(eligible) // (2 * number)] for i in range(number)
        ]
        images = dict(
            _decode_frames(container, stream, sorted(set(targets)), keys, source)
        )
        base = float(stream.time_base)
        step = (times[-1] - times[0]) / max(1, len(times) - 1) or float(1 / base) / 25
        return Frames(
            tuple(images[target] for target in targets),
            tuple((target - times[0]) * base for target in targets),
            (times[-1] - times[0] + step) * base,
            len(times),
        )


def _packet_times(
    container: Any, stream: Any, source: Source
) -> tuple[list[int], list[int]]:
    """Return the times of all frames and those of the key frames, ascending, in units
    of the stream; nothing is decoded.
    """
    times: set[int] = set()
    keys: set[int] = set()
    last = 0
    for packet in container.demux(stream):
        if packet.size == 0:
            continue
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None or packet.is_discard:
            continue
        times.add(time)
        last = max(last, time + (packet.duration or 0))
        if packet.is_keyframe:
            keys.add(time)
    if not times:
        raise InputError("the video has no frames", name_of(source))
    if stream.frames and len(times) < stream.frames:
        raise InputError(
            f"the file is truncated: its header promises {stream.frames} frames, "
            f"it has {len(times)}",
            name_of(source),
        )
    _check_duration(container, stream, last, source)
    ordered = sorted(times)
    return ordered, sorted(keys) or ordered[:1]


def _check_duration(container: Any, stream: Any, last: int, source: Source) -> None:
    """Raise :class:`InputError` for a video that ends well before the duration in its
    header.
    """
    if (
        not container.duration
        or len(container.streams) > 1
        or container.format.name in ("gif", "image2")
    ):
        return
    promised = container.duration / 1e6
    start = float((stream.start_time or 0) * stream.time_base)
    ends = float(last * stream.time_base) - min(start, 0.0)
    if ends < 0.8 * promised - 0.5:
        raise InputError(
            f"the file is truncated: its header promises {promised:.1f} s, "
            f"its frames end at {ends:.1f} s",
            name_of(source),
        )


def _decode_frames(
    container: Any, stream: Any, targets: list[int], keys: list[int], source: Source
) -> Iterator[tuple[int, PilImage.Image]]:
    """Yield (time, image) for ascending target times.

    Before each, decoding resumes at the last key frame if that saves frames.
    """
    frames: Iterator[Any] = iter(())
    position = -(2**62)
    for target in targets:
        key = max((key for key in keys if key <= target), default=keys[0])
        if key > position:
            container.seek(min(key, target), stream=stream, backward=True)
            frames = container.decode(stream)
        frame = _first_at(frames, target)
        # the index of some formats (MPEG-TS) leads past the key frame
        if frame is None or frame.pts > target:
            container.seek(0)
            frames = container.decode(stream)
            frame = _first_at(frames, target)
        if frame is None:
            raise InputError(
                "the file is damaged: no frame at "
                f"{float(target * stream.time_base):.2f} s",
                name_of(source),
            )
        position = frame.pts
        yield target, _upright(frame)


def _first_at(frames: Iterator[Any], time: int) -> Any:
    """Return the first frame at a time or later, or None."""
    return next(
        (frame for frame in frames if frame.pts is not None and frame.pts >= time), None
    )


def _upright(frame: Any) -> PilImage.Image:
    """Return the RGB image of a frame, rotated as its metadata says."""
    image = frame.to_image()
    turn = round(getattr(frame, "rotation", 0) or 0) % 360
    return image.rotate(turn, expand=True) if turn else image
