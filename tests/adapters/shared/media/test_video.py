"""Frames of videos."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness_models.shared.media.video import video_frames
from tests.support.media_files import COLOUR, write_video

av = pytest.importorskip("av")
FORMATS = [
    ("a.mp4", "libx264"),
    ("b.webm", "libvpx-vp9"),
    ("c.mkv", "libx264"),
    ("d.ts", "libx264"),
]


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
