"""The readers on files in the layouts of real sets,
and the counts of the large sets themselves.
"""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness_tasks.readers.tables import TableReader
from harness_tasks.readers.vdtk import VdtkList

COUNTS = {
    "flickr30k_test/references.jsonl.gz": (1000, 5000),
    "flickr8k/references_non_test.jsonl.gz": (7092, 35457),
    "coco_val2017/references.jsonl.gz": (5000, 25014),
    "coco_train2014_sample/references.jsonl.gz": (1999, 10000),
    "coco_karpathy_val_1k/references.jsonl.gz": (1000, 5000),
    "abstract50s/references.jsonl.gz": (500, 24000),
    "msrvtt/references_test.jsonl.gz": (2990, 59800),
    "clotho_eval/references.jsonl.gz": (1045, 5225),
    "audiocaps/references_val.jsonl.gz": (495, 2475),
    "wmt14_extra_refs/en-de.jsonl.gz": (500, 5000),
    "rsitmd/references.jsonl.gz": (4743, 23715),
}
SIMPLIFICATION = "simplification_asset/test.jsonl.gz"
DIALOGUES = "dialogue_dailydialog_multiref/test.jsonl.gz"
VDTK = "coco_val2014_1k/vdtk_dataset.jsonl.gz"


@pytest.mark.large_sets(*COUNTS, SIMPLIFICATION, DIALOGUES, VDTK)
def test_counts_of_the_large_sets(shared):
    data = shared / "data"
    for name, (examples, references) in COUNTS.items():
        items = list(TableReader(path=str(data / name)))
        assert (len(items), sum(len(item.references) for item in items)) == (
            examples,
            references,
        ), name

    assert (
        sum(
            1
            for _ in TableReader(
                path=str(data / "rsitmd/references.jsonl.gz"), split="test"
            )
        )
        == 452
    )

    columns = {"references": ["references_asset", "references_turk"]}
    items = list(TableReader(path=str(data / SIMPLIFICATION), columns=columns))
    assert (len(items), {len(item.references) for item in items}) == (359, {18})
    assert items[0].source is not None
    assert items[0].source.startswith("One side of the armed conflicts")

    with pytest.raises(InputError, match=r"test\.jsonl\.gz:2550: empty reference ''"):
        list(TableReader(path=str(data / DIALOGUES)))
    items = list(TableReader(path=str(data / DIALOGUES), allow_empty=True))
    assert (len(items), sum("" in item.references for item in items)) == (6740, 1)

    items = list(VdtkList(path=str(data / VDTK)))
    assert (len(items), items[0].id, {len(item.references) for item in items}) == (
        1000,
        "404464",
        {5, 6},
    )


def test_coco_counts(golden):
    items = list(
        TableReader(path=str(golden / "data/coco_karpathy_test/references.jsonl.gz"))
    )
    assert (len(items), sum(len(item.references) for item in items)) == (5000, 25010)


def test_split_column(golden):
    path = str(golden / "data/rsitmd/references.jsonl.gz")
    assert [example.id for example in TableReader(path=path, split="test")] == [
        "2",
        "5",
        "8",
    ]


def test_simplification(golden):
    path = str(golden / "data" / SIMPLIFICATION)
    items = list(
        TableReader(
            path=path, columns={"references": ["references_asset", "references_turk"]}
        )
    )
    assert len(items) == 8
    assert {len(item.references) for item in items} == {18}
    assert items[0].source is not None
    assert items[0].source.startswith("A wet terrier jumps over a puddle")


def test_dialogues_hold_an_empty_reply(golden):
    path = str(golden / "data" / DIALOGUES)
    with pytest.raises(InputError, match=r"test\.jsonl\.gz:3: empty reference ''"):
        list(TableReader(path=path))
    items = list(TableReader(path=path, allow_empty=True))
    assert len(items) == 6
    assert sum("" in item.references for item in items) == 1


def test_vdtk(golden):
    items = list(VdtkList(path=str(golden / "data" / VDTK)))
    assert [item.id for item in items] == [str(404464 + i) for i in range(6)]
    assert {len(item.references) for item in items} == {5, 6}
