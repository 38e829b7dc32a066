"""Files of lm-eval: they read back to the same scores, and its own tools read them."""

from __future__ import annotations

import hashlib
import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import harness
from harness.cli.main import main
from harness.files.forms import read_form
from harness.reporting import lm_eval_files
from harness.run.finished import Run
from tests.support.exported_runs import REFERENCES, SYSTEMS, run_in_memory, write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two systems with a mean and a corpus metric, and its references."""
    return write_run(tmp_path_factory.mktemp("run"))


def test_files_of_lm_eval(folder, tmp_path, capsys):
    assert (
        main(
            [
                "export",
                str(folder / "run"),
                "--format",
                "lm-eval",
                "--output",
                str(tmp_path),
            ]
        )
        == 0
    )
    written = capsys.readouterr().out.splitlines()
    assert sorted({path.split("/")[-2] for path in written}) == ["ours", "their_s"]
    results = json.loads(next((tmp_path / "ours").glob("results_*.json")).read_text())
    (task,) = results["results"]
    records = {(r.model, r.metric): r for r in Run.open(folder / "run").records}
    numbers = results["results"][task]
    assert numbers["novelty,none"] == records["ours", "novelty"].value
    assert isinstance(numbers["novelty_stderr,none"], float)
    assert numbers["distinct1_stderr,none"] == "N/A"
    assert results["higher_is_better"][task] == {"novelty": True, "distinct1": True}
    assert results["n-samples"][task] == {"original": 3, "effective": 3}
    assert results["results"][task].keys() == {"alias"} | {
        f"{n}{e},none" for n in ("novelty", "distinct1") for e in ("", "_stderr")
    }
    configuration = results["configs"][task]
    assert [item["aggregation"] for item in configuration["metric_list"]] == [
        "mean",
        "corpus",
    ]
    assert [
        configuration[name] for name in ("num_fewshot", "repeats", "output_type")
    ] == [0, 1, "generate_until"]
    assert configuration["metadata"]["version"] == 1
    assert (
        results["versions"][task],
        results["n-shot"][task],
        results["group_subtasks"][task],
    ) == (1, 0, [])
    assert results["config"] == {
        "model": "ours",
        "model_args": {},
        "batch_size": None,
        "bootstrap_iters": 0,
    }
    assert (results["model_name"], results["model_name_sanitized"]) == ("ours", "ours")
    assert (
        '\n  "results": {\n'
        in next((tmp_path / "ours").glob("results_*.json")).read_text()
    ), "indented by two"


def test_a_sample_of_lm_eval_has_its_document_responses_scores_and_hashes(
    folder, tmp_path
):
    harness.export(folder / "run", "lm-eval", tmp_path)
    (path,) = (tmp_path / "ours").glob("samples_*.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "café" in lines[2], "letters are not escaped"
    samples = [json.loads(line) for line in lines]
    assert [sample["doc_id"] for sample in samples] == [0, 1, 2]
    document = {"id": "7", "references": ["a bus"]}
    texts = {"doc": json.dumps(document), "prompt": "7", "target": "a bus"}
    scores = Run.open(folder / "run").samples.systems[0].scores("novelty")
    assert samples[2] == {
        "doc_id": 2,
        "doc": document,
        "target": "a bus",
        "arguments": {"gen_args_0": {"arg_0": "7", "arg_1": {}}},
        "resps": [["the bus", "café"]],
        "filtered_resps": ["the bus", "café"],
        "filter": "none",
        "metrics": ["novelty", "distinct1"],
        **{
            f"{name}_hash": hashlib.sha256(text.encode()).hexdigest()
            for name, text in texts.items()
        },
        "novelty": scores[2],
        "distinct1": 1.0,
    }
    assert samples[0]["target"] == "['a dog runs', 'the dog ran']"


def test_samples_read_back_to_the_same_captions(folder, tmp_path):
    harness.export(folder / "run", "lm-eval", tmp_path)
    for name, label in (("ours", "ours"), ("their_s", "their/s")):
        (path,) = (tmp_path / name).glob("samples_*.jsonl")
        form = read_form(path, "candidates")
        rows = [row.fields for row in form.rows]
        assert form.name == "lm-eval"
        assert {row["doc.id"]: row["candidates"] for row in rows} == SYSTEMS[label]
        assert [row["references"] for row in rows] == [
            ["a dog runs", "the dog ran"],
            ["a cat", "the cat sits"],
            "a bus",
        ]
        value = harness.score(
            str(path), str(folder / "r.json"), "novelty", id="doc.id"
        )["novelty"].value
        assert (
            value
            == harness.score(SYSTEMS[label], REFERENCES, "novelty")["novelty"].value
        )
        assert value == harness.score(str(path), str(path), "novelty")["novelty"].value


def test_a_document_without_references_has_an_empty_list_as_its_target():
    item = SimpleNamespace(id="1", references=(), candidates=("x",))
    system = SimpleNamespace(
        table=SimpleNamespace(names=[]), caption_sets=lambda: [item], decoding={}
    )
    (sample,) = lm_eval_files.lm_eval_samples(system, [])
    assert (sample["target"], sample["doc"]["references"]) == ("[]", [])


def test_the_tools_of_lm_eval_read_the_files(folder, tmp_path):
    utils = pytest.importorskip("lm_eval.utils", reason="lm-eval is not installed")
    pytest.importorskip(
        "pytablewriter", reason="the tables of lm-eval need pytablewriter"
    )
    files = [str(path) for path in harness.export(folder / "run", "lm-eval", tmp_path)]
    (results,) = [
        path for path in utils.get_results_filenames(files) if "/ours/" in path
    ]
    table = utils.make_table(json.loads(Path(results).read_text()))
    assert "|novelty" in table
    assert "|±" in table
    (samples,) = [
        path for path in utils.get_sample_results_filenames(files) if "/ours/" in path
    ]
    content = json.loads(Path(results).read_text())
    assert utils.get_file_task_name(samples.split("/")[-1]) in content["results"]
    assert utils.get_file_datetime(samples.split("/")[-1]) in results


def test_results_of_lm_eval_have_standard_errors_of_means_alone():
    run = run_in_memory()
    (system,) = run.samples.systems
    results = lm_eval_files.lm_eval_results(run, system, run.records[:4], "t")
    assert results == {
        "results": {
            "t": {
                "alias": "a task/of mine!",
                "m;1,none": 1.5,
                "m;1_stderr,none": pytest.approx(0.5),
                "bleu,none": 0.625,
                "bleu_stderr,none": "N/A",
                "corpus,none": 2.0,
                "corpus_stderr,none": "N/A",
                "nll,none": 3.0,
                "nll_stderr,none": "N/A",
            }
        },
        "group_subtasks": {"t": []},
        "versions": {"t": 1},
        "n-shot": {"t": 0},
        "higher_is_better": {
            "t": {"m;1": True, "bleu": True, "corpus": False, "nll": None}
        },
        "n-samples": {"t": {"original": 3, "effective": 3}},
        "configs": {
            "t": {
                "task": "t",
                "description": "s|1",
                "output_type": "generate_until",
                "num_fewshot": 0,
                "repeats": 1,
                "metric_list": [
                    {"metric": "m;1", "aggregation": "mean", "higher_is_better": True},
                    {"metric": "bleu", "aggregation": "mean", "higher_is_better": True},
                    {
                        "metric": "corpus",
                        "aggregation": "corpus",
                        "higher_is_better": False,
                    },
                    {"metric": "nll", "aggregation": "mean", "higher_is_better": None},
                ],
                "metadata": {"version": 1, "digest": "d"},
            }
        },
        "config": {
            "model": "org/a",
            "model_args": {"temperature": 0.5},
            "batch_size": None,
            "bootstrap_iters": 0,
        },
        "git_hash": None,
        "model_source": f"caption-harness {harness.__version__}",
    }


def test_samples_of_lm_eval_have_documents_responses_and_scores():
    run = run_in_memory()
    first, second, third = lm_eval_files.lm_eval_samples(
        run.samples.systems[0], run.records[:4]
    )
    document = {"id": "07", "references": ["s", "t"]}
    target = "['s', 't']"
    assert second == {
        "doc_id": 1,
        "doc": document,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": "07", "arg_1": {"temperature": 0.5}}},
        "resps": [["two"]],
        "filtered_resps": ["two"],
        "filter": "none",
        "metrics": ["m;1", "bleu", "corpus"],
        "doc_hash": sha256(json.dumps(document).encode()).hexdigest(),
        "prompt_hash": sha256(b"07").hexdigest(),
        "target_hash": sha256(target.encode()).hexdigest(),
        "m;1": 2.0,
        "bleu": 0.75,
        "corpus": 2.0,
    }
    assert (first["doc_id"], first["target"], third["target"]) == (
        0,
        "r",
        "u",
    ) and np.isnan(third["m;1"])


@pytest.mark.parametrize(
    ("task", "name"), [("a task/of mine!", "a_task_of_mine"), ("!", "task")]
)
def test_files_of_lm_eval_have_the_name_of_the_task(task, name):
    (results, text), (samples, lines) = lm_eval_files.lm_eval_files(run_in_memory(task))
    date = results.removeprefix("org_a_T_0.5/results_").removesuffix(".json")
    assert (
        samples == f"org_a_T_0.5/samples_{name}_{date}.jsonl"
        and lines.count("\n") == 3
        and '"é"' in lines
    )
    content = json.loads(text)
    assert list(content["results"]) == [name] and text.startswith('{\n  "results"')
    assert (content["model_name"], content["model_name_sanitized"]) == (
        "org/a T=0.5",
        "org_a_T_0.5",
    )
    assert set(content["results"][name]) == {
        "alias",
        *(
            f"{m}{end},none"
            for m in ("m;1", "bleu", "corpus", "nll")
            for end in ("", "_stderr")
        ),
    }
