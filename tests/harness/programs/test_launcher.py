"""Programs that end with the process that starts them, within their memory."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.programs import launcher
from tests.support.processes import running
from tests.support.program_clients import FAULTY, TEXTS, client_of, scores

LAUNCHER = [sys.executable, "-I", "-S", launcher.__file__]


def launch(*words):
    return subprocess.run(
        [*LAUNCHER, *map(str, words)], capture_output=True, text=True, check=False
    )


def test_a_program_replaces_the_launcher():
    done = launch(os.getpid(), 0, sys.executable, "-c", "print('answer')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "answer\n", "")


def test_a_file_that_is_no_program_is_one_line(tmp_path):
    file = tmp_path / "score"
    file.write_bytes(b"\x00\x01")
    file.chmod(0o755)
    done = launch(0, 0, file)
    assert done.returncode == 1
    assert done.stderr == f"{file}: Exec format error\n"


def test_a_signal_that_python_ignores_is_not_ignored_in_the_program():
    done = launch(0, 0, "/bin/sh", "-c", "kill -PIPE $$; echo survived")
    assert (done.returncode, done.stdout) == (-signal.SIGPIPE, "")


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such bond")
def test_a_program_whose_parent_has_ended_is_not_started():
    done = launch(1, 0, sys.executable, "-c", "print('answer')")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such limit")
def test_a_program_that_exceeds_its_memory_names_the_item_and_the_limit():
    with pytest.raises(HarnessError) as caught:
        scores(client_of("memory", memory_gb=2))
    assert str(caught.value) == (
        "metric 'faulty': the program ended twice at text 2 (exit code 1: MemoryError; "
        "it may use 2 GB (limits: memory_gb))"
    )
    assert not running("faulty_program.py")


def test_a_program_within_its_memory_is_not_touched():
    client = client_of("", memory_gb=2)
    assert scores(client).tolist() == [len(text) / 100 for text in TEXTS]
    client.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such signal")
def test_a_program_ends_with_a_harness_that_is_killed():
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]);"
        "from tests.support.program_clients import client_of;"
        "client = client_of('ignores-end'); client.greeting;"
        "print(client._exchange._workers[0].child.process.pid, flush=True);"
        "time.sleep(60)"
    )
    root = str(FAULTY.parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", code, root], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        # An orphan that nobody has waited for has ended too.
        if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
            break
        time.sleep(0.02)
    else:
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such bond")
@pytest.mark.parametrize("options", [[], ["--executor", "process", "--workers", "2"]])
def test_a_run_that_is_killed_leaves_no_process(options, project):
    shutil.copy(FAULTY, project / "stopping.py")
    (project / "registry.yaml").write_text(
        "provider: mine\n"
        f"metrics: {{stopping: {{command: [{sys.executable}, stopping.py, stops],"
        " higher_is_better: null, needs: [candidate]}}\n"
    )
    (project / "spec.yaml").write_text(
        "{task: t, dataset: {reader: jsonl, path: refs.jsonl}, metrics: [stopping],"
        " models: [{human: {held_out: 1}}]}"
    )
    command = ["run", "spec.yaml", "--output", "run", "--shard-size", "10", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    program = str(project / "stopping.py")
    expected = 3 if options else 1
    wait_until(lambda: len(running(program, descendants=True)) >= expected)
    process.kill()
    process.wait()
    wait_until(lambda: not running(program, descendants=True))


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
