"""Logs of lm-eval and lmms-eval: fields that are scores, and directions."""

from __future__ import annotations

import json

from harness.analysis.score_forms import read_score_form
from tests.support.score_logs import values_of, write_lines


def test_fields_that_lm_eval_and_lmms_eval_write_themselves_are_no_metrics(tmp_path):
    row = {
        "doc_id": 3,
        "idx": 3,
        "doc": {},
        "target": "yes",
        "input": "1",
        "arguments": {},
        "resps": [["x"]],
        "filtered_resps": ["x"],
        "filter": "none",
        "doc_hash": "1",
        "prompt_hash": "2",
        "target_hash": "3",
        "token_counts": None,
        "acc": "1",
    }
    assert values_of(write_lines(tmp_path / "s.jsonl", [row])) == [{"acc": "1"}]
    assert values_of(
        write_lines(
            tmp_path / "t.jsonl", [{**row, "metrics": ["f1", "acc"], "f1": 0.5, "n": 7}]
        )
    ) == [{"f1": 0.5, "acc": "1"}]
    assert values_of(
        write_lines(
            tmp_path / "u.jsonl", [{**row, "metrics": {"wer": 0.2, "cer": 0.1}}]
        )
    ) == [{"wer": 0.2, "cer": 0.1}]


def test_the_score_of_an_object_of_lmms_eval(tmp_path):
    rows = [
        {
            "doc_id": k,
            "mme_perception_score": {
                "question_id": f"q{k}",
                "category": "OCR",
                "score": float(k),
            },
            "submission": {"pred": "a"},
        }
        for k in range(2)
    ]
    path = write_lines(tmp_path / "20240604_123456_samples_mme.jsonl", rows)
    assert values_of(path) == [
        {"mme_perception_score": float(k), "submission": {"pred": "a"}}
        for k in range(2)
    ]


def test_directions_in_the_results_of_lm_eval(tmp_path):
    rows = [
        {"doc_id": 0, "filter": name, "acc": 1.0, "gap": 0.5, "new": 1}
        for name in ("none", "strict")
    ]
    path = write_lines(
        tmp_path / "samples_my_task_2024-05-01T10-20-30.123456.jsonl", rows
    )
    assert read_score_form(path).higher_is_better == {}
    results = {
        "higher_is_better": {
            "my_task": {"acc": True, "gap": False, "new": None},
            "other": {"acc": False},
        },
        "stderr": float("nan"),
    }
    (tmp_path / "results_2024-05-01T10-20-30.123456.json").write_text(
        json.dumps(results)
    )
    form = read_score_form(path)
    assert form.higher_is_better == {
        "acc": True,
        "gap": False,
        "acc/strict": True,
        "gap/strict": False,
    }
    assert form.declared_in == "results_2024-05-01T10-20-30.123456.json"


def test_directions_in_the_results_of_lmms_eval(tmp_path):
    path = write_lines(
        tmp_path / "20240604_123456_samples_asr.jsonl", [{"doc_id": 0, "rate": 0.5}]
    )
    (tmp_path / "20240604_123456_results.json").write_text(
        json.dumps({"higher_is_better": {"asr": {"rate": False}}})
    )
    assert read_score_form(path).higher_is_better == {"rate": False}


def test_directions_in_a_line(tmp_path):
    path = write_lines(
        tmp_path / "s.jsonl",
        [{"doc_id": 0, "rate": 0.5, "higher_is_better": {"rate": False}}],
    )
    form = read_score_form(path)
    assert (form.higher_is_better, form.declared_in) == ({"rate": False}, "s.jsonl")
