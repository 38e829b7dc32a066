"""Projects with programs, and the folder of caches of a test."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.support.uv_stand_in import FILES, UV

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


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """A stand-in for uv that logs its arguments."""
    folder = tmp_path / "uv"
    folder.mkdir()
    log = folder / "log"
    program = folder / "uv"
    program.write_text(UV.format(python=sys.executable, log=str(log), files=FILES))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return log


@pytest.fixture
def declare(project):
    """Returns a function that gives the metric of the project an environment."""

    def declare_environment(environment: str) -> None:
        text = (project / "registry.yaml").read_text()
        lines = text.replace(json.dumps(sys.executable), "python").splitlines()
        position = next(i for i, line in enumerate(lines) if "parameters:" in line)
        lines.insert(position, f"    environment: {environment}")
        (project / "registry.yaml").write_text("\n".join(lines) + "\n")

    return declare_environment
