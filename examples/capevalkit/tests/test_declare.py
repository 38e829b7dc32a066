"""Metrics of a checkout of capevalkit as components, beside a stand-in for uv and
capevalkit that reads ``metric.toml`` and calls its runner as capevalkit does.
"""

from __future__ import annotations

import sys

import pytest
import yaml
from caption_capevalkit.declare import main

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.registry import current
from harness.run.score import score_sets

UV = """#!{python}
import subprocess, sys, tomllib
run, option, root, program, verb, flag, name, *options = sys.argv[1:]
words = ["run", "--project", "capevalkit", "score", "--metric"]
assert [run, option, program, verb, flag] == words, sys.argv
options = [word for word in options if word != "--"]
with open(root + "/metrics/" + name + "/metric.toml", "rb") as file:
    metric = tomllib.load(file)
print("Preparing metric runtime for", name)
sys.exit(subprocess.call(
    ["{python}", *metric["runner"]["command"][1:], *options],
    cwd=root + "/" + metric["repository"]["dir"],
))
"""
SCORE = """
import argparse, json
parser = argparse.ArgumentParser()
parser.add_argument("--predictions", required=True)
parser.add_argument("--references", required=True)
parser.add_argument("--output", required=True)
given = parser.parse_args()
references = {row["id"]: row["references"] for row in
              map(json.loads, open(given.references))}
scores = {}
for row in map(json.loads, open(given.predictions)):
    words = row["caption"].split()
    known = " ".join(references[row["id"]]).split()
    scores[row["id"]] = sum(word in known for word in words) / len(words)
json.dump(OUTPUT, open(given.output, "w"))
"""
OWN = '{"Mine": {"score": 0.5, "per_item": scores}}'
FILE = """
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
def checkout(tmp_path, monkeypatch):
    """A checkout of capevalkit with one metric, and the stand-in on PATH."""
    root = tmp_path / "capevalkit"
    for folder in ("metrics/mine", "metrics/upstreams/mine"):
        (root / folder).mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "capevalkit"\n')
    (root / "metrics" / "mine" / "metric.toml").write_text(FILE)
    program = root / "metrics" / "upstreams" / "mine" / "score.py"
    program.write_text(SCORE.replace("OUTPUT", OWN))
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    uv.write_text(UV.format(python=sys.executable))
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return root


def declare(checkout, capsys, *options):
    """Write the manifest of the working directory and return its metrics."""
    file = checkout / "metrics" / "mine" / "metric.toml"
    main([str(file), *options])
    text = capsys.readouterr().out
    with open("registry.yaml", "w") as manifest:
        manifest.write(text)
    return yaml.safe_load(text)["metrics"]


def score():
    metric = current().create("metrics", "mine")
    sets = [
        CaptionSet(str(i), (text,), ("a dog runs",))
        for i, text in enumerate(["a dog", "a cat", "one two"])
    ]
    (scored,) = score_sets([metric], sets)
    metric.client.close()
    return scored.stats[:, 0].tolist()


def test_scores_are_those_of_the_runner(checkout, capsys):
    entry = declare(checkout, capsys, "--needs", "candidate,references")["mine"]
    assert entry["needs"] == ["candidate", "references"]
    assert entry["higher_is_better"] is True
    assert entry["command"][-1] == "-"
    assert score() == [1.0, 0.5, 0.0]


def test_the_file_of_the_metric_is_part_of_the_signature(checkout, capsys):
    declare(checkout, capsys, "--needs", "candidate,references", "--cost")
    metric = current().create("metrics", "mine")
    assert metric.spec.higher_is_better is False
    before = metric.program.digest()
    file = checkout / "metrics" / "mine" / "metric.toml"
    file.write_text(file.read_text().replace('"score.py"', '"score.py", "--fast"'))
    assert metric.program.digest() != before


def test_of_several_scores_one_is_named(checkout, capsys):
    program = checkout / "metrics" / "upstreams" / "mine" / "score.py"
    both = '{"per_item": {key: {"A": s, "B": 2 * s} for key, s in scores.items()}}'
    program.write_text(SCORE.replace("OUTPUT", both))
    declare(checkout, capsys, "--needs", "candidate,references", "--score", "B")
    assert score() == [2.0, 1.0, 0.0]
    declare(checkout, capsys, "--needs", "candidate,references")
    current.__globals__["_load"].cache_clear()
    with pytest.raises(HarnessError, match="KeyError: mine has no score '-'; .*: A, B"):
        score()


def test_a_runner_that_fails_is_one_line(checkout, capsys):
    declare(checkout, capsys, "--needs", "candidate,references")
    (checkout / "metrics" / "upstreams" / "mine" / "score.py").write_text("1 / 0\n")
    with pytest.raises(HarnessError, match="capevalkit score --metric mine ended with"):
        score()


def test_a_file_that_is_no_longer_one_is_one_line(checkout, capsys):
    declare(checkout, capsys, "--needs", "candidate,references")
    (checkout / "metrics" / "mine" / "metric.toml").write_text("[metric]\n")
    with pytest.raises(HarnessError, match="refuses: .*metric.name is None; expected"):
        score()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "its file does not say what it needs: --needs candidate,references"),
        (("--needs", "image,captions"), "--needs has 'captions'; expected candidate, "),
    ],
)
def test_mistakes_are_one_line(checkout, capsys, options, text):
    with pytest.raises(SystemExit) as caught:
        declare(checkout, capsys, *options)
    assert caught.value.code == 2
    assert text in capsys.readouterr().err.splitlines()[-1]


def test_the_mode_of_vela_is_given(checkout, capsys):
    file = checkout / "metrics" / "mine" / "metric.toml"
    file.write_text(FILE.replace('name = "mine"', 'name = "vela"'))
    entry = declare(checkout, capsys)["vela"]
    assert entry["command"][-3:] == ["VELA", "--mode", "desc"]
    assert entry["display"] == "VELA"
