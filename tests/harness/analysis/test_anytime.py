"""Confidence sequences of comparisons: looks, orders, clusters, metrics without one,
``compare(anytime=True)``.
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.analysis.anytime import MAX_LOOKS, anytime_test
from harness.analysis.compare import compare
from harness.analysis.paired_family import PairedMetric, SystemData
from harness.analysis.score_logs import LoggedScore
from harness.cli.main import main
from harness.registry import current
from harness.run.sequences import random_order
from harness.stats.anytime import FIRST_LOOK, betting_looks
from tests.support.growing import write_task

ROUGE = current().create("metrics", "rouge", {"tokenizer": "none"})


def paired(a, b) -> PairedMetric:
    sides = [np.asarray(side, dtype=float) for side in (a, b)]
    return PairedMetric(ROUGE, *(SystemData(side[:, None], side) for side in sides))


def order_of(count, seed=0):
    return random_order([f"e{k}" for k in range(count)], seed)


@pytest.fixture
def item():
    rng = np.random.default_rng(0)
    b = rng.uniform(0.2, 0.7, 300)
    return paired(np.clip(b + rng.normal(0.1, 0.1, 300), 0, 1), b)


def test_the_test_of_a_mean_is_the_betting_sequence_in_random_order(item):
    found = anytime_test(item, order_of(300))
    assert found.method == "betting" and "differences of at most 1" in found.note
    assert (
        1 < len(found.looks) <= MAX_LOOKS
        and found.last is found.looks[-1]
        and found.looks[-1].n == 300
    )
    assert found.looks[0].n == FIRST_LOOK
    (plain,) = betting_looks(item.a.scores - item.b.scores, np.ones(300), 1.0, [300])
    assert found.last.difference == pytest.approx(plain.difference)
    assert (
        found.last.low > 0 and found.last.p_value < 0.05 and found.p_exchangeable < 0.05
    )
    assert found == anytime_test(item, order_of(300))
    assert found.last.low != anytime_test(item, order_of(300, 1)).last.low, (
        "the order is that of the seed"
    )


def test_undefined_examples_are_left_out(item):
    scores = item.a.scores.copy()
    scores[:100] = np.nan
    found = anytime_test(paired(scores, item.b.scores), order_of(300))
    assert found.last.n == 200
    assert found.last.difference == pytest.approx(
        np.mean((item.a.scores - item.b.scores)[100:])
    )


def test_clusters_are_units(item):
    clusters = np.arange(300) // 3
    found = anytime_test(item, order_of(100), clusters)
    assert found.last.n == 100
    alone = anytime_test(item, order_of(300))
    assert found.last.high - found.last.low > alone.last.high - alone.last.low


def logged(a, b, bounds=None) -> PairedMetric:
    sides = [np.asarray(side, dtype=float) for side in (a, b)]
    return PairedMetric(
        LoggedScore("latency", bounds),
        *(SystemData(side[:, None], side) for side in sides),
    )


def test_a_score_without_a_range_says_so_and_what_it_waits_for():
    rng = np.random.default_rng(1)
    b = rng.lognormal(size=260)
    worse = anytime_test(logged(b + rng.exponential(size=260), b), order_of(260))
    assert (worse.method, worse.last.p_value, worse.last.high) == (
        "asymptotic",
        1.0,
        np.inf,
    )
    assert worse.note == (
        "asymptotic, without a declared range (bounds=(LOW, HIGH) declares it), "
        "not yet: 0 examples differ in the other direction, "
        "10 are needed without a declared range"
    )
    noisy = anytime_test(logged(b + rng.normal(0.6, 1, 260), b), order_of(260))
    assert (
        noisy.note
        == "asymptotic, without a declared range (bounds=(LOW, HIGH) declares it), "
        "from 200 examples on"
        and noisy.last.low > 0
    )


def test_a_declared_range_of_a_log_needs_no_condition():
    rng = np.random.default_rng(2)
    a, b = (rng.random((2, 300)) < [[0.9], [0.6]]).astype(float)
    found = anytime_test(logged(a, b, (0.0, 1.0)), order_of(300))
    assert (found.method, found.note) == (
        "betting",
        "within differences of at most 1",
    ) and found.last.low > 0
    alike = anytime_test(logged(b, b, (0.0, 1.0)), order_of(300))
    assert alike.last.low < 0 < alike.last.high and alike.last.p_value == 1.0


def test_clusters_are_counted_as_clusters():
    rng = np.random.default_rng(3)
    found = anytime_test(
        logged(rng.random(360), rng.random(360)), order_of(120), np.arange(360) // 3
    )
    assert found.last.waits == "120 of 200 clusters"
    assert found.note.endswith(" declares it), not yet: 120 of 200 clusters")


def test_a_number_that_is_no_sum_has_a_reason():
    metric = current().create("metrics", "distinct", {"n": 2})
    scores = np.ones(5)
    found = anytime_test(
        PairedMetric(metric, SystemData(None, scores), SystemData(None, scores)),
        order_of(5),
    )
    assert (found.method, found.looks, found.last) == ("", (), None)
    assert "no function of sums over examples" in found.note


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anytime")
    spec = write_task(folder, 260)
    distinct = {"distinct": {"n": 2, "tokenizer": "none"}}
    harness.evaluate(
        {**spec, "metrics": [*spec["metrics"], distinct]}, output=folder / "r"
    )
    return str(folder / "r")


def test_compare_adds_the_sequence_beside_the_numbers_of_one_look(run):
    plain = compare(run, metrics=["rouge", "bleu4"], draws=200)
    rows = compare(
        run, metrics=["rouge", "bleu4", "distinct2"], draws=200, anytime=True
    )
    assert all(row.anytime is None for row in plain)
    by_metric = {
        row.metric: row
        for row in rows
        if (row.system_a, row.system_b) == ("good", "bad")
    }
    assert (by_metric["rouge"].anytime.method, by_metric["bleu4"].anytime.method) == (
        "betting",
        "asymptotic",
    )
    for name in ("rouge", "bleu4"):
        row = by_metric[name]
        assert row.anytime.last.difference == pytest.approx(row.difference, rel=1e-9)
        assert (
            row.anytime.last.low < row.ci95[0] and row.anytime.last.high > row.ci95[1]
        ), "wider than the interval of one look"
        assert row.to_dict()["anytime"]["looks"][-1]["n"] == 260
    assert by_metric["distinct2"].anytime.last is None
    assert [row.to_dict() for row in plain if row.metric == "rouge"] == [
        {
            name: value
            for name, value in row.to_dict().items()
            if name not in ("anytime", "p_bh")
        }
        | {"p_bh": other.to_dict()["p_bh"]}
        for row, other in zip(
            (row for row in rows if row.metric == "rouge"),
            (row for row in plain if row.metric == "rouge"),
        )
    ]


def test_the_columns_of_the_terminal(run, capsys):
    assert main(["compare", run, "-m", "rouge", "--draws", "100", "--anytime"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in (
        "95 % sequence",
        "p anytime",
        "p signs",
        "ROUGE-L (COCO): within differences of at most 1",
        "exchangeable systems, not equal means",
    ):
        assert part in text
    assert main(["compare", run, "-m", "rouge", "--draws", "100"]) == 0
    assert "sequence" not in capsys.readouterr().out
