"""Outputs of capevalkit: scores by id, and files that are no such output."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness_metrics.scores.per_item import read_per_item

OWN = {"Polos": {"score": 0.3, "per_item": {"1": 0.5, "2": 0.1}}}
SHARED = {
    "CLIPScore": 0.7,
    "RefCLIPScore": 0.8,
    "per_item": {key: {"CLIPScore": 0.7, "RefCLIPScore": 0.8} for key in "12"},
}


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read(folder, content, column=None):
    return read_per_item(write(folder / "out.json", content), column)


def test_a_metric_with_an_object_of_its_own(tmp_path):
    assert read(tmp_path, OWN) == {"1": 0.5, "2": 0.1}
    assert read(tmp_path, OWN, "Polos") == {"1": 0.5, "2": 0.1}


def test_metrics_that_share_an_object(tmp_path):
    assert read(tmp_path, SHARED, "RefCLIPScore") == {"1": 0.8, "2": 0.8}
    one = {"per_item": {"1": {"CLIPScore": 0.7}}}
    assert read(tmp_path, one) == {"1": 0.7}


def test_both_kinds_in_one_file(tmp_path):
    content = {**OWN, **SHARED}
    assert read(tmp_path, content, "Polos") == {"1": 0.5, "2": 0.1}
    assert read(tmp_path, content, "CLIPScore") == {"1": 0.7, "2": 0.7}


def test_several_scores_need_a_name(tmp_path):
    with pytest.raises(
        InputError, match=r"several scores: set column .*\(CLIPScore, RefCLIPScore\)"
    ) as caught:
        read(tmp_path, SHARED)
    assert caught.value.parameter == "column"


def test_an_unknown_name_has_its_neighbour(tmp_path):
    with pytest.raises(InputError, match="no score 'Polo'.*did you mean 'Polos'"):
        read(tmp_path, OWN, "Polo")


@pytest.mark.parametrize(
    "content",
    [
        [],
        [{"per_item": {}}],
        {},
        {"Polos": 0.3},
        {"per_item": [0.5]},
        {"per_item": {"1": 0.5}},
        {"Polos": {"per_item": [0.5]}},
        3,
    ],
)
def test_other_content_is_no_output(tmp_path, content):
    assert read(tmp_path, content) is None


def test_other_files_are_not_opened(tmp_path):
    assert read_per_item(tmp_path / "absent.jsonl", None) is None
    assert read_per_item(tmp_path / "absent.csv", "Polos") is None


def test_a_damaged_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"out\.json"):
        read(tmp_path, "{")
