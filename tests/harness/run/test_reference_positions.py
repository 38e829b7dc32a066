"""The note on references that depend on their position."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.run.reference_positions import position_note, rouge_l

WORDS = ["a", "dog", "cat", "man", "runs", "sleeps", "in", "the", "park", "house", "red", "ball"]


def examples(count: int = 60, longer: int = 0) -> list[Example]:
    """Examples with five references of random words, the later ones longer by ``longer`` words each."""
    rng = np.random.default_rng(0)
    sets = [[" ".join(rng.choice(WORDS, 5 + longer * k)) for k in range(5)] for _ in range(count)]
    return [Example(f"e{i}", tuple(texts)) for i, texts in enumerate(sets)]


def test_references_that_grow_longer_are_noted():
    text = position_note(examples(longer=1), [3, 4])
    assert text.startswith("references depend on their position (length p = 0.001")
    assert "60 examples): the first 3 are no random subset" in text


def test_nothing_is_noted_without_an_effect_or_without_a_cut():
    assert position_note(examples(), [3]) == ""
    assert position_note(examples(longer=1), [None]) == position_note(examples(longer=1), [5]) == ""
    assert position_note([Example("e", ("a",)), Example("f", ())], [1]) == ""


def test_large_data_sets_are_sampled():
    assert "500 examples" in position_note(examples(1000, longer=1), [1])


def test_rouge_is_that_of_the_toolkit():
    reference = pytest.importorskip("caption_kernels.reference.rouge")
    texts = [text.split() for example in examples(8, longer=1) for text in example.references[:4]]
    for start in range(0, len(texts), 4):
        group = texts[start : start + 4]
        expected = [reference.score(text, [*group[:i], *group[i + 1 :]]) for i, text in enumerate(group)]
        assert rouge_l(group) == pytest.approx(expected, rel=1e-12)


def test_an_empty_reference_has_no_agreement():
    assert rouge_l([[], ["a"], ["a"]]) == pytest.approx([0, 1, 1])
