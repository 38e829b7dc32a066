"""Inputs of models of transformers: media, prompts and arguments of the processor, of
models that are none.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.contracts import Example, Failure
from harness.errors import HarnessError, InputError
from harness_models.transformers.inputs import (
    DEFAULT_FRAMES,
    InputBuilder,
    InputSettings,
)
from harness_models.transformers.loading import LoadedModel


class Template:
    """A tokenizer or processor that shows its messages and its arguments."""

    bos_token = "<s>"

    def __init__(self, **fields):
        self.calls: list[dict[str, Any]] = []
        self.__dict__.update(fields)

    def apply_chat_template(self, messages, add_generation_prompt, tokenize):
        assert add_generation_prompt and not tokenize
        return messages

    def __call__(self, *args, **arguments):
        self.calls.append({"args": args, **arguments})
        return {"input_ids": [[1]], "pixel_values": np.zeros((2, 3))}


def loaded(kind="image-text", model_type="llava", images=True, **fields):
    config = SimpleNamespace(model_type=model_type, is_encoder_decoder=False)
    processor = Template(**fields)
    return LoadedModel(
        kind,
        SimpleNamespace(config=config),
        processor,
        Template(),
        Template() if images else None,
    )


def builder(model=None, **settings):
    values = {"prompt": "a {caption}", "chat": False, "system": None, "folder": None}
    return InputBuilder(
        model or loaded(), InputSettings(**{**values, **settings}), "tiny"
    )


EXAMPLE = Example("e", ("a dog",), media="e.png", meta={"caption": "dog"})
TEXT_ONLY = {"kind": "causal", "images": False}


def test_a_model_of_text_gets_the_prompt_alone():
    model = loaded(**TEXT_ONLY)
    assert builder(model).build(EXAMPLE)["input_ids"] == [[1]]
    builder(model, chat=True, prompt="x").build(EXAMPLE)
    plain, chat = model.tokenizer.calls
    assert plain["args"] == ("a dog",) and plain["add_special_tokens"] is True
    # The template writes the start token.
    assert chat["args"] == ([{"role": "user", "content": "x"}],)
    assert chat["add_special_tokens"] is False


def test_messages_have_a_place_for_each_medium():
    of_text = builder(loaded(**TEXT_ONLY), chat=True, system="be short")
    assert of_text.text(EXAMPLE) == [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "a dog"},
    ]
    messages = builder(chat=True, system="be short").text(EXAMPLE, "image", 2)
    assert messages[0]["content"] == [{"type": "text", "text": "be short"}]
    assert messages[1]["content"] == [
        {"type": "image"},
        {"type": "image"},
        {"type": "text", "text": "a dog"},
    ]
    # An empty prompt is no part of a message.
    assert builder(chat=True, prompt="").text(EXAMPLE) == [
        {"role": "user", "content": [{"type": "image"}]}
    ]


def test_a_key_that_the_example_does_not_have_is_named():
    with pytest.raises(InputError, match="tone"):
        builder(prompt="{tone}").text(EXAMPLE)


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        ({}, {"medium": "film"}, "one of image, video, audio; found 'film'"),
        ({}, {"medium": "audio"}, "tiny reads image, not audio"),
        ({}, {"medium": "video"}, "tiny reads image, not video"),
        (TEXT_ONLY, {"medium": "image"}, "tiny reads text only, not image"),
        ({}, {"frames": 0}, "frames"),
        ({}, {"frame_choice": "best"}, "best"),
    ],
)
def test_settings_that_the_model_does_not_have_are_refused(model, settings, message):
    with pytest.raises(HarnessError, match=message):
        builder(loaded(**model), **settings)


def test_frames_are_images_where_the_prompt_places_images():
    assert builder(loaded(image_token="<image>"), medium="video").frames == 8
    with pytest.raises(HarnessError, match="not video"):
        builder(loaded(image_token=None), medium="video")


def test_the_number_of_frames_is_that_of_the_configuration():
    model = loaded()
    assert builder(model).frames == DEFAULT_FRAMES
    model.model.config.num_image_with_embedding = 6
    assert builder(model).frames == 6
    model.model.config.encoder = SimpleNamespace(num_frames=4)
    assert builder(model).frames == 4
    assert builder(model, frames=3).frames == 3


def test_a_medium_that_is_not_read_is_a_failure_of_its_example():
    result = builder().build(Example("v", ("a",), media="v.mp4"))
    assert isinstance(result, Failure)
    assert result.reason == "v.mp4: the model reads image, not video"


def test_an_example_without_a_file_is_a_failure():
    model = loaded(kind="audio-text", images=False, feature_extractor=SimpleNamespace())
    result = builder(model).build(Example("v", ("a",)))
    assert isinstance(result, Failure)
    assert result.reason.startswith("the example names no audio; ")


def test_a_file_that_is_not_there_is_a_failure(tmp_path):
    model = loaded(kind="audio-text", images=False, feature_extractor=SimpleNamespace())
    result = builder(model, folder=tmp_path).build(Example("v", ("a",), media="v.wav"))
    assert isinstance(result, Failure) and "v.wav" in result.reason


def test_the_sampling_rate_is_that_of_the_processor():
    extractor = SimpleNamespace(sampling_rate=8000)
    assert builder(loaded(feature_extractor=extractor)).sampling_rate == 8000
    assert builder().sampling_rate == 16000


def test_the_prompt_needs_the_token_of_its_medium():
    with pytest.raises(
        InputError, match="reads the image at '<image>', which the prompt 'a' does not"
    ):
        builder(loaded(image_token="<image>"))._needs_token("image", "a")
    builder(loaded(image_token="<image>"))._needs_token("image", "a <image>")
    builder(loaded(image_token=None))._needs_token("image", "a")
    blip2 = loaded(image_token="<image>", model_type="blip-2")
    builder(blip2)._needs_token("image", "a")


@pytest.mark.parametrize(
    ("model_type", "chat", "text", "adds"),
    [
        ("llava", False, "<s> a", True),
        ("llava", True, "<s> a", False),
        ("llava", True, "a", True),
        ("blip", False, "a", False),
    ],
)
def test_special_tokens_are_added_once(model_type, chat, text, adds):
    special = builder(loaded(model_type=model_type), chat=chat)._special(text)
    assert special == {"add_special_tokens": adds}


def test_an_error_of_the_processor_names_the_example():
    class Refusing(Template):
        def __call__(self, **arguments):
            raise ValueError("too many images\nfor this model")

    model = loaded()
    object.__setattr__(model, "processor", Refusing())
    with pytest.raises(InputError, match="rejects example 'e': too many images$"):
        builder(model)._process(EXAMPLE, "image", "picture")


def test_an_encoder_of_images_gets_no_prompt():
    model = loaded(model_type="vision-encoder-decoder")
    model.model.config.encoder = SimpleNamespace(num_frames=1)
    assert builder(model).pixels_only and not builder().pixels_only
    builder(model)._process(EXAMPLE, "image", "picture")
    assert model.images.calls == [
        {"args": (), "images": "picture", "return_tensors": "pt"}
    ]
    assert not model.processor.calls
