"""Agreement of metrics with people as a chart."""

from __future__ import annotations

import pytest

from harness.page.charts import charts_for
from harness.page.charts.agreement import BEST, OTHER, PUBLISHED
from harness.registry.display_names import display_name
from harness.rundir.rundir import RunDir


@pytest.fixture
def chart(judged_runs, tmp_path):
    (item,) = charts_for([tmp_path / "out" / "one", tmp_path / "out" / "two"])
    return item


def test_every_set_is_a_panel_with_its_metrics_and_published_values(chart, tmp_path):
    rows = chart.spec["datasets"]["rows"]
    assert [panel["title"]["text"] for panel in chart.spec["concat"]] == ["one", "two"]
    headlines = {
        r.metric: r
        for r in RunDir.open(tmp_path / "out" / "one").records
        if (r.details or {}).get("headline")
    }
    values = {
        row["metric"]: row["value"]
        for row in rows
        if row["set"] == "one" and row["kind"] != PUBLISHED
    }
    assert values == {
        display_name(name): pytest.approx(100 * record.value)
        for name, record in headlines.items()
        if record.value == record.value
    }
    assert [row["value"] for row in rows if row["kind"] == PUBLISHED] == [12.5, 12.5]
    assert {row["kind"] for row in rows} <= {BEST, OTHER, PUBLISHED}
    assert "Diamonds" in chart.caption


def test_metrics_keep_the_order_of_the_league(chart):
    orders = [
        panel["layer"][0]["encoding"]["y"]["sort"] for panel in chart.spec["concat"]
    ]
    assert orders[0] == orders[1]
    assert set(orders[0]) == {"BLEU-1", "ROUGE-L (COCO)"}
