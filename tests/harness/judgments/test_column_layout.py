"""Judgment files with systems as columns."""

import json

import pytest

from harness.errors import InputError
from harness.files.records import Record
from harness.judgments.column_layout import gather_columns
from harness.judgments.judgment_models import JudgmentColumns
from harness.judgments.source_files import read_judgments

WIDE = {
    "image": "a.jpg",
    "GT_1": "a dog",
    "GT_2": None,
    "GT_3": "the dog",
    "cog": "a cat",
    "llava": "a big dog",
}
COLUMNS = JudgmentColumns(
    reference_columns=["GT_1", "GT_2", "GT_3"],
    caption_columns=["cog", "llava"],
    score="eval",
)


@pytest.mark.parametrize(
    "scores", [{"cog": 1, "llava": 4}, json.dumps({"cog": 1, "llava": 4})]
)
def test_systems_as_columns(scores):
    record = gather_columns(Record("f:1", {**WIDE, "eval": scores}), COLUMNS)
    assert record.fields == {
        "image": "a.jpg",
        "references": ["a dog", "the dog"],
        "candidates": {
            "cog": {"caption": "a cat", "eval": 1},
            "llava": {"caption": "a big dog", "eval": 4},
        },
    }
    assert gather_columns(record, JudgmentColumns()) is record


def test_columns_of_references_or_of_systems_alone():
    fields = {"image": "a.jpg", "x": "one", "y": "", "z": "two", "score": {"x": 1}}
    references = gather_columns(
        Record("f:1", fields), JudgmentColumns(reference_columns=["z", "y", "x"])
    )
    assert references == Record(
        "f:1", {"image": "a.jpg", "score": {"x": 1}, "references": ["two", "one"]}
    )
    systems = gather_columns(
        Record("f:1", fields), JudgmentColumns(caption_columns=["x", "y"])
    )
    of_systems = {
        "x": {"caption": "one", "score": 1},
        "y": {"caption": "", "score": None},
    }
    assert systems == Record(
        "f:1", {"image": "a.jpg", "z": "two", "candidates": of_systems}
    )


def test_scores_of_systems_are_an_object():
    for scores, message in (
        (3, "'eval' is the number 3; expected an object"),
        (
            None,
            "'eval' is (missing|null); expected an object with the score of each "
            "system",
        ),
        ("[1]", "'eval' is a list; expected an object"),
        ("{", "not JSON"),
        ('{"cog": 1, "cog": 2}', "twice|repeat"),
    ):
        with pytest.raises(InputError, match=f"f:1: .*(?:{message})"):
            gather_columns(Record("f:1", {**WIDE, "eval": scores}), COLUMNS)
    with pytest.raises(InputError, match="no column 'GT_4'; did you mean 'GT_"):
        gather_columns(Record("f:1", WIDE), JudgmentColumns(reference_columns=["GT_4"]))


def test_judgments_of_systems_as_columns(jsonl, source):
    rows = [
        {**WIDE, "image": f"{k}.jpg", "eval": {"cog": k, "llava": 4} if k else None}
        for k in range(3)
    ]
    options = {
        "columns": COLUMNS.model_dump(exclude_defaults=True),
        "without": {"eval": [None]},
    }
    judged = read_judgments(source(jsonl(rows), **options))
    assert [item.id for item in judged.items] == ["1.jpg", "2.jpg"] and judged.items[
        0
    ].references == ("a dog", "the dog")
    assert [(c.system, c.texts[0], c.ratings) for c in judged.captions[2:]] == [
        ("cog", "a cat", (2,)),
        ("llava", "a big dog", (4,)),
    ]
