"""Nouns and adjectives of captions."""

from __future__ import annotations

import csv
import json

import pytest

from harness_metrics.pragmatic.tagging import nouns_and_adjectives


def test_golden_tags(golden):
    folder = golden / "a3ds_pragmatic"
    details = json.loads((folder / "details_rowwise.json").read_text())
    with (folder / "input.csv").open() as file:
        texts = [row["prediction"] for row in csv.DictReader(file)]
    assert nouns_and_adjectives(texts) == [
        detail["spacy_tokens_NN_JJ"] for detail in details
    ]


@pytest.mark.parametrize(
    "text", ["a red ball on blue floor", "the zebra stands near the left corner", ""]
)
def test_tags_do_not_depend_on_the_other_captions(text):
    alone = nouns_and_adjectives([text])
    assert (
        nouns_and_adjectives(["a tiny green block", text, "a tiny green block"])[1]
        == alone[0]
    )
    assert all(word in text.split() for word in alone[0])


def test_no_captions():
    assert nouns_and_adjectives([]) == []
