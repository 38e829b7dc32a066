"""Messages of requests: prompts with fields, images of files and of data set cells."""

from __future__ import annotations

import pytest

from harness.adapters.openai.messages import Messages
from harness.contracts import Example
from harness.errors import InputError
from harness.files.http_client import RequestFailed

Image = pytest.importorskip("PIL.Image")


def test_prompts_have_fields():
    example = Example("7", ("r",), source="text", meta={"language": "Latin"})
    messages = Messages(prompt="{id}: {source} in {language}", system="be brief").of(example)
    assert messages == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "7: text in Latin"}]
    with pytest.raises(InputError, match="example 'x' has no source text for the prompt"):
        Messages(prompt="{source}").of(Example("x", ("r",)))
    with pytest.raises(InputError, match=r"asks for 'colour', which example 'x' does not have"):
        Messages(prompt="{colour}").of(Example("x", ("r",)))
    with pytest.raises(InputError, match="which example 'x' does not have"):
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
    from harness.tasks.readers.hf import HuggingFaceDataset

    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    cells = [{"bytes": (tmp_path / "a.png").read_bytes(), "path": "a.png"}]
    data = datasets.Dataset.from_dict({"id": [1], "captions": [["a"]], "image": cells})
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "saved"))
    (example,) = HuggingFaceDataset(path=str(tmp_path / "saved"))
    (message,) = Messages(prompt="what").of(example)
    assert message["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"\x89PNG")
    messages = Messages(prompt="what", folder=tmp_path)
    with pytest.raises(RequestFailed, match=r"gone.png: the image cannot be read \(No such file"):
        messages.of(Example("x", ("r",), media="gone.png"))
    with pytest.raises(RequestFailed, match=r"broken.png: the image does not decode"):
        messages.of(Example("x", ("r",), media="broken.png"))
