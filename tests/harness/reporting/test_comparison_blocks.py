"""Blocks of comparisons: rankings, pairs, notes, examples, numbers times 100."""

from __future__ import annotations

import pytest

from harness.analysis.comparisons import Comparisons
from harness.analysis.differing_examples import DifferingExample
from harness.analysis.rankings import rankings
from harness.reporting.comparison_blocks import comparison_blocks
from harness.reporting.table import Table
from tests.support.comparisons import make_comparison

EXAMPLE = DifferingExample(
    "e1", 0.25, 0.5, ("a dog", "one", "two", "three"), ("a\ncat",), ("the dog",)
)


def compare(system_a="a", system_b="b", **fields):
    values = {
        "metric": "bleu4",
        "a": 0.3,
        "b": 0.2,
        "difference": 0.1,
        "p_value": 0.01,
        "p_holm": 0.01,
        "better": "A",
        "n": 9,
        "draws": 100,
    }
    return make_comparison(system_a=system_a, system_b=system_b, **{**values, **fields})


def pairs(count, **fields):
    names = [f"s{k}" for k in range(count)]
    return [
        compare(a, b, a=0.9 - 0.1 * k, b=0.9 - 0.1 * j, **fields)
        for k, a in enumerate(names)
        for j, b in enumerate(names)
        if k < j
    ]


def blocks(rows, **settings):
    return list(comparison_blocks(rows, **settings))


def lines(rows, **settings):
    return [block for block in blocks(rows, **settings) if isinstance(block, str)]


def tables(rows, **settings):
    return [block for block in blocks(rows, **settings) if isinstance(block, Table)]


def test_two_systems_have_one_table_and_no_ranking():
    rows = [compare()]
    table, *others = blocks(Comparisons(rows, clusters=rankings(rows)))
    assert isinstance(table, Table) and table.title == "A = a   B = b"
    assert others == [""]


def test_several_systems_are_ranked_before_their_pairs():
    rows = pairs(3)
    found = tables(Comparisons(rows, clusters=rankings(rows)))
    assert len(found) == 4 and "BLEU-4" in str(found[0].title or found[0].headers)
    assert [table.title for table in found[1:]] == [
        "A = s0   B = s1",
        "A = s0   B = s2",
        "A = s1   B = s2",
    ]


def test_notes_of_several_tables_stand_below_the_last():
    found = tables(Comparisons(pairs(3)))
    assert found[-1].notes and not any(table.notes for table in found[:-1])
    rows = [*pairs(3)[:2], compare("s1", "s2", note="other"), compare("x", "y")]
    found = tables(Comparisons(rows))
    assert [bool(table.notes) for table in found] == [False, True, True, True]


def test_many_pairs_are_counted_unless_they_are_asked_for():
    rows = Comparisons(pairs(6))
    assert not tables(rows)
    assert lines(rows) == [
        "15 pairs of systems; --pairs prints each of them, --json has all numbers"
    ]
    assert len(tables(rows, all_pairs=True)) == 15
    assert len(tables(Comparisons(pairs(5)))) == 10


@pytest.mark.parametrize(
    ("differences", "is_said"),
    [
        ((0.0, 0.0), True),
        ((0.0, None), True),
        ((0.0, 0.1), False),
        # Numbers that are not compared may differ.
        ((None, None), False),
    ],
)
def test_equal_numbers_are_said_where_there_are_differences(differences, is_said):
    first, second = differences
    rows = [compare(difference=first), compare(metric="rouge", difference=second)]
    sentence = "All differences are 0: the systems have the same numbers."
    assert (sentence in lines(Comparisons(rows))) is is_said


def test_notes_and_forced_comparisons_follow():
    rows = [compare(forced=["the seeds differ"])]
    assert lines(Comparisons(rows, notes=["a log"]))[1:] == [
        "a log",
        "--force: the seeds differ",
    ]


def test_examples_have_captions_and_scores_of_both_systems():
    rows = Comparisons([compare()], examples=[EXAMPLE])
    assert lines(rows)[1:] == [
        "Largest differences of BLEU-4:",
        "e1",
        "  a  0.2500  a dog | one | two",
        "  b  0.5000  a cat",
        "  references  the dog",
    ]


def test_numbers_times_100_are_those_of_tables_and_examples():
    rows = Comparisons([compare()], examples=[EXAMPLE])
    (table,) = tables(rows, percent=True, full=True)
    assert "30.00" in str(table.rows) and "10.00" in str(table.rows)
    printed = lines(rows, percent=True)
    assert any(line.startswith("  a  25.00") for line in printed)
    assert rows.examples == [EXAMPLE] and rows[0].a == 0.3  # not changed
    # A length is not reported in per cent.
    rows = Comparisons([compare(metric="length")], examples=[EXAMPLE])
    assert any(line.startswith("  a  0.25") for line in lines(rows, percent=True))
