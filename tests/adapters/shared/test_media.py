"""Media files: their kinds by name, containers, sound, frames of videos."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.errors import HarnessError, InputError, MissingExtra
from harness_models.shared import media
from harness_models.shared.media.container import name_of, open_container
from harness_models.shared.media.kinds import kind_of_name, media_path
from harness_models.shared.media.sound import read_sound, wav_bytes
from harness_models.shared.media.video import video_frames
from tests.support.media_files import COLOUR, write_sound, write_video

av = pytest.importorskip("av")
FORMATS = [
    ("a.mp4", "libx264"),
    ("b.webm", "libvpx-vp9"),
    ("c.mkv", "libx264"),
    ("d.ts", "libx264"),
]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.mp4", "video"),
        ("a.WEBM", "video"),
        ("a.ts", "video"),
        ("b.wav", "audio"),
        ("b.opus", "audio"),
        ("c.JPEG", "image"),
        ("c.webp", "image"),
        ("d", None),
        ("d.npz", None),
    ],
)
def test_kinds_are_those_of_the_suffix(name, kind):
    assert kind_of_name(name) == kind


def test_names_without_a_suffix_are_those_of_files(tmp_path):
    (tmp_path / "video7010.mp4").touch()
    (tmp_path / "7fmOlUlwoNg.flac").touch()
    (tmp_path / "plain").touch()
    assert media_path("video7010", tmp_path, "video") == tmp_path / "video7010.mp4"
    assert media_path("7fmOlUlwoNg", tmp_path, "audio") == tmp_path / "7fmOlUlwoNg.flac"
    assert media_path("video7010", tmp_path, "audio") == tmp_path / "video7010"
    assert media_path("plain", tmp_path, "audio") == tmp_path / "plain"
    assert media_path("gone.mp4", tmp_path, "video") == tmp_path / "gone.mp4"
    assert (
        media_path(str(tmp_path / "video7010"), None, "video")
        == tmp_path / "video7010.mp4"
    )


def test_sources_are_named_by_path_or_size():
    assert (name_of("a.mp4"), name_of(b"abc")) == ("a.mp4", "3 bytes")


def test_errors_while_decoding_are_messages(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"0" * 500)
    with (
        pytest.raises(
            InputError, match=r"a\.mp4: is no image, video or sound by its content"
        ),
        open_container(tmp_path / "a.mp4", "video"),
    ):
        pass
    with (
        pytest.raises(InputError, match="no such sound"),
        open_container(tmp_path, "sound"),
    ):
        pass


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(
        MissingExtra,
        match=r"reading a video file needs the package 'av', .*caption-harness\[media\]",
    ):
        open_container(tmp_path / "a.mp4", "video").__enter__()


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
    monkeypatch.setattr(media, "MAX_SECONDS", 0.5)
    with pytest.raises(InputError, match="the sound is longer than"):
        read_sound(write_sound(tmp_path / "long.wav", 1.0))
    with pytest.raises(
        HarnessError, match="the sampling rate is at least 1000; found 16"
    ):
        read_sound(tmp_path / "long.wav", 16)


def numbers(frames) -> list[int]:
    """Return the number of each frame by its colours."""
    means = [
        np.asarray(image, dtype=float).mean(axis=(0, 1)) for image in frames.images
    ]
    return [round((red - green + 250) / (2 * COLOUR)) for red, green, _ in means]


@pytest.mark.parametrize(("name", "codec"), FORMATS)
def test_uniform_frames_are_the_middles_of_equal_parts(tmp_path, name, codec):
    path = write_video(tmp_path / name, codec=codec)
    for count in (1, 5, 8):
        frames = video_frames(path, count)
        assert (
            numbers(frames)
            == [(2 * i + 1) * 50 // (2 * count) for i in range(count)]
            == list(frames.places)
        )
        np.testing.assert_allclose(
            frames.seconds, [n / 10 for n in frames.places], atol=1e-6
        )
    assert (frames.total, frames.duration, frames.rate) == (
        50,
        pytest.approx(5.0),
        pytest.approx(10.0),
    )
    assert frames.images[0].size == (64, 48) and frames.images[0].mode == "RGB"


@pytest.mark.parametrize(("name", "codec"), FORMATS)
def test_key_frames_are_those_of_the_codec(tmp_path, name, codec):
    path = write_video(tmp_path / name, codec=codec)
    with av.open(str(path)) as container:
        decoded = list(container.decode(container.streams.video[0]))
    keys = [i for i, frame in enumerate(decoded) if frame.key_frame]
    frames = video_frames(path, 50, "key")
    assert numbers(frames) == keys and len(keys) >= 4
    few = video_frames(path, 2, "key")
    assert numbers(few) == [keys[len(keys) // 4], keys[3 * len(keys) // 4]]


def test_seeking_and_plain_decoding_give_the_same_pixels(tmp_path):
    path = write_video(tmp_path / "a.mp4", keys=5)
    with av.open(str(path)) as container:
        plain = [
            np.asarray(frame.to_image())
            for frame in container.decode(container.streams.video[0])
        ]
    frames = video_frames(path, 7)
    for place, image in zip(frames.places, frames.images):
        np.testing.assert_array_equal(np.asarray(image), plain[place])


def test_short_videos_repeat_frames_and_content_equals_the_file(tmp_path):
    path = write_video(tmp_path / "a.mp4", 3)
    frames = video_frames(path, 8)
    assert numbers(frames) == [0, 0, 0, 1, 1, 2, 2, 2]
    assert numbers(video_frames(path.read_bytes(), 8)) == numbers(frames)
    assert numbers(video_frames(write_video(tmp_path / "one.mp4", 1), 2)) == [0, 0]


@pytest.mark.parametrize(("name", "codec"), FORMATS[:3])
def test_truncated_videos_are_refused_in_one_line(tmp_path, name, codec):
    path = write_video(tmp_path / name, codec=codec)
    content = path.read_bytes()
    for length in (0, 10, len(content) // 3, 2 * len(content) // 3):
        path.write_bytes(content[:length])
        with pytest.raises(
            InputError,
            match=f"{name}: (is no image|the (file is truncated: "
            "its header|video does not decode|video has no frames))",
        ) as error:
            video_frames(path)
        assert "\n" not in str(error.value) and "Errno" not in str(error.value)


def test_files_without_frames_are_refused(tmp_path):
    from tests.support.media_files import write_sound

    sound = write_sound(tmp_path / "rain.wav")
    with pytest.raises(InputError, match="rain.wav: the file has no video stream"):
        video_frames(sound)
    with pytest.raises(InputError, match=r"gone.mp4: no such video"):
        video_frames(tmp_path / "gone.mp4")
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(
        InputError, match=r"text.mp4: is no image, video or sound by its content"
    ):
        video_frames(tmp_path / "text.mp4")
    with pytest.raises(
        InputError, match="3 bytes: is no image, video or sound by its content"
    ):
        video_frames(b"abc")


@pytest.mark.parametrize("count", [0, -1, 5000, True, 2.5])
def test_counts_and_choices_out_of_range_are_refused(count):
    with pytest.raises(HarnessError, match="frames is a number from 1 to 4096"):
        video_frames("x.mp4", count)
    with pytest.raises(
        HarnessError, match="frame_choice is one of uniform, key; found 'first'"
    ):
        video_frames("x.mp4", 2, "first")
