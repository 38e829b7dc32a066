"""Pairs of systems: of one run, of two, against a baseline; their labels."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

import harness
from harness.analysis.compare import compare
from harness.analysis.pairs import (
    ComparedRun,
    differences_of_runs,
    pairs,
    pairs_against,
    size_difference,
)
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.run.features import FeatureCache
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from tests.support import metric_cases
from tests.support.comparisons import SPEC

ONE_MODEL = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": ["echo"],
    "metrics": ["length"],
}
CAPTIONS = ["one red car", "two dogs", "red dogs", "three red cars in a row"]


def opened(*paths):
    return [ComparedRun.open(path) for path in paths]


def test_a_baseline_is_compared_with_the_others(project):
    models = [*SPEC["models"], {"echo": {"n": 2, "label": "middle"}}]
    harness.evaluate({**SPEC, "models": models}, output="r")
    rows = compare("r", baseline="long")
    assert [(row.system_a, row.system_b) for row in rows] == [
        ("short", "long"),
        ("middle", "long"),
    ]
    with pytest.raises(HarnessError, match="no model 'lang'; did you mean 'long'"):
        compare("r", baseline="lang")
    with pytest.raises(HarnessError, match="systems of one run"):
        compare("r", "r", baseline="long")


def test_a_baseline_belongs_to_the_same_decoding(project):
    harness.evaluate({**SPEC, "decoding": {"temperature": [0.5, 1.0]}}, output="r")
    chosen = pairs_against(opened("r"), "short")
    assert [
        (pair.a.model, pair.a.decoding_key == pair.b.decoding_key) for pair in chosen
    ] == [("long", True)] * 2


def test_two_runs_are_matched_by_model_or_chosen_by_name(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate(SPEC, output="s", seed=2)
    assert [(p.a.model, p.b.model) for p in pairs(opened("r", "s"))] == [
        ("short", "short"),
        ("long", "long"),
    ]
    assert [(p.a.model, p.b.model) for p in pairs(opened("r::short", "s::long"))] == [
        ("short", "long")
    ]
    with pytest.raises(HarnessError, match="has no model 'lang'; did you mean 'long'"):
        compare("r::lang", "s")
    with pytest.raises(InputError, match=r"has no manifest\.json: no run here"):
        compare("nowhere", "r")


def test_labels_of_both_runs_are_told_apart(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate(SPEC, output="s", seed=2)
    rows = compare("r", "s")
    assert (rows[0].system_a, rows[0].system_b) == ("r::short", "s::short")
    assert {row.difference for row in rows} == {0.0}
    assert {row.p_value for row in rows} == {1.0}


def test_labels_have_the_decoding_where_the_run_has_several(project):
    harness.evaluate({**SPEC, "references": 1}, output="r")
    (row,) = compare("r")
    assert (row.system_a, row.system_b) == ("short", "long")
    harness.evaluate({**SPEC, "references": [1, 2]}, output="s")
    labels = {row.system_a for row in compare("s")}
    assert labels == {"short m=1", "short m=2", "long m=1"}


def differences(one, other):
    return differences_of_runs(
        [harness.evaluate(one), harness.evaluate(other)], ["r", "s"]
    )


def test_equal_runs_do_not_differ(project):
    assert differences(ONE_MODEL, {**ONE_MODEL, "seed": 3}) == []
    assert differences_of_runs([harness.evaluate(ONE_MODEL)], ["r"]) == []


def test_data_signatures_and_references_are_named(project):
    (data,) = differences(
        ONE_MODEL, {**ONE_MODEL, "dataset": {"reader": "words", "count": 7}}
    )
    assert (
        data == "r and s read different data (words, words): "
        "equal ids would be paired by chance"
    )
    run = harness.evaluate(ONE_MODEL)
    entries = [
        {**entry, "signature": "length|scale:2"} for entry in run.manifest["metrics"]
    ]
    changed = replace(run, provenance=Provenance({**run.manifest, "metrics": entries}))
    (signature,) = differences_of_runs([run, changed], ["r", "s"])
    assert "'length' is length|scale:1 in r and length|scale:2 in s" in signature


def test_reference_counts_of_the_compared_systems_are_named(project):
    runs = [harness.evaluate({**ONE_MODEL, "references": count}) for count in (2, 1)]
    records = [tuple(run.records[0] for run in runs)]
    (references,) = differences_of_runs(runs, ["r", "s"], records)
    assert references == "'length' is of 2 references in r and of 1 in s"


def test_only_sizes_on_which_a_number_depends_differ():
    def sized(level, candidates, **fields):
        sizes = {"candidates": (candidates,), "references": (3,)}
        return ResultRecord(model="m", metric="x", level=level, sizes=sizes, **fields)

    for level in ("set", "corpus"):
        assert size_difference(sized(level, 2), sized(level, 3)) == "2 and 3 candidates"
    assert not size_difference(sized("item", 2), sized("item", 3))
    declared = {"depends_on": ["candidates"]}
    assert size_difference(sized("item", 2, **declared), sized("item", 3, **declared))
    unsized = ResultRecord(model="m", metric="x", level="set")
    for other in (None, unsized):
        assert not size_difference(sized("set", 2), other)
        assert not size_difference(other, sized("set", 2))


@pytest.fixture
def captions(tmp_path):
    """A data set of four examples and a file of candidates, as parts of a spec."""
    rows = [
        {"id": str(i), "references": [text, f"a {text}"], "media": f"{i}.png"}
        for i, text in enumerate(CAPTIONS)
    ]
    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (tmp_path / "a.json").write_text(
        json.dumps({str(i): [text[:-2]] for i, text in enumerate(CAPTIONS)})
    )
    models = [
        {"predictions": {"path": str(tmp_path / "a.json"), "allow_unknown": True}}
    ]
    dataset = {"reader": "jsonl", "path": str(tmp_path / "data.jsonl")}
    return {
        "task": "t",
        "dataset": dataset,
        "models": models,
        "bootstrap": {"samples": 0},
    }


def test_numbers_with_document_frequencies_of_other_examples_have_no_verdict(captions):
    spec = {**captions, "metrics": ["cider", "rouge"]}
    whole = harness.evaluate(spec)
    part = harness.evaluate({**spec, "limit": 3})
    cider, rouge = compare(whole, part)
    assert cider.better == "sizes differ" and cider.p_holm is None
    assert (
        cider.note
        == "no verdict: document frequencies of all references of 4 and 3 examples "
        "(equalise=True compares)"
    )
    assert rouge.better == "=" and not rouge.note
    # On the common examples, with their frequencies, the same captions have the same
    # number.
    cider, rouge = compare(whole, part, equalise=True)
    assert (
        cider.better == "="
        and cider.difference == 0
        and cider.note.startswith("equalised")
    )
    again = compare(whole, harness.evaluate({**spec, "seed": 3}))
    assert [row.better for row in again] == ["=", "="]


def test_other_tables_of_document_frequencies_are_other_metrics(captions):
    runs = [
        harness.evaluate({**captions, "metrics": [{"cider": {"df": table}}]})
        # a list is a grid, here of one table
        for table in (
            "references",
            [[["one red car"], ["two dogs"]]],
            [[["two dogs"], ["red"]]],
        )
    ]
    for one, other in itertools.combinations(runs, 2):
        with pytest.raises(
            HarnessError,
            match=r"'cider' is cider-d\|df:.* in .* and cider-d\|df:.*: "
            r"the numbers are of different metrics",
        ):
            compare(one, other)


def test_images_of_other_folders_are_not_compared(captions):
    run = harness.evaluate({**captions, "metrics": ["rouge"]})
    entries = [
        [{**run.manifest["metrics"][0], "params": {"images": folder}}]
        for folder in ("first", "second")
    ]
    runs = [
        replace(run, provenance=Provenance({**run.manifest, "metrics": metrics}))
        for metrics in entries
    ]
    assert differences_of_runs(runs, ["r", "s"]) == [
        "'rouge' reads images of first in r and of second in s"
    ]
    assert not differences_of_runs([runs[0], runs[0]], ["r", "s"])


@pytest.mark.parametrize(
    ("contents", "count"),
    [
        (("folder:1", "folder:1"), 0),
        (("folder:1", "folder:2"), 1),
        ((None, "folder:1"), 1),
    ],
)
def test_images_are_the_same_by_what_their_folders_hold(captions, contents, count):
    run = harness.evaluate({**captions, "metrics": ["rouge"]})
    runs: list[harness.Run] = []
    for folder, content in zip(("first", "second"), contents):
        metrics = [{**run.manifest["metrics"][0], "params": {"images": folder}}]
        paths = (
            [
                {
                    "at": ["metrics", 0, "params", "images"],
                    "content": content,
                    "given": folder,
                }
            ]
            if content
            else []
        )
        runs.append(
            replace(
                run,
                provenance=Provenance(
                    {**run.manifest, "metrics": metrics, "paths": paths}
                ),
            )
        )
    assert len(differences_of_runs(runs, ["r", "s"])) == count


def test_other_names_of_images_are_other_data(captions, tmp_path):
    spec = {**captions, "metrics": ["rouge"]}
    one = harness.evaluate(spec)
    path = tmp_path / "data.jsonl"
    path.write_text(path.read_text().replace(".png", ".jpg"))
    (data,) = differences_of_runs([one, harness.evaluate(spec)], ["r", "s"])
    assert "read different data" in data


def test_every_built_in_metric_declares_the_state_that_it_fits():
    """State of the references, without which two runs of other examples would be
    compared, is named in ``held_fixed``.
    """
    references = [
        ("a red dog runs", "the dog is red"),
        ("two cats sleep", "cats on a sofa sleep"),
    ]
    fitted = 0
    for name in metric_cases.names():
        if name in metric_cases.CANNOT_RUN:
            continue
        metric = current().create("metrics", name, metric_cases.case(name).parameters)
        if (
            metric.spec.level != "model"
            and metric.fit(references, FeatureCache(references)) is not None
        ):
            assert metric.spec.held_fixed.endswith(" held fixed"), name
            fitted += 1
    assert fitted >= 6


def test_bleu_without_a_match_depends_on_the_sizes_of_the_sets():
    def record(n: int, **details: object) -> ResultRecord:
        return ResultRecord(
            model="a",
            metric="bleu4",
            sizes={"candidates": [n], "references": [1]},
            details=details,
        )

    sizes = {"depends_on": ["candidates", "references"]}
    assert size_difference(record(1), record(10)) == ""
    assert (
        size_difference(record(1, **sizes), record(10))
        == size_difference(record(1), record(10, **sizes))
        == "1 and 10 candidates"
    )
    assert size_difference(record(1, **sizes), record(1)) == ""
