"""Executors of shards: options, worker processes, a worker that is lost, metrics that cannot be sent."""

from __future__ import annotations

import os
import pickle

import pytest

import harness.api
from harness.errors import HarnessError
from harness.run.execute import Options
from harness.run.executor import ExecutorOptions, packed, unpacked
from harness.run.shard_scores import ShardScorer
from harness.spec.models import SignificanceSpec

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 9},
    "models": ["echo"],
    "metrics": ["length", {"trm": {"distance": "chars"}}],
    "significance": "exact",
}


def test_the_number_of_workers():
    assert ExecutorOptions().count == 1
    assert ExecutorOptions("process", 3).count == 3
    assert ExecutorOptions("process").count == os.cpu_count()


@pytest.mark.slow
def test_worker_processes_give_the_same_digits_with_local_code(project):
    local = harness.evaluate(SPEC, output="local")
    options = Options(ExecutorOptions("process", 2), shard_size=2)
    remote = harness.api.evaluate_all(SPEC, output=project / "remote", options=options)[0]
    assert [r.value for r in remote.records] == [r.value for r in local.records]
    assert [r.p_value for r in remote.records] == [r.p_value for r in local.records]
    assert remote.samples.to_dict() == local.samples.to_dict()


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_no_shard(project):
    code = (project / "mine_parts.py").read_text()
    kill = (
        "    def scores(self, batch, features, state):\n"
        "        if 'e4' in batch.ids and not os.path.exists('killed'):\n"
        "            open('killed', 'w').close()\n"
        "            import multiprocessing\n"
        "            if multiprocessing.parent_process() is not None:\n"
        "                os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (project / "mine_parts.py").write_text(code.replace("    def scores(self, batch, features, state):\n", kill))
    options = Options(ExecutorOptions("process", 2), shard_size=2)
    run = harness.api.evaluate_all(SPEC, output=project / "r", options=options)[0]
    assert (project / "killed").exists()
    assert run.records[0].n == 9


def test_a_metric_that_cannot_be_sent_is_named(project):
    from harness.run.features import FeatureCache
    from harness.run.metric_plan import MetricPlan

    class Local:
        pass

    metric = Local()
    plan = MetricPlan("mine", "mine", {}, metric)  # type: ignore[arg-type]
    scorer = ShardScorer([plan], FeatureCache(), SignificanceSpec(), 0, ["m"])
    with pytest.raises(HarnessError, match=r"cannot be sent to another process .*; use --executor local"):
        packed(scorer)


def test_a_scorer_arrives_without_texts(project):
    from harness.registry import current
    from harness.run.features import FeatureCache
    from harness.run.metric_plan import MetricPlan

    metric = current().create("metrics", "length", {})
    features = FeatureCache([("a",)])
    features.intern(["a dog"])
    features.keep("corpus", {"a": 1})
    arrived = unpacked(
        packed(ShardScorer([MetricPlan("l", "length", {}, metric)], features, SignificanceSpec(), 0, ["m"]))
    )
    assert (arrived.features.texts, arrived.features.memo("corpus", dict)) == ([], {"a": 1})
    with pytest.raises(HarnessError, match="reads the references of the whole task"):
        len(arrived.features.references)
    assert pickle.loads(pickle.dumps(HarnessError("m", "w"))).where == "w"
