"""Runs with slices: their numbers, intervals, p-values and files;
runs without them are what they were.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import harness
from harness.analysis.identical import compare_identical
from harness.api import score_files
from harness.errors import InputError
from harness.run.finished import Run
from harness.run.results import SUMMED
from harness.rundir.provenance import check_results
from harness.rundir.slices import NO_VALUE
from harness.rundir.verify import describe_differences, numbers_by_name, stored_numbers
from tests.support.sliced import COUNT, domain, write_files

PLAIN = {
    "seconds": 0.0,
    "task": "",
    "model_params": {},
    "statistics": None,
    "slice": None,
}
"""Fields in which the record of a slice differs from that of its examples alone."""
SIZES = {
    name: sum(domain(k) == name for k in range(COUNT)) for name in ("in", "near", "out")
}


def score(folder, metrics, slices=("domain",), output=None, p_value="none", **options):
    files = write_files(folder, **options)
    return score_files(
        [str(files["A"]), str(files["B"])],
        str(files["refs"]),
        metrics,
        slices=slices,
        output=output,
        p_value=p_value,
    )


@pytest.mark.parametrize("name", list(SIZES))
def test_a_slice_has_the_record_of_its_examples_alone(tmp_path, name):
    metrics = ["bleu4", "rouge", "meteor", "distinct:n=2"]
    run = score(tmp_path, metrics, p_value="exact")
    (tmp_path / "alone").mkdir()
    alone = score(tmp_path / "alone", metrics, slices=(), only=name, p_value="exact")
    assert not alone.slices
    own = [record for record in run.slices if record.slice == f"domain={name}"]
    assert [(r.model, r.metric) for r in own] == [
        (r.model, r.metric) for r in alone.records
    ]
    assert [replace(record, **PLAIN) for record in own] == [
        replace(record, **PLAIN) for record in alone.records
    ]
    assert {record.n for record in own} == {SIZES[name]}


def test_document_frequencies_of_all_examples_make_the_whole_a_weighted_mean(tmp_path):
    run = score(tmp_path, ["cider"])
    whole = {record.model: record.value for record in run.records}
    for model, value in whole.items():
        parts = [record for record in run.slices if record.model == model]
        assert sum(part.value * part.n for part in parts) / COUNT == pytest.approx(
            value, rel=1e-12
        )
    (tmp_path / "alone").mkdir()
    alone = score(tmp_path / "alone", ["cider"], slices=(), only="out")
    part = next(record for record in run.slices if record.slice == "domain=out")
    assert part.value != pytest.approx(alone.records[0].value, abs=1e-3)


def test_document_frequencies_that_are_resampled_are_those_of_the_slice(tmp_path):
    run = score(tmp_path, ["cider:df=resampled"])
    (tmp_path / "alone").mkdir()
    alone = score(tmp_path / "alone", ["cider:df=resampled"], slices=(), only="near")
    own = [record for record in run.slices if record.slice == "domain=near"]
    assert [record.value for record in own] == pytest.approx(
        [record.value for record in alone.records], rel=1e-12
    )


def test_results_without_slices_stay_as_they_were(tmp_path):
    plain = score(tmp_path, ["rouge", "cider"], slices=(), output=tmp_path / "plain")
    sliced = score(tmp_path, ["rouge", "cider"], output=tmp_path / "sliced")
    first, second = (
        json.loads((tmp_path / name / "results.json").read_text())
        for name in ("plain", "sliced")
    )
    assert "slices" not in first
    assert {key for record in first["results"] for key in record}.isdisjoint({"slice"})
    assert second["results"][0].keys() == first["results"][0].keys()
    assert {record["slice"] for record in second["slices"]} == {
        f"domain={name}" for name in SIZES
    }
    assert {"statistics", "slice"} & second["slices"][0].keys() == {"slice"}
    digits = [
        [(record.value, record.ci95, record.n) for record in run.records]
        for run in (plain, sliced)
    ]
    assert digits[0] == digits[1]


def test_a_run_with_slices_is_opened_and_resumed_with_them(tmp_path):
    run = score(tmp_path, ["rouge"], output=tmp_path / "run")
    assert Run.open(tmp_path / "run").slices == run.slices
    assert score(tmp_path, ["rouge"], output=tmp_path / "run").slices == run.slices
    with pytest.raises(InputError, match="holds another run"):
        score(tmp_path, ["rouge"], slices=(), output=tmp_path / "run")
    (tmp_path / "run" / "results.json").unlink()
    assert [
        replace(r, **PLAIN)
        for r in score(tmp_path, ["rouge"], output=tmp_path / "run").slices
    ] == [replace(r, **PLAIN) for r in run.slices]


def test_metrics_are_added_to_a_run_with_slices(tmp_path):
    score(tmp_path, ["rouge"], output=tmp_path / "run")
    extended = harness.rescore(tmp_path / "run", ["bleu1"])
    assert [(r.metric, r.slice) for r in extended.slices if r.model == "A"] == [
        (metric, f"domain={name}") for metric in ("rouge", "bleu1") for name in SIZES
    ]


def test_examples_without_a_value_and_without_captions(tmp_path):
    files = write_files(tmp_path, without=[0, 1])
    captions = json.loads(files["A"].read_text())
    files["A"].write_text(
        json.dumps(
            [
                item
                for item in captions
                if domain(item["image_id"]) != "out" and item["image_id"] != 1
            ]
        )
    )
    run = score_files(
        [str(files["A"])],
        str(files["refs"]),
        ["rouge"],
        slices=["domain"],
        allow_missing=True,
    )
    found = {record.slice: (record.n, record.skipped) for record in run.slices}
    assert found == {
        "domain=in": (SIZES["in"] - 1, 0),
        "domain=near": (SIZES["near"] - 1, 0),
        "domain=out": (0, SIZES["out"]),
        f"domain={NO_VALUE}": (1, 1),
    }
    empty = next(record for record in run.slices if record.slice == "domain=out")
    assert empty.value != empty.value
    assert empty.ci95 is None
    single = run.slices[-1]
    assert (single.ci95, single.interval_note) == (
        None,
        "an interval needs at least two examples",
    )


def test_a_nested_field_is_a_column_of_the_samples(tmp_path):
    files = write_files(tmp_path)
    run = score_files(
        [str(files["A"])],
        str(files["rows"]),
        ["rouge"],
        slices=["place.domain", "place.half"],
    )
    assert [record.slice for record in run.slices] == [
        "place.domain=in",
        "place.domain=near",
        "place.domain=out",
        "place.half=True",
        "place.half=False",
    ]
    assert run.samples.metadata[0] == {
        "unique": "u0",
        "place.domain": "in",
        "place.half": True,
    }


def test_summed_statistics_have_no_parts(tmp_path):
    files = write_files(tmp_path)
    spec = {
        "task": "t",
        "dataset": {"reader": "auto", "path": str(files["refs"]), "meta": ["domain"]},
        "models": [{"predictions": {"path": str(files["A"])}}],
        "metrics": ["rouge"],
        "slices": "domain",
        "significance": {"method": "exact", "aggregate": "summed", "draws": 99},
    }
    run = harness.evaluate(spec)
    assert run.records[0].p_value is not None
    assert {(record.p_value, record.p_note) for record in run.slices} == {
        (None, SUMMED)
    }


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            "unque",
            "slices: no example has 'unque' in its metadata; did you mean 'unique'?; "
            "it has place, unique, tags",
        ),
        ("unique", f"slices: 'unique' has another value for each of {COUNT} examples"),
        (
            "tags",
            "slices: 'tags' holds list ['x']; expected a text, a number or a flag",
        ),
    ],
)
def test_columns_that_make_no_slices_are_refused_before_anything_is_written(
    tmp_path, column, message
):
    files = write_files(tmp_path)
    with pytest.raises(InputError) as caught:
        score_files(
            [str(files["A"])],
            str(files["rows"]),
            ["rouge"],
            slices=[column],
            output=tmp_path / "run",
        )
    assert message in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_the_task_nocaps_has_its_domains(tmp_path, golden, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    run = harness.evaluate("nocaps", overrides=["metrics=[cider]"])
    domains = ["domain=in-domain", "domain=near-domain", "domain=out-domain"]
    assert [record.slice for record in run.slices] == domains * 3
    for record in run.records:
        parts = [part for part in run.slices if part.model == record.model]
        assert sum(part.value * part.n for part in parts) / record.n == pytest.approx(
            record.value, rel=1e-12
        )


def test_numbers_of_slices_belong_to_the_identity_of_two_runs(tmp_path):
    run = score(tmp_path, ["rouge"], output=tmp_path / "one")
    score(tmp_path, ["rouge"], output=tmp_path / "two")
    outcome = compare_identical(tmp_path / "one", tmp_path / "two")
    assert (outcome.numbers, outcome.differences) == (
        len(run.records) + len(run.slices),
        (),
    )
    content = check_results(
        json.loads((tmp_path / "two" / "results.json").read_text()), tmp_path
    )
    moved = [*content.slices[:-1], replace(content.slices[-1], value=0.5)]
    before, now = (
        numbers_by_name([*content.results, *slices])
        for slices in (content.slices, moved)
    )
    assert [
        line.partition(": stored")[0] for line in describe_differences(before, now)
    ] == ["score A.json, B.json, B, rouge, domain=out: value"]
    assert stored_numbers(tmp_path / "one").keys() == before.keys()
