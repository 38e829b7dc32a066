"""Outputs of capevalkit, of ``score`` and of ``benchmark``."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness_metrics.scores.per_item import ItemScore, read_per_item

OWN = {"Polos": {"score": 0.3, "per_item": {"1": 0.5, "2": 0.1}}}
SHARED = {
    "CLIPScore": 0.7,
    "RefCLIPScore": 0.8,
    "per_item": {
        "1": {"CLIPScore": 0.7, "RefCLIPScore": 0.8},
        "2": {"CLIPScore": 0.6, "RefCLIPScore": 0.7},
    },
}
ITEM = {
    "score": 0.5,
    "ground_truth_score": 4,
    "caption": "a dog",
    "image": "1.jpg",
    "references": ["the dog"],
}


def benchmark(name, raw):
    return {
        "metric": name.lower(),
        "benchmark": "composite",
        "score_name": name,
        "num_samples": 1,
        "correlations": {"tau_c": 0.5},
        "raw_metric_output": raw,
    }


@pytest.fixture
def read(tmp_path):
    """Returns a function that reads an output."""
    file = tmp_path / "output.json"

    def read_output(output, column=None):
        file.write_text(json.dumps(output))
        return read_per_item(file, column)

    return read_output


def test_a_metric_has_scores_by_id(read):
    assert read(OWN) == {"1": ItemScore(0.5, None), "2": ItemScore(0.1, None)}
    assert read(OWN, "Polos")["2"].score == 0.1
    with pytest.raises(InputError, match="no score 'polo'; did you mean 'Polos'"):
        read(OWN, "polo")


def test_of_several_scores_one_is_chosen(read):
    assert read(SHARED, "RefCLIPScore")["1"] == ItemScore(0.8, None)
    text = "several scores: set column to one of them .CLIPScore, RefCLIPScore"
    with pytest.raises(InputError, match=text):
        read(SHARED)


def test_scores_without_a_name(read):
    assert read({"per_item": {"1": {"score": 0.5}}}) == {"1": ItemScore(0.5, None)}


def test_a_benchmark_has_captions_beside_the_scores(read):
    raw = {"Polos": {"score": 0.5, "per_item": {"1": ITEM}}}
    assert read(benchmark("Polos", raw)) == {"1": ItemScore(0.5, "a dog")}


def test_the_score_of_a_benchmark_is_the_one_that_it_was_about(read):
    item = {**ITEM, "scores": {"CLIPScore": 0.5, "RefCLIPScore": 0.6}}
    output = benchmark("CLIPScore", {"CLIPScore": 0.5, "per_item": {"1": item}})
    assert read(output) == {"1": ItemScore(0.5, "a dog")}
    assert read(output, "RefCLIPScore") == {"1": ItemScore(0.6, "a dog")}


def test_another_file_is_none(read, tmp_path):
    assert read([{"id": 1, "score": 0.5}]) is None
    assert read({"1": {"caption": "a dog", "score": 0.5}}) is None
    assert read_per_item(tmp_path / "scores.csv", None) is None


@pytest.mark.parametrize(
    "content",
    [[], {}, {"Polos": 0.3}, {"per_item": [0.5]}, {"Polos": {"per_item": [0.5]}}, 3],
)
def test_other_content_is_no_output(read, content):
    assert read(content) is None


def test_a_damaged_file_is_named(tmp_path):
    file = tmp_path / "out.json"
    file.write_text("{")
    with pytest.raises(InputError, match=r"out\.json"):
        read_per_item(file, None)
