"""Samples of a task of judgments."""

from harness.judgments.execute import execute
from tests.support.judged_sets import RECORDS


def test_samples_are_those_of_captions_or_of_distinct_sets(
    plan, judgments, jsonl, length
):
    of_captions = execute(plan(judgments, [length()])).samples
    assert set(of_captions["model"]) == {record["system"] for record in RECORDS}
    assert len(of_captions["example"]) == len(RECORDS)
    path = jsonl(
        [
            {
                "id": str(i),
                "first": "a",
                "second": "b" * (1 + i),
                "preference": -1,
                "references": ["r"],
            }
            for i in range(2)
        ]
    )
    of_pairs = execute(
        plan({"form": "pairs", "path": path}, [length()], statistics=["accuracy"])
    ).samples
    assert set(of_pairs["model"]) == {""}
    assert sorted(zip(of_pairs["example"], of_pairs["candidates"])) == [
        ("0", ["a"]),
        ("0", ["b"]),
        ("1", ["a"]),
        ("1", ["bb"]),
    ]
