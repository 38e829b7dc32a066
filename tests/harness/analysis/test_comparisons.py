"""Rows of comparisons as a list with a short representation."""

from __future__ import annotations

import json

import numpy as np
import pytest

import harness
from harness.analysis.compare import compare
from harness.analysis.comparisons import Comparison, Comparisons, with_verdict
from harness.analysis.differing_examples import differing_most
from harness.analysis.metric_comparisons import metric_comparisons
from harness.analysis.pairs import ComparedRun, pairs
from harness.analysis.rankings import rankings, unranked_notes
from harness.analysis.stored_comparisons import StoredComparisons
from harness.errors import HarnessError
from harness.reporting.comparison_tables import pair_tables
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable
from tests.support.comparisons import SPEC, make_comparison


def row(metric, better):
    return make_comparison(metric=metric, better=better)


def test_the_list_is_its_rows():
    rows = [row("one", "A"), row("two", "=")]
    assert Comparisons(rows) == rows
    assert (
        repr(Comparisons(rows))
        == "<comparisons of 1 pairs by 2 metrics: 1 of 2 significant>"
    )


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        (
            {
                "p_value": 0.0425,
                "p_holm": 0.1275,
                "ci95": [-0.0682, -0.0069],
                "draws": 10_000,
            },
            "= by p Holm, over all pairs",
        ),
        (
            {"p_value": 0.2, "p_holm": 0.2, "ci95": [0.01, 0.3], "draws": 10_000},
            "= by the p-value of approximate randomisation",
        ),
        (
            {"p_value": 0.06, "p_holm": 0.3, "ci95": [0.01, 0.3]},
            "= by the p-value of the test",
        ),
        (
            {
                "p_value": 0.01,
                "p_holm": 0.01,
                "ci95": [0.01, 0.3],
                "higher_is_better": None,
            },
            "neither direction is better",
        ),
    ],
)
def test_equality_beside_an_interval_without_zero_says_what_decided(fields, word):
    given = {"difference": float(np.mean(fields["ci95"])), "note": "", **fields}
    row = with_verdict(make_comparison(**given))
    assert row.better == "=" and word in row.note and "does not hold 0" in row.note
    (table,) = pair_tables([row], full=False)
    assert table.rows[0][-1] == "=" and any(word in note for note in table.notes)
    noted = with_verdict(make_comparison(**{**given, "note": "equalised"}))
    assert noted.note == f"equalised; {row.note}"


@pytest.mark.parametrize(
    ("fields", "better"),
    [
        ({"p_holm": 0.3, "ci95": [-0.1, 0.3]}, "="),
        ({"p_holm": 0.3, "ci95": [0.0, 0.3]}, "="),
        ({"p_holm": 0.3, "ci95": None}, "="),
        ({"p_holm": 0.03, "ci95": [0.1, 0.3]}, "A"),
        ({"p_holm": None, "ci95": [0.1, 0.3]}, "not tested"),
    ],
)
def test_other_verdicts_have_no_such_note(fields, better):
    row = with_verdict(
        make_comparison(difference=0.1, note="", p_value=fields["p_holm"], **fields)
    )
    assert (row.better, row.note) == (better, "")


def test_the_file_has_the_fields_that_are_known():
    stored = make_comparison(difference=0.5, ci95=[0.25, 0.75]).to_dict()
    assert (stored["difference"], stored["ci95"]) == (0.5, [0.25, 0.75])
    assert list(stored)[:3] == ["metric", "system_a", "system_b"]
    assert not {"better", "p_holm", "p_bh", "forced", "signature"} & set(stored)
    compared = make_comparison(
        better="A", p_holm=0.01, p_bh=0.01, forced=("data",)
    ).to_dict()
    assert list(compared)[-4:] == ["forced", "p_holm", "p_bh", "better"]
    assert compared["forced"] == ["data"]


@pytest.fixture
def run(project):
    harness.evaluate(SPEC, output="r")
    compare("r")
    return Run.open("r")


def test_rows_are_read_under_the_same_draws_and_seed(run):
    assert list(StoredComparisons.of([run, run], 10_000, 0).rows) == [
        "short|long|length"
    ]
    assert not StoredComparisons.of([run, run], 10_000, 1).rows
    assert not StoredComparisons.of([run, run], 99, 0).rows


def test_rows_of_other_results_are_not_read(run, project):
    file = project / "r" / "results.json"
    text = file.read_text().replace('"value": ', '"value": 1')
    file.write_text(json.dumps({**json.loads(text), "checksum": None}))
    assert not StoredComparisons.of([Run.open("r")], 10_000, 0).rows


@pytest.mark.parametrize("content", ["torn {", "[]", '{"key": 1}'])
def test_a_damaged_file_is_computed_again(run, project, content):
    expected = compare("r")
    (project / "r" / "comparisons.json").write_text(content)
    assert compare("r") == expected
    assert json.loads((project / "r" / "comparisons.json").read_text())["rows"]


def test_an_altered_row_is_computed_again(run, project):
    file = project / "r" / "comparisons.json"
    expected = compare("r")
    file.write_text(
        file.read_text().replace('"difference": -1.0', '"difference": -2.0')
    )
    assert compare("r") == expected


def test_two_runs_and_runs_in_memory_are_not_stored(run, project):
    harness.evaluate(SPEC, output="s")
    assert StoredComparisons.of([run, Run.open("s")], 100, 0).file.path is None
    assert StoredComparisons.of([harness.evaluate(SPEC)], 100, 0).file.path is None


def test_a_fresh_run_removes_them(run, project):
    harness.evaluate(SPEC, output="r", mode="fresh")
    assert not (project / "r" / "comparisons.json").exists()


def test_an_interrupted_computation_keeps_its_rows(run, project):
    store = StoredComparisons.of([run], 50, 0)
    with pytest.raises(KeyboardInterrupt), store.adding() as add:
        add("one", make_comparison(difference=1.0))
        raise KeyboardInterrupt
    assert StoredComparisons.of([run], 50, 0).rows == {
        "one": make_comparison(difference=1.0)
    }


CLUSTERS_SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 12},
    "models": [{"echo": {"n": n, "label": f"m{n}"}} for n in (1, 2, 4)],
    "metrics": ["length"],
}


def row_of_clusters(a, b, value_a, value_b, p, better, metric="x", **more):
    values = {"a": value_a, "b": value_b, "p_holm": p, "better": better, **more}
    return make_comparison(metric=metric, system_a=a, system_b=b, **values)


def test_systems_are_ranked_with_letters_wins_and_losses():
    rows = [
        row_of_clusters("a", "b", 1.0, 3.0, 0.01, "B"),
        row_of_clusters("a", "c", 1.0, 2.0, 0.20, "="),
        row_of_clusters("b", "c", 3.0, 2.0, 0.30, "="),
    ]
    ranking = rankings(rows)["x"]
    assert [
        (item.system, item.letters, item.wins, item.losses) for item in ranking
    ] == [
        ("b", "a", 1, 0),
        ("c", "ab", 0, 0),
        ("a", "b", 0, 1),
    ]


def test_all_that_are_not_worse_than_the_best_lead_whatever_their_letters():
    rows = [
        row_of_clusters("a", "b", 3.0, 2.0, 0.2, "="),
        row_of_clusters("a", "c", 3.0, 1.0, 0.2, "="),
        row_of_clusters("b", "c", 2.0, 1.0, 0.01, "A"),
    ]
    assert [(item.letters, item.leads) for item in rankings(rows)["x"]] == [
        ("ab", True),
        ("a", True),
        ("b", True),
    ]
    rows[1] = row_of_clusters("a", "c", 3.0, 1.0, 0.01, "A")
    assert [item.leads for item in rankings(rows)["x"]] == [True, True, False]
    # of another size: compares with none of the others
    rows.append(row_of_clusters("d", "e", 9.0, 8.0, 0.01, "A"))
    apart = [
        row_of_clusters(one, other, 1.0, 9.0, None, "sizes differ", sizes_differ=True)
        for one in "abc"
        for other in "de"
    ]
    leading = [(item.system, item.leads) for item in rankings([*rows, *apart])["x"]]
    assert leading == [
        ("a", True),
        ("b", True),
        ("c", False),
        ("d", True),
        ("e", False),
    ]


@pytest.mark.parametrize(("p", "letters"), [(0.05, ["a", "b"]), (0.0501, ["a", "a"])])
def test_systems_are_apart_at_the_level(p, letters):
    ranking = rankings(
        [row_of_clusters("a", "b", 3.0, 1.0, p, "A" if p <= 0.05 else "=")]
    )["x"]
    assert [item.letters for item in ranking] == letters


def test_lower_is_better_reverses_the_order():
    rows = [row_of_clusters("a", "b", 1.0, 3.0, 0.01, "A", higher_is_better=False)]
    assert [item.system for item in rankings(rows)["x"]] == ["a", "b"]


def test_incomplete_metrics_have_no_ranking():
    assert rankings([row_of_clusters("a", "b", None, None, None, "not tested")]) == {}
    assert (
        rankings([row_of_clusters("a", "b", 1.0, 2.0, 0.5, "=", higher_is_better=None)])
        == {}
    )
    assert (
        rankings(
            [
                row_of_clusters(
                    "a", "b", 1.0, 2.0, 0.5, "sizes differ", sizes_differ=True
                )
            ]
        )
        == {}
    )
    assert (
        rankings(
            [
                row_of_clusters("a", "c", 1.0, 2.0, 0.5, "="),
                row_of_clusters("b", "c", 1.0, 2.0, 0.5, "="),
            ]
        )
        == {}
    )


def test_clusters_of_a_run(project):
    harness.evaluate(CLUSTERS_SPEC, output="r")
    ranking = rankings(compare("r"))["length"]
    assert [item.system for item in ranking] == ["m4", "m2", "m1"]
    assert [item.letters for item in ranking] == ["a", "b", "c"]


def test_the_largest_differences_come_first(project):
    harness.evaluate(
        {**CLUSTERS_SPEC, "models": CLUSTERS_SPEC["models"][:2]}, output="r"
    )
    (pair,) = pairs([ComparedRun.open("r")])
    examples = differing_most(pair, "length", 2)
    assert len(examples) == 2
    assert examples[0].candidates_a == (examples[0].references[0],)
    assert abs(examples[0].score_a - examples[0].score_b) >= abs(
        examples[1].score_a - examples[1].score_b
    )
    assert differing_most(pair, "other", 2) == []


def test_equal_systems_differ_nowhere(project):
    models = [{"echo": {"n": 2, "label": name}} for name in ("one", "other")]
    harness.evaluate({**CLUSTERS_SPEC, "models": models}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    assert differing_most(pair, "length", 3) == []


def test_captions_of_both_systems_are_those_of_the_example(project):
    models = [
        {"echo": {"n": 1, "label": "a"}},
        {"echo": {"n": 2, "fail": ["e0", "e3"], "label": "b"}},
    ]
    run = harness.evaluate({**CLUSTERS_SPEC, "models": models}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    for one in differing_most(pair, "length", 20):
        a, b = (
            next(i for i in system.caption_sets() if i.id == one.example)
            for system in run.samples.systems
        )
        assert (one.candidates_a, one.candidates_b, one.references) == (
            a.candidates,
            b.candidates,
            a.references,
        )


@pytest.fixture
def judged():
    """A run of judgments with the agreement of three metrics,
    and a value of another statistic.
    """
    values = {"a": 0.5, "b": 0.25, "c": 0.125}
    tests = {"perm_input": 0.01, "perm_input_holm": 0.03}
    headline = [
        ResultRecord(
            model="",
            metric=name,
            value=value,
            n=10 + k,
            statistic="kendall_c",
            group="all",
            details={
                "headline": True,
                "against": {rival: tests for rival in values if rival != name},
            },
        )
        for k, (name, value) in enumerate(values.items())
    ]
    other = ResultRecord(
        model="", metric="d", value=0.5, statistic="pearson", group="all"
    )
    return Run(
        Provenance({"kind": "judgments", "task": "t"}),
        (*headline, other),
        SampleTable.empty(),
    )


@pytest.mark.parametrize(
    ("baseline", "metrics", "expected"),
    [
        (None, None, ["a b", "a c", "b c"]),
        (None, ["c", "a"], ["a c"]),
        (None, ["a"], []),
        ("b", None, ["a b", "c b"]),
        ("b", ["c"], ["c b"]),
        ("b", ["b", "a"], ["a b"]),
    ],
)
def test_metrics_are_compared_in_pairs_or_with_the_baseline(
    judged, baseline, metrics, expected
):
    rows = metric_comparisons([judged], baseline, metrics)
    assert [f"{row.system_a} {row.system_b}" for row in rows] == expected


def test_the_comparison_of_two_metrics_has_the_tests_of_the_run(judged):
    row = metric_comparisons([judged], "a", ["c"])[0]
    assert (row.a, row.b, row.difference, row.n) == (0.125, 0.5, -0.375, 10)
    assert (row.p_value, row.p_holm, row.better) == (0.01, 0.03, "B")
    for baseline, metrics in (("d", None), ("a", ["d"])):
        with pytest.raises(
            HarnessError, match="there is no metric 'd'.*; there are a, b, c"
        ):
            metric_comparisons([judged], baseline, metrics)
    with pytest.raises(
        HarnessError,
        match="the metrics of one run of judgments are compared, not two runs",
    ):
        metric_comparisons([judged, judged])


def test_systems_without_a_letter_are_named_with_their_metrics():
    def pair(a, b, metric, **values):
        values = {
            "p_holm": 0.5,
            "p_value": 0.5,
            "difference": 0.1,
            "a": 0.2,
            "b": 0.1,
            **values,
        }
        return Comparison(
            metric=metric,
            system_a=a,
            system_b=b,
            higher_is_better=True,
            n=9,
            note="",
            better="=",
            **values,
        )

    other = {"sizes_differ": True, "p_holm": None, "difference": None}
    rows = [pair("x", "y", metric) for metric in ("bleu4", "rouge", "cider")]
    rows += [
        pair(a, "z", metric, **other) for a in "xy" for metric in ("bleu4", "rouge")
    ] + [pair(a, "z", "cider") for a in "xy"]
    names = {"bleu4": "BLEU-4", "rouge": "ROUGE-L", "cider": "CIDEr-D"}
    (line,) = unranked_notes(rows, names)
    assert line.startswith(
        "no letter for z in BLEU-4, ROUGE-L: no other system has its set size"
    )
    assert unranked_notes(rows[:3], names) == []
    assert unranked_notes([pair("x", "z", "bleu4", **other)], names) == [], (
        "a metric without letters has no such line"
    )
