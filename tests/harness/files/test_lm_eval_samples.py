"""Samples of lm-eval as records."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.lm_eval_samples import lm_eval_rows
from harness.files.records import Record


def lm_eval(doc, texts, name="none"):
    return Record(
        f"f:{doc}",
        {
            "doc_id": doc,
            "doc": {"q": "?"},
            "target": "a dog",
            "resps": [texts],
            "filtered_resps": texts,
            "filter": name,
        },
    )


def test_samples_of_lm_eval():
    (row,) = lm_eval_rows([lm_eval(7, ["a", "b"])])
    assert row == Record(
        "f:7",
        {"id": "7", "candidates": ["a", "b"], "references": "a dog", "doc.q": "?"},
    )


def test_targets_that_were_written_as_lists_are_lists():
    targets = ["['a dog', \"it's\"]", "['a', 3]", "['a", "[a dog]"]
    rows = [
        Record("f", {**lm_eval(k, ["x"]).fields, "target": target})
        for k, target in enumerate(targets)
    ]
    assert [row.fields["references"] for row in lm_eval_rows(rows)] == [
        ["a dog", "it's"],
        *targets[1:],
    ]


def test_filters_are_systems():
    (row,) = lm_eval_rows([lm_eval(7, ["a"], "strict"), lm_eval(7, ["b"], "flexible")])
    assert row.fields["candidates"] == {"strict": ["a"], "flexible": ["b"]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([lm_eval(1, [[-2.5, False]])], "f:1: a response is a list; expected text"),
        ([lm_eval(1, [["-2.5", "False"]])], "f:1: a response is a list; expected text"),
        ([lm_eval(1, [-2.5])], "f:1: a response is the number -2.5; expected text"),
        (
            [lm_eval(1, ["a"]), lm_eval(1, ["b"])],
            "f:1: the document '1' occurs twice with the filter 'none'",
        ),
    ],
)
def test_samples_that_are_no_texts(rows, message):
    with pytest.raises(InputError) as caught:
        list(lm_eval_rows(rows))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("resps", "filtered", "column"),
    [
        ([["a", "b", "c"]], ["a"], ["a", "b", "c"]),
        ([["a", "b"], ["c", "d"]], ["a", "c"], ["a", "b", "c", "d"]),
        ([["a"]], ["a"], None),
        ([["a b"]], ["b"], None),
        ([[[-2.5, "False"]]], ["b"], None),
        (None, ["b"], None),
    ],
)
def test_responses_of_lm_eval_that_its_filtered_ones_leave_out(resps, filtered, column):
    (row,) = lm_eval_rows(
        [Record("f:1", {"doc_id": 1, "resps": resps, "filtered_resps": filtered})]
    )
    assert row.fields.get("resps") == column
    assert row.fields["candidates"] == filtered


def test_every_document_has_its_responses_where_one_has_more():
    rows = [
        Record("f", {"doc_id": k, "resps": [texts], "filtered_resps": ["a"]})
        for k, texts in enumerate((["a"], ["a", "b"]))
    ]
    assert [row.fields["resps"] for row in lm_eval_rows(rows)] == [["a"], ["a", "b"]]
