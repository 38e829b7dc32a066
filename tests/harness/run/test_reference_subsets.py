"""References that count where a run uses fewer than an example has."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import harness
from harness.contracts import Example
from harness.errors import HarnessError
from harness.run.execution import Options
from harness.run.reference_subsets import (
    ReferenceSubset,
    common_size,
    drawn_order,
    position_note,
    position_p_value,
    size_note,
)
from harness.stats.seeds import derive
from harness_models.human.adapter import Human

EXAMPLE = Example("e", tuple("abcdefgh"))
DATA = {
    f"e{i}": [f"text {i} {j} of a dog" for j in range(8 if i else 3)] for i in range(12)
}


def subset(size, seed=0, row=None, example=EXAMPLE):
    return ReferenceSubset(size, seed).arrange(
        example, (row or {}).get("references"), (row or {}).get("held_out")
    )[:size]


def human_row(seed, example=EXAMPLE, **params):
    (generation,) = Human(**params).generate(
        [example], None, [derive(seed, example.id)]
    )  # type: ignore[arg-type]
    return {
        "candidates": generation.candidates,
        "references": list(generation.references),
        "held_out": generation.held_out,
    }


def test_sets_are_nested_and_depend_on_seed_and_id_alone():
    assert [subset(n) for n in (1, 3, 5)] == [subset(7)[:n] for n in (1, 3, 5)]
    assert subset(7) != subset(7, seed=1)
    assert subset(7) != subset(7, example=Example("f", EXAMPLE.references))


def test_every_reference_is_drawn_equally_often():
    counts = Counter(
        text
        for k in range(1000)
        for text in subset(3, example=Example(str(k), tuple("abcde")))
    )
    # 600 expected, standard deviation 15
    assert all(530 < counts[text] < 670 for text in "abcde")


def test_no_cut_keeps_the_order_of_the_data():
    assert ReferenceSubset(8, 0).arrange(EXAMPLE, None, None) == EXAMPLE.references
    assert ReferenceSubset(9, 0).arrange(EXAMPLE, None, None) == EXAMPLE.references
    assert ReferenceSubset(None, 0).arrange(EXAMPLE, None, None) == EXAMPLE.references
    assert subset(3, seed=None) == ("a", "b", "c")


@pytest.mark.parametrize("seed", range(20))
def test_people_come_from_the_other_end(seed):
    row = human_row(seed, held_out=3)
    assert subset(4, seed, row) == subset(4, seed), "all models see the same references"
    assert sorted(subset(5, seed)) == row["references"], "the others of eight"
    assert set(row["candidates"]).isdisjoint(subset(5, seed))
    order = [EXAMPLE.references[i] for i in drawn_order(seed, EXAMPLE)]
    assert list(row["candidates"]) == order[:-4:-1], "the last of the order"


@pytest.mark.parametrize("seed", range(20))
def test_equal_texts_count_by_their_positions(seed):
    twins = Example("e", ("a", "a", "b", "a", "c", "c"))
    assert subset(3, seed, human_row(seed, twins, held_out=2), twins) == subset(
        3, seed, example=twins
    )


def test_a_reference_held_out_by_position_is_skipped():
    row = {"references": list("abcdfgh"), "held_out": (4,)}
    expected = [text for text in subset(7, 3) if text != "e"]
    assert list(subset(3, 3, row)) == expected[:3]


def test_an_adapter_that_does_not_say_what_it_removed():
    row = {"references": list("bcdefgh")}
    drawn = {subset(1, seed, row) for seed in range(100)}
    assert {text for (text,) in drawn} == set("bcdefgh")
    assert subset(2, 0, row) == subset(5, 0, row)[:2]


# --------------------------------------------------------------------------- runs
@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text(json.dumps(DATA))
    (tmp_path / "one.json").write_text(
        json.dumps({key: texts[:1] for key, texts in DATA.items()})
    )
    return {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": "data.json"},
        "models": [
            {"human": {"held_out": 2}},
            {"predictions": {"path": "one.json", "label": "one"}},
        ],
        "references": 4,
        "metrics": ["rouge", "caption-length"],
        "bootstrap": {"samples": 0},
    }


def references(run, model="one"):
    (system,) = [item for item in run.samples.systems if item.model == model]
    return {item.id: item.references for item in system.caption_sets()}


def test_all_models_of_a_run_see_the_same_references(spec):
    run = harness.evaluate(spec)
    expected = {
        key: subset(4, example=Example(key, tuple(texts)))
        if len(texts) > 4
        else tuple(texts)
        for key, texts in DATA.items()
    }
    assert references(run) == expected
    theirs = references(run, "human")
    assert {key: theirs[key] for key in DATA if key != "e0"} == {
        key: expected[key] for key in DATA if key != "e0"
    }
    assert len(theirs["e0"]) == 1, "fewer than asked: what there is"
    assert "|m:4|refs:random(0)|" in run.provenance.signature


def test_shards_order_and_limit_change_no_reference(spec, tmp_path):
    whole = harness.evaluate(spec)
    sharded = harness.evaluate(spec, output="r", options=Options(shard_size=5))
    assert [record.value for record in sharded.records] == [
        record.value for record in whole.records
    ]
    assert references(sharded) == references(whole)
    (tmp_path / "data.json").write_text(json.dumps(dict(reversed(DATA.items()))))
    assert references(harness.evaluate(spec)) == references(whole)
    few = references(harness.evaluate(spec, limit=3))
    assert few == {key: references(whole)[key] for key in few}


def test_a_size_has_the_same_numbers_alone_and_on_an_axis(spec):
    axis = harness.evaluate({**spec, "references": [2, 4, 8]})
    for size in (2, 4, 8):
        alone = harness.evaluate({**spec, "references": size})
        values = [
            record.value
            for record in axis.records
            if record.decoding["references"] == size
        ]
        # People have at most six references: a size of eight is left out on the axis.
        assert values == [record.value for record in alone.records][-len(values) :]


def test_the_first_references_are_the_old_way(spec):
    run = harness.evaluate({**spec, "references": {"first": 4}})
    assert references(run) == {key: tuple(texts[:4]) for key, texts in DATA.items()}
    assert "|m:4|refs:first|" in run.provenance.signature
    assert (
        harness.evaluate({**spec, "references": {"first": [2, 4]}}).records[-1].value
        == run.records[-1].value
    )


def test_sets_of_equal_size_are_drawn(spec):
    run = harness.evaluate(
        {
            **{k: v for k, v in spec.items() if k != "references"},
            "sizes": "equal",
            "limit": None,
        }
    )
    assert {len(texts) for texts in references(run).values()} == {1}
    assert "refs:random(0)" in run.provenance.signature
    assert any(texts != tuple(DATA[key][:1]) for key, texts in references(run).items())


def test_references_by_position_are_noted_for_the_first_ones_alone(spec, tmp_path):
    rng = np.random.default_rng(0)
    texts = {
        str(i): [" ".join(rng.choice(list("abcdef"), 3 + j)) for j in range(6)]
        for i in range(60)
    }
    for name, rows in (
        ("data", texts),
        ("one", {key: value[:1] for key, value in texts.items()}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    (copies,) = harness.evaluate({**spec, "references": 3}).notes
    assert "every candidate equals a reference of its example" in copies
    (note,) = (
        note
        for note in harness.evaluate({**spec, "references": {"first": 3}}).notes
        if note != copies
    )
    assert "the first 3 are no random subset" in note


def test_runs_of_other_subsets_are_not_compared(spec):
    for name, values in (
        ("r", {}),
        ("s", {"references": {"first": 4}}),
        ("t", {"seed": 1}),
        ("u", {}),
    ):
        harness.evaluate({**spec, **values}, output=name)
    with pytest.raises(
        HarnessError,
        match=r"^the references are refs:random\(0\) in r and refs:first in s: "
        r"other subsets; --force",
    ):
        harness.compare("r", "s")
    with pytest.raises(
        HarnessError, match=r"refs:random\(0\) in r and refs:random\(1\) in t"
    ):
        harness.compare("r", "t")
    assert harness.compare("r", "u")
    assert harness.compare("r", "s", force=True)[0].forced


def test_runs_that_use_all_references_are_compared(spec):
    for name, values in (
        ("r", {"references": 8}),
        ("s", {"references": {"first": 8}}),
        ("t", {"references": None}),
    ):
        harness.evaluate({**spec, **values}, output=name)
    assert harness.compare("r", "s") and harness.compare("r::one", "t::one")


def test_a_manifest_without_the_mark_is_read_as_first(spec, tmp_path):
    expected = references(
        harness.evaluate({**spec, "references": {"first": 4}}, output="old")
    )
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    manifest["signature"] = manifest["signature"].replace("refs:first|", "")
    manifest["spec"]["references"] = 4
    (tmp_path / "old" / "manifest.json").write_text(json.dumps(manifest))
    old = harness.Run.open("old")
    assert (old.provenance.reference_subset, old.provenance.spec["references"]) == (
        "first",
        {"first": 4},
    )
    harness.evaluate(spec, output="new")
    with pytest.raises(HarnessError, match="refs:first in old and refs:random"):
        harness.compare("old", "new")
    assert references(harness.rescore("old", ["bleu"])) == expected


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


def counts(label: str, *sizes: tuple[int, int]) -> tuple[str, np.ndarray, np.ndarray]:
    return label, np.array([n for n, _ in sizes]), np.array([m for _, m in sizes])


def test_the_smallest_numbers_that_occur_are_common():
    size = common_size([counts("a", (3, 5), (2, 5)), counts("b", (4, 4))])
    assert (size.n, size.m) == (2, 4)
    assert (
        size.note == "sizes: equal cuts all sets to 2 candidates (the fewest, of a) "
        "and 4 references (the fewest, of b)"
    )
    assert (
        common_size([counts("a", (3, 5)), counts("b", (4, 4)), counts("a", (2, 5))])
        == size
    ), "two decodings of a"


def test_nothing_is_noted_where_all_sets_have_one_size():
    assert (
        common_size([counts("a", (2, 3)), counts("b", (2, 3)), counts("c")]).note == ""
    )
    assert common_size([counts("a", (2, 3)), counts("b", (1, 3))]).note == (
        "sizes: equal cuts all sets to 1 candidate (the fewest, of b)"
    )
    with pytest.raises(ValueError):
        common_size([])


SPEC = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": [
        {"echo": {"n": 3, "label": "three", "log": "calls.txt"}},
        {"echo": {"n": 2, "label": "two"}},
    ],
    "metrics": ["length"],
    "bootstrap": {"samples": 0},
}


def test_a_run_cuts_all_models_and_notes_it(project):
    plain = harness.evaluate(SPEC)
    assert [record.sizes["candidates"] for record in plain.records if record.sizes] == [
        [3],
        [2],
    ]
    (project / "calls.txt").unlink()
    run = harness.evaluate(SPEC, sizes="equal", output="r")
    assert [record.sizes for record in run.records] == [
        {"candidates": [2], "references": [2]}
    ] * 2
    assert [record.value for record in run.records] == [4.5, 4.5]
    assert run.notes == [
        "sizes: equal cuts all sets to 2 candidates (the fewest, of two)"
    ]
    assert len((project / "calls.txt").read_text().splitlines()) == 6, (
        "captions are generated once"
    )
    assert harness.evaluate(SPEC, sizes="equal", output="r").results == run.results


def test_grid_sizes_beyond_the_common_size_are_left_out(project):
    models = [{"echo": {"label": "a"}}, {"first-words": {"label": "b"}}]
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        registry.replace(
            "adapters: {", 'adapters: {first-words: {import: "one:One", summary: one}, '
        )
    )
    (project / "one.py").write_text(
        "class One:\n    def fingerprint(self):\n        return 'one'\n\n"
        "    def generate(self, examples, decoding, "
        "seeds):\n        return [('a dog', 'a cat') for e in examples]\n"
    )
    run = harness.evaluate(
        SPEC, models=models, decoding={"candidates": [1, 2, 3]}, sizes="equal"
    )
    assert [(r.model, r.decoding["candidates"]) for r in run.records] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]
    assert (
        "a has at most 2 candidates, not 3: left out, a smaller size shows all of them"
        in run.notes
    )


@pytest.mark.parametrize("size", [None, 1, 3])
def test_sizes_within_the_data_have_no_note(size):
    assert size_note("m", "candidates", size, 3, [1, 3, size]) is None


def test_a_size_beyond_the_data_is_scored_with_all_of_them():
    note = size_note("m", "candidates", 5, 3, [1, 5, 7])
    assert note is not None
    assert (note.text, note.covered) == (
        "m has at most 3 candidates, not 5: scored with what there is",
        False,
    )


@pytest.mark.parametrize("grid", [[3, 5], [4, 5]])
def test_a_size_is_left_out_when_a_smaller_one_uses_all_data(grid):
    note = size_note("m", "references", 5, 3, grid)
    assert note is not None
    assert note.covered
    assert note.text.endswith("left out, a smaller size shows all of them")
