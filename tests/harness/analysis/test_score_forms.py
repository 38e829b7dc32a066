"""Forms of logs: which fields are scores, and the directions that a log declares."""

from __future__ import annotations

import json

import pytest

from harness.analysis.score_forms import read_score_form
from harness.errors import InputError


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def values_of(path):
    return [dict(sample.values) for sample in read_score_form(path).samples]


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


def test_parts_of_a_score_of_inspect(tmp_path):
    samples = [
        {
            "id": 1,
            "scores": {
                "asr": {"value": {"wer": 0.2, "cer": None}},
                "acc": {"value": "C"},
                "plain": 0.5,
            },
        },
        {"id": 2, "scores": None},
    ]
    (tmp_path / "l.json").write_text(
        json.dumps({"eval": {"model": "m"}, "samples": samples})
    )
    assert values_of(tmp_path / "l.json") == [
        {"asr/wer": 0.2, "asr/cer": None, "acc": "C", "plain": 0.5},
        {},
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


def test_lines_without_a_document(tmp_path):
    with pytest.raises(InputError, match="s.jsonl:2: the line has no 'doc_id'"):
        read_score_form(
            write_lines(tmp_path / "s.jsonl", [{"doc_id": 0, "acc": 1}, {"acc": 1}])
        )
    (tmp_path / "l.json").write_text(json.dumps({"eval": {}, "samples": [7]}))
    with pytest.raises(
        InputError,
        match="samples: record 1: found the number 7; expected a sample of inspect",
    ):
        list(read_score_form(tmp_path / "l.json").samples)
