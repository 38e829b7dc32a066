"""Sound of audio and video files."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness_models.shared.media import sound
from harness_models.shared.media.sound import read_sound, wav_bytes
from tests.support.media_files import write_sound, write_video


def sine(seconds: float, rate: int) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)


def test_samples_of_a_wav_file_are_returned(tmp_path):
    path = write_sound(tmp_path / "a.wav", 0.5)
    samples = read_sound(path)
    assert samples.shape == (8000,) and samples.dtype == np.float32
    np.testing.assert_allclose(samples, sine(0.5, 16000), atol=4e-5)
    np.testing.assert_array_equal(samples, read_sound(path.read_bytes()))
    np.testing.assert_array_equal(samples, read_sound(wav_bytes(samples)))


@pytest.mark.parametrize("rate", [8000, 16000, 44100])
def test_other_rates_are_resampled(tmp_path, rate):
    samples = read_sound(write_sound(tmp_path / "a.wav", 1.0, rate=44100), rate)
    assert len(samples) == rate
    np.testing.assert_allclose(samples[200:-200], sine(1.0, rate)[200:-200], atol=1e-3)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("a.flac", "flac"),
        ("b.mp3", "libmp3lame"),
        ("c.m4a", "aac"),
        ("d.ogg", "libopus"),
    ],
)
def test_compressed_formats_are_read(tmp_path, name, codec):
    rate = 48000 if codec == "libopus" else 44100
    samples = read_sound(write_sound(tmp_path / name, 1.0, rate=rate, codec=codec))
    assert len(samples) / 16000 == pytest.approx(1.0, abs=0.1)
    peak = np.abs(np.fft.rfft(samples)).argmax() * 16000 / len(samples)
    assert peak == pytest.approx(440, abs=2)
    assert np.sqrt(np.mean(samples[4000:12000] ** 2)) == pytest.approx(
        0.5 / np.sqrt(2), rel=0.06
    )


@pytest.mark.parametrize(
    ("name", "codec"), [("a.wav", None), ("a.flac", "flac"), ("c.m4a", "aac")]
)
def test_truncated_files_are_refused_in_one_line(tmp_path, name, codec):
    path = write_sound(tmp_path / name, 1.0, codec=codec)
    content = path.read_bytes()
    for length in (0, 20, len(content) // 2):
        path.write_bytes(content[:length])
        with pytest.raises(
            InputError,
            match=f"{name}: (is no image|the (file is truncated: "
            "its header|sound does not decode|file has no sound))",
        ) as error:
            read_sound(path)
        assert "\n" not in str(error.value) and "Errno" not in str(error.value)


def test_files_without_sound_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="a.mp4: the file has no sound"):
        read_sound(write_video(tmp_path / "a.mp4", 5))
    with pytest.raises(InputError, match="gone.wav: no such sound"):
        read_sound(tmp_path / "gone.wav")
    (tmp_path / "empty.wav").write_bytes(wav_bytes(np.zeros(0)))
    with pytest.raises(
        InputError, match="empty.wav: the file has no sound: it holds 0 samples"
    ):
        read_sound(tmp_path / "empty.wav")
    monkeypatch.setattr(sound, "MAX_SECONDS", 0.5)
    with pytest.raises(InputError, match="the sound is longer than"):
        read_sound(write_sound(tmp_path / "long.wav", 1.0))
    with pytest.raises(
        HarnessError, match="the sampling rate is at least 1000; found 16"
    ):
        read_sound(tmp_path / "long.wav", 16)
