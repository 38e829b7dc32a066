"""A run that is killed while a server answers: what is paid is stored, in the run
directory alone and in the shared store alone.
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
from harness.errors import HarnessError
from harness.rundir.answers import AnswerFile
from harness.rundir.run_folder import RunFolder
from harness_models.wrappers.consensus import JUDGED
from tests.support.chat_server import captions
from tests.support.paid_server import Meter, kill_when

pytest.importorskip("httpx2")
EXAMPLES = 300
CONCURRENCY = 8


@pytest.fixture
def spec(server, tmp_path, monkeypatch) -> dict[str, object]:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    rows = [
        {"id": f"e{k}", "references": [f"say e{k}" + " now" * (k % 5)]}
        for k in range(EXAMPLES)
    ]

    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )

    model = {
        "base_url": server.url,
        "model": "m",
        "prompt": "say {id}.",
        "image": False,
        "concurrency": CONCURRENCY,
    }

    return {
        "task": "paid",
        "dataset": {"reader": "jsonl", "path": str(tmp_path / "data.jsonl")},
        "models": [{"openai": model}],
        "decoding": {"strategy": "sample", "candidates": 2},
        "metrics": ["bleu1"],
    }


def stored(folder: Path) -> int:
    """Number of answers in the files of a run directory."""
    return sum(
        len(AnswerFile(RunFolder(folder), f"candidates/{file.name}").read())
        for file in (folder / "candidates").glob("*.jsonl")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrapped", "moment", "shared"),
    [
        ("", EXAMPLES - 1, "none"),
        ("", EXAMPLES - 1, "servers"),
        ("", 100, "none"),
        ("", 17, "servers"),
        ("with-decoding", EXAMPLES - 1, "none"),
        ("mbr", EXAMPLES - 1, "none"),
    ],
)
def test_a_kill_loses_only_the_requests_under_way(
    spec, server, tmp_path, monkeypatch, wrapped, moment, shared
):
    """One example is slow; ``moment`` is the number of answers at the kill.

    With ``servers`` the run directory is lost too.
    """
    monkeypatch.setenv("HARNESS_ANSWERS", shared)
    if wrapped:
        settings = {
            "with-decoding": {"decoding": {"temperature": 0.5}},
            "mbr": {"distance": "bleu", "pool": 3},
        }[wrapped]
        spec["models"] = [{wrapped: {"model": spec["models"][0], **settings}}]

    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    folder = tmp_path / "run"
    meter = Meter(server, lambda body: captions(body, body["n"]), "say e3.")
    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        str(tmp_path / "spec.yaml"),
        "--output",
        str(folder),
    ]

    # The last answers are on their way to the store while the server counts them.
    kill_when(
        command,
        {},
        lambda: (
            meter.answered >= moment
            and (moment < EXAMPLES - 1 or stored(folder) >= moment)
        ),
    )

    time.sleep(0.2)  # requests that were sent arrive
    kept = stored(folder)
    assert kept >= meter.answered - CONCURRENCY and kept >= moment - CONCURRENCY

    if shared == "servers":
        shutil.rmtree(folder)
    sent = len(server.requests)
    meter.released.set()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    # A kill may fall between the answer's row in the directory and its copy for other
    # runs.
    assert len(server.requests) - sent <= EXAMPLES - kept + (shared == "servers")
    assert len(server.requests) <= EXAMPLES + CONCURRENCY

    monkeypatch.setenv("HARNESS_ANSWERS", "none")
    resumed, whole = (
        harness.evaluate(str(tmp_path / "spec.yaml"), output=output)
        for output in (folder, tmp_path / "whole")
    )
    assert resumed.samples.to_dict() == whole.samples.to_dict()
    assert [result["value"] for result in resumed.results] == [
        result["value"] for result in whole.results
    ]


@pytest.mark.slow
def test_a_kill_keeps_the_captions_that_a_judge_has_summarised(
    spec, server, tmp_path, monkeypatch
):
    """The slow example is one of the first 64 for which the model is asked: the others
    are summarised and stored meanwhile.
    """
    monkeypatch.setenv("HARNESS_ANSWERS", "none")
    judge = {"base_url": server.url, "model": "judge", "cache": False, "concurrency": 4}
    spec["models"] = [
        {"consensus": {"model": spec["models"][0], "judge": judge, "candidates": 2}}
    ]

    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    folder = tmp_path / "run"
    meter = Meter(server, lambda body: captions(body, body.get("n", 1)), "say e3.")
    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        str(tmp_path / "spec.yaml"),
        "--output",
        str(folder),
    ]

    kill_when(command, {}, lambda: stored(folder) >= JUDGED - 1)
    assert stored(folder) == JUDGED - 1
    meter.released.set()
    sent = sum(request["model"] == "m" for request in server.requests)
    assert sent == JUDGED
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert sum(request["model"] == "m" for request in server.requests) == EXAMPLES + 1

    resumed, whole = (
        harness.evaluate(str(tmp_path / "spec.yaml"), output=output)
        for output in (folder, tmp_path / "whole")
    )
    assert resumed.samples.to_dict() == whole.samples.to_dict()


def test_a_server_that_was_down_is_asked_again(spec, server, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_ANSWERS", "none")
    spec["models"][0]["openai"]["retries"] = 0
    server.script = [(500, {}, "{}")] * 3
    with pytest.raises(HarnessError, match="3 requests in a row have no answer"):
        harness.evaluate(spec, output=tmp_path / "run", limit=20)
    run = harness.evaluate(spec, output=tmp_path / "run", limit=20)
    assert not run.failed and len(server.requests) == 3 + 20
