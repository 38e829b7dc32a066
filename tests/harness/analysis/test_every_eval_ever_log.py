"""Logs of every-eval-ever: directions in the aggregate."""

from __future__ import annotations

import json

from harness.analysis.score_forms import read_score_form
from tests.support.score_logs import write_lines


def test_directions_in_the_aggregate_of_every_eval_ever(tmp_path):
    rows = [
        {
            "model_id": "m",
            "sample_id": "1",
            "evaluation_name": name,
            "evaluation": {"score": 0.5},
            "evaluation_result_id": result,
        }
        for name, result in (("asr", "a"), ("asr", "b"), ("qa", "c"), ("other", ""))
    ]
    path = write_lines(tmp_path / "1f_samples.jsonl", rows)
    results = [
        {
            "evaluation_name": "asr",
            "evaluation_result_id": "a",
            "metric_config": {"lower_is_better": True},
        },
        {
            "evaluation_name": "asr",
            "evaluation_result_id": "b",
            "metric_config": {"lower_is_better": False},
        },
        {"evaluation_name": "qa", "metric_config": {"lower_is_better": False}},
    ]
    (tmp_path / "1f.json").write_text(json.dumps({"evaluation_results": results}))
    form = read_score_form(path)
    assert (
        form.higher_is_better == {"asr/a": False, "asr/b": True, "qa": True}
        and form.declared_in == "1f.json"
    )
