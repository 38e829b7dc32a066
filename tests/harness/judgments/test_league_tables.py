"""Tables of the league: cells, notes, bars, files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import harness
from harness.cli.main import main
from harness.judgments.league import League, LeagueSet
from harness.judgments.league_tables import (
    SKIPPED_NOTE,
    advice_table,
    interval_scale,
    league_table,
    pairwise_table,
    percent_text,
    set_table,
)
from harness.reporting.export import write_tables
from harness.run.finished import Run
from harness.rundir.records import ResultRecord
from tests.harness.conftest import RECORDS
from tests.support.league_sets import LEAGUE, NAN, one_set


def test_a_metric_without_scores_for_many_rows_stands_last_with_a_mark():
    judged = one_set("one", [("judge", 0.9, None), ("cider", 0.4, 1)], skipped=8)
    table = set_table(judged)
    assert [row[1:3] for row in table.rows] == [["CIDEr-D", "40.0"], ["judge", "90.0*"]]
    assert [row[4] for row in table.rows] == ["1", "–"] and table.notes[1].startswith(
        "* on the rows for which"
    )
    league = league_table(League((judged,)))
    assert [row[1] for row in league.rows] == [
        "40.0 (1)",
        "90.0* (–)",
    ] and league.notes[0] == table.notes[1]


def test_advice_names_the_first_clusters():
    rows = advice_table(LEAGUE).rows
    assert rows[0] == ["grades of single captions", "one, two", "b (2 of 2 sets)"]
    assert [best for _, _, best in rows[1:]] == ["a (1 of 1 sets)"] * 4


def test_a_set_has_intervals_counts_and_published_values_beside_its_headline():
    published = [
        {"reference": "R", "note": "of a part", "values": {"a": 50.1, "d": [1, 2]}}
    ]
    run = one_set("one", [("a", 0.5, 1), ("b", 0.2, 2)], published=published).run
    more = {"ties": 0.25, "ratings": 12}
    others = [
        ResultRecord(
            model="",
            metric="a",
            statistic=name,
            group=group,
            value=value,
            n=4,
            skipped=skipped,
            details=details,
        )
        for name, group, value, skipped, details in (
            ("pearson", "all", 0.75, 1, more),
            ("accuracy", "HC", NAN, 0, None),
        )
    ]
    table = set_table(LeagueSet(replace(run, records=(*run.records, *others))))
    assert table.headers == [
        "statistic",
        "metric",
        "value x 100",
        "95 % interval",
        "cluster",
        "published",
        "items",
        "captions",
        "n",
        "ties",
        "skipped",
    ]
    assert table.rows == [
        ["kendall_c", "a", "50.0", "40.0 … 60.0", "1", "50.1", "3", "9", "9", "", ""],
        ["", "b", "20.0", "10.0 … 30.0", "2", "", "3", "9", "9", "", ""],
        ["pearson", "a", "75.0*", "–", "", "", "", "", "4", "25.0 %", "1"],
        ["accuracy (HC)", "a", "–", "–", "", "", "", "", "4", "", ""],
    ]
    assert (
        table.alignment == "llrrrrrrrrr"
        and table.groups == {0, 2, 3}
        and {row for row, _ in table.bold} == {0}
    )
    assert table.notes == [
        "3 items",
        SKIPPED_NOTE,
        "published: R · of a part · d (published only) 1–2",
    ]
    assert list(table.bars) == [(0, 3), (1, 3)]
    assert table.bars[0, 3] == pytest.approx((0.6, 1.0, 0.8)) and table.bars[
        1, 3
    ] == pytest.approx((0.0, 0.4, 0.2))
    assert table.data[1:] == [
        ["one", "kendall_c", "a", 0.5, 0.4, 0.6, 1, 3, 9, "", 9, "", 0, "50.1", "R"],
        [
            "one",
            "kendall_c",
            "b",
            0.2,
            0.1,
            pytest.approx(0.3),
            2,
            3,
            9,
            "",
            9,
            "",
            0,
            "",
            "",
        ],
        ["one", "pearson", "a", 0.75, "", "", "", "", "", 12, 4, 0.25, 1, "", ""],
        ["one", "accuracy (HC)", "a", "", "", "", "", "", "", "", 4, "", 0, "", ""],
    ]


def test_people_have_a_row_and_a_column_of_their_own():
    run = one_set("one", [("a", 0.5, 1), ("b", 0.2, 2)]).run
    a, b = run.records
    test = {
        "winning_rate": 0.5,
        "advantage": 0.75,
        "epsilon": 0.2,
        "p": [0.1, 0.2, 0.3],
    }
    person = replace(
        a, metric="person", value=0.6, details={"ceiling": True, "people": 4}
    )
    another = replace(
        a, metric="another", value=0.1, details={"ceiling": True, "people": 3}
    )
    records = (
        replace(a, details={**(a.details or {}), "alternative": test}),
        b,
        person,
        another,
    )
    table = set_table(LeagueSet(replace(run, records=records)))
    assert table.headers[-1] == "as a person"
    assert [(row[1], row[4], row[-1]) for row in table.rows] == [
        ("person", "–", ""),
        ("a", "1", "0.50 (0.75)"),
        ("b", "2", ""),
        ("another", "–", ""),
    ]
    assert table.notes[1:] == [
        "one person against the others: the mean over 4 people who are left out of "
        "the human score in turn",
        "as a person: winning rate (average advantage probability) "
        "of the alternative annotator test (Calderon et al. 2025), "
        "epsilon 0.2, 3 people; a judge with a winning rate of at least 0.5 passes",
    ]


def test_a_scale_runs_from_the_smallest_to_the_largest_end():
    scale = interval_scale(
        [ResultRecord(model="a", metric="m", value=value) for value in (2.0, 4.0, NAN)]
    )
    assert [scale(end) for end in (2.0, 3.0, 4.0)] == [0.0, 0.5, 1.0]
    assert interval_scale([ResultRecord(model="a", metric="m", value=5.0)])(5.0) == 0.0


def test_the_league_has_values_with_clusters_and_their_mean():
    table = league_table(LEAGUE)
    assert (
        table.headers[:2] == ["metric", "one\nkendall_c"]
        and table.headers[-1] == "mean\ncluster"
    )
    assert table.rows == [
        [
            "a",
            "50.0 (1)",
            "40.0 (2)",
            "90.0 (1)",
            "90.0 (1)",
            "90.0 (1)",
            "90.0 (1)",
            "1.2",
        ],
        ["b", "45.0 (1)", "60.0 (1)", "60.0 (2)", "–", "–", "–", "1.3"],
        ["c", "10.0 (2)", "–", "50.0 (2)", "–", "–", "–", "2.0"],
    ]
    assert table.alignment == "lrrrrrrr"
    assert table.bold == {(0, 1), (0, 3), (0, 4), (0, 5), (0, 6), (1, 1), (1, 2)}
    assert [row[0] + row[2] for row in table.data[1:]] == [
        "onea",
        "oneb",
        "onec",
        "twob",
        "twoa",
        "twoc",
        "threea",
        "threeb",
        "threec",
        "foura",
        "fivea",
        "sixa",
    ]
    assert table.notes[0] == "grades of single captions (one, two): b (2 of 2 sets)"
    starred = league_table(
        League((one_set("one", [("a*", 0.5, None), ("b", 0.4, 1)]),))
    )
    assert starred.notes == ["grades of single captions (one): b (1 of 1 sets)"], (
        "a name may have a star"
    )
    assert [row[-1] for row in starred.rows] == ["1.0", "–"]
    assert advice_table(League((one_set("one", [("a", 0.5, None)]),))).rows == []


def test_pairs_of_metrics_have_their_tests():
    judged = one_set("one", [("a", 0.5, 1), ("b", 0.2, 2), ("c", 0.1, 2)])
    tests = {
        "b": {
            "perm_both": 0.01,
            "perm_both_holm": 0.02,
            "williams": 0.03,
            "williams_holm": 0.04,
        },
        "c": {"perm_both": 0.5, "perm_both_holm": 1.0},
    }
    records = [
        replace(
            record,
            details={
                **(record.details or {}),
                "against": tests if record.metric == "a" else {},
            },
        )
        for record in judged.run.records
    ]
    table = pairwise_table(LeagueSet(replace(judged.run, records=tuple(records))))
    assert table.rows == [
        ["a", "b", "30.0", "0.0200", "0.0100", "0.0400"],
        ["a", "c", "40.0", "1.0000", "0.5000", "–"],
    ]
    assert table.headers == [
        "metric",
        "against",
        "difference",
        "PERM-BOTH p, Holm",
        "uncorrected",
        "Jackknife p (Pearson), Holm",
    ]


def test_numbers():
    assert [percent_text(v) for v in (0.32349, -0.05, NAN)] == ["32.3", "-5.0", "–"]


def test_the_console(judged_runs):
    assert (
        "League table" in judged_runs
        and "published: A paper" in judged_runs
        and "12.5" in judged_runs
    )
    assert (
        "7 items, 19 captions, 21 ratings" in judged_runs
        and "a set of one" in judged_runs
    )


def test_tables_are_files(judged_runs, tmp_path):
    assert main(["report", "out", "--tables", "tables"]) == 0
    league = (tmp_path / "tables/league.csv").read_text().splitlines()
    assert (
        len(league) == 7
        and league[0].startswith("set,statistic,metric,value")
        and league[0].endswith("reference")
    )
    assert (
        "| BLEU-1 | **0.9 (1)** | **0.9 (1)** | 1.0 |"
        in (tmp_path / "tables/league.md").read_text()
    )
    assert len((tmp_path / "tables/2-judgments-two.csv").read_text().splitlines()) == 10
    assert r"\textbf{BLEU-1}" in (tmp_path / "tables/1-judgments-one.tex").read_text()


def test_files_of_a_single_set_have_no_number(judged_runs, tmp_path):
    names = [file.stem for file in write_tables([tmp_path / "out/one"], tmp_path / "t")]
    assert list(dict.fromkeys(names)) == ["league", "judgments-one"]


def test_intervals_are_bars(tmp_path):
    records = [
        {
            **row,
            "id": f"{row['id']}/{k}",
            "human_score": row["human_score"] * (1 + k % 3),
        }
        for k in range(6)
        for row in RECORDS
    ]
    (tmp_path / "many.jsonl").write_text(
        "".join(json.dumps(record) + "\n" for record in records)
    )
    metrics = [{name: {"tokenizer": "none"}} for name in ("bleu1", "rouge")]
    task = {
        "task": "many",
        "judgments": {"form": "captions", "path": str(tmp_path / "many.jsonl")},
        "metrics": metrics,
    }
    run = harness.evaluate(
        {
            **task,
            "statistics": ["kendall_c", "pearson", "accuracy"],
            "tests": {"draws": 0},
        },
        output=tmp_path / "r",
    )
    bars = set_table(LeagueSet(run)).bars
    assert len(bars) == 6 and all(0 <= end <= 1 for bar in bars.values() for end in bar)


def test_the_set_is_one_table_for_all_formats(judged_runs, tmp_path):
    judged = LeagueSet(Run.open(tmp_path / "out/one"))
    table = set_table(judged)
    assert (
        table.title.startswith("judgments/one  ")
        and table.notes[0] == "7 items, 19 captions, 21 ratings"
    )
    assert [row[:3] for row in table.rows[:4]] == [
        ["kendall_c", "BLEU-1", "0.9"],
        ["", "ROUGE-L (COCO)", "0.9"],
        ["", "Self-BLEU-2", "–"],
        ["pearson", "BLEU-1", "4.1"],
    ]
    assert {row for row, _ in table.bold} == {0, 1} and table.groups == {0, 3, 6}
    assert not table.bars and list(table.notes[1:3]) == [
        "no 95 % interval: kendall_c, pearson (undefined in 26 of 1,000 resamples of "
        "the items)",
        "no 95 % interval: accuracy (measured coverage 0.860 with 7 items, "
        "below 0.90; from 20 items on there is one)",
    ]
    assert [row[:2] for row in pairwise_table(judged).rows] == [
        ["BLEU-1", "ROUGE-L (COCO)"]
    ]
