"""Chart of the confidence sequences of a run that stopped."""

from __future__ import annotations

import harness
from harness.page.charts import charts_for


def test_the_paths_of_all_conditions_are_drawn(tmp_path):
    rows = [
        f'{{"id": "{k}", "references": ["a dog runs {k}", "the dog {k}"], "good": '
        f'"a dog runs {k}", "bad": "cat"}}'
        for k in range(260)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(rows))
    path = str(tmp_path / "data.jsonl")
    models = [
        {"predictions": {"label": name, "path": path, "candidates": name}}
        for name in ("good", "bad")
    ]
    conditions = ["ROUGE-L: good > bad", "rouge ± 0.2", "rouge: bad > good"]
    spec = {
        "task": "pair",
        "dataset": {"reader": "jsonl", "path": path},
        "models": models,
        "metrics": ["rouge"],
    }
    run = harness.evaluate(spec, until={"conditions": conditions})
    (chart,) = [chart for chart in charts_for([run]) if chart.id == "stopping"]
    rows = chart.spec["datasets"]["stopping"]
    assert {row["condition"] for row in rows} == set(conditions)
    assert {row["systems"] for row in rows} == {
        "good - bad",
        "bad - good",
        "good",
        "bad",
    }
    assert "confirmed" in chart.caption and "of 260" in chart.caption
    for panel, condition in zip(chart.spec["concat"], conditions):
        ends = [
            end
            for row in rows
            if row["condition"] == condition
            for end in (row["low"], row["high"])
        ]
        low, high = panel["layer"][0]["encoding"]["y"]["scale"]["domain"]
        assert low <= min(ends) and max(ends) <= high and high - low < 1.2


def test_what_a_sequence_waits_for_is_said_and_not_drawn(tmp_path):
    rows = [
        f'{{"id": "{k}", "references": ["a dog runs {k}"], "good": "a dog runs {k}"}}'
        for k in range(210)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(rows))
    path = str(tmp_path / "data.jsonl")
    models = [{"predictions": {"label": "good", "path": path, "candidates": "good"}}]
    spec = {
        "task": "one",
        "dataset": {"reader": "jsonl", "path": path},
        "models": models,
        "metrics": ["rouge", "bleu4"],
    }
    run = harness.evaluate(
        spec, until={"conditions": ["rouge ± 0.001", "bleu4 ± 0.001"]}
    )
    (chart,) = [chart for chart in charts_for([run]) if chart.id == "stopping"]
    assert {row["condition"] for row in chart.spec["datasets"]["stopping"]} == {
        "rouge ± 0.001"
    }
    assert (
        "bleu4 ± 0.001: undecided, not yet: no spread in 210 examples" in chart.caption
    )
    alone = harness.evaluate(spec, until={"conditions": ["bleu4 ± 0.001"]})
    assert not [chart for chart in charts_for([alone]) if chart.id == "stopping"]
    assert (
        "(bleu4 ± 0.001: undecided, not yet: no spread in 210 examples)"
        in alone.notes[0]
    )


def test_a_run_without_conditions_has_no_such_chart():
    run = harness.evaluate("coco", limit=3, metrics=["rouge"])
    assert not [chart for chart in charts_for([run]) if chart.id == "stopping"]
