"""Logs of scores of lm-eval, lmms-eval, inspect and every-eval-ever as runs that are compared and gated."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import harness
from harness.analysis.gate import Margin, gate
from harness.analysis.pairs import ComparedRun
from harness.analysis.score_logs import read_score_log
from harness.cli.main import main
from harness.errors import HarnessError, InputError

COUNT = 60
RIGHT = {"old": [k % 3 != 0 for k in range(COUNT)], "new": [k % 3 != 0 or k % 6 == 0 for k in range(COUNT)]}
"""Model -> its answers: correct or not."""


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lm_eval(path, model, **fields):
    return write_lines(path, [
        {
            "doc_id": k, "doc": {"question": f"q{k}"}, "target": "C", "resps": [["x"]], "filtered_resps": ["x"], "doc_hash": f"hash{k}",
            "filter": "none", "metrics": ["acc", "acc_norm"], "acc": float(right), "acc_norm": 0.5, **fields,
        }
        for k, right in enumerate(RIGHT[model])
    ])  # fmt: skip


def lmms_eval(path, model):
    rows = [
        {
            "doc_id": k,
            "target": k % 4,
            "doc": {},
            "filtered_resps": ["x"],
            "doc_hash": f"h{k}",
            "exact_match": int(right),
            "detail": {"a": 1},
        }
        for k, right in enumerate(RIGHT[model])
    ]
    return write_lines(path, rows)


def inspect_log(path, model, epochs=1):
    samples = [
        {
            "id": k, "epoch": epoch,
            "scores": {"match": {"value": "C" if right else "I"}, "judge": {"value": {"tone": 0.5, "fact": float(right)}}},
        }
        for k, right in enumerate(RIGHT[model])
        for epoch in range(1, epochs + 1)
    ]  # fmt: skip
    content = {"version": 2, "eval": {"task": "t", "model": f"openai/{model}"}, "samples": samples}
    if path.suffix == ".json":
        path.write_text(json.dumps(content), encoding="utf-8")
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": content["eval"]}))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


def every_eval_ever(path, *models):
    return write_lines(path, [
        {
            "schema_version": "instance_level_eval_0.2.1", "model_id": model, "evaluation_name": "gsm8k", "sample_id": f"s{k}",
            "evaluation": {"score": float(right), "is_correct": right},
        }
        for model in models
        for k, right in enumerate(RIGHT[model])
    ])  # fmt: skip


def test_lines_of_lm_eval(tmp_path):
    run = read_score_log(lm_eval(tmp_path / "samples_t.jsonl", "old"))
    assert run.samples.metrics == ("acc", "acc_norm")
    assert [(r.model, r.metric, r.n, r.higher_is_better) for r in run.records] == [
        ("samples_t", "acc", COUNT, True), ("samples_t", "acc_norm", COUNT, True),
    ]  # fmt: skip
    assert run.records[0].value == pytest.approx(np.mean(RIGHT["old"]))
    assert run.samples["example"][:2] == ["0:hash0", "1:hash1"], "documents of other data do not pair by their numbers"
    assert run.provenance.data["reader"] == "lm-eval"


def test_filters_of_lm_eval_are_metrics_of_their_own(tmp_path):
    run = read_score_log(lm_eval(tmp_path / "s.jsonl", "old", filter="flexible-extract"))
    assert run.samples.metrics == ("acc,flexible-extract", "acc_norm,flexible-extract")


def test_lines_of_lmms_eval_whose_targets_are_no_scores(tmp_path):
    run = read_score_log(lmms_eval(tmp_path / "s.jsonl", "new"))
    assert run.samples.metrics == ("exact_match",)
    rows = [json.loads(line) for line in lm_eval(tmp_path / "t.jsonl", "new").read_text().splitlines()]
    for row in rows:
        del row["metrics"]
    assert read_score_log(write_lines(tmp_path / "u.jsonl", rows)).samples.metrics == ("acc", "acc_norm"), "the target 'C' is no score"


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_logs_of_inspect(tmp_path, suffix):
    run = read_score_log(inspect_log(tmp_path / f"log{suffix}", "old", epochs=2))
    assert run.samples.metrics == ("judge/fact", "judge/tone", "match")
    assert {r.model for r in run.records} == {"openai/old"}
    assert {r.metric: r.value for r in run.records}["match"] == pytest.approx(np.mean(RIGHT["old"]))
    assert len(run.samples["example"]) == COUNT, "epochs of a sample are averaged"


def test_the_letters_of_inspect(tmp_path):
    samples = [{"id": k, "scores": {"m": {"value": value}}} for k, value in enumerate(["C", "P", "I", "N", True, 0.25, "other", None])]
    (tmp_path / "l.json").write_text(json.dumps({"eval": {"model": "m"}, "samples": samples}))
    assert read_score_log(tmp_path / "l.json").samples["m"] == [1.0, 0.5, 0.0, 0.0, 1.0, 0.25]


def test_lines_of_every_eval_ever(tmp_path):
    run = read_score_log(every_eval_ever(tmp_path / "e.jsonl", "old", "new"))
    assert [(r.model, r.metric, r.n) for r in run.records] == [("old", "gsm8k", COUNT), ("new", "gsm8k", COUNT)]
    (row,) = harness.compare(run, draws=200)
    assert row.difference == pytest.approx(np.mean(RIGHT["old"]) - np.mean(RIGHT["new"]))


def test_a_model_that_lacks_a_metric_has_no_record_of_it(tmp_path):
    rows = [
        {"sample_id": "a", "model_id": model, "evaluation_name": name, "evaluation": {"score": 1.0}}
        for model, name in (("x", "p"), ("y", "q"))
    ]
    run = read_score_log(write_lines(tmp_path / "e.jsonl", rows))
    assert {(r.model, r.metric): r.n for r in run.records} == {("x", "p"): 1, ("y", "q"): 1}


FORMS = {
    "lm-eval": (lm_eval, "jsonl", "acc"), "lmms-eval": (lmms_eval, "jsonl", "exact_match"), "inspect": (inspect_log, "json", "match"),
    "inspect-zip": (inspect_log, "eval", "match"), "every-eval-ever": (every_eval_ever, "jsonl", "gsm8k"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_logs_of_two_models_are_compared_and_gated(tmp_path, form):
    write, suffix, metric = FORMS[form]
    paths = [str(write(tmp_path / f"{model}.{suffix}", model)) for model in ("new", "old")]
    rows = harness.compare(*paths, metrics=[metric], draws=2000, anytime=True)
    (row,) = rows
    assert row.difference == pytest.approx(1 / 6) and row.better == "A" and row.n == COUNT
    assert row.anytime.method == "asymptotic", "no log declares the range of its scores"
    assert gate(*paths, {metric: Margin(0.01)}).verdict == "passed"
    assert gate(*reversed(paths), {metric: Margin(0.01)}).verdict == "failed"


def test_other_documents_are_not_paired(tmp_path):
    lm_eval(tmp_path / "a.jsonl", "new")
    rows = [json.loads(line) | {"doc_hash": f"other{k}"} for k, line in enumerate((tmp_path / "a.jsonl").read_text().splitlines())]
    write_lines(tmp_path / "b.jsonl", rows)
    with pytest.raises(HarnessError, match="share no example"):
        harness.compare(str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    with pytest.raises(HarnessError):
        gate(str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), {"acc": Margin(0.1)})


def test_logs_of_two_forms_are_not_compared(tmp_path):
    lm_eval(tmp_path / "a.jsonl", "new"), every_eval_ever(tmp_path / "b.jsonl", "new")
    with pytest.raises(HarnessError, match=r"read different data \(lm-eval, every-eval-ever\)"):
        harness.compare(str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))


def test_a_chosen_model_of_a_log(tmp_path):
    path = every_eval_ever(tmp_path / "e.jsonl", "old", "new")
    assert len(ComparedRun.open(f"{path}::new").systems) == 1
    with pytest.raises(HarnessError, match="no model 'nwe'; did you mean 'new'"):
        ComparedRun.open(f"{path}::nwe")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1, "text": "x"}\n', "no log of lm-eval, lmms-eval, inspect or every-eval-ever: a line has no 'doc_id' or 'evaluation'"),
        ('{"doc_id": 1, "resps": [["x"]]}\n', "no score per sample; expected samples of"),
        ("", "."),
        ("not json\n", "."),
    ],
)
def test_files_that_are_no_logs(tmp_path, content, message):
    (tmp_path / "f.jsonl").write_text(content)
    with pytest.raises(InputError, match=message):
        read_score_log(tmp_path / "f.jsonl")


def test_a_summary_of_inspect_without_samples(tmp_path):
    (tmp_path / "l.json").write_text(json.dumps({"eval": {"model": "m"}, "results": {}}))
    with pytest.raises(InputError, match="no log of"):
        read_score_log(tmp_path / "l.json")


def test_the_commands_read_logs(tmp_path, capsys):
    paths = [str(lm_eval(tmp_path / f"{model}.jsonl", model)) for model in ("new", "old")]
    assert main(["compare", *paths, "-m", "acc", "--draws", "200"]) == 0
    assert "acc" in capsys.readouterr().out
    assert main(["gate", paths[1], "--baseline", paths[0], "-m", "acc", "--max-drop", "0.01"]) == 1
    assert "failed: acc worse by 0.1667" in " ".join(capsys.readouterr().out.split())
