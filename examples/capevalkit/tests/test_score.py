"""The ten metrics beside a stand-in for capevalkit, which speaks its interface."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml
from caption_capevalkit.metric_toml import (
    SCORES,
    WITHOUT_IMAGES,
    WITHOUT_REFERENCES,
)

PACKAGE = Path(__file__).parent.parent / "caption_capevalkit"
STAND_IN = """#!{python}
import argparse, json
main = argparse.ArgumentParser()
parser = main.add_subparsers().add_parser("score")
for name in ("metric", "predictions", "output"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--references")
parser.add_argument("args", nargs=argparse.REMAINDER)
given = main.parse_args()
print("Preparing metric runtime ...")
rows = [json.loads(line) for line in open(given.predictions)]
scores = {{row["id"]: len(row["caption"].split()) / 10 for row in rows}}
mean = sum(scores.values()) / len(scores)
if given.metric.startswith(("clipscore", "refclipscore")):
    both = ("CLIPScore", "RefCLIPScore")
    per_item = {{key: dict.fromkeys(both, s) for key, s in scores.items()}}
    output = {{"CLIPScore": mean, "RefCLIPScore": mean, "per_item": per_item}}
else:
    names = {{"polos": "Polos", "vela": "VELA", "jaspice": "JaSPICE"}}
    name = names.get(given.metric, given.metric)
    if given.metric == "vela":
        assert given.args == ["--", "--mode", "desc"], given.args
    if given.metric in ("polos", "vela", "jaspice"):
        assert given.references
    output = {{name: {{"score": mean, "per_item": scores}}}}
json.dump(output, open(given.output, "w"))
"""


@pytest.fixture
def registry(install, tmp_path, monkeypatch):
    """The manifest without the environment, and the stand-in on PATH."""
    install("capevalkit", STAND_IN)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    for file in ("score.py", "metric_toml.py", "__init__.py"):
        (tmp_path / file).write_text((PACKAGE / file).read_text())
    text = (PACKAGE / "registry.yaml").read_text()
    text = re.sub(r"(?m)^    environment: .*\n", "", text)
    (tmp_path / "registry.yaml").write_text(
        text.replace("provider: capevalkit", "provider: tried")
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_manifest_declares_ten_metrics_as_capevalkit_has_them():
    metrics = yaml.safe_load((PACKAGE / "registry.yaml").read_text())["metrics"]
    assert len(metrics) == 10
    for entry in metrics.values():
        _, _, name, key, *_ = entry["command"]
        assert SCORES[name] == key
        assert ("references" in entry["needs"]) == (name not in WITHOUT_REFERENCES)
        assert ("image" in entry["needs"]) == (name not in WITHOUT_IMAGES)


@pytest.mark.parametrize("name", ["polos", "vela", "jaspice", "ref-clipscore-l14"])
def test_scores_are_those_of_capevalkit(registry, score, name):
    (registry / "a.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    captions = ["a dog", "a dog runs", "one"]
    scores = score(f"tried/{name}", captions, "a dog", media="a.jpg")
    assert scores == [0.2, 0.3, 0.1]
