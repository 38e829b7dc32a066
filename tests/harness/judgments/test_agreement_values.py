"""Values of statistics and their intervals."""

import numpy as np
import pytest

from harness.judgments.execute import execute
from tests.support.judged_sets import FIVE_PAIRS, RECORDS


@pytest.mark.parametrize("statistic", ["pearson", "kendall_b", "kendall_within"])
@pytest.mark.parametrize("grouping", ["item", "system"])
@pytest.mark.parametrize("defined", [0, 1])
def test_one_score_or_none_has_no_correlation_within_groups(
    plan, judgments, length, statistic, grouping, defined
):
    texts = [record["caption"] for record in RECORDS][defined:]
    run = execute(
        plan(
            judgments,
            [length(), length(sign=-1, undefined=texts)],
            statistics=[statistic],
            grouping=grouping,
        )
    )
    assert np.isnan(run.records[1].value) and run.records[1].skipped == len(texts)


def test_the_interval_of_a_share_is_that_of_the_resamples_unless_all_are_equal(
    plan, jsonl, judgments, length
):
    many = [
        {**pair, "id": f"{k}-{pair['id']}"} for k in range(20) for pair in FIVE_PAIRS
    ]
    (record,) = execute(
        plan(
            {"form": "pairs", "path": jsonl(many)}, [length()], statistics=["accuracy"]
        )
    ).records
    # Of 100 resampled pairs 80 are right on average, with a standard deviation of 4.
    assert record.ci95 == pytest.approx((0.72, 0.88), abs=0.011)
    (record,) = execute(
        plan(
            {"form": "pairs", "path": jsonl(FIVE_PAIRS)},
            [length()],
            statistics=["accuracy"],
        )
    ).records
    assert (
        record.value == 0.8
        and record.ci95 is None
        and "with 5 items, below 0.90" in record.interval_note
    )
    perfect = [
        {"id": str(k), "caption": "a" * (k + 1), "human_score": k, "references": ["r"]}
        for k in range(8)
    ]
    (record,) = execute(
        plan(
            {"form": "captions", "path": jsonl(perfect)},
            [length()],
            statistics=["spearman"],
        )
    ).records
    assert record.value == pytest.approx(1, abs=1e-12) and record.ci95 is None
    assert record.interval_note == "every resample of the items gives the same number"
