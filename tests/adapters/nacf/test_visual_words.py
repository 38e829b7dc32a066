"""Visual words and object words without parts of speech."""

from __future__ import annotations

from harness.adapters.nacf.visual_words import ends_of_runs, is_visual, object_words
from harness.adapters.o2na.training import scene_objects
from harness.tasks.a3ds.scene import captions


def test_function_words_and_numbers_are_not_visual():
    assert [word for word in ["there", "are", "3", "dogs", "on", "the", "well-kept", "lawn"] if is_visual(word)] == [
        "dogs",
        "well-kept",
        "lawn",
    ]


def test_nouns_end_the_run_after_a_determiner():
    words = ["a", "man", "shows", "a", "small", "dog", "to", "the", "other", "man", "on", "some", "green", "hill"]
    assert [words[i] for i in ends_of_runs(words)] == ["man", "dog", "man", "hill"]
    assert ends_of_runs([]) == ends_of_runs(["red", "ball"]) == []


def test_words_must_mostly_stand_as_objects():
    said = [
        text.split()
        for text in ("a red ball", "the ball is red", "a dog", "the red", "red is a cat", "a ball", "a dog")
    ]
    assert object_words(said) == ["ball", "dog"]
    assert object_words(said, least=1) == ["ball", "dog", "cat"]


def test_the_rule_finds_what_stands_in_scenes():
    said = [text.split() for scene in range(0, 480_000, 1777) for text in captions(scene, "short")]
    assert set(scene_objects()) - {"floor"} <= set(object_words(said))
