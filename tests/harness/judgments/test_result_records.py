"""Records of a task of judgments: of metrics, of people, with tests and published
values.
"""

import numpy as np
import pytest

from harness.contracts import MetricSpec
from harness.judgments.execute import execute
from harness.stats import bootstrap
from tests.support.judged_sets import FIVE_PAIRS, RECORDS


def test_records_and_groups(plan, judgments, length):
    run = execute(
        plan(judgments, [length()], statistics=["kendall_c", "pearson"], groups="kind")
    )
    assert [(r.statistic, r.group) for r in run.records] == [
        (s, g) for s in ("kendall_c", "pearson") for g in ("all", "x", "y", "z", "mean")
    ]
    record = run.records[0].to_dict()
    assert {"metric", "statistic", "group", "value", "ci95", "n"} <= record.keys()
    assert record["signature"] == "length|kendall_c|own:caption"


def test_published_values_are_shares(plan, judgments, length):
    table = {"reference": "R", "values": {"length": 47.5, "cost": [30, 45]}}
    run = execute(plan(judgments, [length(), length(sign=-1)], published=table))
    assert [record.details["published"] for record in run.records] == [
        0.475,
        [0.3, 0.45],
    ]


def test_published_values_stand_beside_their_statistic_and_group_alone(
    plan, judgments, length
):
    tables = [
        {"reference": "A", "values": {"length": 30, "other": 1}},
        {"reference": "B", "values": {"length": 40}, "statistic": "kendall_b"},
        {"reference": "C", "values": {"length": 50}, "group": "y"},
        {"reference": "D", "values": {"other": 60}, "statistic": "spearman"},
    ]
    statistics = ["pearson", "kendall_b", "spearman"]
    run = execute(
        plan(
            judgments,
            [length()],
            statistics=statistics,
            groups="kind",
            published=tables,
            tests={"draws": 0},
        )
    )
    published = {
        (r.statistic, r.group): (r.details["published"], r.details["reference"])
        for r in run.records
        if "published" in r.details
    }
    assert published == {
        ("pearson", "all"): (0.3, "A"),
        ("kendall_b", "all"): (0.4, "B"),
        ("pearson", "y"): (0.5, "C"),
    }


@pytest.mark.parametrize("headline", ["all", "mean"])
def test_one_record_of_each_metric_and_of_people_is_the_headline(
    plan, jsonl, length, headline
):
    records = [
        {**r, "human_score": [k % 4, (2 * k + k // 3) % 5], "kind": "abc"[k // 3 % 3]}
        for k, r in enumerate(RECORDS)
    ]
    judged = {"form": "captions", "path": jsonl(records), "raters": "each"}
    statistics = ["pearson", "kendall_b", "spearman"]
    run = execute(
        plan(
            judged,
            [length()],
            statistics=statistics,
            groups={"by": "kind", "headline": headline},
            bootstrap={"samples": 0},
        )
    )
    people, own = (
        [record for record in run.records if (record.metric == "length") == wanted]
        for wanted in (False, True)
    )
    assert [(r.statistic, r.group) for r in own if "headline" in r.details] == [
        ("pearson", headline)
    ]
    assert [(r.statistic, r.group) for r in people if "ceiling" in r.details] == [
        ("pearson", headline)
    ]
    assert all(
        r.details["headline"] is True and r.details["cluster"] == 1
        for r in own
        if "headline" in r.details
    )
    assert (
        all(r.higher_is_better is True and r.details["people"] == 2 for r in people)
        and len(people) == len(own) == 15
    )
    assert (
        own[0].signature == "length|pearson|own:caption|raters:each"
        and people[0].signature == "people|pearson|own:caption|raters:each"
    )


@pytest.mark.parametrize("samples", [0, 1, 2, 50])
def test_the_standard_error_of_a_difference_is_that_of_the_same_resamples(
    plan, jsonl, length, samples
):
    class Worse(length):
        """A cost that is right on the third and the fourth pair."""

        def scores(self, batch, features, state):
            return np.array(
                [
                    1.0
                    if item.candidates[0].endswith(
                        ("0 ab", "1 ab", "2 a", "3 a", "4 a")
                    )
                    else 0.0
                    for item in batch.sets
                ]
            )

    metrics = [length(), Worse(sign=-1)]
    run = execute(
        plan(
            {"form": "pairs", "path": jsonl(FIVE_PAIRS)},
            metrics,
            statistics=["accuracy"],
            bootstrap={"samples": samples},
        )
    )
    assert [record.value for record in run.records] == [0.8, 0.4]
    against = [
        run.records[0].details["against"]["cost"],
        run.records[1].details["against"]["length"],
    ]
    if samples < 2:
        assert all("standard_error" not in entry for entry in against)
    else:
        (counts,) = bootstrap.weights(5, samples, 0)
        difference = counts @ (np.array([1, 1, 1, 1, 0]) - [0, 0, 1, 1, 0]) / 5
        assert [entry["standard_error"] for entry in against] == pytest.approx(
            [difference.std(ddof=1)] * 2, abs=1e-12
        )


@pytest.mark.parametrize("test", ["williams", "jackknife"])
def test_a_statistic_of_a_difference_has_the_sign_of_the_row(plan, jsonl, length, test):
    """The length follows the judgments, the cost is its opposite."""
    human = [1, 3, 2, 5, 4, 6, 8, 7]
    items = range(8) if test == "williams" else [k // 2 for k in range(8)]
    records = [
        {
            "id": str(item),
            "caption": "a" * h + "b",
            "human_score": k,
            "references": ["r"],
        }
        for k, (h, item) in enumerate(zip(human, items))
    ]

    class Noise(length):
        def scores(self, batch, features, state):
            return np.array(
                [float(len(item.candidates[0]) ** 3 % 7) for item in batch.sets]
            )

    run = execute(
        plan(
            {"form": "captions", "path": jsonl(records)},
            [length(), Noise(sign=-1)],
            statistics=["pearson"],
        )
    )
    better = run.records[0].details["against"]["cost"]
    worse = run.records[1].details["against"]["length"]
    assert run.records[0].value > run.records[1].value
    assert better[f"{test}_t"] > 0 and worse[f"{test}_t"] == -better[f"{test}_t"]
    assert (
        worse[test] == better[test] > 0 and worse["perm_input"] == better["perm_input"]
    )


@pytest.mark.parametrize("told", [True, False])
def test_details_of_undefined_captions_stand_in_the_headline(
    plan, judgments, length, told
):
    class Refusing(length):
        def details(self, stats):
            return {"captions_with_x": len(stats)}

    metric = Refusing()
    metric.spec = MetricSpec("length", True, details_of_undefined=told)
    records = execute(
        plan(
            judgments, [metric], statistics=["kendall_b", "pearson"], tests={"draws": 0}
        )
    ).records
    assert [record.details.get("captions_with_x") for record in records] == [
        18 if told else None,
        None,
    ]
