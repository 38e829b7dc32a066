"""Runs that compare with each other."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from itertools import combinations

import pytest

from harness.api import score_files
from harness.page import groups
from harness.page.groups import (
    Clusters,
    clusters_of,
    groups_of,
    system_key,
)
from harness.results import Run


def test_runs_join_the_group_of_their_data(finished):
    names = [
        finished("a"),
        finished("b", models=[{"echo": {"label": "third"}}]),
        finished("c", dataset={"reader": "words", "count": 4}),
        finished("d", metrics=[{"mine/length": {"scale": 2.0}}]),
    ]
    groups = groups_of([(name, Run.open(name)) for name in names])
    assert [[side.name for side in group.sides] for group in groups] == [
        ["a", "b"],
        ["c"],
        ["d"],
    ]
    assert groups[0].several_runs and not groups[1].several_runs
    assert groups[0].metrics == ("length",) and len(groups[0].systems) == 5


def group(*names: str):
    (only,) = groups_of([(name, Run.open(name)) for name in names])
    return only


def test_systems_of_one_number_of_references_are_ranked_together(finished):
    systems = group(finished())
    clusters = clusters_of(systems)
    letters = {
        system.model: clusters.of(
            "length", system_key(0, system.model, system.decoding_key)
        )
        for _, system in systems.systems
    }
    assert set(letters) == {"one <script>alert(1)</script>", "two", "people", "others"}
    assert (
        letters["two"]
        and clusters.note.startswith("Cluster letters")
        and clusters.warning == ""
    )


def test_the_script_gets_the_tests_of_every_pair_by_the_numbers_of_the_systems(
    finished,
):
    systems = group(finished())
    clusters = clusters_of(systems)
    block = clusters.pair_block(systems, "g0")
    rows = json.loads(gzip.decompress(base64.b64decode(block.data)))
    assert block.name == "g0-pairs" and {(row[1], row[2]) for row in rows} <= set(
        combinations(range(4), 2)
    )
    for row, expected in zip(rows, clusters.comparisons):
        assert row == [
            "length",
            row[1],
            row[2],
            expected.difference,
            *(expected.ci95 or (None, None)),
            expected.p_holm,
        ]
    assert len(rows) == len(clusters.comparisons) > 0
    apart = replace(
        clusters, comparisons=[replace(clusters.comparisons[0], sizes_differ=True)]
    )
    ((_, _, _, difference, *_),) = json.loads(
        gzip.decompress(base64.b64decode(apart.pair_block(systems, "g0").data))
    )
    assert difference is None, "numbers of sets of other sizes do not compare"


def test_tests_beyond_the_budget_are_postponed_unless_they_are_stored(finished):
    name = finished()
    clusters = clusters_of(group(name), budget=0)
    assert not clusters.letters
    assert clusters.warning == (
        "No significance clusters, and no value in bold, for length: "
        "6 tests take too long for a page; "
        "'harness report r --compare' computes and keeps them."
    )
    assert clusters_of(group(name), budget=None).letters
    assert clusters_of(group(name), budget=0).letters, "the tests are stored now"


def test_systems_without_a_common_example_are_not_compared(finished):
    halves = [
        {
            "echo": {
                "label": f"without {k}",
                "n": 1 + k,
                "fail": [f"e{3 * k + i}" for i in range(3)],
            }
        }
        for k in (0, 1)
    ]
    assert clusters_of(group(finished("a", models=halves, views=[]))) == Clusters()
    clusters = clusters_of(
        group(finished("b", models=[*halves, {"echo": {"label": "all"}}], views=[]))
    )
    assert [
        (row.system_a.split("|")[1], row.system_b.split("|")[1], row.n)
        for row in clusters.comparisons
    ] == [
        ("without 0", "all", 3),
        ("without 1", "all", 3),
    ]


def test_two_runs_are_compared_across(finished):
    runs = group(
        finished("a"), finished("b", models=[{"echo": {"label": "third", "n": 3}}])
    )
    assert {key.split("|")[0] for key in clusters_of(runs).letters["length"]} == {
        "0",
        "1",
    }
    assert (
        "'harness report --compare' computes them"
        in clusters_of(runs, budget=0).warning
    )


def test_more_pairs_than_a_page_compares_have_a_warning_in_place_of_tests(
    finished, monkeypatch
):
    systems = group(finished())
    monkeypatch.setattr(groups, "MAX_PAIRS", 5)
    clusters = clusters_of(systems)
    assert not clusters.letters and not clusters.comparisons
    assert clusters.warning == (
        "No significance clusters, and no value in bold: 4 systems are 6 pairs, "
        "more than the 5 that a page compares; "
        "'harness report --compare' compares them all the same."
    )
    assert len(clusters_of(systems, budget=None).comparisons) == 6
    monkeypatch.setattr(groups, "MAX_PAIRS", 6)
    assert len(clusters_of(systems).comparisons) == 6


@pytest.mark.parametrize(
    ("labels", "title"),
    [
        (["Alpha", "Beta"], "Alpha, Beta"),
        (["<b>one</b>"], "<b>one</b>"),
        (list("ABCDEF"), "A, B, C, D, 2 more systems"),
    ],
)
def test_a_run_of_files_is_titled_by_its_labels(tmp_path, labels, title):
    (tmp_path / "R.json").write_text('{"1": ["a dog"], "2": ["a cat"]}')
    files = [tmp_path / f"file{k}.json" for k in range(len(labels))]
    for file in files:
        file.write_text('{"1": ["a dog"], "2": ["a bird"]}')
    run = score_files(
        [str(file) for file in files],
        str(tmp_path / "R.json"),
        ["bleu"],
        labels=labels,
        output=tmp_path / "run",
    )
    assert run.provenance.task.startswith("score file0.json")
    (group,) = groups_of([("run", run)])
    assert group.title == title
