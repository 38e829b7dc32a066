"""Cards of data sets: metadata and tables."""

from __future__ import annotations

import math

import pytest
import yaml

from harness.errors import InputError
from harness.hub.card import CardOptions, card, check_text, front_matter, model_index
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

FILES = {"samples": "samples.parquet", "results": "results.parquet"}


def run(*records, source: object = "", **content):
    manifest = {
        "task": "words",
        "signature": "words|m:2",
        "digest": "d" * 64,
        "versions": {"harness": "0.1.0"},
        "data": {"reader": "jsonl", "source": source, "examples": 6},
        **content,
    }
    samples = SampleTable(
        dict.fromkeys(("model", "decoding", "example", "candidates", "references"), ())
    )
    return Run(Provenance(manifest), records, samples, notes=["a | note"])


def record(value=0.5, **fields):
    return ResultRecord(
        **{
            "model": "echo",
            "metric": "length",
            "value": value,
            "n": 6,
            "signature": "length|scale:1",
            **fields,
        }
    )


def test_the_front_matter_is_yaml_and_names_the_files():
    text = card(
        {"words": run(record())},
        FILES,
        6,
        CardOptions("A title: with | signs", "cc-by-4.0", "en", "video-text-to-text"),
    )
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    values = yaml.safe_load(front)
    assert values["pretty_name"] == "A title: with | signs"
    assert (values["license"], values["language"], values["size_categories"]) == (
        "cc-by-4.0",
        ["en"],
        ["n<1K"],
    )
    assert values["task_categories"] == ["video-text-to-text"]
    assert values["configs"] == [
        {"config_name": "samples", "data_files": "samples.parquet", "default": True},
        {"config_name": "results", "data_files": "results.parquet"},
    ]
    assert (
        "# A title: with \\| signs" in body
        and "| length | echo |  | 0.5000 | – | 6 |  |" in body
    )
    assert "- a \\| note" in body and "Signature: `words|m:2`" in body


@pytest.mark.parametrize(
    "rows, size",
    [(999, "n<1K"), (1000, "1K<n<10K"), (5 * 10**6, "1M<n<10M"), (10**8, "10M<n<100M")],
)
def test_sizes(rows, size):
    assert front_matter({"words": run(record())}, FILES, rows, CardOptions())[
        "size_categories"
    ] == [size]


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
    assert (first.dataset_type, first.dataset_split, first.dataset_revision) == (
        "owner/name",
        "test",
        "1" * 40,
    )
    assert first.metric_args == {
        "signature": "length|scale:1",
        "examples": 6,
        "ci95": [0.4, 0.6],
        "p_value": 0.01,
    }
    assert results[1].task_name == "words T=0.5"
    assert model_index([run(record(math.inf))]) == []


def test_a_local_data_set_has_the_name_of_the_task():
    (entry,) = model_index([run(record(), source={"path": "/home/me/data"})])
    assert entry["results"][0]["dataset"] == {"type": "words", "name": "words"}
    text = card(
        {"words": run(record(), source={"path": "/home/me/data", "split": "test"})},
        FILES,
        6,
        CardOptions(),
    )
    assert "Data: jsonl (split test), 6 examples." in text and "/home/me" not in text


def test_texts_of_several_lines_are_refused():
    with pytest.raises(InputError, match="title is one line of text"):
        check_text(CardOptions(title="a\nb"))
