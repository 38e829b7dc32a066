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
