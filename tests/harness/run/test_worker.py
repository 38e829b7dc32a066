"""Worker processes: what is sent to them, and what they load."""

from __future__ import annotations

import io
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError
from harness.files.component_lines import keep_lines, record_line
from harness.run import worker
from harness.run.shard_scores import Job, ShardScorer
from harness.run.worker import (
    LocalCode,
    NamingPickler,
    job_result,
    pack_scorer,
    unpack_scorer,
)
from harness.spec.models import SignificanceSpec


def test_a_worker_that_cannot_load_the_metrics_says_so_at_its_first_job(monkeypatch):
    def fails(payload):
        raise HarnessError("no such file")

    monkeypatch.setattr(worker, "unpack_scorer", fails)
    monkeypatch.setattr(worker, "_worker", None)
    worker.start_worker(b"")
    with pytest.raises(
        HarnessError, match="cannot load the metrics of the run: no such file"
    ):
        worker.score_job(Job(0, [["job 0"]], []))


def test_a_worker_scores_with_what_it_was_sent(monkeypatch):
    monkeypatch.setattr(
        worker,
        "unpack_scorer",
        lambda payload: SimpleNamespace(score=lambda job: (payload, job.sets)),
    )
    monkeypatch.setattr(worker, "_worker", None)
    worker.start_worker(b"scorer")
    result = worker.score_job(Job(0, [["job 0"]], []))
    assert result.unpack() == (b"scorer", [["job 0"]])


@pytest.mark.parametrize("fails", [False, True])
def test_lines_of_components_come_with_the_scores_or_the_error(fails):
    def score(job):
        record_line("metric 'mine'", f"scoring {job.index}")
        if fails:
            raise HarnessError("no such image")
        return "scores"

    scorer = SimpleNamespace(score=score)
    result = pickle.loads(pickle.dumps(job_result(scorer, Job(7, [], []))))
    lines = []
    with keep_lines(lambda *line: lines.append(line)):
        if fails:
            with pytest.raises(HarnessError, match="no such image"):
                result.unpack()
        else:
            assert result.unpack() == "scores"
    assert lines == [("metric 'mine'", "scoring 7")]


def test_modules_of_local_registries_are_named(project):
    from harness.registry import current

    current().create("metrics", "length", {})
    code = LocalCode.of_modules(["mine_parts", "json"])
    assert [Path(path).parent for path in code.manifests] == [project]
    assert code.modules == ((str(project), "mine_parts"),)


def test_a_module_from_elsewhere_is_not_local_though_the_folder_has_its_name(project):
    (project / "json.py").touch()
    assert LocalCode.of_modules(["json"]).modules == ()


def test_another_process_imports_the_local_modules(project):
    LocalCode((str(project / "registry.yaml"),), ((str(project), "mine_parts"),)).load()
    assert sys.modules["mine_parts"].__file__ == str(project / "mine_parts.py")


def test_the_modules_of_sent_objects_are_noted(project):
    from harness.registry import current

    pickler = NamingPickler(io.BytesIO())
    pickler.dump([current().create("metrics", "length", {})])
    assert "mine_parts" in pickler.modules and "pytest" not in pickler.modules


def test_a_metric_that_cannot_be_sent_is_named(project):
    from harness.run.features import FeatureCache
    from harness.run.metric_plan import MetricPlan

    class Local:
        pass

    metric = Local()
    plan = MetricPlan("mine", "mine", {}, metric)  # type: ignore[arg-type]
    scorer = ShardScorer([plan], FeatureCache(), SignificanceSpec(), 0, ["m"])
    with pytest.raises(
        HarnessError,
        match=r"cannot be sent to another process .*; use executor='local'",
    ):
        pack_scorer(scorer)


def test_a_scorer_arrives_without_texts(project):
    from harness.registry import current
    from harness.run.features import FeatureCache
    from harness.run.metric_plan import MetricPlan

    metric = current().create("metrics", "length", {})
    features = FeatureCache([("a",)])
    features.intern(["a dog"])
    features.keep("corpus", {"a": 1})
    arrived = unpack_scorer(
        pack_scorer(
            ShardScorer(
                [MetricPlan("l", "length", {}, metric)],
                features,
                SignificanceSpec(),
                0,
                ["m"],
            )
        )
    )
    assert (arrived.features.texts, arrived.features.memo("corpus", dict)) == (
        [],
        {"a": 1},
    )
    with pytest.raises(HarnessError, match="reads the references of the whole task"):
        len(arrived.features.references)
    assert pickle.loads(pickle.dumps(HarnessError("m", "w"))).where == "w"
