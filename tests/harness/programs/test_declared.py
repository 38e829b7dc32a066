"""Components of programs: declared in a manifest, typed in a command, named by a
spec.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness.errors import HarnessError, InputError
from harness.registry import current
from harness.registry.manifest_schema import parse_manifest
from tests.support.processes import running

needs_jq = pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="no Node")
RUN = "{sys.executable} overlap.py"


def test_a_metric_of_a_manifest_has_what_the_manifest_declares(project):
    metric = current().create("metrics", "overlap", {"lower": True})
    assert metric.spec.higher_is_better is True
    assert metric.spec.bounds == (0.0, 1.0)
    assert metric.spec.needs == {"references"}
    # It is not started for that.
    assert metric.client._exchange is None
    assert metric.signature().startswith("overlap|overlap:1.0|program:")
    assert metric.signature().endswith("|lower:true")


def test_scores_intervals_and_p_values_are_those_of_the_function(project):
    scores = harness.score(
        [["A dog runs"], ["a cat", "a bird"]],
        [["a dog is running"], ["the cat"]],
        ["overlap"],
    )
    assert scores["overlap"].value == pytest.approx((1 / 3 + 1 / 4) / 2)


FAULTS = {
    "{command: overlap.py}": "command is 'overlap.py'; expected a list of the program",
    "{command: []}": "command is []; expected a list",
    "{command: [a], import: 'a:b'}": "has 'command' and 'import'; expected one",
    "{files: [a]}": "'files' belongs to a component with 'command'",
    "{command: [a], limits: {bach: 2}}": "limits has 'bach'; did you mean 'batch'?",
    "{command: [a], limits: {batch: 0}}": "limits.batch is 0; expected a whole number",
    "{command: [a], bounds: [1, 0]}": "bounds is [1, 0]; expected [smallest, largest]",
    "{command: [a], needs: [candidat]}": "needs has 'candidat'; did you mean "
    "'candidate'?",
    "{command: [a], needs: [references]}": "needs is references; expected 'candidate'",
    "{command: [a], environment: {pyton: '3.8'}}": "environment has no key 'pyton'; "
    "did you mean 'python'?",
    "{command: [a], environment: {python: 3.10}}": 'expected a text: python: "3.8"',
    "{command: [no-such-program-x]}": "metric 'x': there is no program "
    "'no-such-program-x' on PATH",
    "{command: [./overlap.p]}": "did you mean 'overlap.py'?",
    "{command: [./refs.jsonl]}": "is not executable: chmod +x",
}


@pytest.mark.parametrize("entry", FAULTS)
def test_a_wrong_declaration_is_one_line(entry, project):
    (project / "registry.yaml").write_text(f"provider: mine\nmetrics: {{x: {entry}}}\n")
    with pytest.raises(HarnessError) as caught:
        parse_manifest(
            project / "registry.yaml",
            __import__("yaml").safe_load((project / "registry.yaml").read_text()),
            "mine",
            local=True,
        )
        current.__globals__["_load"].cache_clear()
        harness.score(["a"], [["a"]], ["x"])
    assert FAULTS[entry] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_typed_command_is_the_users_own(project, capsys):
    (project / "c.json").write_text('{"dog 1": "a photo of dog 1"}')
    run = f"command:run='{sys.executable} overlap.py'"
    code = main(
        ["score", "c.json", "--references", "refs.jsonl", "-m", run, "--limit", "2"]
    )
    assert code == 2  # of one of two examples there is no caption
    code = main(
        ["score", "c.json", "--references", "refs.jsonl", "-m", run, "--allow-missing"]
    )
    assert code in (0, 1)
    assert "overlap" in capsys.readouterr().out


def test_a_program_ends_with_the_run_though_somebody_holds_the_run(project):
    spec = {
        "task": "mine",
        "dataset": {"reader": "jsonl", "path": "refs.jsonl"},
        "models": [{"human": {"held_out": 1}}],
        "metrics": ["overlap"],
        "bootstrap": {"samples": 20},
    }
    run = harness.evaluate(spec, output="run")
    assert running("overlap.py") == []
    harness.score(["a dog"], [["a dog"]], ["overlap"])
    assert running("overlap.py") == []
    assert run.records

    # The program of an instance is the caller's, and serves the next call too.
    metric = current().create("metrics", "overlap")
    for text in ("one", "two"):
        harness.score([text], [[text]], [metric])
    (process,) = metric.client.children()
    assert running("overlap.py") == [process.process.pid]
    metric.client.close()
    assert running("overlap.py") == []


def test_a_spec_starts_no_program_without_permission(project, monkeypatch, tmp_path):
    mark = tmp_path / "started"
    spec = {
        "task": "theirs",
        "dataset": {"reader": "jsonl", "path": "refs.jsonl"},
        "models": [{"human": {"held_out": 1}}],
        "metrics": [{"command": {"run": f"touch {mark}"}}],
    }
    with pytest.raises(InputError, match="HARNESS_ALLOW_CODE=1"):
        harness.evaluate(spec)
    nested = {"trm": {"distance": {"command": {"run": f"touch {mark}"}}}}
    with pytest.raises(InputError, match="HARNESS_ALLOW_CODE=1"):
        harness.evaluate({**spec, "metrics": [nested]})
    adapter = [{"command": {"run": f"touch {mark}"}}]
    with pytest.raises(InputError, match="HARNESS_ALLOW_CODE=1"):
        harness.evaluate({**spec, "models": adapter, "metrics": ["bleu"]})
    assert not mark.exists()
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    with pytest.raises(HarnessError, match="ended before its greeting"):
        harness.evaluate(spec)
    assert mark.exists()


def test_a_run_is_read_where_its_program_may_not_be_started(project, monkeypatch):
    monkeypatch.setenv("HARNESS_ALLOW_CODE", "1")
    spec = {
        "task": "theirs",
        "dataset": {"reader": "jsonl", "path": "refs.jsonl"},
        "models": [{"human": {"held_out": 1}}, {"shuffled": {"n": 1}}],
        "metrics": [{"command": {"run": f"{sys.executable} overlap.py"}}],
        "bootstrap": {"samples": 20},
    }
    harness.evaluate(spec, output="run")
    monkeypatch.delenv("HARNESS_ALLOW_CODE")
    (project / "overlap.py").unlink()
    text = str(harness.compare("run"))
    assert "overlap" in text
    assert "human - shuffled" in text or "human" in text


def test_rescore_takes_a_typed_command_beside_those_of_the_run(project):
    spec = {
        "task": "mine",
        "dataset": {"reader": "jsonl", "path": "refs.jsonl"},
        "models": [{"human": {"held_out": 1}}],
        "metrics": ["bleu"],
        "bootstrap": {"samples": 20},
    }
    harness.evaluate(spec, output="run")
    run = harness.rescore("run", [f"command:run='{sys.executable} overlap.py'"])
    assert "command(overlap)" in {record.metric for record in run.records}


@needs_jq
@needs_node
@pytest.mark.slow
def test_a_run_that_is_killed_ten_times_has_the_digits_of_an_undisturbed_one(
    project, monkeypatch
):
    """An adapter, a metric, a distance and an embedding as programs."""
    command = [sys.executable, "-m", "harness", "run", "spec.yaml", "--output"]

    def run(output: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*command, output], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    process = run("whole")
    wait_for_starts(Path("whole"), 1, process)
    started = time.monotonic()
    assert process.wait() == 0
    seconds = time.monotonic() - started

    monkeypatch.setenv("HARNESS_CACHE", str(project / "other-cache"))
    killed = 0
    for place in range(10):
        process = run("disturbed")
        # From here on the run computes; what is done is not computed again.
        wait_for_starts(Path("disturbed"), place + 1, process)
        time.sleep(seconds * place / 20)
        process.kill()
        killed += process.wait() != 0
    assert killed >= 5
    assert run("disturbed").wait() == 0
    whole, disturbed = (
        json.loads(Path(name, "results.json").read_text())
        for name in ("whole", "disturbed")
    )
    for name in ("seconds", "timings", "checksum"):
        for results in (whole, disturbed):
            _drop(results, name)
    assert whole == disturbed


def wait_for_starts(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a run has been started so often, or has ended."""
    log = folder / "log.jsonl"
    while process.poll() is None:
        if log.exists() and log.read_text().count('"started"') >= count:
            return
        time.sleep(0.005)


def _drop(value: object, name: str) -> None:
    """Remove a key wherever it is."""
    if isinstance(value, dict):
        value.pop(name, None)
    items = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list)):
        for item in items:
            _drop(item, name)


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ([], 40),
        (["--shard-size", "10"], 10),
        pytest.param(
            ["--shard-size", "10", "--executor", "process", "--workers", "2"],
            10,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_standard_error_goes_into_the_log_of_the_run(project, options, size):
    program = project / "overlap.py"
    mark = '        if "id" not in request:'
    text = program.read_text()
    assert mark in text
    said = "        print('batch of', request.get('size'), file=sys.stderr)\n"
    program.write_text(text.replace(mark, said + mark))
    spec = {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": "refs.jsonl"},
        "models": [{"human": {"label": "people"}}],
        "metrics": ["overlap"],
    }
    (project / "spec.yaml").write_text(json.dumps(spec))
    assert main(["run", "spec.yaml", "--output", "run", *options]) == 0
    events = map(json.loads, (project / "run" / "log.jsonl").read_text().splitlines())
    lines = [
        (event["component"], event["text"])
        for event in events
        if event["event"] == "component"
    ]
    assert lines.count(("metric 'overlap'", f"batch of {size}")) == 40 // size
