"""The readers on real files: the counts of the descriptions of the data sets."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.tasks.readers.jsonl import TableReader
from harness.tasks.readers.vdtk import VdtkList


@pytest.mark.parametrize(
    "name, examples, references",
    [
        ("coco_karpathy_test/references.jsonl.gz", 5000, 25010),
        ("flickr30k_test/references.jsonl.gz", 1000, 5000),
        ("flickr8k/references_non_test.jsonl.gz", 7092, 35457),
        ("coco_val2017/references.jsonl.gz", 5000, 25014),
        ("coco_train2014_sample/references.jsonl.gz", 1999, 10000),
        ("coco_karpathy_val_1k/references.jsonl.gz", 1000, 5000),
        ("abstract50s/references.jsonl.gz", 500, 24000),
        ("msrvtt/references_test.jsonl.gz", 2990, 59800),
        ("clotho_eval/references.jsonl.gz", 1045, 5225),
        ("audiocaps/references_val.jsonl.gz", 495, 2475),
        ("wmt14_extra_refs/en-de.jsonl.gz", 500, 5000),
        ("rsitmd/references.jsonl.gz", 4743, 23715),
    ],
)
def test_counts(shared, name, examples, references):
    rows = list(TableReader(path=str(shared / "data" / name)))
    assert (len(rows), sum(len(item.references) for item in rows)) == (examples, references)


def test_split_column(shared):
    path = str(shared / "data/rsitmd/references.jsonl.gz")
    assert sum(1 for _ in TableReader(path=path, split="test")) == 452


def test_simplification(shared):
    path = str(shared / "data/simplification_asset/test.jsonl.gz")
    examples = list(TableReader(path=path, columns={"references": ["references_asset", "references_turk"]}))
    assert len(examples) == 359
    assert {len(item.references) for item in examples} == {18}
    assert examples[0].source is not None
    assert examples[0].source.startswith("One side of the armed conflicts")


def test_dialogues_hold_an_empty_reply(shared):
    path = str(shared / "data/dialogue_dailydialog_multiref/test.jsonl.gz")
    with pytest.raises(InputError, match=r"test\.jsonl\.gz:2550: empty reference ''"):
        list(TableReader(path=path))
    examples = list(TableReader(path=path, allow_empty=True))
    assert len(examples) == 6740
    assert sum("" in item.references for item in examples) == 1


def test_vdtk(shared):
    examples = list(VdtkList(path=str(shared / "data/coco_val2014_1k/vdtk_dataset.jsonl.gz")))
    assert len(examples) == 1000
    assert examples[0].id == "404464"
    assert {len(item.references) for item in examples} == {5, 6}
