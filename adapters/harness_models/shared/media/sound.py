"""Sound of audio and video files, read by the package PyAV: one channel at any sampling
rate, and as the bytes of a WAV file.
"""

from __future__ import annotations

import io
import os
import wave
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError, InputError

if TYPE_CHECKING:
    pass
from harness_models.shared.media.container import Source, name_of, open_container

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

    # The resampler holds back the end of the sound until it is asked for it.
    if chunks:
        chunks += [chunk.to_ndarray()[0] for chunk in resampler.resample(None)]
        return np.concatenate(chunks).astype(np.float32)
    return np.zeros(0, dtype=np.float32)


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

    promised = (container.duration or 0) / 1e6
    if stream.duration:
        promised = float(stream.duration * stream.time_base)
    if len(container.streams) > 1 and not stream.duration:
        return
    is_exact = any(name in _EXACT for name in container.format.name.split(","))
    if is_exact and seconds < 0.98 * promised - 0.1:
        raise InputError(
            f"the file is truncated: its header promises {promised:.1f} s, "
            f"it has {seconds:.1f} s",
            name_of(source),
        )


def wav_bytes(samples: np.ndarray, rate: int = 16000) -> bytes:
    """Return samples in [-1, 1], shape (T,), as the bytes of a WAV file of 16 bits and
    one channel, as servers take sounds.
    """
    scaled = np.round(np.asarray(samples, dtype=np.float64) * 32767)
    levels = np.clip(scaled, -32768, 32767).astype("<i2")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(levels.tobytes())
    return buffer.getvalue()
