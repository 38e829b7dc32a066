"""Rankings of systems from their comparisons."""

from __future__ import annotations

import pytest

import harness
from harness.analysis.compare import compare
from harness.analysis.comparisons import Comparison
from harness.analysis.rankings import rankings, unranked_notes
from tests.support.comparisons import make_comparison

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
