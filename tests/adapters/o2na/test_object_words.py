"""Object words of captions."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness_models.o2na.object_words import (
    noun_positions,
    object_words,
    read_object_words,
    scene_objects,
)
from harness_tasks.a3ds.grammar import captions


def test_nouns_are_the_last_words_of_runs_after_determiners():
    words = [
        "a",
        "man",
        "shows",
        "a",
        "small",
        "dog",
        "to",
        "the",
        "other",
        "man",
        "on",
        "some",
        "green",
        "hill",
    ]
    assert [words[i] for i in noun_positions(words)] == ["man", "dog", "man", "hill"]
    assert noun_positions([]) == noun_positions(["red", "ball"]) == []


def test_object_words_are_nouns_in_half_of_their_occurrences():
    texts = [
        text.split()
        for text in (
            "a red ball",
            "the ball is red",
            "a dog",
            "the red",
            "red is a cat",
            "a ball",
            "a dog",
        )
    ]
    assert object_words(texts) == ["ball", "dog"]
    assert object_words(texts, minimum=1) == ["ball", "dog", "cat"]


def test_object_words_of_scene_captions_are_the_scene_objects():
    texts = [
        text.split()
        for scene in range(0, 480_000, 1777)
        for text in captions(scene, "short")
    ]
    assert set(scene_objects()) - {"floor"} <= set(object_words(texts))


def test_words_of_a_file(tmp_path):
    path = tmp_path / "objects.json"
    path.write_text(json.dumps(["ball", "wall"]))
    assert read_object_words(str(path)) == ["ball", "wall"]
    path.write_text(json.dumps({"ball": 1}))
    with pytest.raises(InputError, match="expected a list of words"):
        read_object_words(str(path))
