"""Runs on a real Ray cluster of two nodes: the same digits, killed workers,
unreachable clusters.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import harness.api
import harness_tasks
from harness.cli.main import main
from harness.errors import HarnessError, InputError
from harness.run.execution import Options
from harness.run.executor import ExecutorOptions

ray = pytest.importorskip("ray", reason="Ray is not installed")
from harness.executors.ray_cluster import RayCluster  # noqa: E402

pytestmark = pytest.mark.slow
SAMPLE = str(Path(harness_tasks.__file__).parent / "sample" / "captions.json")
SPEC = {
    "task": "sample",
    "dataset": {"reader": "coco", "path": SAMPLE},
    "references": 4,
    "limit": 30,
    "models": [{"human": {"held_out": 2}}],
    "metrics": ["bleu4", "cider", {"trm": {"distance": "cider"}}],
    "significance": "exact",
    "bootstrap": {"samples": 50},
}

ECHO = '''
from harness.contracts import Generation


class Echo:
    """Repeats the first reference."""

    def fingerprint(self):
        return "echo"

    def generate(self, examples, decoding, seeds):
        for example in examples:
            yield Generation((example.references[0],))
'''


@pytest.fixture(scope="module")
def two_nodes():
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1)
    yield str(cluster.address)
    cluster.shutdown()


def run(address, output, spec=SPEC, size=5):
    options = Options(ExecutorOptions("ray", 2, address), shard_size=size)
    return harness.api.evaluate_all(spec, output=output, options=options)[0]


@pytest.mark.slow
def test_two_nodes_give_the_digits_of_one_process(two_nodes, tmp_path):
    local = harness.evaluate(SPEC, output=tmp_path / "local")
    remote = run(two_nodes, tmp_path / "remote")
    assert [(r.value, r.ci95, r.p_value) for r in remote.records] == [
        (r.value, r.ci95, r.p_value) for r in local.records
    ]
    assert remote.samples.to_dict() == local.samples.to_dict()


@pytest.mark.slow
def test_a_killed_worker_loses_no_shard(two_nodes, tmp_path):
    local = harness.evaluate(SPEC, output=tmp_path / "local")
    stop = threading.Event()
    killed = []

    def kill():
        while not stop.is_set() and len(killed) < 3:
            for entry in Path("/proc").iterdir():
                try:
                    scoring = entry.name.isdecimal() and (
                        entry / "cmdline"
                    ).read_bytes().startswith(b"ray::_score")
                except OSError:
                    continue
                if scoring and int(entry.name) not in killed:
                    os.kill(int(entry.name), signal.SIGKILL)
                    killed.append(int(entry.name))
                    break
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        remote = run(two_nodes, tmp_path / "remote", size=1)
    finally:
        stop.set()
        thread.join()
    assert killed
    assert remote.samples.to_dict() == local.samples.to_dict()


@pytest.mark.slow
def test_actors_generate_with_local_code(two_nodes, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(ECHO)
    (tmp_path / "registry.yaml").write_text(
        'provider: own\nadapters: {echo: {import: "own:Echo", summary: repeats}}\n'
    )
    monkeypatch.chdir(tmp_path)
    spec = {**SPEC, "models": ["echo"]}
    local = harness.evaluate(spec)
    assert (
        run(two_nodes, tmp_path / "r", spec).samples.to_dict()
        == local.samples.to_dict()
    )


@pytest.fixture
def started(tmp_path):
    """A cluster that ``ray start`` has started, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "ray.scripts.scripts",
        "start",
        "--head",
        "--block",
        f"--port={port}",
        "--num-cpus=2",
    ]
    # short: sockets have at most 107 bytes
    log = tmp_path / "ray.log"
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--include-dashboard=false", f"--temp-dir={folder}"],
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "RAY_AUTH_MODE": "disabled"},
        )
    while "Ray runtime started" not in log.read_text():
        assert process.poll() is None, log.read_text()
        time.sleep(0.2)
    yield re.findall(r"--address='([^']+)'", log.read_text())[0], process
    kill_all(process)
    shutil.rmtree(folder, ignore_errors=True)


def kill_all(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_a_cluster_that_loses_its_head_is_one_line_and_keeps_what_is_finished(
    started, tmp_path
):
    address, process = started
    spec = tmp_path / "spec.json"
    spec.write_text(
        json.dumps(
            {
                **SPEC,
                "significance": "none",
                "limit": None,
                "models": [{"human": {"held_out": 2}}],
            }
        )
    )
    command = [sys.executable, "-m", "harness", "run", str(spec)]
    remote = [
        *command,
        "--executor",
        "ray",
        "--workers",
        "2",
        "--address",
        address,
        "--shard-size",
        "1",
    ]
    with subprocess.Popen(
        [*remote, "--output", str(tmp_path / "r")], stderr=subprocess.PIPE, text=True
    ) as run:
        while not (tmp_path / "r" / "scores").is_dir():
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.05)
        kill_all(process)
        _, error = run.communicate(timeout=90)
    assert run.returncode == 2
    assert (
        f"the Ray cluster at {address} does not answer any more; "
        "finished shards are kept" in error
    )
    assert "Traceback" not in error
    for out in ("r", "local"):
        subprocess.run(
            [*command, "--output", str(tmp_path / out)], check=True, capture_output=True
        )
    identical = [
        sys.executable,
        "-m",
        "harness",
        "compare",
        str(tmp_path / "r"),
        str(tmp_path / "local"),
        "--identical",
    ]
    assert subprocess.run(identical, capture_output=True).returncode == 0


def test_a_cluster_that_does_not_answer_is_one_line():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        InputError, match=f"no Ray cluster answers at '127.0.0.1:{port}'"
    ):
        RayCluster(ExecutorOptions("ray", 1, f"127.0.0.1:{port}"))
    with pytest.raises(HarnessError, match="address is 'nowhere'; expected HOST:PORT"):
        RayCluster(ExecutorOptions("ray", 1, "nowhere"))


def test_a_cluster_that_does_not_start_is_one_line(tmp_path, monkeypatch, capsys):
    def init(**settings):
        raise Exception(
            "The current node timed out during startup.\n"
            "This could happen because some of the raylet failed to start."
        )

    monkeypatch.setattr(ray, "init", init)
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    assert (
        main(
            [
                "run",
                str(tmp_path / "spec.json"),
                "--output",
                str(tmp_path / "r"),
                "--executor",
                "ray",
                "--workers",
                "2",
            ]
        )
        == 2
    )
    (line,) = capsys.readouterr().err.strip().splitlines()[-1:]
    assert line.startswith(
        "harness: Ray does not start on this machine: This could happen because"
    )
    assert line.endswith("; run again, or with --executor process")
