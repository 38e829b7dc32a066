"""References that depend on their position."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.run.reference_positions import position_note, position_p_value

WORDS = [
    "a",
    "dog",
    "cat",
    "man",
    "runs",
    "sleeps",
    "in",
    "the",
    "park",
    "house",
    "red",
    "ball",
]


def examples(count: int = 60, longer: int = 0) -> list[Example]:
    """Examples with five references of random words,
    the later ones longer by ``longer`` words each.
    """
    rng = np.random.default_rng(0)
    sets = [
        [" ".join(rng.choice(WORDS, 5 + longer * k)) for k in range(5)]
        for _ in range(count)
    ]
    return [Example(f"e{i}", tuple(texts)) for i, texts in enumerate(sets)]


def test_references_that_grow_longer_are_noted():
    text = position_note(examples(longer=1), [3, 4])
    assert text.startswith("references depend on their position (length p = 0.001")
    assert "60 examples): the first 3 are no random subset" in text


def test_nothing_is_noted_without_an_effect_or_without_a_cut():
    assert position_note(examples(), [3]) == ""
    assert (
        position_note(examples(longer=1), [None])
        == position_note(examples(longer=1), [5])
        == ""
    )
    assert position_note([Example("e", ("a",)), Example("f", ())], [1]) == ""


def test_a_cut_to_more_references_than_there_are_is_none():
    assert (
        position_note(examples(longer=1), [6])
        == position_note(examples(longer=1), [None, 9])
        == ""
    )


def test_examples_without_two_references_do_not_count():
    fewer = [Example("x", ("a",)), Example("y", ("a dog",)), Example("z", ())]
    pairs = [Example(str(k), ("a dog", "a dog runs")) for k in range(40)]
    assert "; 40 examples): the first 1 are no random subset" in position_note(
        [*fewer, *pairs, *fewer], [1]
    )


def test_a_part_of_many_references_and_of_long_ones_is_compared():
    def note(*lengths):
        return position_note(
            [
                Example(str(k), tuple(" ".join(["a"] * length) for length in lengths))
                for k in range(30)
            ],
            [1],
        )

    assert "length p = 0.001" in note(*[3] * 19, 9), "the twentieth reference"
    assert note(*[3] * 20, 9) == "", "the one after it"
    assert "length p = 0.001" in note(49, 50)
    assert note(50, 51) == "", "words after the fiftieth"


def test_a_reference_is_compared_with_all_others_of_its_example():
    # each place agrees in two of three examples
    rows = [("x x", "x x", "y y"), ("x x", "y y", "x x"), ("y y", "x x", "x x")] * 40
    assert (
        position_note([Example(str(k), row) for k, row in enumerate(rows)], [1]) == ""
    )
    text = position_note([Example(str(k), row) for k, row in enumerate(rows[::3])], [1])
    assert text == (
        "references depend on their position (ROUGE-L (COCO) p = 0.001; "
        "40 examples): the first 1 are no random subset, "
        "so people differ from people; references: 1 draws them at random"
    )


def test_at_most_500_examples_are_tested_evenly_spaced():
    pairs = [Example(str(k), ("a", "a dog")) for k in range(501)]
    assert "; 251 examples)" in position_note(pairs, [1])
    assert "; 500 examples)" in position_note(pairs[:500], [1])


def test_large_data_sets_are_sampled():
    assert "500 examples" in position_note(examples(1000, longer=1), [1])


def test_references_that_agree_less_by_position_are_noted():
    texts = [
        ("a red dog runs", "a red dog sleeps", "the dog runs", f"w{k} x{k} y{k}")
        for k in range(40)
    ]
    text = position_note([Example(str(k), row) for k, row in enumerate(texts)], [2])
    assert "ROUGE-L (COCO) p = 0.001" in text


def test_a_trend_within_examples_is_found():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5)) + 0.5 * np.arange(5)
    assert position_p_value(values, draws=100) == pytest.approx(1 / 101)
    assert position_p_value(values) == pytest.approx(1 / 1001)


def test_differences_between_examples_are_no_effect():
    rng = np.random.default_rng(1)
    p = [
        position_p_value(
            rng.normal(size=(40, 4)) + 9 * rng.normal(size=(40, 1)), draws=99
        )
        for _ in range(100)
    ]
    assert np.mean(np.array(p) <= 0.05) <= 0.12
    assert 0.4 < np.mean(p) < 0.6


def position_p_by_definition(values, draws, seed):
    """The sum over positions of the squared sum of deviations by the number of values,
    against permutations within examples.
    """

    def statistic(rows):
        columns = [
            [row[k] for row in rows if k < len(row)] for k in range(values.shape[1])
        ]
        return sum(sum(column) ** 2 / len(column) for column in columns)

    rows = [row[~np.isnan(row)] - np.nanmean(row) for row in values]
    rng = np.random.default_rng(seed)
    as_extreme = 0
    for _ in range(draws):
        keys = rng.random(values.shape)
        permuted = [row[np.argsort(key[: len(row)])] for row, key in zip(rows, keys)]
        as_extreme += statistic(permuted) >= statistic(rows) * (1 - 1e-12)
    return (1 + as_extreme) / (1 + draws)


def test_permutations_with_the_same_statistic_count_whatever_the_order_of_its_sums():
    rng = np.random.default_rng(3)
    for count in (2, 5, 9):  # the positions of one example can be permuted at will
        assert position_p_value(rng.normal(size=(1, count)), draws=50) == 1
    assert position_p_value(np.array([[1.0, 0.0], [5.0, np.nan]]), draws=50) == 1, (
        "one value is no deviation from itself"
    )
    assert position_p_value(np.array([[0.0, 1.0, np.nan]]), draws=50) == 1, (
        "a position without a value"
    )


def test_examples_may_have_different_numbers_of_values():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(200, 6)) + np.arange(6)
    values[::2, 3:] = np.nan
    assert position_p_value(values, draws=100) == pytest.approx(1 / 101)
    few = rng.normal(size=(6, 3)) + 0.4 * np.arange(3)
    few[1:, 2] = np.nan  # one example has a third value
    for seed in (0, 1, 4):
        assert position_p_value(few, draws=50, seed=seed) == position_p_by_definition(
            few, 50, seed
        )
    assert (
        position_p_value(few, draws=50)
        == position_p_by_definition(few, 50, 0)
        != position_p_by_definition(few, 50, 1)
    )
    same = np.where(np.isnan(values), np.nan, 2.0)
    assert position_p_value(same, draws=10) == 1
