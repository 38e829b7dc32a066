"""Projects with programs, and the folder of caches of a test."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MANIFEST = """
provider: mine
metrics:
  overlap:
    command: [PYTHON, overlap.py]
    needs: [candidate, references]
    higher_is_better: true
    bounds: [0, 1]
    parameters: {lower: false}
    summary: Share of words that occur in a reference
distances:
  letter-difference: {command: [node, letters.mjs], summary: letters that differ}
embeddings:
  letter-counts: {command: [node, letters.mjs], summary: counts of letters}
adapters:
  template: {command: [./template.sh], summary: captions from a template}
"""
SPEC = """
task: programs
dataset: {reader: jsonl, path: refs.jsonl}
models: [{template: {label: template}}]
decoding: {candidates: 3}
metrics: [METRICS]
significance: {method: exact}
bootstrap: {samples: 100}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Answers of no other test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    monkeypatch.delenv("HARNESS_ALLOW_CODE", raising=False)
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with the example programs, a manifest that declares them, references,
    and a spec, in use.
    """
    folder = tmp_path / "project"
    shutil.copytree(
        ROOT / "examples" / "programs",
        folder,
        ignore=shutil.ignore_patterns("*.md", "tests"),
    )
    manifest = MANIFEST.replace("PYTHON", json.dumps(sys.executable))
    (folder / "registry.yaml").write_text(manifest)
    with open(folder / "refs.jsonl", "w") as file:
        for i in range(40):
            texts = [
                f"a photo of dog {i}",
                f"a dog {i * 7 % 11} in a room",
                "a picture",
            ]
            file.write(json.dumps({"id": f"dog {i}", "references": texts}) + "\n")
    metrics = ["overlap"]
    if shutil.which("node"):
        metrics += [
            "{trm: {distance: letter-difference}}",
            "{mmd: {embedding: letter-counts}}",
        ]
    (folder / "spec.yaml").write_text(SPEC.replace("METRICS", ", ".join(metrics)))
    monkeypatch.chdir(folder)
    return folder
