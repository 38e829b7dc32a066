"""Detail of captions beside others of their image."""

from __future__ import annotations

from types import SimpleNamespace

from benchmarks.caption_detail import DETAILS, content_words, detail_test, own_words
from harness.contracts import CaptionSet


def test_content_words_are_different_and_no_function_words():
    assert content_words("A dog and a dog on the GRASS") == {"dog", "grass"}


def test_own_words_are_those_that_no_other_caption_has():
    assert own_words("a brown dog runs", ["the dog", "a brown cat"]) == 1
    assert own_words("a dog", []) == 1


def test_a_model_beside_a_person():
    """Six examples: the model says one word more in each, two-sided p 2 / 2^6."""
    captions = {"human": "a dog", "model": "a dog runs"}
    systems = [
        SimpleNamespace(
            model=name,
            caption_sets=lambda text=text: [
                CaptionSet(str(k), (text,), ("the dog",)) for k in range(6)
            ],
        )
        for name, text in captions.items()
    ]
    run = SimpleNamespace(samples=SimpleNamespace(systems=systems))
    assert detail_test(run, "model", DETAILS["content words"]) == "+1.000, 0.031"
