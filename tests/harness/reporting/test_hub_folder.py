"""Runs pushed to folders and to a hub on the loopback interface."""

from __future__ import annotations

import json
import math

import pytest
import yaml

import harness
from harness.errors import HarnessError, InputError
from harness.reporting.hub_folder import CardOptions, card, check_text, front_matter, model_index, push
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable
from tests.support.dataset_hub import Hub, hub

__all__ = ["hub"]
datasets = pytest.importorskip("datasets")
constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture(autouse=True)
def local_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


def load(folder, name):
    return datasets.load_dataset(str(folder), name)["train"]


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_folder_is_a_data_set(project, in_memory):
    run = harness.evaluate("spec.yaml", output=None if in_memory else "r")
    assert push(run if in_memory else "r", to="out") == "out"
    samples, results = load("out", "samples"), load("out", "results")
    assert samples.to_dict() == run.to_dataset().to_dict()
    assert samples.features["length"].dtype == "float64"
    assert results["metric"] == ["length"] and results["value"] == [run.records[0].value]
    stored = json.loads((project / "out" / "results.json").read_text())
    assert stored["results"] == json.loads(json.dumps(run.results))
    assert (project / "out" / "README.md").read_text().startswith("---\npretty_name: ")


def test_references_can_be_left_out(project):
    harness.evaluate("spec.yaml", output="r")
    for place, source in enumerate(("r", Run.open("r"))):
        push(source, to=f"out{place}", references=False)
        assert "references" not in load(f"out{place}", "samples").column_names
        assert "candidates" in load(f"out{place}", "samples").column_names


def test_several_runs_have_a_configuration_each(project):
    for name in "ab":
        harness.evaluate("spec.yaml", output=name, seed=ord(name))
    harness.push("a", "b", to="out")
    assert load("out", "words-samples").num_rows == load("out", "words-2-samples").num_rows == 6
    text = (project / "out" / "README.md").read_text()
    assert "## words\n" in text and "## words-2\n" in text


def test_a_folder_with_other_files_is_not_touched(project):
    harness.evaluate("spec.yaml", output="r")
    (project / "other").mkdir()
    (project / "other" / "README.md").write_text("mine")
    (project / "file").write_text("mine")
    push("r", to="out")
    for folder, message in [
        ("other", "other: is not empty and no earlier push; give another folder"),
        ("file", "file: is a file; expected a folder for the data set"),
        ("out", "out: holds an earlier push; --overwrite replaces its files"),
        ("r", "r: is not empty and no earlier push"),
    ]:
        with pytest.raises(InputError, match=message):
            push("r", to=folder)
    assert (project / "other" / "README.md").read_text() == "mine"
    push("r", to="out", overwrite=True, title="Again")
    assert "# Again" in (project / "out" / "README.md").read_text()


def test_mistakes_are_one_line(project, monkeypatch):
    harness.evaluate("spec.yaml", output="r")
    with pytest.raises(HarnessError, match=r"no target: give a folder \(--to DIR\) or a repository of the hub"):
        push("r")
    with pytest.raises(HarnessError, match="no run to push"):
        push(to="out")
    with pytest.raises(InputError, match=r"nowhere: has no manifest.json: no run here"):
        push("nowhere", to="out")
    with pytest.raises(InputError, match=r"'a/b/c' is no name of a data set \(OWNER/NAME\)"):
        push("r", repo="a/b/c")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HarnessError, match=r"HF_HUB_OFFLINE is set: .* hf upload owner/name DIR \. --repo-type dataset"):
        push("r", repo="owner/name")
    assert not (project / "out").exists()


@pytest.fixture
def endpoint(hub: Hub, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    return hub


def test_a_push_to_the_hub(project, endpoint):
    run = harness.evaluate("spec.yaml", output="r")
    assert push("r", repo="owner/name", private=True) == f"{endpoint.url}/datasets/owner/name"
    (body,) = endpoint.created
    assert (body["name"], body["organization"], body["type"]) == ("name", "owner", "dataset")
    assert body.get("private") is True or body.get("visibility") == "private"
    (files,) = endpoint.files["owner/name"].values()
    assert set(files) == {"README.md", "manifest.json", "results.json", "results.parquet", "samples.parquet"}
    assert b'load_dataset("owner/name", "samples")' in files["README.md"]
    assert json.loads(files["results.json"])["results"] == json.loads(json.dumps(run.results))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "owner/name: the hub does not know you: log in with 'hf auth login', or set HF_TOKEN; --to DIR writes a folder"),
        (403, "owner/name: the token has no permission to write there; --to DIR"),
        (422, "owner/name: the hub refuses: HTTP 422 "),
    ],
)
def test_a_hub_that_refuses(project, endpoint, status, message):
    harness.evaluate("spec.yaml", output="r")
    endpoint.refuse_creation = status
    with pytest.raises(InputError) as caught:
        push("r", repo="owner/name")
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_a_hub_that_cannot_be_reached(project, monkeypatch):
    harness.evaluate("spec.yaml", output="r")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"owner/name: the hub cannot be reached \(.*\); --to DIR writes a folder"):
        push("r", repo="owner/name")


FILES = {"samples": "samples.parquet", "results": "results.parquet"}


def run(*records, source="", **content):
    manifest = {
        "task": "words", "signature": "words|m:2", "digest": "d" * 64, "versions": {"harness": "0.1.0"},
        "data": {"reader": "jsonl", "source": source, "examples": 6}, **content,
    }  # fmt: skip
    samples = SampleTable(dict.fromkeys(("model", "decoding", "example", "candidates", "references"), ()))
    return Run(Provenance(manifest), records, samples, notes=["a | note"])


def record(value=0.5, **fields):
    return ResultRecord(**{"model": "echo", "metric": "length", "value": value, "n": 6, "signature": "length|scale:1", **fields})


def test_the_front_matter_is_yaml_and_names_the_files():
    text = card({"words": run(record())}, FILES, 6, CardOptions("A title: with | signs", "cc-by-4.0", "en", "video-text-to-text"))
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    values = yaml.safe_load(front)
    assert values["pretty_name"] == "A title: with | signs"
    assert (values["license"], values["language"], values["size_categories"]) == ("cc-by-4.0", ["en"], ["n<1K"])
    assert values["task_categories"] == ["video-text-to-text"]
    assert values["configs"] == [
        {"config_name": "samples", "data_files": "samples.parquet", "default": True},
        {"config_name": "results", "data_files": "results.parquet"},
    ]
    assert "# A title: with \\| signs" in body and "| length | echo |  | 0.5000 | – | 6 |  |" in body
    assert "- a \\| note" in body and "Signature: `words|m:2`" in body


@pytest.mark.parametrize("rows, size", [(999, "n<1K"), (1000, "1K<n<10K"), (5 * 10**6, "1M<n<10M"), (10**8, "10M<n<100M")])
def test_sizes(rows, size):
    assert front_matter({"words": run(record())}, FILES, rows, CardOptions())["size_categories"] == [size]


def test_the_model_index_is_read_by_the_hub_s_library():
    data = pytest.importorskip("huggingface_hub.repocard_data")
    source = {"path": "owner/name", "split": "test", "commit": "1" * 40}
    records = [
        record(ci95=(0.4, 0.6), p_value=0.01),
        record(0.7, decoding={"temperature": 0.5}),
        record(math.nan, metric="undefined"),
        record(0.2, model="other"),
    ]
    index = model_index([run(*records, source=source)])
    assert [entry["name"] for entry in index] == ["echo", "other"]
    assert [len(entry["results"]) for entry in index] == [2, 1]
    name, results = data.model_index_to_eval_results(index[:1])
    assert name == "echo" and [r.metric_value for r in results] == [0.5, 0.7]
    first = results[0]
    assert (first.dataset_type, first.dataset_split, first.dataset_revision) == ("owner/name", "test", "1" * 40)
    assert first.metric_args == {"signature": "length|scale:1", "examples": 6, "ci95": [0.4, 0.6], "p_value": 0.01}
    assert results[1].task_name == "words T=0.5"
    assert model_index([run(record(math.inf))]) == []


def test_a_local_data_set_has_the_name_of_the_task():
    (entry,) = model_index([run(record(), source={"path": "/home/me/data"})])
    assert entry["results"][0]["dataset"] == {"type": "words", "name": "words"}
    text = card({"words": run(record(), source={"path": "/home/me/data", "split": "test"})}, FILES, 6, CardOptions())
    assert "Data: jsonl (split test), 6 examples." in text and "/home/me" not in text


def test_texts_of_several_lines_are_refused():
    with pytest.raises(InputError, match="title is one line of text"):
        check_text(CardOptions(title="a\nb"))
