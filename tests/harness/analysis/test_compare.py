"""Comparing runs and models."""

from __future__ import annotations

import json

import numpy as np
import pytest

import harness
from harness.analysis import compare as module
from harness.analysis.compare import adjusted, compare, compare_pairs
from harness.analysis.comparisons import verdict
from harness.analysis.pairs import ComparedRun, pairs
from harness.errors import HarnessError
from harness.registry import current
from harness.rundir.rundir import RunDir
from harness.testing.sample_captions import SCENES
from tests.support import metric_cases
from tests.support.comparisons import SPEC, make_comparison


def test_models_of_one_run_are_compared_pair_by_pair(project):
    harness.evaluate(SPEC, output="r")
    (row,) = compare("r")
    assert (row.system_a, row.system_b, row.difference, row.n) == (
        "short",
        "long",
        -1.0,
        6,
    )
    assert row.sign_p_value == row.p_value == pytest.approx(2 / 64)
    assert row.exact
    assert row.p_holm == row.p_bh == row.p_value
    assert row.better == "B"
    assert (row.a_larger, row.ties, row.b_larger) == (0, 0, 6)


def test_the_difference_is_that_of_the_table(project):
    harness.evaluate(SPEC, output="r")
    values = {record.model: record.value for record in RunDir.open("r").records}
    (row,) = compare("r")
    assert (row.a, row.b) == (values["short"], values["long"])


def test_a_run_in_memory_is_compared_as_one_in_a_directory(project):
    in_memory = compare(harness.evaluate(SPEC))
    assert in_memory == compare(harness.evaluate(SPEC, output="r")) == compare("r")


def test_verdicts_follow_the_direction_and_the_level():
    assert verdict(-1.0, 0.01, True) == "B"
    assert verdict(-1.0, 0.01, False) == "A"
    assert verdict(-1.0, 0.06, True) == "="
    assert verdict(-1.0, 0.01, None) == "="
    assert verdict(0.0, 0.01, True) == "="


def test_runs_on_different_data_are_not_paired_by_chance(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate({**SPEC, "dataset": {"reader": "words", "count": 7}}, output="s")
    with pytest.raises(HarnessError, match="r and s read different data.*force=True"):
        compare("r", "s")
    rows = compare("r", "s", force=True)
    assert len(rows) == 2
    assert "different data" in rows[0].forced[0]


def test_examples_that_one_system_lacks_are_left_out(project):
    models = [
        {"echo": {"n": 1, "label": "short"}},
        {"echo": {"n": 3, "label": "long", "fail": ["e2"]}},
    ]
    harness.evaluate({**SPEC, "models": models}, output="r")
    (row,) = compare("r")
    assert (row.n, row.left_out) == (5, 1)


def test_undefined_examples_of_one_system_are_left_out(project):
    metrics = [{"length": {"undefined": ["e1", "e4"]}}]
    harness.evaluate({**SPEC, "metrics": metrics}, output="r")
    (row,) = compare("r")
    assert (row.n, row.left_out) == (4, 2)


def test_set_metrics_of_different_sizes_have_no_better(project):
    harness.evaluate({**SPEC, "metrics": [{"trm": {"distance": "chars"}}]}, output="r")
    (row,) = compare("r")
    assert row.better == "sizes differ"


def test_comparisons_are_computed_once_and_stored(project, monkeypatch):
    harness.evaluate(SPEC, output="r")
    first = compare("r")
    assert (project / "r" / "comparisons.json").is_file()

    def fail(*arguments):
        raise AssertionError("computed again")

    with monkeypatch.context() as patch:
        patch.setattr(module, "paired_tests", fail)
        assert compare("r") == first
        with pytest.raises(AssertionError, match="computed again"):
            compare("r", seed=5)


def test_the_choice_of_pairs_does_not_change_a_row(project):
    models = [*SPEC["models"], {"echo": {"n": 2, "label": "middle", "fail": ["e5"]}}]
    harness.evaluate({**SPEC, "models": models}, output="r")
    (alone,) = [row for row in compare("r", baseline="long") if row.system_a == "short"]
    (project / "r" / "comparisons.json").unlink()
    (among,) = [
        row for row in compare("r") if (row.system_a, row.system_b) == ("short", "long")
    ]
    assert (alone.difference, alone.p_value, alone.ci95) == (
        among.difference,
        among.p_value,
        among.ci95,
    )


def test_a_run_in_memory_is_compared(project):
    run = harness.evaluate(SPEC)
    (row,) = compare_pairs(pairs([ComparedRun(run)]))
    assert row.difference == -1.0


def test_metrics_are_chosen_by_name(project):
    harness.evaluate(
        {**SPEC, "metrics": ["length", {"trm": {"distance": "chars"}}]}, output="r"
    )
    for name in ("length", "Length", "TRM(chars)"):
        assert [row.metric for row in compare("r", metrics=[name])] == [name.lower()]
    with pytest.raises(HarnessError, match="no metric 'lenght'; did you mean 'length'"):
        compare("r", metrics=["lenght"])


def test_draws_below_one_are_refused(project):
    harness.evaluate(SPEC, output="r")
    with pytest.raises(HarnessError, match="draws is 0; expected at least 1"):
        compare("r", draws=0)


def test_a_damaged_artifact_is_a_note(project):
    harness.evaluate(SPEC, output="r")
    for file in (project / "r" / "scores").iterdir():
        file.write_bytes(b"torn")
    (row,) = compare("r")
    assert "no statistics of this metric" in row.note
    assert row.better == "not tested"


def test_adjustment_is_by_metric_and_over_all_rows():
    rows = [
        make_comparison(metric=m, p_value=p, difference=1.0)
        for m, p in (("x", 0.01), ("x", 0.04), ("y", 0.03), ("y", None))
    ]
    result = adjusted(rows)
    assert [row.p_holm for row in result] == [0.02, 0.04, 0.03, None]
    np.testing.assert_allclose([row.p_bh for row in result[:3]], [0.03, 0.04, 0.04])
    assert result[3].better == "not tested"


def test_runs_of_other_reference_counts_are_refused(project):
    for name, count in (("r", 2), ("s", 1)):
        harness.evaluate({**SPEC, "models": ["echo"], "references": count}, output=name)
    with pytest.raises(
        HarnessError, match="is of 2 references in r and of 1 in s; force=True"
    ):
        compare("r", "s")
    (row,) = compare("r", "s", force=True)
    assert row.better == "sizes differ"


def test_incomparable_numbers_do_not_count_among_the_tests():
    rows = [
        make_comparison(p_value=p, sizes_differ=differ, difference=1.0)
        for p, differ in ((0.01, False), (0.0001, True), (0.04, False))
    ]
    result = adjusted(rows)
    assert [row.p_holm for row in result] == [0.02, None, 0.04]
    assert [row.better for row in result] == ["A", "sizes differ", "A"]


def test_a_number_of_the_corpus_is_compared_over_groups_of_examples(project):
    words = [
        "dog",
        "cat",
        "man",
        "runs",
        "sleeps",
        "in",
        "the",
        "park",
        "house",
        "a",
        "red",
        "ball",
    ]
    rng = np.random.default_rng(0)
    texts = {
        k: [" ".join(rng.choice(words[:size], 9)) for size in (12, 4, 12)]
        for k in map(str, range(30))
    }
    for place, name in enumerate(("references", "dull", "rich")):
        (project / f"{name}.json").write_text(
            json.dumps({key: [row[place]] for key, row in texts.items()})
        )
    spec = {
        "task": "corpus",
        "dataset": {"reader": "jsonl", "path": str(project / "references.json")},
        "models": [
            {"predictions": {"label": n, "path": str(project / f"{n}.json")}}
            for n in ("dull", "rich")
        ],
        "metrics": ["compression-ratio", {"ms-jaccard": {"n": 1, "tokenizer": "none"}}],
    }
    harness.evaluate(spec, output="r")
    harness.evaluate({**spec, "bootstrap": {"samples": 10}}, output="s")
    for paths in (["r"], ["r::dull", "s::rich"]):
        rows = compare(*paths, draws=50)
        assert [row.metric for row in rows] == ["compression-ratio", "ms-jaccard1"]
        for row in rows:
            assert row.better == "B"
            assert row.difference == pytest.approx(row.a - row.b)
            assert row.ci95[0] < row.difference < row.ci95[1]
            assert (
                0 < row.p_value <= 0.05 and row.p_bootstrap is None and row.draws == 0
            )
            assert row.note.endswith(
                "the jackknife that leaves out 20 parts of 1.5 examples, "
                "19 degrees of freedom"
            )


def test_numbers_of_the_corpus_have_no_verdict_where_the_numbers_of_candidates_differ(
    project,
):
    harness.evaluate({**SPEC, "metrics": ["distinct", "length"]}, output="r")
    rows = {row.metric: row for row in compare("r")}
    assert rows["length"].better == "B", (
        "a mean over candidates does not depend on their number"
    )
    unequal = (
        rows["distinct1"]
        if "distinct1" in rows
        else next(row for name, row in rows.items() if name != "length")
    )
    assert (unequal.better, unequal.p_value, unequal.difference) == (
        "sizes differ",
        None,
        None,
    )
    assert unequal.note == "no verdict: 1 and 3 candidates (equalise=True compares)"
    assert unequal.a is not None and unequal.b is not None


def test_sizes_of_examples_that_one_system_lacks_do_not_matter(project):
    references = {"e1": ["a dog"], "e2": ["a cat"], "e3": ["a dog", "the dog"]}
    (project / "references.json").write_text(json.dumps(references))
    for name, ids in (("all", ["e1", "e2", "e3"]), ("some", ["e1", "e2"])):
        (project / f"{name}.json").write_text(
            json.dumps({key: ["a dog"] for key in ids})
        )
    spec = {
        "task": "corpus",
        "dataset": {"reader": "jsonl", "path": str(project / "references.json")},
        "models": [
            {
                "predictions": {
                    "label": n,
                    "path": str(project / f"{n}.json"),
                    "allow_missing": True,
                }
            }
            for n in ("all", "some")
        ],
        "metrics": ["bleu1"],
    }
    harness.evaluate(spec, output="r")
    (row,) = compare("r")
    assert (row.n, row.better) == (2, "=")


@pytest.mark.slow
def test_systems_of_other_set_sizes_are_compared_on_equal_subsets(project):
    harness.evaluate(
        {**SPEC, "metrics": ["distinct", {"trm": {"distance": "rouge"}}]}, output="r"
    )
    for row in compare("r", equalise=True, draws=100):
        assert row.better != "sizes differ" and not row.sizes_differ
        assert row.note.startswith(
            "equalised: sets of equal size, mean of 20 random subsets"
        )
    for name, count in (("s", 2), ("t", 1)):
        harness.evaluate({**SPEC, "models": ["echo"], "references": count}, output=name)
    (row,) = compare("s", "t", equalise=True, draws=100)
    assert (row.difference, row.better) == (0.0, "=")


def test_rows_of_equal_sizes_are_kept_when_the_others_are_equalised(
    project, monkeypatch
):
    harness.evaluate({**SPEC, "metrics": ["length", "distinct"]}, output="r")
    length, unequal = compare("r", draws=50)
    _, equalised = compare("r", equalise=True, draws=50)
    assert unequal.better == "sizes differ" != equalised.better
    monkeypatch.setattr(
        module, "paired_tests", lambda *_: pytest.fail("computed again")
    )
    monkeypatch.setattr(
        module, "equalised_tests", lambda *_: pytest.fail("computed again")
    )
    assert [repr(row) for row in compare("r", draws=50)] == [
        repr(length),
        repr(unequal),
    ]
    assert repr(compare("r", equalise=True, draws=50)[1]) == repr(equalised)


def test_a_metric_that_reads_more_than_texts_is_not_equalised_and_the_others_are(
    project,
):
    rows = [
        {"id": f"e{k}", "objects": ["dog"], "references": ["a dog", "the dog"]}
        for k in range(4)
    ]
    (project / "references.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, texts in (
        ("one", ["a dog and a cat"]),
        ("three", ["a dog", "a dog with a cat", "a car"]),
    ):
        (project / f"{name}.json").write_text(
            json.dumps({row["id"]: texts for row in rows})
        )
    spec = {
        "task": "objects",
        "dataset": {"reader": "jsonl", "path": str(project / "references.jsonl")},
        "models": [
            {"predictions": {"label": n, "path": str(project / f"{n}.json")}}
            for n in ("one", "three")
        ],
        "metrics": [{"chair-i": {"truth": "annotations"}}, "distinct"],
    }
    harness.evaluate(spec, output="r")
    chair, distinct = compare("r", equalise=True, draws=50)
    assert chair.note.startswith(
        "no verdict: 1 and 3 candidates, and subsets cannot be scored: chair-i: "
        "the example 'e0'"
    )
    assert chair.better == "sizes differ" and distinct.note.startswith("equalised")


@pytest.mark.slow
def test_the_same_captions_ten_times_are_never_better_by_any_metric(tmp_path):
    rows = [
        {
            "id": str(k),
            "references": [f"{s[0]} today", *map(str, s[2:6])],
            "source": str(s[2]),
        }
        for k, s in enumerate(SCENES)
    ]
    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    for copies in (1, 10):
        (tmp_path / f"{copies}.json").write_text(
            json.dumps(
                {str(k): [str(scene[0])] * copies for k, scene in enumerate(SCENES)}
            )
        )
    left_out = {
        *metric_cases.CANNOT_RUN,
        *metric_cases.SLOW,
        *metric_cases.OF_GAMES,
        "adjective-order",
    }
    cases = [
        metric_cases.case(name) for name in metric_cases.names() if name not in left_out
    ]
    cases = [case for case in cases if case.sets and "judge" not in case.parameters]
    spec = {
        "task": "copies",
        "dataset": {"reader": "jsonl", "path": str(tmp_path / "data.jsonl")},
        "models": [
            {
                "predictions": {
                    "path": str(tmp_path / f"{copies}.json"),
                    "label": str(copies),
                }
            }
            for copies in (1, 10)
        ],
        "metrics": [
            {case.name: case.parameters} if case.parameters else case.name
            for case in cases
        ],
        "bootstrap": {"samples": 0},
    }
    run = harness.evaluate(spec)
    metrics = {
        entry.label: run.provenance.metric(entry.label)
        for entry in run.provenance.metrics
    }
    for row in compare(run, draws=200):
        depends = (
            "candidates"
            in current()
            .create("metrics", metrics[row.metric].name, metrics[row.metric].params)
            .spec.depends_on
        )
        assert row.better == (
            "sizes differ"
            if depends
            else "="
            if row.p_value is not None
            else "not tested"
        ), row
    for row in compare(run, draws=200, equalise=True):
        # Corpus BLEU has constants in its quotients, which ten times the words make
        # smaller.
        assert row.better in ("=", "not tested") and abs(row.difference or 0) < 1e-9, (
            row
        )
