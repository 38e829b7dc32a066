"""Results for exchange: files that the schema of Every Eval Ever accepts,
and results of the Hugging Face hub.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import harness
from harness.api import score_files
from harness.cli.main import main
from harness.errors import InputError
from harness.reporting.every_eval_ever import evaluation, evaluation_files, hub_entries
from harness.run.finished import Run
from tests.support.exported_runs import run_in_memory

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two systems: a mean, a number of counts, and one without a direction."""
    folder = tmp_path_factory.mktemp("run")
    references = {str(k): ["a dog runs", f"the dog ran {k}"] for k in range(12)}
    (folder / "r.json").write_text(json.dumps(references))
    for name, words in (
        ("a", ["a", "dog", "runs", "here", "now"]),
        ("b", ["the", "red", "dog", "ran", "1"]),
    ):
        (folder / f"{name}.json").write_text(
            json.dumps({key: " ".join(words[: 1 + int(key) % 5]) for key in references})
        )
    score_files(
        [str(folder / "a.json"), str(folder / "b.json")],
        str(folder / "r.json"),
        ["rouge", "bleu1", "caption-length"],
        labels=["lab/ours", "theirs"],
        output=folder / "run",
    )
    return folder


def test_the_schema_accepts_the_files_and_they_have_the_numbers_of_the_run(
    folder, tmp_path, golden, capsys
):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        (golden / "every_eval_ever" / "eval.schema.json").read_text(encoding="utf-8")
    )
    assert (
        main(
            [
                "export",
                str(folder / "run"),
                "--format",
                "every-eval-ever",
                "--output",
                str(tmp_path),
            ]
        )
        == 0
    )
    paths = capsys.readouterr().out.splitlines()
    places = ("lab/ours", "unknown/theirs")
    assert all(
        re.search(rf"/data/[^/]+/{place}/{UUID}\.json$", path)
        for path, place in zip(paths, places, strict=True)
    )
    run = Run.open(folder / "run")
    for path, label in zip(paths, ("lab/ours", "theirs"), strict=True):
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        jsonschema.Draft7Validator(schema).validate(content)
        assert content["schema_version"] == schema["version"] == "0.3.0"
        results = {
            item["metric_config"]["metric_id"]: item
            for item in content["evaluation_results"]
        }
        assert set(results) == {"rouge", "bleu1"}  # a length has no direction
        for record in run.records:
            if record.model == label and record.metric in results:
                details = results[record.metric]["score_details"]
                interval = details["uncertainty"]["confidence_interval"]
                assert (details["score"], details["uncertainty"]["num_samples"]) == (
                    record.value,
                    12,
                )
                assert (
                    interval["lower"],
                    interval["upper"],
                    interval["confidence_level"],
                ) == (*record.ci95, 0.95)
        system = next(system for system in run.samples.systems if system.label == label)
        scores = system.scores("rouge")
        error = results["rouge"]["score_details"]["uncertainty"]["standard_error"][
            "value"
        ]
        assert error == pytest.approx(np.std(scores, ddof=1) / math.sqrt(12), rel=1e-12)
        # no mean of the examples
        assert "standard_error" not in results["bleu1"]["score_details"]["uncertainty"]


@pytest.mark.slow
def test_the_program_of_every_eval_ever_accepts_the_files(folder, tmp_path, capsys):
    program = shutil.which("every_eval_ever")
    if program is None:
        pytest.skip(
            "the package every-eval-ever, which needs Python 3.12, is not on the path"
        )
    assert (
        main(
            [
                "export",
                str(folder / "run"),
                "--format",
                "every-eval-ever",
                "--output",
                str(tmp_path),
            ]
        )
        == 0
    )
    # it checks the path, too
    files = [
        str(Path(line).relative_to(tmp_path))
        for line in capsys.readouterr().out.splitlines()
    ]
    # 2: valid, with the warning that the developer of the model is not known
    for file, code in zip(files, (0, 2), strict=True):
        done = subprocess.run(
            [program, "validate", file],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code and "0 failed (0 errors" in done.stdout, (
            done.stdout + done.stderr
        )


def test_undefined_numbers_are_left_out(folder):
    run = Run.open(folder / "run")
    system = run.samples.systems[0]
    records = [
        replace(record, value=math.nan)
        for record in run.records
        if record.model == system.model
    ]
    assert (
        evaluation(
            run, system, records, dict.fromkeys((r.metric for r in records), "N/A"), 0
        )["evaluation_results"]
        == []
    )


def test_results_of_the_hub_name_the_data_set_and_its_commit(
    folder, tmp_path, monkeypatch
):
    run = Run.open(folder / "run")
    with pytest.raises(InputError, match="the data are no data set of the hub"):
        harness.export(folder / "run", "hf-eval-results", tmp_path)
    content = dict(run.provenance.content) | {
        "data": {"source": {"path": "owner/captions", "commit": "abc", "split": "test"}}
    }
    hub = replace(run, provenance=replace(run.provenance, content=content))
    entries = hub_entries(
        hub,
        [
            record
            for record in run.records
            if record.metric == "rouge" and record.model == "theirs"
        ],
    )
    (value,) = [
        record.value
        for record in run.records
        if record.metric == "rouge" and record.model == "theirs"
    ]
    dataset = {"id": "owner/captions", "revision": "abc", "task_id": "rouge"}
    assert entries == [
        {"dataset": dataset, "value": value, "notes": "rouge-l|beta:1.2|tok:ptb"}
    ]
    types = pytest.importorskip("huggingface_hub")
    parse = getattr(types, "parse_eval_result_entries", None)
    if parse is not None:
        (entry,) = parse(yaml.safe_load(yaml.safe_dump(entries)))
        assert (entry.dataset_id, entry.task_id, entry.value) == (
            "owner/captions",
            "rouge",
            value,
        )


def test_results_for_exchange_lie_below_task_developer_and_model(folder, tmp_path):
    score_files(
        [str(folder / "a.json")],
        str(folder / "r.json"),
        ["novelty"],
        labels=["maker/café"],
        output=tmp_path / "run",
    )
    (path,) = harness.export(tmp_path / "run", "every-eval-ever", tmp_path / "out")
    assert path.parent.name == "café" and path.parts[-5] == "data"
    text = path.read_text(encoding="utf-8")
    assert "café" in text and text.startswith('{\n  "')


def test_exchanged_results_lie_in_folders_of_task_and_model():
    ((path, text),) = evaluation_files(run_in_memory())
    assert (
        path.split("/")[0] == "data"
        and path.split("/")[1] == "a_task_of_mine"
        and path.split("/")[3] == "a"
    )
    assert json.loads(text)
