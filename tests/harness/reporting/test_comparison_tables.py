"""Tables of paired comparisons."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from harness.analysis.anytime import AnytimeTest
from harness.analysis.rankings import BOLD_NOTE, RankedSystem
from harness.reporting.comparison_tables import (
    HEADERS,
    cluster_table,
    comparison_table,
    pair_tables,
)
from harness.stats.anytime import Look
from tests.support.comparisons import make_comparison

ROW = make_comparison(
    metric="bleu4",
    system_a="one",
    system_b="two",
    higher_is_better=True,
    a=0.25,
    b=0.2,
    difference=0.05,
    ci95=[0.01, 0.09],
    p_value=0.012,
    p_holm=0.024,
    p_bh=0.012,
    p_bootstrap=0.02,
    sign_p_value=0.2,
    a_larger=7,
    ties=2,
    b_larger=3,
    n=12,
    left_out=0,
    better="A",
    note="",
    draws=1000,
    exact=False,
)
UNTESTED = replace(
    ROW,
    metric="mauve",
    a=None,
    b=None,
    difference=None,
    ci95=None,
    p_value=None,
    p_holm=None,
    p_bh=None,
    p_bootstrap=None,
    sign_p_value=None,
    better="not tested",
    note="cannot be resampled",
    draws=0,
)


def test_a_pair_is_a_table_with_a_row_per_metric():
    (sheet,) = pair_tables([ROW, UNTESTED])
    assert sheet.title == "A = one   B = two"
    assert sheet.rows[0] == [
        "BLEU-4 ↑",
        "0.2500",
        "0.2000",
        "0.0500",
        "0.0100 … 0.0900",
        "0.0120",
        "0.0240",
        "0.0120",
        "0.2000",
        "7/2/3",
        "one",
    ]
    assert sheet.rows[1][4] == "–" and sheet.rows[1][-1] == "not tested"
    assert sheet.notes == [
        "MAUVE: cannot be resampled",
        "12 examples; p: approximate randomisation, 1,000 draws",
    ]


def test_files_name_the_systems_of_several_pairs():
    sheet = comparison_table([ROW, replace(ROW, system_b="three")])
    assert list(sheet.headers[:3]) == ["system A", "system B", "metric"]
    assert len(sheet.alignment) == len(sheet.headers) == len(HEADERS) + 2
    header, first, _ = sheet.data
    assert dict(zip(header, first))["low"] == 0.01
    assert comparison_table([ROW]).title == "A = one, B = two"


def test_a_ranking_has_letters():
    sheet = cluster_table(
        "bleu4",
        True,
        [RankedSystem("one", 0.25, "a", 1, 0), RankedSystem("two", 0.2, "b", 0, 1)],
    )
    assert sheet.title == "BLEU-4 ↑"
    assert list(sheet.rows[1]) == ["two", "0.2000", "b", "0", "1"]


def test_examples_that_are_left_out_are_counted():
    (sheet,) = pair_tables([ROW, replace(ROW, metric="cider", left_out=3)])
    assert (
        sheet.notes[0]
        == "up to 3 examples are missing or undefined for one system and left out"
    )


def test_few_columns_are_difference_interval_p_value_and_verdict():
    rows = [
        ROW,
        replace(ROW, metric="ter", better="B"),
        replace(ROW, metric="cider", better="="),
    ]
    first, other = pair_tables([*rows, replace(ROW, system_b="three")], full=False)
    assert (first.headers, first.alignment) == (
        ("metric", "A - B", "95 % interval", "p Holm", "verdict"),
        "lrrrl",
    )
    assert first.rows[0] == [
        "BLEU-4 ↑",
        "0.0500",
        "0.0100 … 0.0900",
        "0.0240",
        "one better",
    ]
    assert [row[-1] for row in first.rows] == ["one better", "two better", "="]
    assert (other.title, len(other.rows)) == ("A = one   B = three", 1)


def test_confidence_sequences_stand_before_the_verdict():
    looks = (Look(8, 0.1, -0.5, 0.7, 0.4), Look(12, 0.05, 0.02, 0.08, 0.03))
    known = replace(
        ROW,
        anytime=AnytimeTest("betting", "within differences of at most 1", looks, 0.25),
    )
    endless = replace(
        ROW,
        metric="ter",
        anytime=AnytimeTest(
            "asymptotic", "from 30 examples on", (Look(12, 0.05, -inf, inf, 1.0),), 0.5
        ),
    )
    none = replace(ROW, metric="mauve", anytime=AnytimeTest("", "no sums"))
    look = Look(300, 0.0, -inf, inf, 1.0, "no spread in 300 examples")
    waiting = AnytimeTest(
        "asymptotic", "asymptotic, not yet: no spread in 300 examples", (look,), 1.0
    )
    (sheet,) = pair_tables([replace(ROW, anytime=waiting)])
    assert sheet.rows[0][-4:-1] == ["not yet", "1.0000", "1.0000"]
    assert sheet.notes[0].startswith(
        "sequence: BLEU-4: asymptotic, not yet: no spread in 300 examples; p signs"
    )
    for full, alignment in ((True, "lrrrrrrrrrrrrl"), (False, "lrrrrrrl")):
        (sheet,) = pair_tables(
            [known, endless, none, replace(ROW, metric="cider")], full=full
        )
        plain = (
            HEADERS if full else ("metric", "A - B", "95 % interval", "p", "verdict")
        )
        assert (
            sheet.headers
            == (*plain[:-1], "95 % sequence", "p anytime", "p signs", plain[-1])
            and sheet.alignment == alignment
        )
        assert {len(row) for row in sheet.rows[:3]} == {
            len(sheet.headers)
        } and sheet.rows[0][1] == ("0.2500" if full else "0.0500")
        assert [row[-4:-1] for row in sheet.rows[:3]] == [
            ["0.0200 … 0.0800", "0.0300", "0.2500"],
            ["–", "1.0000", "0.5000"],
            ["–"] * 3,
        ]
        assert [row[-1] for row in sheet.rows] == ["one" if full else "one better"] * 4
    assert sheet.notes[0] == (
        "sequence: BLEU-4: within differences of at most 1; TER: "
        "from 30 examples on; MAUVE: no sums; p signs: exchangeable systems, "
        "not equal means"
    )


def test_numbers_of_examples_and_draws_that_differ_are_told():
    rows = [
        replace(ROW, n=1200),
        replace(ROW, metric="ter", draws=64, exact=True, left_out=1),
        replace(UNTESTED, metric="cider", n=1),
    ]
    assert comparison_table(rows).notes == [
        "CIDEr-D: cannot be resampled",
        "up to 1 example is missing or undefined for one system and left out",
        "1 to 1,200 examples; p: approximate randomisation, "
        "1,000 or 64 (all patterns) draws",
    ]
    assert comparison_table([replace(UNTESTED, note="", n=1)]).notes == ["1 example"]
    same = [
        replace(UNTESTED, metric=metric) for metric in ("mauve", "mauve", "mmd")
    ] + [replace(UNTESTED, note="another reason")]
    assert comparison_table(same).notes[:2] == [
        "MAUVE, MMD: cannot be resampled",
        "MAUVE: another reason",
    ]


def test_one_table_has_all_rows_and_numbers_in_full():
    sheet = comparison_table(
        [ROW, replace(ROW, system_a="zero", ci95=None, sign_p_value=None)]
    )
    assert (sheet.title, sheet.alignment, sheet.headers) == (
        "",
        "lllrrrrrrrrrl",
        ["system A", "system B", *HEADERS],
    )
    assert sheet.rows[0] == [
        "one",
        "two",
        "BLEU-4 ↑",
        *_numbers("0.0100 … 0.0900", "0.2000", "7/2/3"),
        "one",
    ]
    assert sheet.rows[1] == [
        "zero",
        "two",
        "BLEU-4 ↑",
        *_numbers("–", "–", "–"),
        "zero",
    ]
    assert sheet.data == [
        [
            "metric",
            "system_a",
            "system_b",
            "a",
            "b",
            "difference",
            "low",
            "high",
            "p_value",
            "p_holm",
            "p_bh",
            "p_bootstrap",
            "sign_p_value",
            "a_larger",
            "ties",
            "b_larger",
            "n",
            "left_out",
            "better",
            "note",
        ],
        [
            "bleu4",
            "one",
            "two",
            0.25,
            0.2,
            0.05,
            0.01,
            0.09,
            0.012,
            0.024,
            0.012,
            0.02,
            0.2,
            7,
            2,
            3,
            12,
            0,
            "A",
            "",
        ],
        [
            "bleu4",
            "zero",
            "two",
            0.25,
            0.2,
            0.05,
            None,
            None,
            0.012,
            0.024,
            0.012,
            0.02,
            None,
            7,
            2,
            3,
            12,
            0,
            "A",
            "",
        ],
    ]
    one = comparison_table([ROW])
    assert (one.title, one.alignment, one.headers) == (
        "A = one, B = two",
        "lrrrrrrrrrl",
        list(HEADERS),
    )
    assert one.rows == [sheet.rows[0][2:]]


def _numbers(interval: str, sign_p: str, counts: str) -> list[str]:
    return [
        "0.2500",
        "0.2000",
        "0.0500",
        interval,
        "0.0120",
        "0.0240",
        "0.0120",
        sign_p,
        counts,
    ]


def test_the_leaders_of_a_ranking_are_bold():
    systems = [
        RankedSystem("one", 0.25, "a", 1, 0, leads=True),
        RankedSystem("two", 0.2, "ab", 0, 1),
        RankedSystem("x", 0.1, "b", 0, 1, True),
    ]
    sheet = cluster_table("ter", False, systems)
    assert (sheet.title, sheet.alignment, sheet.bold) == (
        "TER ↓",
        "lrlrr",
        {(0, 1), (2, 1)},
    )
    assert sheet.headers == ("system", "value", "cluster", "better than", "worse than")
    assert sheet.notes == (
        "systems that share a letter do not differ significantly (p Holm > 0.05)",
        BOLD_NOTE,
    )
