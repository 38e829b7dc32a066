"""Frames of videos, read by PyAV: at equal distances in time, or key frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, InputError

if TYPE_CHECKING:
    from PIL import Image as PilImage
from harness_models.shared.media.container import Source, name_of, open_container

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
