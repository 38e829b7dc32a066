"""A checkout of capevalkit with one metric, and programs on PATH."""

from __future__ import annotations

import sys

import pytest

from harness.contracts import CaptionSet
from harness.registry import current
from harness.run.score import score_sets

METRIC = """
[metric]
name = "mine"
python = ">=3.10"
module = "capevalkit.metrics.mine"

[repository]
dir = "metrics/upstreams/mine"

[runner]
command = ["python", "score.py"]
"""


@pytest.fixture
def metric_file(tmp_path):
    """The file of the metric ``mine``."""
    checkout = tmp_path / "capevalkit"
    path = checkout / "metrics" / "mine" / "metric.toml"
    path.parent.mkdir(parents=True)
    path.write_text(METRIC)
    (checkout / "pyproject.toml").write_text('[project]\nname = "capevalkit"\n')
    return path


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Function that puts a Python program of a name on PATH; ``{python}`` in its text
    is the interpreter. The cache of the harness is empty.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))

    def write(name, text):
        program = folder / name
        program.write_text(text.format(python=sys.executable))
        program.chmod(0o755)

    return write


@pytest.fixture
def score():
    """Function that returns the scores of captions by a metric of the manifest, each
    beside the same reference.
    """

    def score_captions(name, captions, reference, media=None):
        metric = current().create("metrics", name)
        sets = [
            CaptionSet(str(i), (text,), (reference,), media=media)
            for i, text in enumerate(captions)
        ]
        (scored,) = score_sets([metric], sets)
        metric.client.close()
        return scored.stats[:, 0].tolist()

    return score_captions
