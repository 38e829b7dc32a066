"""Run directories of two runs, begun and finished, with samples of two examples."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from harness.rundir.records import ResultRecord
from harness.rundir.rundir import RunDir
from harness.rundir.samples import SampleTable
from tests.support.sample_files import write_samples

MANIFEST = {"task": "t", "digest": "abc", "signature": "t|m:1"}
OTHER = {"task": "u", "digest": "x", "signature": "u|m:1"}
COLUMNS = {
    "model": ["a", "a"],
    "decoding": ["{}", "{}"],
    "example": ["1", "2"],
    "candidates": [["x"], ["y"]],
    "references": [["x"], ["z"]],
    "m": [0.5, None],
}


def create(path, manifest=MANIFEST, mode="auto"):
    """Return the directory of a run that begins or goes on."""
    return RunDir.create(path, manifest, mode)


def fill_samples(run):
    """Write the samples of a run through the file that computes their stamp."""
    with tempfile.TemporaryDirectory() as folder, run.create_samples() as file:
        write_samples(Path(folder) / "samples.parquet", SampleTable(COLUMNS))
        file.write((Path(folder) / "samples.parquet").read_bytes())


def finish(run, **fields):
    """Write the results of a run with one record, and close it."""
    fill_samples(run)
    run.write_results(
        [ResultRecord(model="a", metric="m", value=0.5, n=1, **fields)], {}, ["a note"]
    )
    run.close()


def files_of(folder):
    """Return the content of each file by its path."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def cut_off_commit(run, name, data, removed=()):
    """Leave a directory as a kill after the rename of its commit does."""
    run.folder.write(f".next/{name}", data)
    content = {
        "moved": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        },
        "removed": list(removed),
    }
    run.folder.write("commit.json", json.dumps(content).encode())
