"""Comparisons within slices: the tests of all examples on those of a slice, one family
of p-values, kept with the run.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.analysis.compare import compare_pairs
from harness.analysis.pairs import ComparedRun, pairs
from harness.analysis.slices import compare_slices
from harness.api import score_files
from harness.errors import HarnessError, InputError
from harness.stats.multiplicity import holm
from tests.support.sliced import COUNT, domain, write_files

METRICS = ["bleu2", "rouge", "distinct:n=2"]
DRAWS = 500


def score(folder, slices=("domain",), metrics=METRICS, **options):
    files = write_files(folder, **options)
    return score_files(
        [str(files["A"]), str(files["B"])], str(files["refs"]), metrics, slices=slices
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return score(tmp_path_factory.mktemp("sliced"))


@pytest.fixture(scope="module")
def rows(run):
    return compare_slices(run, ["domain"], draws=DRAWS)


@pytest.mark.parametrize("name", ["in", "near", "out"])
def test_a_slice_is_compared_as_if_it_were_all(rows, tmp_path, name):
    alone = harness.compare(score(tmp_path, slices=(), only=name), draws=DRAWS)
    own = [row for row in rows if row.slice == f"domain={name}"]
    assert (
        [row.metric for row in own]
        == [row.metric for row in alone]
        == ["bleu2", "rouge", "distinct2"]
    )
    for row, expected in zip(own, alone):
        plain = {"slice": "", "p_holm": None, "p_bh": None, "better": "", "note": ""}
        assert replace(row, **plain) == replace(expected, **plain)


def test_p_values_are_adjusted_over_all_slices_and_pairs_of_a_metric(rows):
    assert {row.slice for row in rows} == {"domain=in", "domain=near", "domain=out"}
    for metric in {row.metric for row in rows}:
        family = [row for row in rows if row.metric == metric]
        assert len(family) == 3
        np.testing.assert_array_equal(
            [row.p_holm for row in family], holm([row.p_value for row in family])
        )


def test_comparisons_of_all_examples_are_another_family(run, rows):
    whole = harness.compare(run, draws=DRAWS)
    assert all(not row.slice and row.n == COUNT for row in whole)
    assert all("slice" not in row.to_dict() for row in whole)
    assert all(row.to_dict()["slice"] == row.slice for row in rows)
    assert {row.n for row in rows} == {
        sum(domain(k) == name for k in range(COUNT)) for name in ("in", "near", "out")
    }


def test_document_frequencies_are_those_of_all_examples(tmp_path):
    run = score(tmp_path, metrics=["cider"])
    (row, *_) = compare_slices(run, ["domain"], draws=100)
    per_example = [system.scores("cider") for system in run.samples.systems]
    inside = np.array(
        [domain(int(name)) == "in" for name in run.samples.systems[0].examples]
    )
    assert row.difference == pytest.approx(
        float(per_example[0][inside].mean() - per_example[1][inside].mean()), rel=1e-12
    )


def test_rows_are_kept_beside_those_of_all_examples(tmp_path, monkeypatch):
    files = write_files(tmp_path)
    run = score_files(
        [str(files["A"]), str(files["B"])],
        str(files["refs"]),
        ["rouge"],
        slices=["domain"],
        output=tmp_path / "run",
    )
    first = compare_slices(run.path, ["domain"], draws=DRAWS)
    harness.compare(run.path, draws=DRAWS)
    stored = json.loads((tmp_path / "run" / "comparisons.json").read_text())["rows"]
    assert list(stored) == [
        "A|B|rouge|domain=in",
        "A|B|rouge|domain=near",
        "A|B|rouge|domain=out",
        "A|B|rouge",
    ]
    monkeypatch.setattr("harness.analysis.slices.paired_tests", None)
    assert compare_slices(run.path, ["domain"], draws=DRAWS) == first


def test_a_baseline_and_chosen_metrics(run):
    rows = compare_slices(run, ["domain"], baseline="A", metrics=["rouge"], draws=100)
    assert [(row.system_a, row.system_b, row.metric) for row in rows] == [
        ("B", "A", "rouge")
    ] * 3


def test_sizes_that_differ_have_no_verdict_and_no_numbers(tmp_path):
    files = write_files(tmp_path)
    sets = {
        str(item["image_id"]): [item["caption"], f"{item['caption']} now"]
        for item in json.loads(files["B"].read_text())
    }
    files["B"].write_text(json.dumps(sets))
    run = score_files(
        [str(files["A"]), str(files["B"])],
        str(files["refs"]),
        ["distinct:n=2"],
        slices=["domain"],
    )
    rows = compare_slices(run, ["domain"], draws=100)
    assert {(row.better, row.a, row.p_holm) for row in rows} == {
        ("sizes differ", None, None)
    }
    assert [row.n for row in rows] == [
        sum(domain(k) == name for k in range(COUNT)) for name in ("in", "near", "out")
    ]


def test_clusters_are_resampled_within_a_slice(tmp_path):
    files = write_files(tmp_path)
    rows = [json.loads(line) for line in files["rows"].read_text().splitlines()]
    files["rows"].write_text(
        "".join(
            json.dumps({**row, "video": row["id"] // 2, "domain": domain(row["id"])})
            + "\n"
            for row in rows
        )
    )
    models = [
        {"predictions": {"label": name, "path": str(files[name])}}
        for name in ("A", "B")
    ]
    spec = {
        "task": "t",
        "dataset": {"reader": "auto", "path": str(files["rows"])},
        "models": models,
        "metrics": ["rouge"],
    }
    run = harness.evaluate({**spec, "cluster": "video", "slices": "domain"})
    (row, *_) = compare_slices(run, ["domain"], draws=2**17)
    units = len({k // 2 for k in range(COUNT) if domain(k) == "in"})
    assert row.exact
    assert row.draws == 2**units
    assert "clusters resampled" in str(run.slices[0].interval_note)


def test_errors(run, captions_run):
    with pytest.raises(
        InputError,
        match="no example has 'domian' in its metadata; did you mean 'domain'",
    ):
        compare_slices(run, ["domian"])
    with pytest.raises(HarnessError, match="there is no metric 'ruge'"):
        compare_slices(run, ["domain"], metrics=["ruge"])
    with pytest.raises(InputError, match="it has none"):
        compare_slices(captions_run, ["domain"])


def test_pairs_share_the_numbers_of_a_system(run, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "harness.analysis.slices.paired_tests",
        lambda items, *rest: seen.append(items) or iter(()),
    )
    with pytest.raises(StopIteration):
        compare_slices(run, ["domain"], draws=7)
    (first, *_) = seen
    assert len({id(side) for item in first for side in (item.a, item.b)}) == 2 * len(
        METRICS
    )
    assert compare_pairs(pairs([ComparedRun.open(run)]), metrics=["rouge"], draws=10)
