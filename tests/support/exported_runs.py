"""Runs that are exported as files of other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.api import score_files
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

REFERENCES = {
    "42": ["a dog runs", "the dog ran"],
    "x y": ["a cat", "the cat sits"],
    "7": ["a bus"],
}
SYSTEMS = {
    "ours": {
        "42": ["a dog", "dogs"],
        "x y": ["a cat", "cat"],
        "7": ["the bus", "café"],
    },
    "their/s": {"42": ["a dog"], "x y": ["it's a 'cat'"], "7": ["café bus"]},
}


def write_run(folder: Path) -> Path:
    """Write a run of two systems with a mean and a corpus metric, and its references;
    return the folder.
    """
    (folder / "r.json").write_text(json.dumps(REFERENCES))
    files = [folder / f"{k}.json" for k in range(2)]
    for path, captions in zip(files, SYSTEMS.values()):
        path.write_text(json.dumps(captions))
    score_files(
        [str(path) for path in files],
        str(folder / "r.json"),
        ["novelty", "distinct:n=1"],
        labels=list(SYSTEMS),
        output=folder / "run",
    )
    return folder


def run_in_memory(
    task: str = "a task/of mine!", model: str = "org/a", ids=("42", "07", "x")
) -> Run:
    """Return a run of one system in memory: a mean, a number that is no mean of its
    scores, a corpus metric, and one without scores.
    """
    columns = {
        "model": [model] * 3,
        "decoding": ['{"temperature": 0.5}'] * 3,
        "example": list(ids),
        "candidates": [["one"], ["two"], ["é"]],
        "references": [["r"], ["s", "t"], ["u"]],
        "m,1": [1.0, 2.0, np.nan],
        "bleu": [0.5, 0.75, 0.25],
        "corpus": [1.0, 2.0, 3.0],
    }
    values = {
        "m,1": (1.5, "item", True),
        "bleu": (0.625, "item", True),
        "corpus": (2.0, "corpus", False),
        "nll": (3.0, "model", None),
    }
    records = [
        ResultRecord(
            model=model,
            metric=name,
            value=value,
            level=level,
            higher_is_better=better,
            decoding={"temperature": 0.5},
        )
        for name, (value, level, better) in values.items()
    ]
    other = [replace(records[0], model="another", metric="of another")]
    other += [
        replace(records[0], decoding=decoding, metric=f"with {decoding}")
        for decoding in ({}, {"beams": 3})
    ]
    content = {
        "task": task,
        "signature": "s|1",
        "digest": "d",
        "data": {"reader": "words"},
    }
    return Run(Provenance(content), (*records, *other), SampleTable(columns))
