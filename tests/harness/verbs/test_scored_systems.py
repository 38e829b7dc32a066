"""Scores of several systems as JSON, tables and lines."""

from __future__ import annotations

import json

import pytest

import harness
from harness.errors import HarnessError, InputError
from harness.reporting.table import Table
from harness.verbs.scored_systems import score_systems

PEOPLE = {
    "1": ["a dog runs on grass", "the brown dog"],
    "2": ["a cat sits", "a grey cat"],
    "3": ["two people walk", "people walking by"],
}
OLD = {"1": "a dog", "2": "a bird", "3": "two people"}
NEW = {"1": "a dog runs", "2": "a cat", "3": "two people walk"}
MIXED = {"1": "a dog", "2": "a cat", "3": "people"}


def score(*names, **settings):
    captions = {"old": OLD, "new": NEW, "mixed": MIXED, "copy": OLD}
    systems = {name: captions[name] for name in names or ("old", "new")}
    return score_systems(systems, PEOPLE, "rouge,bleu1", **settings)


def test_the_result_is_json_without_names_of_files():
    result = score()
    values = json.loads(json.dumps(result.to_dict()))
    assert set(values) == {"results", "failed", "comparisons", "notes", "readings"}
    assert len(values["results"]) == 4 and len(values["comparisons"]) == 2
    assert not any("statistics" in record for record in values["results"])
    assert values["comparisons"][0]["system_a"] in ("old", "new")
    assert repr(result) == "<scores of old, new>"
    assert result.to_arrow().num_rows == 4


@pytest.mark.parametrize(("settings", "rows"), [({}, 4), ({"wide": True}, 2)])
def test_the_table_has_a_row_per_metric_and_system_or_per_system(settings, rows):
    table = score().table(**settings)
    assert isinstance(table, Table) and len(table.rows) == rows


def test_numbers_times_100_change_the_table_alone():
    result = score()
    value = result["old"]["rouge"].value
    for wide in (False, True):
        assert f"{100 * value:.2f}" in str(result.table(wide=wide, percent=True).rows)
    assert result["old"]["rouge"].value == value


def test_the_baseline_is_the_first_or_the_one_that_is_named():
    assert score().baseline == "old"
    named = score(baseline="new")
    assert named.baseline == "new"
    assert named.comparisons[0].difference == -score().comparisons[0].difference
    assert score("old").baseline == ""


def test_systems_with_the_same_captions_are_named():
    result = score("old", "new", "copy")
    assert next(result.lines()) == (
        "copy and old hold the same captions: their differences are 0"
    )
    assert not score("old", "new", "mixed").remarks


def test_comparisons_are_left_out_where_they_are_not_wanted():
    result = score(compares=False)
    assert not result.comparisons and result.baseline == "old"
    assert result["new"]["rouge"].value == score()["new"]["rouge"].value


def test_systems_without_a_common_example_have_values_and_a_reason():
    systems = {"old": {"1": "a dog"}, "new": {"2": "a cat"}}
    result = score_systems(systems, PEOPLE, "rouge", allow_missing=True)
    assert result["old"]["rouge"].n == result["new"]["rouge"].n == 1
    assert not result.comparisons
    assert [line for line in result.remarks if line.startswith("no comparisons: ")]
    assert "failed old/2: " in "\n".join(result.lines())


def test_blocks_are_the_table_and_the_lines():
    result = score("old", "copy")
    table, *lines = result.blocks()
    assert isinstance(table, Table) and lines == list(result.lines())
    assert str(result).splitlines()[-1] == lines[-1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"draws": 0}, "draws is 0; expected at least 1"),
        ({"images": "pictures"}, "images belong to files of candidates"),
        ({"by": ["kind"]}, "by reads columns of a file of references"),
        ({"labels": ["a", "b"]}, "labels are the keys of the mapping"),
        ({"baseline": "ole"}, "baseline is 'ole'; did you mean 'old'"),
    ],
)
def test_a_mistake_is_an_error_before_anything_is_scored(settings, message):
    with pytest.raises(HarnessError, match=message) as caught:
        score(**settings)
    assert caught.value.parameter in settings


def test_slices_need_references():
    with pytest.raises(InputError, match="by reads columns of a file of references"):
        score_systems(["a.json"], None, by=["kind"])


def test_a_file_may_name_the_baseline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (("r", PEOPLE), ("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = ["old.json", "new.json"]
    result = harness.score(
        files, "r.json", "rouge", baseline="new.json", labels=["x", "y"]
    )
    assert result.baseline == "y" and set(result) == {"x", "y"}
