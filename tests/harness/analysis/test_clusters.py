"""Significance clusters and the examples on which two systems differ most."""

from __future__ import annotations

import harness
from harness.analysis.clusters import differing_most, rankings
from harness.analysis.compare import compare
from harness.analysis.pairs import ComparedRun, pairs
from tests.support.comparisons import make_comparison

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 12},
    "models": [{"echo": {"n": n, "label": f"m{n}"}} for n in (1, 2, 4)],
    "metrics": ["length"],
}


def row(a, b, value_a, value_b, p, better, metric="x", **more):
    values = {"a": value_a, "b": value_b, "p_holm": p, "better": better, **more}
    return make_comparison(metric=metric, system_a=a, system_b=b, **values)


def test_systems_are_ranked_with_letters_wins_and_losses():
    rows = [row("a", "b", 1.0, 3.0, 0.01, "B"), row("a", "c", 1.0, 2.0, 0.20, "="), row("b", "c", 3.0, 2.0, 0.30, "=")]
    ranking = rankings(rows)["x"]
    assert [(item.system, item.letters, item.wins, item.losses) for item in ranking] == [
        ("b", "a", 1, 0), ("c", "ab", 0, 0), ("a", "b", 0, 1),
    ]  # fmt: skip


def test_all_that_are_not_worse_than_the_best_lead_whatever_their_letters():
    rows = [row("a", "b", 3.0, 2.0, 0.2, "="), row("a", "c", 3.0, 1.0, 0.2, "="), row("b", "c", 2.0, 1.0, 0.01, "A")]
    assert [(item.letters, item.leads) for item in rankings(rows)["x"]] == [("ab", True), ("a", True), ("b", True)]
    rows[1] = row("a", "c", 3.0, 1.0, 0.01, "A")
    assert [item.leads for item in rankings(rows)["x"]] == [True, True, False]
    rows.append(row("d", "e", 9.0, 8.0, 0.01, "A"))  # of another size: compares with none of the others
    apart = [row(one, other, 1.0, 9.0, None, "sizes differ", sizes_differ=True) for one in "abc" for other in "de"]
    leading = [(item.system, item.leads) for item in rankings([*rows, *apart])["x"]]
    assert leading == [("a", True), ("b", True), ("c", False), ("d", True), ("e", False)]


def test_lower_is_better_reverses_the_order():
    rows = [row("a", "b", 1.0, 3.0, 0.01, "A", higher_is_better=False)]
    assert [item.system for item in rankings(rows)["x"]] == ["a", "b"]


def test_incomplete_metrics_have_no_ranking():
    assert rankings([row("a", "b", None, None, None, "not tested")]) == {}
    assert rankings([row("a", "b", 1.0, 2.0, 0.5, "=", higher_is_better=None)]) == {}
    assert rankings([row("a", "b", 1.0, 2.0, 0.5, "sizes differ", sizes_differ=True)]) == {}
    assert rankings([row("a", "c", 1.0, 2.0, 0.5, "="), row("b", "c", 1.0, 2.0, 0.5, "=")]) == {}


def test_clusters_of_a_run(project):
    harness.evaluate(SPEC, output="r")
    ranking = rankings(compare("r"))["length"]
    assert [item.system for item in ranking] == ["m4", "m2", "m1"]
    assert [item.letters for item in ranking] == ["a", "b", "c"]


def test_the_largest_differences_come_first(project):
    harness.evaluate({**SPEC, "models": SPEC["models"][:2]}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    examples = differing_most(pair, "length", 2)
    assert len(examples) == 2
    assert examples[0].candidates_a == (examples[0].references[0],)
    assert abs(examples[0].score_a - examples[0].score_b) >= abs(examples[1].score_a - examples[1].score_b)
    assert differing_most(pair, "other", 2) == []


def test_equal_systems_differ_nowhere(project):
    models = [{"echo": {"n": 2, "label": name}} for name in ("one", "other")]
    harness.evaluate({**SPEC, "models": models}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    assert differing_most(pair, "length", 3) == []


def test_captions_of_both_systems_are_those_of_the_example(project):
    models = [{"echo": {"n": 1, "label": "a"}}, {"echo": {"n": 2, "fail": ["e0", "e3"], "label": "b"}}]
    run = harness.evaluate({**SPEC, "models": models}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    for one in differing_most(pair, "length", 20):
        a, b = (next(i for i in system.caption_sets() if i.id == one.example) for system in run.samples.systems)
        assert (one.candidates_a, one.candidates_b, one.references) == (a.candidates, b.candidates, a.references)
