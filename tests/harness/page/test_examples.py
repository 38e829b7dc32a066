"""Blocks of examples: what a script reads from them is what the run holds."""

from __future__ import annotations

import base64
import gzip
import json
from types import SimpleNamespace

import numpy as np
import pytest

from harness.analysis.pairs import ComparedRun
from harness.page import examples
from harness.page.examples import _numbers
from harness.page.groups import Group, groups_of
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


@pytest.fixture
def read(monkeypatch):
    """``read(run, limit)``: name -> content of the blocks,
    in parts of four examples.
    """
    monkeypatch.setattr(examples, "PART", 4)

    def blocks(*names: str, limit: int | None = None) -> dict[str, bytes]:
        (group,) = groups_of([(name, Run.open(name)) for name in names])
        result = examples.example_blocks(group, "g", limit)
        return {
            block.name: gzip.decompress(base64.b64decode(block.data))
            for block in result.blocks
        }

    return blocks


def numbers(content: bytes, systems: int) -> np.ndarray:
    planes = np.frombuffer(content, np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<f4").reshape(systems, -1)


def test_captions_references_and_scores_of_every_system(read, finished):
    blocks = read(finished())
    index = json.loads(blocks["g-index"])
    assert index["ids"] == [f"e{k}" for k in range(6)] and index["part"] == 4
    assert [metric["name"] for metric in index["metrics"]] == ["length"] and index[
        "metrics"
    ][0]["p"]
    assert json.loads(blocks["g-refs-1"])[0] == ["a dog number 4", "the dog 4 runs"]
    assert json.loads(blocks["g-caps-0-1"])["c"][1] == [
        "a dog number 5",
        "the dog 5 runs x",
    ]
    scores = numbers(blocks["g-score-0"], 4)
    assert scores.shape == (4, 6) and np.isnan(scores[1, 1]) and scores[0, 0] == 4.5
    assert numbers(blocks["g-p-0"], 4)[0, 0] <= 1


def test_a_system_with_fewer_examples_has_rows_and_own_references_are_kept(
    read, finished
):
    blocks = read(finished())
    assert np.frombuffer(blocks["g-rows-1"], "<i4").tolist() == [0, -1, 1, 2, 3, 4]
    assert "g-rows-0" not in blocks
    own = json.loads(blocks["g-caps-2-0"])
    assert len(own["r"]["0"]) == 1, (
        "held-out people are compared with the other reference"
    )


def test_fewer_examples_are_spread_over_the_data(read, finished):
    blocks = read(finished(), limit=2)
    index = json.loads(blocks["g-index"])
    assert index["ids"] == ["e1", "e4"] and index["total"] == 6
    assert json.loads(blocks["g-caps-0-0"])["c"][1][0] == "a dog number 4"
    assert json.loads(blocks["g-caps-1-0"])["c"][0][0] == "a dog number 4", (
        "the second model failed for e1"
    )
    for limit, places in ((3, (1, 3, 5)), (6, range(6)), (7, range(6))):
        assert json.loads(read("r", limit=limit)["g-index"])["ids"] == [
            f"e{k}" for k in places
        ]


def made(columns: dict, *records: ResultRecord):
    """A group of one run in memory."""
    return Group(
        (
            ComparedRun(
                Run(Provenance({"task": "t"}), records, SampleTable(columns)), name="r"
            ),
        )
    )


def contents(group: Group) -> dict[str, object]:
    """Name -> content of the JSON blocks of a group."""
    result = examples.example_blocks(group, "g")
    names = ("index", "refs", "caps")
    texts = {
        block.name: gzip.decompress(base64.b64decode(block.data))
        for block in result.blocks
    }
    return {
        name: json.loads(text)
        for name, text in texts.items()
        if name.split("-")[1] in names
    }


def test_full_parts_have_no_empty_one_behind_them(monkeypatch):
    monkeypatch.setattr(examples, "PART", 4)
    texts = [[f"text {k}"] for k in range(8)]
    ids = [f"e{k}" for k in range(8)]
    columns = {
        "model": ["a"] * 8,
        "decoding": ["{}"] * 8,
        "example": ids,
        "candidates": texts,
        "references": texts,
    }
    blocks = contents(made(columns, ResultRecord(model="a", metric="m")))
    assert list(blocks) == [
        "g-index",
        "g-caps-0-0",
        "g-caps-0-1",
        "g-refs-0",
        "g-refs-1",
    ]
    assert blocks["g-caps-0-1"] == {"c": texts[4:]} and blocks["g-refs-1"] == texts[4:]


@pytest.mark.parametrize("part", [2, 3, 100])
def test_own_references_belong_to_the_place_of_the_example_in_its_part(
    monkeypatch, part
):
    """The second system has its examples in another order and lacks one, and references
    of its own for all but ``e2``.
    """
    monkeypatch.setattr(examples, "PART", part)
    order = [4, 2, 0, 3]
    ids = [f"e{k}" for k in (*range(5), *order)]
    columns = {
        "model": ["a"] * 5 + ["b"] * 4,
        "decoding": ["{}"] * 9,
        "example": ids,
        "candidates": [[f"text {name}"] for name in ids],
        "references": [[f"shared {k}"] for k in range(5)]
        + [[f"shared {k}" if k == 2 else f"own {k}"] for k in order],
    }
    records = [
        ResultRecord(model=name, metric="m", sizes={"references": [size]})
        for name, size in (("a", 2), ("b", 1))
    ]
    blocks = contents(made(columns, *records))
    found = {}
    for number in range(-(-4 // part)):
        block = blocks[f"g-caps-1-{number}"]
        for place, candidates in enumerate(block["c"]):
            found[candidates[0]] = block.get("r", {}).get(str(place))
    assert found == {
        "text e4": ["own 4"],
        "text e2": None,
        "text e0": ["own 0"],
        "text e3": ["own 3"],
    }


def test_references_are_of_the_system_with_most_and_the_index_describes_metrics():
    columns = {
        "model": ["a", "b"],
        "decoding": ["{}"] * 2,
        "example": ["x"] * 2,
        "candidates": [["one"], ["two"]],
        "references": [["r"], ["s"]],
        "bare": [np.nan, np.nan],
        "m": [1.0, 2.0],
        "p:m": [0.5, 0.25],
    }
    records = [
        ResultRecord(model="a", metric="bare", value=0.0),
        ResultRecord(model="a", metric="m", value=1.0, signature="m|1"),
        ResultRecord(
            model="b",
            metric="m",
            value=2.0,
            signature="m|1",
            higher_is_better=False,
            sizes={"references": [1]},
        ),
    ]
    blocks = contents(made(columns, *records))
    assert blocks["g-refs-0"] == [["s"]] and blocks["g-caps-0-0"] == {
        "c": [["one"]],
        "r": {"0": ["r"]},
    }
    assert blocks["g-caps-1-0"] == {"c": [["two"]]}
    assert blocks["g-index"] == {
        "ids": ["x"],
        "total": 1,
        "part": examples.PART,
        "systems": [
            {"model": name, "label": name, "run": "", "decoding": ""} for name in "ab"
        ],
        "metrics": [
            {"label": "m", "name": "m", "p": True, "higher": False, "signature": "m|1"},
            {
                "label": "bare",
                "name": "bare",
                "p": False,
                "higher": None,
                "signature": "",
            },
        ],
    }, "a metric without a score comes last"


def test_systems_of_two_runs_share_the_examples(read, finished):
    blocks = read(finished("a"), finished("b", models=[{"echo": {"label": "third"}}]))
    index = json.loads(blocks["g-index"])
    assert [system["run"] for system in index["systems"]] == ["a", "a", "a", "a", "b"]
    assert numbers(blocks["g-score-0"], 5)[4, 0] == 4.5


def test_numbers_that_are_no_means_of_scores_come_last(read, finished):
    metrics = [
        {"bleu": {"tokenizer": "none"}},
        {"rouge": {"tokenizer": "none"}},
        "mine/length",
    ]
    models = [{"human": {"held_out": 1}}, {"shuffled": {}}]
    index = json.loads(
        read(finished(metrics=metrics, models=models, views=[]))["g-index"]
    )
    assert [metric["label"] for metric in index["metrics"]] == [
        "rouge",
        "length",
        "bleu4",
    ], "BLEU of a corpus is none of its sentences"


def test_scores_of_examples_that_are_not_on_the_page_are_left_out():
    table = SimpleNamespace(names=["a"], numbers=lambda name: np.array([1.0, 2.0]))
    block = _numbers(
        "g-score-0",
        "a",
        [SimpleNamespace(table=table, rows=np.arange(2), examples=["x", "gone"])],
        {"x": 0, "y": 1},
    )
    values = numbers(gzip.decompress(base64.b64decode(block.data)), 1)[0]
    assert values[0] == 1.0 and np.isnan(values[1])


def test_a_system_without_a_column_has_no_scores_and_the_next_one_has_its_own():
    tables = [
        SimpleNamespace(names=names, numbers=lambda name: np.array([3.0]))
        for names in (["b"], ["a"])
    ]
    systems = [
        SimpleNamespace(table=table, rows=np.arange(1), examples=["x"])
        for table in tables
    ]
    without, with_column = numbers(
        gzip.decompress(
            base64.b64decode(_numbers("g-score-0", "a", systems, {"x": 0}).data)
        ),
        2,
    )
    assert np.isnan(without).all() and with_column.tolist() == [3.0]
