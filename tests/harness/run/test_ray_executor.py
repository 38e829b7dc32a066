"""Runs on a real Ray cluster of two nodes: the same digits, killed workers, unreachable clusters."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

import harness.api
from harness.errors import HarnessError, InputError
from harness.run.execute import Options
from harness.run.executor import ExecutorOptions

ray = pytest.importorskip("ray", reason="the extra ray is not installed")
from harness.run.ray_executor import RayCluster  # noqa: E402

SAMPLE = str(Path(__file__).parents[3] / "tasks" / "sample" / "captions.json")
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


@pytest.fixture(scope="module")
def two_nodes():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
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
    stop, killed = threading.Event(), []

    def kill():
        while not stop.is_set() and len(killed) < 3:
            for entry in Path("/proc").iterdir():
                try:
                    scoring = entry.name.isdecimal() and (entry / "cmdline").read_bytes().startswith(b"ray::_score")
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
def test_actors_generate_with_local_code(two_nodes, project):
    spec = {"task": "words", "dataset": {"reader": "words"}, "models": ["echo"], "metrics": ["length"]}
    local = harness.evaluate(spec)
    assert run(two_nodes, project / "r", spec).samples.to_dict() == local.samples.to_dict()


def test_a_cluster_that_does_not_answer_is_one_line():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match=f"no Ray cluster answers at '127.0.0.1:{port}'"):
        RayCluster(ExecutorOptions("ray", 1, f"127.0.0.1:{port}"))
    with pytest.raises(HarnessError, match="--address is 'nowhere'; expected HOST:PORT"):
        RayCluster(ExecutorOptions("ray", 1, "nowhere"))
