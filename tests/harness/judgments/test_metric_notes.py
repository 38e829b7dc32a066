"""Notes on metrics in the results of a task of judgments."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness.judgments.execute import execute
from harness.judgments.metric_notes import note_on_single_captions


@pytest.mark.parametrize(
    ("value", "rank", "standing"),
    [
        (0.25, 2, "kendall_b 0.250, cluster 2 of 3"),
        (0.25, None, "kendall_b 0.250"),
        (np.nan, 2, "it is undefined"),
    ],
)
@pytest.mark.parametrize("level", ["set", "corpus"])
def test_a_metric_of_sets_on_single_captions_has_a_remark(level, value, rank, standing):
    plan = SimpleNamespace(
        label="cr", metric=SimpleNamespace(spec=SimpleNamespace(level=level))
    )
    item = SimpleNamespace(
        metric=SimpleNamespace(plan=plan),
        values={("kendall_b", "all"): SimpleNamespace(value=value)},
    )
    spec = SimpleNamespace(headline=("kendall_b", "all"))
    judgments = SimpleNamespace(captions=[SimpleNamespace(texts=("a",))])
    line = (
        "cr compares sets, and a single caption is a set of one: "
        f"{standing} (docs/judgments.md)"
    )
    assert (
        note_on_single_captions(
            item, spec, judgments, SimpleNamespace(ranks=[3, None, 2]), rank
        )
        == line
    )
    assert (
        note_on_single_captions(
            item,
            spec,
            SimpleNamespace(
                captions=[*judgments.captions, SimpleNamespace(texts=("a", "b"))]
            ),
            None,
            rank,
        )
        == ""
    )


def test_no_verdict_on_a_pair_of_sets_of_different_sizes(plan, jsonl, length):
    # The first caption of the first pair is one of the references, and is scored
    # without it.
    records = [
        {
            "id": str(i),
            "first": "one",
            "second": "longer",
            "preference": 1 - 2 * (i % 2),
            "kind": "" if i else "own",
            "references": ["a", "b", "one"],
        }
        for i in range(4)
    ]
    judged = {
        "form": "pairs",
        "path": jsonl(records),
        "columns": {"own_first": {"kind": "own"}},
    }
    run = execute(plan(judged, [length()], statistics=["accuracy"]))
    (record,) = run.records
    assert (record.value, record.n, record.skipped, record.details["unequal"]) == (
        2 / 3,
        3,
        1,
        1,
    )
    note = (
        "length, accuracy (all): no verdict on 1 of 4 pairs, "
        "whose sets differ in the number of references (docs/judgments.md)"
    )
    assert note in run.notes
    together = execute(
        plan(judged, [length()], statistics=["accuracy"], references={"own": "pair"})
    )
    assert (together.records[0].n, together.records[0].skipped) == (
        4,
        0,
    ) and not together.notes
