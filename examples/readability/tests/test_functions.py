import pytest
from caption_readability.functions import (
    reading_ease,
    shared_words,
    trigrams,
    word_recall,
)

import harness
from harness.testing import parametrize_with_checks


@parametrize_with_checks(
    [reading_ease, word_recall, word_recall.harness_component(best=True)]
)
def test_metrics(check):
    check()


@parametrize_with_checks([shared_words], kind="distances")
def test_distance(check):
    check()


@parametrize_with_checks([trigrams], kind="embeddings")
def test_embedding(check):
    check()


def test_values():
    assert word_recall(["a dog"], ["a dog runs", "the dog"]) == 0.5
    assert shared_words("A dog", "a cat") == pytest.approx(2 / 3)
    assert reading_ease(["a dog runs"]) > reading_ease(
        ["an umbrella accumulates precipitation"]
    )


def test_p_values_come_with_the_function():
    result = harness.score(
        [["cats"]], [["a dog runs", "a dog", "the dog"]], [word_recall], p_value="exact"
    )["word-recall"]
    assert result.p_value == pytest.approx(0.25)
