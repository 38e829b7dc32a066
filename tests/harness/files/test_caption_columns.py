"""Columns that hold captions."""

from __future__ import annotations

import pytest

from harness.files.caption_columns import find_caption_columns


@pytest.mark.parametrize(
    ("role", "fields", "names"),
    [
        (
            "references",
            {
                "id": 1,
                "caption_1": "a dog",
                "caption_2": "the dog",
                "caption_length": 27,
            },
            ("caption_1", "caption_2"),
        ),
        (
            "references",
            {
                "id": 1,
                "caption_1": "a dog",
                "caption_2": "the dog",
                "caption_model": "blip",
            },
            ("caption_1", "caption_2"),
        ),
        (
            "references",
            {"id": 1, "Ref 1": "a dog", "Ref 2": "the dog", "refs_count": 2},
            ("Ref 1", "Ref 2"),
        ),
        (
            "references",
            {"id": 1, "reference_0": "a dog", "reference_1": "the dog"},
            ("reference_0", "reference_1"),
        ),
        (
            "references",
            {"caption": "a guess", "references": ["a dog"]},
            ("references",),
        ),
        ("references", {"answer": ["a dog"], "prediction": "a cat"}, ("answer",)),
        ("references", {"predict": "a cat", "label": "a dog"}, ("label",)),
        ("references", {"caption": "a dog", "label": "dog"}, ("caption",)),
        (
            "references",
            {"reference_strs": ["a dog", "the dog"], "caption_str": "a dog"},
            ("reference_strs",),
        ),
        ("candidates", {"answer": ["a dog"], "prediction": "a cat"}, ("prediction",)),
        ("candidates", {"predict": "a cat", "label": "a dog"}, ("predict",)),
        ("candidates", {"Caption": "a dog", "ID": 1}, ("Caption",)),
        (
            "candidates",
            {"file_name": "1.wav", "caption_predicted": "a dog"},
            ("caption_predicted",),
        ),
        ("candidates", {"prediction": 0.93, "caption": "a dog"}, ("caption",)),
        ("candidates", {"output": "out/1.jpg", "caption": "a dog"}, ("caption",)),
        (
            "candidates",
            {"text": "https://example.org/1", "description": "a dog"},
            ("description",),
        ),
        ("candidates", {"response": "a cat", "labels": "a dog"}, ("response",)),
        ("candidates", {"question_id": 1, "answer": "a dog"}, ("answer",)),
        ("candidates", {"caption": "42"}, ("caption",)),
    ],
)
def test_captions_are_found_by_name_and_value(role, fields, names):
    found = find_caption_columns([fields], role)
    assert found is not None and found.names == names


def test_the_first_value_that_is_not_empty_decides():
    found = find_caption_columns(
        [{"output": None, "caption": "a"}, {"output": "out/1.png", "caption": "b"}],
        "candidates",
    )
    assert found is not None and found.names == ("caption",)
    assert find_caption_columns([{"id": 1}], "candidates") is None


@pytest.mark.parametrize(
    ("role", "fields", "others"),
    [
        ("candidates", {"caption": "a", "blip_caption": "a dog"}, ("blip_caption",)),
        ("candidates", {"caption": "a", "GPT-4 Output": "a dog"}, ("GPT-4 Output",)),
        ("references", {"caption": "a", "blip_caption": ["a dog"]}, ("blip_caption",)),
        # of the other role, without words, or of another name
        ("candidates", {"prediction": "a", "reference": "the dog"}, ()),
        ("references", {"caption": "a", "generated_caption": "a dog"}, ()),
        ("candidates", {"caption": "a", "caption_length": "5", "caption_id": "x"}, ()),
        ("candidates", {"caption": "a", "prompt": "describe the image"}, ()),
    ],
)
def test_columns_with_a_word_for_captions_are_named(role, fields, others):
    found = find_caption_columns([fields], role)
    assert found is not None and found.others == others
