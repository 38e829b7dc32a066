"""Tokenisers by name."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import MissingExtra, UnknownName
from harness.run.features import FeatureCache
from harness_metrics.tokenisers import java_ptb, java_runtime, tokens


@pytest.mark.parametrize("name", ["ptb", "none"])
def test_accepted_names_are_returned(name):
    assert tokens.check_tokenizer(name) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "pbt",
            "^unknown tokenizer 'pbt'; did you mean 'ptb'\\?; expected ptb, "
            "java-ptb, none, zh, characters, ja, zh-words$",
        ),
        ("", "^unknown tokenizer ''; expected"),
    ],
)
def test_unknown_names_are_refused_with_the_accepted_ones(name, message):
    with pytest.raises(UnknownName, match=message) as error:
        tokens.check_tokenizer(name)
    assert (error.value.parameter, error.value.value) == ("tokenizer", name)
    with pytest.raises(UnknownName):
        tokens.tokenize(["a"], name)


def test_java_ptb_without_java_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr(java_runtime, "find_java", lambda: None)
    with pytest.raises(
        MissingExtra, match="the tokenizer 'java-ptb' needs a Java runtime"
    ):
        tokens.check_tokenizer("java-ptb")


def test_java_ptb_calls_the_java_program(monkeypatch):
    monkeypatch.setattr(java_runtime, "find_java", lambda: "java")
    monkeypatch.setattr(
        java_ptb, "tokenize", lambda texts: [text.upper() for text in texts]
    )
    assert tokens.tokenize(["a dog"], "java-ptb") == ["A DOG"]


def test_none_returns_the_texts_and_ptb_their_tokens():
    texts = ["A  dog's\nball.", ""]
    assert tokens.tokenize(texts, "none") == texts
    assert tokens.tokenize(texts, "ptb") == ["a dog 's ball", ""]


def test_each_distinct_text_is_tokenised_once_per_run(monkeypatch):
    calls = []
    monkeypatch.setattr(
        tokens,
        "tokenize",
        lambda texts, name: calls.extend(texts) or [t.lower() for t in texts],
    )
    features = FeatureCache()
    ids = features.intern(["A", "B", "A", "C"])
    assert tokens.tokens_of(features, ids[:3]) == ["a", "b", "a"]
    assert tokens.tokens_of(features, np.reshape(ids, (2, 2))) == ["a", "b", "a", "c"]
    assert calls == ["A", "B", "C"]
