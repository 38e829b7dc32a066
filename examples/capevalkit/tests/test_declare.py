"""Metrics of a checkout of capevalkit as components, beside a stand-in for uv and
capevalkit that reads ``metric.toml`` and calls its runner as capevalkit does.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from caption_capevalkit.declare import main

from harness.errors import HarnessError
from harness.registry import current

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
CAPTIONS = ("a dog", "a cat", "one two")
REFERENCE = "a dog runs"
FAILURE = "capevalkit score --metric mine ended with"


@pytest.fixture
def runner(metric_file, install, tmp_path, monkeypatch):
    """The program of the metric ``mine``, beside the stand-in on PATH."""
    upstream = metric_file.parent.parent / "upstreams" / "mine"
    upstream.mkdir(parents=True)
    program = upstream / "score.py"
    program.write_text(SCORE.replace("OUTPUT", OWN))
    install("uv", UV)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return program


@pytest.fixture
def declare(metric_file, runner, capsys):
    """Function that writes the manifest of the working directory and returns its
    metrics.
    """

    def write_manifest(*options):
        main([str(metric_file), *options])
        text = capsys.readouterr().out
        Path("registry.yaml").write_text(text)
        return yaml.safe_load(text)["metrics"]

    return write_manifest


def test_scores_are_those_of_the_runner(declare, score):
    entry = declare("--needs", "candidate,references")["mine"]
    assert entry["needs"] == ["candidate", "references"]
    assert entry["higher_is_better"] is True
    assert entry["command"][-1] == "-"
    assert score("mine", CAPTIONS, REFERENCE) == [1.0, 0.5, 0.0]


def test_the_file_of_the_metric_is_part_of_the_signature(declare, metric_file):
    declare("--needs", "candidate,references", "--cost")
    metric = current().create("metrics", "mine")
    assert metric.spec.higher_is_better is False
    before = metric.program.digest()
    text = metric_file.read_text()
    metric_file.write_text(text.replace('"score.py"', '"score.py", "--fast"'))
    assert metric.program.digest() != before


def test_of_several_scores_one_is_named(declare, runner, score):
    both = '{"per_item": {key: {"A": s, "B": 2 * s} for key, s in scores.items()}}'
    runner.write_text(SCORE.replace("OUTPUT", both))
    declare("--needs", "candidate,references", "--score", "B")
    assert score("mine", CAPTIONS, REFERENCE) == [2.0, 1.0, 0.0]
    declare("--needs", "candidate,references")
    current.__globals__["_load"].cache_clear()
    with pytest.raises(HarnessError, match="KeyError: mine has no score '-'; .*: A, B"):
        score("mine", CAPTIONS, REFERENCE)


def test_a_runner_that_fails_is_one_line(declare, runner, score):
    declare("--needs", "candidate,references")
    runner.write_text("1 / 0\n")
    with pytest.raises(HarnessError, match=FAILURE):
        score("mine", CAPTIONS, REFERENCE)


def test_a_file_that_is_no_longer_one_is_one_line(declare, metric_file, score):
    declare("--needs", "candidate,references")
    metric_file.write_text("[metric]\n")
    with pytest.raises(HarnessError, match="refuses: .*metric.name is None; expected"):
        score("mine", CAPTIONS, REFERENCE)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "its file does not say what it needs: --needs candidate,references"),
        (("--needs", "image,captions"), "--needs has 'captions'; expected candidate, "),
    ],
)
def test_mistakes_are_one_line(declare, capsys, options, text):
    with pytest.raises(SystemExit) as caught:
        declare(*options)
    assert caught.value.code == 2
    assert text in capsys.readouterr().err.splitlines()[-1]


def test_the_mode_of_vela_is_given(declare, metric_file):
    text = metric_file.read_text()
    metric_file.write_text(text.replace('name = "mine"', 'name = "vela"'))
    entry = declare()["vela"]
    assert entry["command"][-3:] == ["VELA", "--mode", "desc"]
    assert entry["display"] == "VELA"
