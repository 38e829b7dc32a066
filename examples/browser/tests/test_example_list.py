"""Examples as a list: order, search, conditions, texts for a terminal."""

from __future__ import annotations

import numpy as np
import pytest
from caption_browser.example_list import MAX_TEXT, ExampleList, visible

from harness.errors import InputError


@pytest.fixture(scope="module")
def examples(captions_run):
    return ExampleList(captions_run)


def test_numbers_are_those_of_the_samples(captions_run, examples):
    values = examples.values("rouge")
    assert values.shape == (3, 16)
    for s, system in enumerate(captions_run.samples.systems):
        assert list(values[s]) == list(system.scores("rouge"))
    assert list(examples.values("rouge", "p")[0]) == list(
        captions_run.samples.systems[0].p_values("rouge")
    )
    assert np.isnan(examples.values("no such metric")).all()


def test_the_order_follows_a_system_or_the_difference(examples):
    values = examples.values("rouge")
    assert list(examples.order("rouge")) == list(range(16))
    assert list(examples.order("rouge", descending=False)) == list(range(16))[::-1]
    assert list(examples.order("rouge", 1)) == list(
        np.argsort(-values[1], kind="stable")
    )
    assert list(examples.order("rouge", 1, descending=False)) == list(
        np.argsort(values[1], kind="stable")
    )
    spread = values.max(0) - values.min(0)
    assert list(examples.order("rouge", "difference")) == list(
        np.argsort(-spread, kind="stable")
    )


def test_a_search_needs_all_words_in_ids_or_texts(examples):
    detail = examples.detail(4)
    word = detail.references.counted[0][0].split()[0].upper()
    assert 4 in examples.order("rouge", query=word)
    assert list(examples.order("rouge", query=f"{word} nosuchword")) == []


def test_conditions_are_about_any_system(examples):
    values = examples.values("rouge")
    bound = float(np.median(values[1]))
    assert list(examples.order("rouge", query=f"score>{bound}")) == list(
        np.flatnonzero((values > bound).any(0))
    )
    spread = values.max(0) - values.min(0)
    assert list(examples.order("rouge", query="diff>=0.1 score<0.9")) == list(
        np.flatnonzero((spread >= 0.1) & (values < 0.9).any(0))
    )
    p = examples.values("rouge", "p")
    assert list(examples.order("rouge", query="p<=0.05")) == list(
        np.flatnonzero((p <= 0.05).any(0))
    )


def test_a_condition_on_missing_p_values_is_an_error(examples):
    with pytest.raises(InputError, match="mbleu4 has no p-values"):
        examples.order("mbleu4", query="p<0.05")


def test_a_detail_has_equal_texts_once_and_every_score(examples):
    detail = examples.detail(0)
    assert [item.system for item in detail.systems] == [
        "people",
        "central",
        "other <b>scene</b>",
    ]
    assert detail.systems[1].texts.counted[0][1] == 5
    assert {name for name, _, _ in detail.systems[0].scores} >= {
        "bleu1",
        "rouge",
        "trm(bleu)",
    }


def test_texts_cannot_steer_the_terminal():
    assert visible("a\x1b]0;x\x07b") == r"a\x1b]0;x\x07b"
    assert visible("\u202eabc") == r"\u202eabc"
    assert visible("naïve 犬 👩\u200d🚀") == "naïve 犬 👩\u200d🚀"
    assert visible("x" * 10_000).endswith(f"(+{10_000 - MAX_TEXT} characters)")
