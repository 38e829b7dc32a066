"""``harness.score`` of several systems: files and captions in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness
from harness.errors import HarnessError, InputError, UnknownName
from harness.verbs.scored_systems import ScoredSystems

PEOPLE = {
    "1": ["a dog runs on grass", "the brown dog"],
    "2": ["a cat sits", "a grey cat"],
    "3": ["two people walk", "people walking by"],
}
OLD = {"1": "a dog", "2": "a bird", "3": "two people"}
NEW = {"1": "a dog runs", "2": "a cat", "3": "two people walk"}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (("r", PEOPLE), ("old", OLD), ("new", NEW)):
        Path(f"{name}.json").write_text(json.dumps(content))


def values(result):
    return {
        (record["model"], record["metric"]): (record["value"], record["ci95"])
        for record in result.results
    }


def test_files_mappings_and_lists_have_the_same_numbers_and_comparisons(files):
    of_files = harness.score(["old.json", "new.json"], "r.json", "rouge,bleu1")
    of_mappings = harness.score({"old": OLD, "new": NEW}, PEOPLE, "rouge,bleu1")
    lists = {"old": list(OLD.values()), "new": list(NEW.values())}
    of_lists = harness.score(lists, list(PEOPLE.values()), ["rouge", "bleu1"])
    by_label = {"old": "old.json", "new": Path("new.json")}
    of_paths = harness.score(by_label, "r.json", [{"rouge": {}}, "bleu1"])
    assert values(of_files) == values(of_mappings) == values(of_lists)
    assert values(of_paths) == values(of_files)
    rows = [
        [(row.metric, row.difference, row.p_holm) for row in result.comparisons]
        for result in (of_files, of_mappings, of_lists, of_paths)
    ]
    assert all(row == rows[0] for row in rows) and len(rows[0]) == 2


def test_one_system_has_the_numbers_of_several(files):
    one = harness.score(NEW, PEOPLE, "rouge")
    both = harness.score({"old": OLD, "new": NEW}, PEOPLE, "rouge")
    assert both["new"]["rouge"].value == one["rouge"].value
    assert both["new"]["rouge"].ci95 == one["rouge"].ci95
    file = harness.score("new.json", "r.json", "rouge")
    assert file["rouge"].value == one["rouge"].value
    assert [reading["role"] for reading in file.readings] == [
        "references",
        "candidates",
    ]


def test_a_run_is_written_and_slices_are_compared(files):
    rows = [
        {"id": key, "references": texts, "kind": "ab"[int(key) % 2]}
        for key, texts in PEOPLE.items()
    ]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = harness.score(
        ["old.json", "new.json"], "r.jsonl", "rouge", by=["kind"], output="run"
    )
    assert {row["slice"] for row in result.slices} == {"kind=a", "kind=b"}
    assert harness.compare("run").comparisons[0].metric == "rouge"
    limited = harness.score("new.json", "r.json", "rouge", limit=2)
    assert isinstance(limited, ScoredSystems)
    assert limited["new"]["rouge"].n == 2 and not limited.comparisons


def test_a_run_in_memory_is_continued_and_given_more_metrics(files):
    systems = {"old": OLD, "new": NEW}
    first = harness.score(systems, PEOPLE, "rouge", output="r")
    again = harness.score(systems, PEOPLE, "rouge", output="r")
    assert again.results == first.results
    with pytest.raises(InputError, match="mode='fresh' to replace it"):
        harness.score({"old": NEW, "new": OLD}, PEOPLE, "rouge", output="r")
    more = harness.score(systems, PEOPLE, "rouge,bleu1", output="r", mode="extend")
    assert set(more["old"]) == {"rouge", "bleu1"}
    run = harness.rescore("r", ["bleu2"])
    expected = harness.score(systems, PEOPLE, "rouge,bleu1,bleu2")
    assert {(r.model, r.metric): r.value for r in run.records} == {
        (r["model"], r["metric"]): r["value"] for r in expected.results
    }


def test_missing_captions_are_refused_or_counted():
    few = {"1": "a dog"}
    with pytest.raises(InputError, match="allow_missing=True"):
        harness.score({"old": OLD, "new": few}, PEOPLE, "rouge")
    result = harness.score(
        {"old": OLD, "new": few}, PEOPLE, "rouge", allow_missing=True
    )
    assert set(result.failed) == {"new/2", "new/3"}
    assert result["new"]["rouge"].n == 1


@pytest.mark.parametrize(
    "candidates, options, message",
    [
        (["a.json", "b.json"], {}, "names of files, such as 'a.json'"),
        (["a dog"] * 3, {"limit": 1}, "belong to files, or to a mapping"),
        (["a dog"] * 3, {"metrics": "r.json"}, "the name of a file; several files"),
        (["a dog"] * 3, {"baseline": "x"}, "belong to files, or to a mapping"),
        ({"old": OLD, "new": NEW}, {"by": ["kind"]}, "by reads columns of a file"),
        ({"old": OLD, "new": NEW}, {"labels": ["x", "y"]}, "keys of the mapping"),
        ({"old": OLD, "new": NEW}, {"draws": 0}, "draws is 0"),
    ],
)
def test_a_mistake_is_one_line(candidates, options, message):
    references = list(PEOPLE.values())
    if isinstance(candidates, dict):
        references = PEOPLE
    with pytest.raises(HarnessError, match=message) as caught:
        harness.score(candidates, references, **{"metrics": "rouge", **options})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("candidates", [OLD, list(OLD.values()), {}])
def test_texts_and_a_file_are_refused(files, candidates):
    with pytest.raises(InputError, match="both paths, both mappings or both lists"):
        harness.score(candidates, "r.json", "rouge")


def test_numbers_are_ids_and_no_names_of_systems():
    by_id = {"1": ["a dog", "a cat"], "2": ["a bird", "two people"]}
    with pytest.raises(InputError, match="both paths, both mappings or both lists"):
        harness.score(by_id, [["a dog"], ["a cat"]], "rouge")


def test_texts_are_no_folders_of_their_names(files):
    for name in ("dog", "cat"):
        Path(name).mkdir()
    one = harness.score(["dog", "cat"], ["dog", "cat"], "rouge")
    assert one["rouge"].value == 1
    assert harness.score(["old.json", "new.json"], ["r.json"], "rouge")["old"]


def test_an_unknown_baseline_names_the_systems():
    with pytest.raises(UnknownName, match="baseline is 'ne'; did you mean 'new'?"):
        harness.score({"old": OLD, "new": NEW}, PEOPLE, "rouge", baseline="ne")


def test_a_mapping_of_ids_stays_one_system():
    captions = {"1": {"caption": "a dog"}, "2": "a cat", "3": ["two people"]}
    assert "rouge" in harness.score(captions, PEOPLE, "rouge")
