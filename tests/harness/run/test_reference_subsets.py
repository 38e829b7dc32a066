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
from harness.run.reference_subsets import ReferenceSubset, drawn_order
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


@pytest.mark.slow
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
        r"other subsets; force=True",
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
