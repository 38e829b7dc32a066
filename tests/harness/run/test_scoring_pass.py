"""Runs in shards: the digits of one shard, lost files, extended runs."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import harness.api
from harness.cli.main import main
from harness.run import corpus_fit, example_store, scoring_pass
from harness.run.corpus_fit import CorpusFit
from harness.run.estimates import Watch
from harness.run.example_store import ExampleStore
from harness.run.execution import Options
from harness.run.executor import ExecutorOptions, LocalExecutor, ProcessExecutor
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.run.scored import Scored
from harness.run.scoring_pass import ScoringPass
from harness.testing.metric_subject import same_rows
from tests.support.growing import write_task
from tests.support.small_corpus import EXAMPLES, Counting, plans

SAMPLE = str(
    Path(__file__).parents[3] / "tasks" / "harness_tasks" / "sample" / "captions.json"
)
SPEC = {
    "task": "sample",
    "dataset": {"reader": "coco", "path": SAMPLE},
    "references": 4,
    "limit": 23,
    "models": [{"human": {"held_out": 3}}, "shuffled"],
    "decoding": {"candidates": [1, 3]},
    "metrics": [
        "bleu4",
        "rouge",
        "cider",
        "novelty",
        "distinct",
        {"best": {"metric": "cider"}},
        {"trm": {"distance": "cider"}},
        {"mmd": {"embedding": "bow"}},
        "ms-jaccard",
        "cnd",
    ],
    "significance": "exact",
    "bootstrap": {"samples": 50},
}
KNOWN = """
import numpy as np
from mine_parts import Length

class Known(Length):
    def signature(self):
        return f"known|scale:{self.scale:g}"

    def fit(self, references, features):
        return {word for texts in references for text in texts for word in text.split()}

    def scores(self, batch, features, state):
        scores = []
        for row in batch.candidate_ids:
            words = " ".join(features.texts[k] for k in row).split()
            scores.append(np.mean([word in state for word in words]))
        return self.scale * np.array(scores)
"""


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(example_store, "BLOCK", 5)
    monkeypatch.setattr(corpus_fit, "BLOCK", 5)
    return ExampleStore(EXAMPLES)


def numbers(run):
    return [
        (
            r.model,
            r.decoding_key,
            r.metric,
            r.value,
            r.ci95,
            r.p_value,
            r.n,
            r.skipped,
            r.sizes,
            r.statistics,
        )
        for r in run.records
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return harness.evaluate(SPEC, output=tmp_path_factory.mktemp("whole") / "r")


def sharded(folder, size, spec=SPEC, mode="auto"):
    return harness.api.evaluate_all(
        spec, output=folder, mode=mode, options=Options(shard_size=size)
    )[0]


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.equal_bits
@pytest.mark.parametrize("size", [12, 6, 4, 1])
def test_the_number_of_shards_changes_no_digit(whole, tmp_path, size):
    run = sharded(tmp_path / "r", size)
    assert repr(numbers(run)) == repr(numbers(whole))
    assert run.samples.to_dict() == whole.samples.to_dict()
    for record in run.records:
        mine = run.statistics(record)
        other = whole.statistics(record)
        assert mine is not None
        assert same_rows(mine, other)


@pytest.mark.slow
def test_a_run_without_a_directory_is_the_same(whole):
    run = harness.evaluate(SPEC)
    assert repr(numbers(run)) == repr(numbers(whole))
    assert all(run.statistics(record) is not None for record in run.records)


@pytest.mark.slow
def test_a_run_may_lose_any_file(whole, tmp_path):
    expected = repr(numbers(sharded(tmp_path / "r", 9)))
    for path in sorted((tmp_path / "r").rglob("*")):
        if (
            path.is_file()
            and path.name not in ("manifest.json", ".lock", "log.jsonl")
            and path.suffix != ".npz"
        ):
            shutil.copytree(tmp_path / "r", tmp_path / "copy")
            (tmp_path / "copy" / path.relative_to(tmp_path / "r")).unlink()
            run = harness.evaluate(SPEC, output=tmp_path / "copy")
            assert repr(numbers(run)) == expected, path.name
            assert all(run.statistics(record) is not None for record in run.records)
            shutil.rmtree(tmp_path / "copy")


@pytest.mark.slow
@pytest.mark.equal_bits
def test_a_lost_shard_of_a_finished_run_is_computed_again(tmp_path):
    run = sharded(tmp_path / "r", 9)
    before = repr(numbers(run))
    sorted((tmp_path / "r" / "scores").glob("*.npz"))[3].unlink()
    again = harness.evaluate(SPEC, output=tmp_path / "r")
    assert repr(numbers(again)) == before
    assert all(again.statistics(record) is not None for record in again.records)


def test_an_extended_run_computes_only_what_it_lacks(project):
    spec = {
        "task": "words",
        "dataset": {"reader": "words", "count": 6},
        "models": [{"echo": {"log": "calls.txt"}}],
        "metrics": ["length"],
        "bootstrap": {"samples": 0},
    }
    sharded(project / "r", 3, spec)
    before = {path.name for path in (project / "r" / "scores").iterdir()}
    more = {
        **spec,
        "dataset": {"reader": "words", "count": 9},
        "metrics": ["length", {"length": {"scale": 2.0}}],
    }
    extended = sharded(project / "r", 3, more, mode="extend")
    calls = [
        line.split()[0] for line in (project / "calls.txt").read_text().splitlines()
    ]
    assert calls == [f"e{k}" for k in range(9)], "only the new examples are asked for"
    assert before - {p.name for p in (project / "r" / "scores").iterdir()} <= {
        n for n in before if n.endswith(".json")
    }
    fresh = harness.evaluate(more)
    assert [r.value for r in extended.records] == [r.value for r in fresh.records]


def test_the_bar_of_scores_counts_the_scores_of_examples_with_captions(
    project, monkeypatch
):
    totals = {}
    done = []

    @contextmanager
    def bar(name, total, **options):
        totals[name] = total
        yield done.append

    monkeypatch.setattr(scoring_pass, "bar", bar)
    spec = {
        "task": "words",
        "dataset": {"reader": "words", "count": 8},
        "models": ["echo", {"echo": {"label": "b", "fail": ["e1", "e6"]}}],
        "metrics": ["length", {"length": {"scale": 2.0}}],
        "bootstrap": {"samples": 0},
    }
    harness.api.evaluate_all(spec, options=Options(shard_size=3))
    (total,) = [total for name, total in totals.items() if name.endswith("scores")]
    assert total == sum(done) == 2 * (8 + 6)


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "executor",
    [ExecutorOptions(), ExecutorOptions("process", 1)],
    ids=lambda executor: executor.name,
)
def test_the_scores_of_a_watched_run_are_estimated(project, executor):
    watch = Watch()
    spec = {
        "task": "words",
        "dataset": {"reader": "words", "count": 12},
        "models": ["echo"],
        "metrics": ["bleu1"],
    }
    (run,) = harness.api.evaluate_all(
        spec, options=Options(watch=watch, executor=executor)
    )
    ((*_, value, _, count),) = watch.estimates.rows()
    assert value == pytest.approx(run.records[0].value)
    assert count == 12, "each example counts once"


def test_a_run_that_grows_computes_the_corpus_statistics_once(tmp_path, monkeypatch):
    stages = []
    totals = []

    @contextmanager
    def bar(name, total, **options):
        stages.append(name)
        totals.append(total)
        yield lambda steps: None

    monkeypatch.setattr(scoring_pass, "bar", bar)
    spec = {**write_task(tmp_path, 30), "until": {"conditions": ["rouge: good > twin"]}}
    (run,) = harness.api.evaluate_all(spec, options=Options(shard_size=10))
    assert {record.n for record in run.records} == {30}
    assert [name.rpartition("] ")[2] for name in stages] == [
        "corpus statistics",
        "scores",
        "scores",
        "scores",
    ]
    assert totals == [30, 90, 90, 90], (
        "scores of ten examples of three systems under three metrics"
    )


def test_rescoring_adds_metrics_without_generating(project):
    spec = {
        "task": "words",
        "dataset": {"reader": "words"},
        "models": [{"echo": {"log": "calls.txt"}}],
        "metrics": ["length"],
    }
    harness.evaluate(spec, output="r")
    run = harness.rescore("r", ["rouge,length:scale=2.0"])
    assert [r.metric for r in run.records][1:] == [
        "rouge",
        *[r.metric for r in run.records][2:],
    ]
    assert len(run.records) == 3
    assert len((project / "calls.txt").read_text().splitlines()) == 6
    assert harness.rescore("r", ["rouge"]).results == run.results


@pytest.mark.parametrize(
    ("count", "partial", "in_memory"),
    [(1, False, []), (3, False, [0]), (1, True, [0]), (3, True, [0])],
)
def test_a_pass_over_all_examples_at_once_needs_no_texts_in_memory_besides(
    store, count, partial, in_memory
):
    state = SimpleNamespace(
        execution=SimpleNamespace(stage=str),
        references=store.references,
        show=False,
        partial=partial,
        shards=[(0, 12)] * count,
        metrics=[MetricPlan("mine", "mine", {}, Counting())],
    )
    assert ScoringPass.fit.func(state).in_memory == in_memory


@pytest.mark.parametrize(
    ("partial", "metrics"), [(True, [1, 3]), (False, [0, 1, 2, 3])]
)
def test_metrics_whose_p_values_need_all_examples_are_left_to_the_whole_run(
    partial, metrics
):
    state = SimpleNamespace(
        shards=[(0, 2)],
        systems=["a"],
        metrics=["p", "q", "r", "s"],
        partial=partial,
        _needs_all_examples=[True, False, True, False],
        artifacts=SimpleNamespace(read_arrays=lambda stem: None),
        _key=lambda *place: SimpleNamespace(stem=str(place)),
        fit=SimpleNamespace(streaming=[0, 1, 2, 3]),
    )
    assert ScoringPass._missing_statistics(state) == {0: {0: metrics}}


def test_there_are_no_statistics_of_a_batch_of_which_a_shard_is_missing():
    stored = {
        str(k): Scored(np.full((2, 1), float(k)), None, None, "", 0.0).to_arrays()
        for k in range(2)
    }
    artifacts = SimpleNamespace(read_arrays=stored.get)
    state = SimpleNamespace(
        shards=[0, 1],
        artifacts=artifacts,
        _key=lambda system, metric, shard: SimpleNamespace(stem=str(shard)),
    )
    assert np.array_equal(
        ScoringPass.batch_statistics(state, 0, 0), [[0], [0], [1], [1]]
    )
    del stored["0"]
    assert ScoringPass.batch_statistics(state, 0, 0) is None


def test_other_shards_forget_the_counts_of_examples_of_the_earlier_ones():
    state = SimpleNamespace(_examples={(0, 0): 3})
    ScoringPass.select(state, systems=["a"], shards=[(2, 5)], growing=True)
    assert vars(state) == {"systems": ["a"], "shards": [(2, 5)], "growing": True}


def test_the_captions_of_a_shard_are_counted_in_a_part_of_the_examples():
    part = SimpleNamespace(start=4, present=np.array([True, True, False, True, True]))
    counts = [
        ScoringPass._present(SimpleNamespace(), part, shard)
        for shard in ((4, 6), (5, 7), (6, 8), (4, 9))
    ]
    assert counts == [2, 1, 1, 4]


def test_the_whole_of_no_shards_is_empty():
    assert ScoringPass.whole.fget(SimpleNamespace(shards=[])) == (0, 0)
    assert ScoringPass.whole.fget(SimpleNamespace(shards=[(2, 5), (5, 9)])) == (2, 9)


@pytest.mark.slow
def test_a_metric_that_keeps_all_texts_has_the_same_digits_in_shards_and_is_read_back(
    project,
):
    (project / "known_parts.py").write_text(KNOWN)
    entry = (
        'known: {import: "known_parts:Known", summary: known words, level: item, '
        "higher_is_better: true}"
    )
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        registry.replace("metrics: {", f"metrics: {{{entry}, ")
    )
    spec = {
        "task": "words",
        "dataset": {"reader": "words", "count": 7},
        "models": ["echo", {"echo": {"label": "b", "n": 3}}],
        "metrics": ["length", "known", "rouge"],
        "bootstrap": {"samples": 20},
        "significance": "monte-carlo",
    }
    expected = harness.evaluate(spec)
    run = sharded(project / "r", 2, spec)
    assert repr(numbers(run)) == repr(numbers(expected))
    assert run.samples.to_dict() == expected.samples.to_dict()
    (project / "r" / "results.json").unlink()
    again = sharded(project / "r", 2, spec)
    assert repr(numbers(again)) == repr(numbers(run))
    (project / "known.yaml").write_text(json.dumps(spec))
    for k in (1, 2):
        assert (
            main(["run", "known.yaml", "--shard", f"{k}/2", "--output", f"parts/{k}"])
            == 0
        )
    assert main(["merge", "parts/1", "parts/2", "--output", "merged"]) == 0
    assert repr(numbers(harness.Run.open("merged"))) == repr(numbers(expected))


@pytest.mark.parametrize(
    ("growing", "part", "partial"),
    [(False, None, False), (True, None, True), (False, 1, True)],
)
def test_a_pass_is_partial_where_examples_are_missing(growing, part, partial):
    state = SimpleNamespace(growing=growing, options=SimpleNamespace(part=part))
    assert ScoringPass.partial.fget(state) == partial


def test_the_first_sets_are_those_of_the_first_system_with_captions():
    empty = SimpleNamespace(caption_sets=lambda start, stop, uncut: [])
    full = SimpleNamespace(
        caption_sets=lambda start, stop, uncut: list(range(start, stop))
    )
    for shards, expected in (
        ([(3, 5), (5, 90)], [3, 4]),
        ([(5, 90)], list(range(5, 69))),
    ):
        assert (
            ScoringPass._first_sets(
                SimpleNamespace(shards=shards, systems=[empty, full])
            )
            == expected
        )
    assert (
        ScoringPass._first_sets(SimpleNamespace(shards=[(3, 5)], systems=[empty])) == []
    )


def test_workers_score_where_the_options_say_and_on_the_cluster_of_a_run_that_has_one():
    scorer, cluster = (
        SimpleNamespace(observe=None, features=FeatureCache([])),
        SimpleNamespace(executor=lambda scorer: ("cluster", scorer)),
    )

    def executor(name, cluster):
        state = SimpleNamespace(
            _scorer=lambda features: scorer,
            fit=CorpusFit(FeatureCache([])),
            metrics=[],
            _first_sets=list,
            options=SimpleNamespace(executor=ExecutorOptions(name, 1)),
            execution=SimpleNamespace(cluster=lambda: cluster),
        )
        return ScoringPass._executor(state, None)

    assert isinstance(executor("local", cluster), LocalExecutor)
    assert executor("process", cluster) == ("cluster", scorer)
    processes = executor("process", None)
    assert isinstance(processes, ProcessExecutor)
    processes.close()


def test_the_texts_of_one_shard_in_this_process_serve_the_metrics_of_all_texts():
    fitted = FeatureCache([["a dog"]])
    for count, name, shared in (
        (1, "local", True),
        (2, "local", False),
        (1, "process", False),
    ):
        state = SimpleNamespace(
            shards=[(0, 1)] * count,
            options=SimpleNamespace(executor=ExecutorOptions(name)),
            fit=SimpleNamespace(features=fitted),
            references=[["a dog"]],
        )
        features = ScoringPass._whole_features.func(state)
        assert (features is fitted) == shared
        assert list(features.references) == [["a dog"]]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_statistics_of_several_shards_are_listed_under_the_name_of_the_whole(count):
    shards = [(k, k + 1) for k in range(count)]
    stored = {
        str(shard): Scored(
            np.full((1, 1), float(shard[0])), None, None, "", 0.0
        ).to_arrays()
        for shard in shards
    }
    listed = {}
    state = SimpleNamespace(
        shards=shards,
        whole=(0, count),
        _key=lambda system, metric, shard: SimpleNamespace(stem=str(shard)),
        artifacts=SimpleNamespace(
            read_arrays=stored.get, write_shards=listed.__setitem__
        ),
    )
    scored, stem = ScoringPass.statistics(state, 0, 0)
    assert (scored.stats[:, 0].tolist(), stem) == (
        [float(k) for k in range(count)],
        str((0, count)),
    )
    assert listed == (
        {str((0, count)): [str(shard) for shard in shards]} if count > 1 else {}
    )


def test_systems_that_share_captions_have_them_in_a_job_once_and_uncut():
    system = SimpleNamespace(
        uncut_key=lambda start, stop: b"a",
        caption_sets=lambda start, stop, uncut: [("captions", start, stop, uncut)],
    )
    state = SimpleNamespace(
        systems=[system, system],
        shards=[(0, 2), (2, 5)],
        _request=lambda *request: request,
    )
    job = ScoringPass._job(state, 1, {0: [0], 1: [0, 2]})
    assert job.sets == [[("captions", 2, 5, True)]]
    assert job.requests == [(0, 0, [0]), (0, 1, [0, 2])]


@pytest.mark.parametrize(
    ("watch", "show"), [(True, False), (False, True), (False, False)]
)
def test_scores_of_other_processes_are_estimated_where_the_run_is_watched_or_shown(
    watch, show, monkeypatch
):
    used = []
    view = Watch() if watch else None
    scores = SimpleNamespace(
        index=0,
        scored={(0, 0): Scored(np.full((12, 1), 0.25), None, None, "", 0.0)},
    )

    def executor(estimates):
        used.append(estimates)
        return SimpleNamespace(
            scores=lambda jobs, advance: [scores], close=lambda: None
        )

    @contextmanager
    def bar(name, total, *, status, **options):
        yield lambda steps: None
        used.append(status())

    monkeypatch.setattr(scoring_pass, "bar", bar)
    state = SimpleNamespace(
        _missing_statistics=lambda: {0: {0: [0]}},
        systems=["a"],
        shards=[(0, 12)],
        metrics=plans(("rouge", {})),
        _labels=["a"],
        show=show,
        _present=lambda system, shard: 12,
        _executor=executor,
        growing=False,
        _job=lambda shard, missing: shard,
        _key=lambda *place: place,
        options=SimpleNamespace(watch=view, executor=ExecutorOptions("process")),
        execution=SimpleNamespace(stage=str),
        artifacts=SimpleNamespace(write_arrays=lambda key, arrays: None),
    )
    ScoringPass.compute(state)
    estimates, text = used
    assert (estimates is not None) == (watch or show)
    assert text == ("a: rouge 0.25 ± 0 so far" if watch or show else "")


def test_a_metric_of_all_texts_scores_the_uncut_captions_of_all_shards_in_one_job(
    monkeypatch,
):
    monkeypatch.setattr(
        scoring_pass,
        "bar",
        lambda name, total, **options: contextmanager(
            lambda: iter([lambda steps: None])
        )(),
    )
    written = {}
    jobs = []
    scored = Scored(np.ones((1, 1)), None, None, "", 0.0)
    scorer = SimpleNamespace(
        score=lambda job, advance: (
            jobs.append(job) or SimpleNamespace(scored={(1, 0): scored})
        )
    )
    system = SimpleNamespace(
        label="b",
        caption_sets=lambda start, stop, uncut: [("captions", start, stop, uncut)],
    )
    state = SimpleNamespace(
        metrics=plans(("rouge", {})),
        systems=[None, system],
        whole=(2, 9),
        show=False,
        _whole_features=None,
        _key=lambda system, metric, shard: SimpleNamespace(
            stem=f"{system} {metric} {shard}"
        ),
        _scorer=lambda features: scorer,
        _request=lambda *request: request,
        artifacts=SimpleNamespace(
            read_arrays=lambda stem: None,
            write_arrays=lambda key, arrays: written.update({key.stem: arrays}),
        ),
    )
    result, key = ScoringPass._whole(state, 1, 0)
    assert (result, key.stem, list(written)) == (scored, "1 0 (2, 9)", ["1 0 (2, 9)"])
    assert [(job.sets, job.requests) for job in jobs] == [
        ([[("captions", 2, 9, True)]], [(0, 1, [0])])
    ]
