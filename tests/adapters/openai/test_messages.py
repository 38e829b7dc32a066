"""Messages of requests: prompts with fields, images of files and of data set cells."""

from __future__ import annotations

import base64
import io

import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness.llm.client import RequestFailed
from harness_models.openai.content import (
    frame_parts,
    image_file_part,
    image_part,
    sound_part,
    video_file_part,
)
from harness_models.openai.messages import Messages

Image = pytest.importorskip("PIL.Image")


def test_prompts_have_fields():
    example = Example("7", ("r",), source="text", meta={"language": "Latin"})
    messages = Messages(prompt="{id}: {source} in {language}", system="be brief").of(
        example
    )
    assert messages == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "7: text in Latin"},
    ]
    with pytest.raises(InputError, match="the fields of example 'x' are .id."):
        Messages(prompt="{source}").of(Example("x", ("r",)))
    with pytest.raises(
        InputError, match=r"has '[{]colour}'; the fields of example 'x' are {id}"
    ):
        Messages(prompt="{colour}").of(Example("x", ("r",)))
    with pytest.raises(
        InputError, match="has .[{]0[}].; the fields of example 'x' are {id}"
    ):
        Messages(prompt="{0}").of(Example("x", ("r",)))


def test_images_come_before_the_prompt(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    example = Example("x", ("r",), media="a.png")
    (message,) = Messages(prompt="what", folder=tmp_path).of(example)
    assert [part["type"] for part in message["content"]] == ["image_url", "text"]
    (message,) = Messages(prompt="what", folder=tmp_path, image=False).of(example)
    assert message["content"] == "what"
    with pytest.raises(RequestFailed, match="the example names no image"):
        Messages(prompt="what", image=True).of(Example("y", ("r",)))


def test_a_cell_of_a_data_set_is_sent(tmp_path):
    datasets = pytest.importorskip("datasets")
    from harness_tasks.readers.hf import HuggingFaceDataset

    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    cells = [{"bytes": (tmp_path / "a.png").read_bytes(), "path": "a.png"}]
    data = datasets.Dataset.from_dict({"id": [1], "captions": [["a"]], "image": cells})
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "saved"))
    (example,) = HuggingFaceDataset(path=str(tmp_path / "saved"))
    (message,) = Messages(prompt="what").of(example)
    assert message["content"][0]["image_url"]["url"].startswith(
        "data:image/png;base64,"
    )


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"\x89PNG")
    messages = Messages(prompt="what", folder=tmp_path)
    with pytest.raises(
        RequestFailed, match=r"gone.png: the image cannot be read \(No such file"
    ):
        messages.of(Example("x", ("r",), media="gone.png"))
    with pytest.raises(
        RequestFailed, match=r"broken.png: is no image, video or sound by its content"
    ):
        messages.of(Example("x", ("r",), media="broken.png"))


def kinds(message) -> list[str]:
    return [part["type"] for part in message["content"]]


def test_videos_are_sent_as_frames_or_whole(tmp_path):
    pytest.importorskip("av")
    from tests.support.media_files import write_video

    write_video(tmp_path / "a.mp4", 20)
    example = Example("x", ("r",), media="a.mp4")
    (message,) = Messages(prompt="what", folder=tmp_path, frames=3, max_side=32).of(
        example
    )
    assert kinds(message) == ["image_url"] * 3 + ["text"]
    (message,) = Messages(prompt="what", folder=tmp_path, frames=0).of(example)
    assert kinds(message) == ["video_url", "text"]
    assert message["content"][0]["video_url"]["url"].startswith(
        "data:video/mp4;base64,"
    )
    (tmp_path / "a.mp4").write_bytes((tmp_path / "a.mp4").read_bytes()[:900])
    with pytest.raises(RequestFailed, match=r"a\.mp4: ") as caught:
        Messages(prompt="what", folder=tmp_path).of(example)
    assert "\n" not in str(caught.value)


def test_sound_is_sent_as_wav(tmp_path):
    pytest.importorskip("av")
    from tests.support.media_files import write_sound

    write_sound(tmp_path / "rain.wav", 0.1)
    (message,) = Messages(prompt="what", folder=tmp_path).of(
        Example("x", ("r",), media="rain.wav")
    )
    assert (
        kinds(message) == ["input_audio", "text"]
        and message["content"][0]["input_audio"]["format"] == "wav"
    )
    (message,) = Messages(prompt="what", folder=tmp_path, medium="audio").of(
        Example("x", ("r",), media="rain")
    )
    assert kinds(message) == ["input_audio", "text"]
    with pytest.raises(RequestFailed, match=r"gone\.wav: no such sound"):
        Messages(prompt="what", folder=tmp_path).of(
            Example("x", ("r",), media="gone.wav")
        )


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    "kind, part", [("video", "image_url"), ("audio", "input_audio")]
)
def test_columns_of_videos_and_sound_are_sent(
    tmp_path, monkeypatch, streaming, kind, part
):
    pytest.importorskip("av")
    datasets = pytest.importorskip("datasets")
    from harness_tasks.readers.hf import HuggingFaceDataset
    from tests.support.media_files import write_sound, write_video

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    file = (
        write_video(tmp_path / "a.mp4", 20)
        if kind == "video"
        else write_sound(tmp_path / "a.wav", 0.1)
    )
    data = datasets.Dataset.from_dict(
        {
            "id": [1],
            "captions": [["a"]],
            kind: [{"bytes": file.read_bytes(), "path": None}],
        }
    )
    data = data.cast_column(
        kind, datasets.Video() if kind == "video" else datasets.Audio()
    )
    data.save_to_disk(str(tmp_path / "saved"))
    (example,) = HuggingFaceDataset(path=str(tmp_path / "saved"), streaming=streaming)
    (message,) = Messages(prompt="what", frames=2).of(example)
    assert kinds(message) == [part] * (2 if kind == "video" else 1) + ["text"]


def test_settings_out_of_range():
    with pytest.raises(
        HarnessError, match="medium is 'picture'; expected auto, image, video or audio"
    ):
        Messages(prompt="what", medium="picture")
    with pytest.raises(HarnessError, match="openai: frames is a number from 1"):
        Messages(prompt="what", frames=-1)
    with pytest.raises(
        HarnessError, match="openai: frame_choice is one of uniform, key"
    ):
        Messages(prompt="what", frame_choice="random")


def encoded(image, form: str) -> bytes:
    file = io.BytesIO()
    image.save(file, form)
    return file.getvalue()


def url_of(part) -> str:
    assert part["type"] == "image_url"
    return part["image_url"]["url"]


def decoded(part):
    head, _, data = url_of(part).partition(";base64,")
    assert head == "data:image/png"
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize(
    "form, media_type",
    [("PNG", "png"), ("JPEG", "jpeg"), ("WEBP", "webp"), ("GIF", "gif")],
)
def test_usual_images_are_sent_unchanged(form, media_type):
    content = encoded(Image.new("RGB", (8, 6), (200, 10, 10)), form)
    url = url_of(image_file_part(content, "a"))
    assert url == f"data:image/{media_type};base64,{base64.b64encode(content).decode()}"


def test_other_formats_and_modes_are_converted():
    cmyk = decoded(
        image_file_part(
            encoded(Image.new("CMYK", (8, 6), (0, 255, 255, 0)), "JPEG"), "a"
        )
    )
    assert (
        cmyk.mode == "RGB"
        and cmyk.getpixel((0, 0))[0] > 200 > 60 > cmyk.getpixel((0, 0))[1]
    )
    deep = decoded(
        image_file_part(encoded(Image.new("I;16", (8, 6), 257 * 100), "PNG"), "a")
    )
    assert deep.getpixel((0, 0)) == (100, 100, 100)
    bitmap = decoded(
        image_file_part(encoded(Image.new("RGB", (8, 6), (1, 2, 3)), "BMP"), "a")
    )
    assert bitmap.getpixel((7, 5)) == (1, 2, 3)


def test_large_images_are_reduced():
    content = encoded(Image.new("RGB", (400, 200), (9, 9, 9)), "PNG")
    assert decoded(image_file_part(content, "a", max_side=100)).size == (100, 50)
    assert decoded(image_file_part(content, "a", max_side=400)).size == (400, 200)


@pytest.mark.parametrize(
    "content", [b"", b"hello", encoded(Image.effect_noise((64, 64), 50), "PNG")[:700]]
)
def test_damaged_images_are_refused(content):
    with pytest.raises(InputError, match=r"^dir/a.png: the image does not decode \("):
        image_file_part(content, "dir/a.png")


def test_huge_images_are_refused(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(InputError, match="DecompressionBombError"):
        image_file_part(encoded(Image.new("RGB", (8, 6)), "PNG"), "a")


def test_frames_sound_and_videos():
    frames = [Image.new("RGB", (40, 20), colour) for colour in ((1, 1, 1), (2, 2, 2))]
    parts = frame_parts(frames, max_side=20)
    assert [decoded(part).getpixel((0, 0)) for part in parts] == [(1, 1, 1), (2, 2, 2)]
    assert decoded(parts[0]).size == (20, 10) and frames[0].size == (40, 20)
    assert decoded(image_part(frames[0])).size == (40, 20)
    assert sound_part(b"RIFF") == {
        "type": "input_audio",
        "input_audio": {"data": "UklGRg==", "format": "wav"},
    }
    assert (
        video_file_part(b"abc", "video/mp4")["video_url"]["url"]
        == "data:video/mp4;base64,YWJj"
    )
