"""Intervals of agreement with people: percentiles of resamples, undefined ones among
them, and the number of items that they need.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Interval
from harness.judgments.coverage import (
    COVERAGE,
    checked_interval,
    interval_of_resamples,
    is_constant,
)
from harness.judgments.execute import execute
from harness.judgments.judgment_models import (
    CAPTION_STATISTICS,
    LABEL_STATISTICS,
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
)
from harness.run.coverage_tables import LOWEST
from harness.stats import bootstrap

FEW_ITEMS = [
    [
        {
            "item": "i0",
            "caption": "a dog runs in the park",
            "references": ["the dog runs in a park"],
            "score": 5,
        },
        {
            "item": "i0",
            "caption": "a cat",
            "references": ["the dog runs in a park"],
            "score": 1,
        },
        {
            "item": "i0",
            "caption": "a dog",
            "references": ["the dog runs in a park"],
            "score": 3,
        },
        {
            "item": "i1",
            "caption": "a red bus",
            "references": ["a red bus drives by"],
            "score": 4,
        },
        {
            "item": "i1",
            "caption": "blue",
            "references": ["a red bus drives by"],
            "score": 2,
        },
    ],
    [
        {
            "item": f"x{k}",
            "caption": "a boat" + " on the lake" * (k != 1),
            "references": ["a boat on the lake"],
            "score": s,
        }
        for k, s in ((0, 4), (0, 3), (1, 1), (1, 2), (2, 5), (2, 3))
    ],
    [
        {
            "item": f"{k}",
            "caption": caption,
            "references": [caption + " now"],
            "score": len(caption) % 4,
        }
        for k, caption in enumerate(
            ["snow", "two men walk", "a horse", "a big red car"]
        )
    ],
]


def test_every_statistic_is_measured_and_covers_with_enough_items():
    assert set(COVERAGE) == {
        *CAPTION_STATISTICS,
        *LABEL_STATISTICS,
        *PAIR_STATISTICS,
        *SYSTEM_STATISTICS,
    }
    for coverages in COVERAGE.values():
        assert (
            list(coverages) == sorted(coverages) and coverages[max(coverages)] >= LOWEST
        )


def test_percentiles_of_defined_resamples():
    values = np.random.default_rng(0).normal(size=1000)
    assert interval_of_resamples(values).ends == bootstrap.interval(values)


@pytest.mark.parametrize("undefined", [1, 10, 24])
def test_undefined_resamples_widen_the_interval(undefined):
    values = np.random.default_rng(1).normal(size=1000)
    some = values.copy()
    some[:undefined] = np.nan
    ends = interval_of_resamples(some).ends
    of_defined = bootstrap.interval(some[undefined:])
    assert ends is not None and ends[0] < of_defined[0] and of_defined[1] < ends[1]
    # As many resamples lie beyond each end as when all are defined, whatever values the
    # undefined ones have.
    assert abs((values[undefined:] < ends[0]).sum() + undefined - 25) <= 1


@pytest.mark.parametrize("undefined", [26, 400, 1000])
def test_too_many_undefined_resamples_leave_no_interval(undefined):
    values = np.random.default_rng(2).normal(size=1000)
    values[:undefined] = np.nan
    assert interval_of_resamples(values) == Interval(
        None, f"undefined in {undefined:,} of 1,000 resamples of the items"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.0, 1.0 - 1e-16], True),
        ([0.5, np.nan], True),
        ([np.nan], False),
        ([], False),
        ([0.5, 0.6], False),
    ],
)
def test_values_that_differ_by_rounding_are_constant(values, expected):
    assert is_constant(np.array(values)) is expected
    if expected:
        assert (
            interval_of_resamples(
                np.repeat([value for value in values if value == value], 9)
            ).ends
            is None
        )


def test_the_number_of_items_decides():
    ends = Interval((0.1, 0.9))
    for statistic, coverages in COVERAGE.items():
        for size, coverage in coverages.items():
            found = checked_interval(statistic, "none", ends, size)
            assert (found == ends) == (coverage >= LOWEST)
            if found.ends is None:
                assert found.note.startswith(
                    f"measured coverage {coverage:.3f} with {size} items, "
                    "below 0.90; from "
                )
        assert checked_interval(statistic, "none", ends, 10**6) == ends
    assert checked_interval("pearson", "item", ends, 5) == checked_interval(
        "kendall_within", "none", ends, 5
    )
    undefined = Interval(None, "undefined")
    assert checked_interval("pearson", "none", undefined, 1000) == undefined


def rated_items(count, captions=2):
    """Return judged captions whose length follows the judgments with noise."""
    rng = np.random.default_rng(3)
    return [
        {
            "id": f"i{k}",
            "caption": "w" * int(5 + 2 * score + rng.integers(4)),
            "human_score": score,
            "references": ["r"],
        }
        for k in range(count)
        for score in rng.permutation(5)[:captions].tolist()
    ]


@pytest.mark.parametrize("records", FEW_ITEMS)
@pytest.mark.parametrize("statistic", ["kendall_b", "kendall_c", "spearman", "pearson"])
def test_few_items_have_no_interval_and_the_reason_below(
    records, statistic, plan, jsonl, length
):
    source = {
        "form": "captions",
        "path": jsonl(records),
        "columns": {"item": "item", "score": "score"},
    }
    (record,) = execute(plan(source, [length()], statistics=[statistic])).records
    assert np.isfinite(record.value) and record.ci95 is None
    assert (
        "below 0.90" in record.interval_note
        or "resamples of the items" in record.interval_note
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "statistic",
    ["kendall_b", "kendall_c", "spearman", "pearson", "kendall_within", "accuracy"],
)
def test_many_items_have_an_interval(statistic, plan, jsonl, length):
    metric = length(undefined=[rated_items(60)[0]["caption"]])
    (record,) = execute(
        plan(
            {"form": "captions", "path": jsonl(rated_items(60))},
            [metric],
            statistics=[statistic],
        )
    ).records
    assert (
        record.interval_note is None and record.ci95[0] < record.value < record.ci95[1]
    )


@pytest.mark.parametrize(
    "statistic", ["kendall_b", "pearson", "kendall_within", "accuracy"]
)
def test_intervals_and_tests_do_not_depend_on_the_order_of_the_file(
    statistic, plan, jsonl, length
):
    records = rated_items(60)
    metrics = [length(), length(sign=-1)]
    found = [
        execute(
            plan(
                {"form": "captions", "path": jsonl(rows, name)},
                metrics,
                statistics=[statistic],
            )
        ).records
        for rows, name in (
            (records, "a.jsonl"),
            (records[::-1], "b.jsonl"),
            (records[50:] + records[:50], "c.jsonl"),
        )
    ]
    for other in found[1:]:
        for record, same in zip(found[0], other):
            assert record.value == pytest.approx(
                same.value, abs=1e-12
            ) and record.ci95 == pytest.approx(same.ci95, abs=1e-12)
            for name, entry in record.details["against"].items():
                assert entry == pytest.approx(same.details["against"][name], abs=1e-12)
