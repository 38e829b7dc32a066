"""Samples of logs: records that repeat another one."""

from __future__ import annotations

from harness.analysis.logged_samples import LoggedSample, mapping_of


def sample(record):
    return LoggedSample("s.jsonl:1", "", "1", "doc 1", {"acc": 1.0}, record=record)


def test_a_record_repeats_another_word_for_word_also_with_nan():
    assert sample({"acc": float("nan")}).repeats(sample({"acc": float("nan")}))
    assert not sample({"acc": 1.0}).repeats(sample({"acc": 0.0}))
    assert not sample(None).repeats(sample(None))


def test_another_value_is_an_empty_mapping():
    assert (mapping_of({"a": 1}), mapping_of(["a"]), mapping_of(None)) == (
        {"a": 1},
        {},
        {},
    )
