"""Messages of requests: prompts with fields, images of files and of data set cells."""

from __future__ import annotations

import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness.llm.session import RequestFailed
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
