"""Human judgments as tables, and their correlation with metrics."""

import json

import numpy as np
import pytest

from harness.cli.main import main
from harness.decisions.correlate.judgment_columns import judgment_table, read_judgments
from harness.errors import InputError

THUMB = [
    {
        "image_id": 1,
        "references": ["a dog runs", "the dog"],
        "systems": {
            "a": {"caption": "a dog runs", "P": 5.0},
            "b": {"caption": "a cat", "P": 2},
        },
    },
    {
        "image_id": 2,
        "references": ["a red car", "car"],
        "systems": {
            "a": {"caption": "a red car", "P": 4.0},
            "b": {"caption": "x", "P": 1},
        },
    },
]
COMPOSITE = {
    "file_name": "f",
    "references": ["A dog , runs .", "dog"],
    "candidates": [
        {"caption": "a dog, runs.", "human_score": 5, "is_own_reference": True},
        {"caption": "dog", "human_score": 1, "is_own_reference": False},
    ],
}


def write(path, items):
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def test_both_layouts(tmp_path):
    thumb = read_judgments(write(tmp_path / "t.jsonl", THUMB))
    assert [
        (thumb.items[c.item].id, c.system, c.scores["P"]) for c in thumb.captions
    ] == [
        ("1", "a", 5),
        ("1", "b", 2),
        ("2", "a", 4),
        ("2", "b", 1),
    ]
    composite = read_judgments(write(tmp_path / "c.jsonl", [COMPOSITE]))
    assert [caption.own_references for caption in composite.captions] == [(0,), ()]
    assert composite.captions[0].ratings == (5,)


def test_one_caption_per_record_and_lists_of_votes(tmp_path):
    rows = [
        {"file_name": "1.jpg", "caption": c, "votes": v, "references": ["a dog runs"]}
        for c, v in (("dog", [1, 2]), ("a", [4, 4]))
    ]
    table = judgment_table(
        write(tmp_path / "f.jsonl", [{**r, "ratings": r.pop("votes")} for r in rows]),
        ["novelty:tokenizer=none"],
    )
    assert table.numbers["human"].tolist() == [1.5, 4]
    assert table.labels["item"] == ("1.jpg", "1.jpg")


def test_several_files_are_one_table(tmp_path):
    paths = [
        write(tmp_path / name, [item])
        for name, item in zip(("a.jsonl", "b.jsonl"), THUMB)
    ]
    assert len(judgment_table(paths, ["novelty:tokenizer=none"])) == 4


def test_rows_are_captions_or_systems(tmp_path):
    path = write(tmp_path / "t.jsonl", THUMB)
    captions = judgment_table(path, ["novelty:tokenizer=none"])
    np.testing.assert_array_equal(captions.numbers["novelty"], [0, 1, 0, 1])
    systems = judgment_table(path, ["novelty:tokenizer=none"], "system")
    assert systems.labels["system"] == ("a", "b")
    assert systems.numbers["P"].tolist() == [4.5, 1.5]
    assert systems.numbers["novelty"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "item, message",
    [
        ({"references": ["a"]}, r"t\.jsonl:1: no column for the caption"),
        ({"references": ["a"], "candidates": [{"caption": "b"}]}, "has no judgments"),
        (
            {
                "references": ["a"],
                "candidates": [{"caption": "zzz", "s": 1, "is_own_reference": True}],
            },
            "no reference is similar to it",
        ),
        (
            {"references": [], "candidates": [{"caption": "b", "s": 1}]},
            "has no references",
        ),
    ],
)
def test_bad_files(tmp_path, item, message):
    with pytest.raises(InputError, match=message):
        read_judgments(write(tmp_path / "t.jsonl", [item]))


@pytest.mark.large_sets(
    "thumb_mscoco/judgments.jsonl.gz", "composite_flickr8k/judgments.jsonl.gz"
)
def test_the_command_on_real_judgments(shared, capsys):
    path = shared / "data/thumb_mscoco/judgments.jsonl.gz"
    call = [
        "correlate",
        str(path),
        "--judgments",
        "cider:tokenizer=none,bleu:n=4,tokenizer=none",
        "--x",
        "cider,bleu4",
    ]
    assert main([*call, "--y", "human_score,P,R", "--rows", "example", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["correlations"]
    assert {row["x"] for row in found} == {"cider", "bleu4"}
    assert all(row["n"] == 2500 and 0 < row["kendall"] < 0.5 for row in found)
    assert main([*call, "--y", "human_score", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["correlations"][0]["n"] == 5
    judged = read_judgments(shared / "data/composite_flickr8k/judgments.jsonl.gz")
    assert len(judged.items) == 997
