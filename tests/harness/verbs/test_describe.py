"""``harness.describe``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness
from harness.errors import InputError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_numbers_agreement_and_readings(folder):
    texts = {"1": ["a dog", "a dog runs"], "2": ["a cat", "the cat"]}
    Path("r.json").write_text(json.dumps(texts))
    result = harness.describe("r.json", metrics=["rouge"])
    assert result.numbers["captions"] == 4 and result.compared == 2
    assert 0 < result.agreement["rouge"].value <= 1
    assert result.readings[0].path.endswith("r.json")
    names = result.to_arrow().column("name").to_pylist()
    assert names[-1] == "agreement, rouge"
    assert harness.describe("r.json", seed=1).numbers == result.numbers


def test_agreement_needs_two_captions():
    Path("one.json").write_text('{"1": ["a dog"], "2": ["a cat"]}')
    assert not harness.describe("one.json").agreement
    with pytest.raises(InputError, match="an example with two captions"):
        harness.describe("one.json", metrics=["rouge"])


def test_advice_is_a_keyword():
    events = [{"sentence": "a dog", "timestamp": [0, 1]}, {"sentence": "a cat"}]
    Path("e.jsonl").write_text(
        json.dumps({"id": "v", "references": ["a"], "events": events}) + "\n"
    )
    assert harness.describe("e.jsonl").numbers["examples"] == 1


def test_texts_with_times_are_described_as_events_unless_joined():
    video = {"duration": 9.0, "timestamps": [[0, 5], [7, 9]], "sentences": ["a", "b"]}
    other = {"duration": 9.0, "timestamps": [[0, 9]], "sentences": ["a and b"]}
    Path("one.json").write_text(json.dumps({"v": video}))
    Path("two.json").write_text(json.dumps({"v": other}))
    result = harness.describe("one.json", "two.json")
    assert result.numbers["events"] == 3 and not result.agreement
    assert result.numbers["gaps of a set, mean"] == 0.5
    assert result.numbers["overlap with another annotator, mean"] == pytest.approx(
        (5 / 9 + 2 / 9 + 5 / 9) / 3
    )
    text = str(result)
    assert "'0 to 5 s: a; 7 to 9 s: b'" in text
    joined = harness.describe("one.json", events="paragraph")
    assert joined.numbers["captions"] == 1

    agreement = harness.describe("one.json", "two.json", metrics=["dense"]).agreement
    assert 0 <= next(iter(agreement.values())).value <= 1
