"""Small videos and sounds that several tests write."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from harness_models.shared.media.sound import wav_bytes

COLOUR = 5
"""Frame i of a video has the red value 5 i."""


def write_video(
    path: Path,
    frames: int = 50,
    *,
    rate: int = 10,
    codec: str = "libx264",
    keys: int = 12,
    size: tuple[int, int] = (64, 48),
    seed: int = 0,
) -> Path:
    """Write a video whose frame i is of one colour: red :data:`COLOUR` i (at most 250),
    green its complement, blue by the seed.
    """
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = (
            *size,
            "yuv420p",
            keys,
        )
        for i in range(frames):
            pixels = np.full((size[1], size[0], 3), 40 * seed % 256, dtype=np.uint8)
            pixels[..., 0], pixels[..., 1] = COLOUR * i, 250 - COLOUR * i
            for packet in stream.encode(
                av.VideoFrame.from_ndarray(pixels, format="rgb24")
            ):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def write_sound(
    path: Path,
    seconds: float = 1.0,
    *,
    pitch: float = 440.0,
    rate: int = 16000,
    codec: str | None = None,
) -> Path:
    """Write a sine of amplitude 0.5, as WAV or through an encoder of FFmpeg."""
    samples = (
        0.5 * np.sin(2 * np.pi * pitch * np.arange(round(seconds * rate)) / rate)
    ).astype(np.float32)
    if codec is None:
        path.write_bytes(wav_bytes(samples, rate))
        return path
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples[None], format="flt", layout="mono")
        frame.sample_rate = rate
        size = stream.codec_context.frame_size or 1024
        resampler = av.AudioResampler(
            format=stream.format, layout="mono", rate=rate, frame_size=size
        )
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return path
