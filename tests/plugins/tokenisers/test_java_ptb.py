"""The hardened Java reference and its agreement with the Python tokeniser."""

from __future__ import annotations

import gzip
import json

import pytest

from harness.errors import MissingExtra
from harness.plugins.tokenisers import java_ptb
from harness.plugins.tokenisers import java_runtime as java
from harness.plugins.tokenisers.ptb import tokeniser as ptb

ODD = [
    "", "a\rb", "a\u2028b\u2029c", "\v\f", "!?", "🙂", "a ||| b", "U.S.", "the letter S.", "שלום עולם", "\x00", "a\u0085b", "The end."
]  # fmt: skip

needs_java = pytest.mark.skipif(java.find_java() is None, reason="no Java runtime")


@pytest.mark.java
@needs_java
def test_odd_captions_are_the_same_in_both_engines():
    assert java_ptb.tokenize(ODD) == ptb.tokenize(ODD)
    assert java_ptb.tokens_raw(ODD) == ptb.tokens_raw(ODD)


@pytest.mark.java
@needs_java
def test_real_captions_are_the_same_in_both_engines(golden):
    with gzip.open(golden / "data/coco_karpathy_test/references.jsonl.gz", "rt", encoding="utf-8") as lines:
        captions = [caption for line in lines for caption in json.loads(line)["references"]][:5000]
    assert java_ptb.tokenize(captions) == ptb.tokenize(captions)


def test_no_java_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: None)
    with pytest.raises(MissingExtra, match=r"needs a Java runtime.*caption-harness\[java\]"):
        java_ptb.tokenize(["a"])


def test_no_captions_start_nothing():
    assert java_ptb.tokenize([]) == []
