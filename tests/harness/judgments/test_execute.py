"""Runs of judgments: records, costs and undefined metrics, sets of captions,
third-party metrics, resuming.
"""

import json

import numpy as np
import pytest

from harness import api
from harness.cli.main import main
from harness.contracts import MetricSpec, Objects
from harness.errors import HarnessError, InputError
from harness.judgments.execute import _same, execute
from harness.registry import current
from harness.run.execution import Options
from harness.run.executor import ExecutorOptions
from harness.run.shard_grid import Part
from harness.stats.quantiles import wilson_interval
from tests.support.judged_sets import RECORDS, numbers


def test_a_cost_is_turned_round(plan, judgments, length):
    run = execute(plan=plan(judgments, [length(), length(sign=-1)]))
    gain, cost = run.records
    assert gain.value == cost.value > 0.8 and gain.ci95 == cost.ci95
    assert cost.higher_is_better is False
    assert gain.details["against"]["cost"]["jackknife_input"] == 1.0
    assert (gain.details["cluster"], cost.details["cluster"]) == (1, 1)
    assert run.samples.numbers("cost")[0] < 0  # samples hold the metric's own scores


@pytest.mark.parametrize(("lost", "cluster"), [(1, 1), (2, None)])
def test_a_metric_without_a_score_for_a_twentieth_of_the_captions_has_no_cluster(
    plan, jsonl, length, lost, cluster
):
    records = [
        {
            "id": str(k // 2),
            "caption": "a" * (k + 1),
            "human_score": k % 7,
            "references": ["r"],
        }
        for k in range(20)
    ]
    texts = [record["caption"] for record in records]
    run = execute(
        plan(
            {"form": "captions", "path": jsonl(records)},
            [length(), length(sign=-1, undefined=texts[:lost])],
        )
    )
    assert [(record.skipped, record.details["cluster"]) for record in run.records] == [
        (0, 1),
        (lost, cluster),
    ]


def test_a_metric_without_a_pair_that_counts_is_undefined(plan, jsonl, length):
    """Ties are skipped, and the second metric ties everywhere."""

    class Constant(length):
        def scores(self, batch, features, state):
            return np.zeros(len(batch.sets))

    pairs = [
        {
            "id": str(k),
            "references": ["r"],
            "first": "abc",
            "second": "ab",
            "preference": (-1) ** k,
        }
        for k in range(4)
    ]
    run = execute(
        plan(
            {"form": "pairs", "path": jsonl(pairs)},
            [length(), Constant(sign=-1)],
            statistics=["accuracy"],
            ties="skip",
        )
    )
    assert [
        (record.n, record.skipped, record.details["cluster"]) for record in run.records
    ] == [(4, 0, 1), (0, 0, None)]
    assert np.isnan(run.records[1].value)


def test_undefined_metrics(plan, judgments, length):
    texts = [record["caption"] for record in RECORDS]
    run = execute(plan(judgments, [length(), length(sign=-1, undefined=texts[:4])]))
    assert [r.skipped for r in run.records] == [0, 4]
    some = execute(plan(judgments, [length(), length(sign=-1, undefined=texts)]))
    assert (
        np.isnan(some.records[1].value)
        and some.records[1].details["cluster"] is None
        and some.records[1].interval_note is None
    )
    assert some.records[1].to_dict()["ci95"] is None
    with pytest.raises(
        InputError,
        match="no metric has a kendall_b: the scores of length are constant or "
        "undefined",
    ):
        execute(plan(judgments, [length(undefined=texts)]))


def test_no_intervals_and_no_tests(plan, judgments, length):
    run = execute(
        plan(
            judgments,
            [length(), length(sign=-1)],
            bootstrap={"samples": 0},
            tests={"draws": 0},
        )
    )
    assert run.records[0].ci95 is None and run.records[0].details["against"] == {}
    assert [record.details["cluster"] for record in run.records] == [None, None]


def test_sets_that_are_judged_as_a_whole(plan, jsonl, length):
    records = [
        {**r, "caption": [r["caption"], "x" * (i % 7)]} for i, r in enumerate(RECORDS)
    ]
    run = execute(plan({"form": "captions", "path": jsonl(records)}, [length()]))
    assert {len(row) for row in run.samples.lists("candidates")} == {2}
    assert run.notes == []


def test_descriptions_of_a_task_may_change():
    stored = {
        "spec": {"description": "a", "notice": "b", "published": {}, "seed": 0},
        "notice": "b",
    }
    for name in ("description", "notice", "published"):
        assert _same(stored, {**stored, "spec": {**stored["spec"], name: "other"}})
    assert _same(stored, {**stored, "notice": "other"}) and not _same(
        stored, {**stored, "spec": {**stored["spec"], "seed": 1}}
    )


def test_a_second_metric_is_added_in_the_same_folder(plan, judgments, length, tmp_path):
    first = length()
    second = length(sign=-1)
    execute(plan(judgments, [first]), output=tmp_path / "r")
    calls = first.calls
    run = execute(plan(judgments, [first, second]), output=tmp_path / "r")
    assert first.calls == calls and second.calls > 0
    assert [r.metric for r in run.records] == ["length", "cost"]
    assert (
        run.records[0].statistics
        and (tmp_path / "r/scores" / f"{run.records[0].statistics}.npz").is_file()
    )
    assert len(json.loads((tmp_path / "r/results.json").read_text())["results"]) == 2


def test_a_run_that_leaves_out_a_metric_of_the_folder_says_so(
    plan, judgments, length, tmp_path, caplog
):
    folder = tmp_path / "r"
    execute(plan(judgments, [length(), length(sign=-1)]), output=folder)
    assert "had" not in caplog.text
    run = execute(plan(judgments, [length()]), output=folder)
    assert [r.metric for r in run.records] == ["length"]
    execute(plan(judgments, [length()]), output=folder)
    assert (
        caplog.text.count(
            f"note: {folder} had cost too, which this spec has not; "
            "harness rescore adds a metric"
        )
        == 1
    )


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_the_estimate_is_that_of_the_judged_sets_and_refuses_what_does_not_fit(
    verb, jsonl, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    spec = {
        "task": "t",
        "judgments": {"form": "captions", "path": jsonl(RECORDS)},
        "metrics": ["chrf"],
        "statistics": ["pearson"],
    }
    (tmp_path / "t.yaml").write_text(json.dumps(spec))
    assert main(["validate", "t.yaml", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (
        row["estimate"]["text"].startswith("18 examples, about ")
        and row["estimate"]["bytes"] > 200e6
    )
    monkeypatch.setattr("harness.run.resources.available_memory", lambda: 100_000_000)
    assert main([verb, "t.yaml"]) == 2
    assert (
        "18 examples of 1 + 2 captions need about 0.2 GB of memory, "
        "and 0.1 GB are free; fewer metrics" in capsys.readouterr().err
    )
    assert not (tmp_path / "runs").exists()


def test_media_lie_in_the_folders_of_the_judgments(plan, jsonl, length, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "set").mkdir()
    (tmp_path / "elsewhere" / "secret.png").write_bytes(b"x")
    (tmp_path / "set" / "link.png").symlink_to(tmp_path / "elsewhere" / "secret.png")
    for media in (
        str(tmp_path / "elsewhere" / "secret.png"),
        "../elsewhere/secret.png",
        "link.png",
    ):
        path = jsonl([{**record, "media": media} for record in RECORDS], "set/j.jsonl")
        judged = {"form": "captions", "path": path, "media_root": str(tmp_path / "set")}
        with pytest.raises(
            InputError,
            match=r"the media .* lies outside of the folders of the data set",
        ):
            execute(plan(judged, [length()]))
    (tmp_path / "set" / "link.png").unlink()
    # a name without a file is that of a folder of the metric
    assert execute(plan(judged, [length()])).records


def assert_same(actual, expected):
    arrays = [
        stats.to_arrays() if isinstance(stats, Objects) else {"stats": stats}
        for stats in (actual, expected)
    ]
    assert arrays[0].keys() == arrays[1].keys()
    for name, values in arrays[0].items():
        np.testing.assert_array_equal(values, arrays[1][name])


def test_shards_change_no_digit_and_a_lost_one_is_computed_again(
    plan, judgments, length, tmp_path
):
    task = plan(judgments, [length(), current().create("metrics", "distinct", {})])
    one = execute(task)
    run = execute(task, output=tmp_path / "r", options=Options(shard_size=5))
    assert numbers(run) == numbers(one)
    assert run.samples.to_dict() == one.samples.to_dict()
    for record, other in zip(run.records, one.records):
        assert_same(run.statistics(record), one.statistics(other))
    shards = list((tmp_path / "r/scores").glob("length-*.npz"))
    assert len(shards) == 4
    shards[0].unlink()
    again = execute(task, output=tmp_path / "r")
    assert numbers(again) == numbers(one) and shards[0].is_file()
    with pytest.raises(InputError, match="a task of judgments has no parts"):
        execute(task, options=Options(part=Part(1, 2)))


@pytest.mark.slow
def test_worker_processes_change_no_digit(plan, jsonl):
    path = jsonl(
        [{**record, "references": ["one word or 0 1 2"]} for record in RECORDS]
    )
    task = plan(
        {"form": "captions", "path": path},
        [current().create("metrics", name, {}) for name in ("distinct", "chrf")],
    )
    workers = Options(ExecutorOptions("process", 2), shard_size=5)
    assert numbers(execute(task, options=workers)) == numbers(execute(task))


def test_a_metric_that_fails_is_named(plan, judgments, length):
    class Broken(length):
        def scores(self, batch, features, state):
            raise ZeroDivisionError("no")

    broken = Broken()
    broken.__class__.__module__ = "elsewhere"
    with pytest.raises(
        HarnessError, match="metric 'length' failed: ZeroDivisionError: no"
    ):
        execute(plan(judgments, [broken]))


def test_metrics_of_others_by_name(judgments, tmp_path, monkeypatch):
    (tmp_path / "mine_lengths.py").write_text(
        "import numpy as np\nfrom harness.contracts import MeanMetric, MetricSpec\n"
        "class Mine(MeanMetric):\n    spec = MetricSpec('mine', "
        "higher_is_better=True)\n"
        "    def scores(self, batch, features, state):\n"
        "        return np.array([float(len(s.candidates[0])) for s in batch.sets])\n"
    )
    (tmp_path / "registry.yaml").write_text(
        "api: 1\nmetrics: {mine: {import: 'mine_lengths:Mine', summary: length}}\n"
    )
    (tmp_path / "task.yaml").write_text(
        f"task: t\njudgments: {{form: captions, path: {judgments['path']}}}\n"
        "statistics: [spearman]\nmetrics: [mine]\n"
    )
    monkeypatch.chdir(tmp_path)
    from harness.registry import in_use

    in_use._load.cache_clear()
    try:
        run = api.evaluate("task.yaml")
        (record,) = run.records
        assert record.metric == "mine" and record.value > 0.8
        (used,) = run.manifest["plugins"]
        assert (used["kind"], used["name"]) == ("metrics", "mine")
    finally:
        in_use._load.cache_clear()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("statistics: [kendal_b]", "statistics.0"),
        ("ties: halves", "ties"),
        (
            "judgments: {form: captions, path: j.jsonl, colums: {}}",
            "unknown key 'colums'; did you mean 'columns'",
        ),
        (
            "judgments: {form: captions, path: j.jsonl, columns: {caption: txt}}",
            "no column 'txt'",
        ),
        (
            "judgments: {form: captions, path: nothing.jsonl, get: ask us}",
            "not there: nothing.jsonl; how to get it: ask us",
        ),
        ("judgments: {form: pairs, path: j.jsonl}", "kendall_b needs rated captions"),
        ("judgments: {form: captions}", "either 'path' or 'hf'"),
        ("references: {sample: 5, rotate: 4}", "sampled or rotated"),
        ("groups: item", "a judgment has no 'item' to group by"),
        ("groups: number", "the groups of 'number' are numbers"),
        ("metrics: [metoer]", "did you mean 'meteor'"),
        ("published: {values: {bleu1: 3}}", "'published.reference' is missing"),
    ],
)
def test_mistakes_are_one_line_and_code_2(
    change, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    records = [{**r, "number": i % 2} for i, r in enumerate(RECORDS)]
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    base = {
        "task": "task: t",
        "judgments": "judgments: {form: captions, path: j.jsonl}",
        "statistics": "statistics: [kendall_b]",
        "metrics": "metrics: [novelty]",
    }
    base[change.split(":")[0]] = change
    (tmp_path / "t.yaml").write_text("\n".join(base.values()) + "\n")
    assert main(["run", "t.yaml"]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and "Traceback" not in error
    assert not (tmp_path / "runs").exists() or not any(
        (tmp_path / "runs").rglob("manifest.json")
    )


def test_systems_of_different_sizes_have_a_cell_that_says_why(plan, jsonl, length):
    sizes = {"x": ["a", "b"], "y": ["a"], "z": ["a"]}
    path = jsonl(
        [
            {
                **record,
                "id": record["id"] + record["system"],
                "references": sizes[record["system"]],
            }
            for record in RECORDS
        ]
    )
    run = execute(
        plan(
            {"form": "captions", "path": path},
            [length()],
            statistics=["kendall_b", "pearson_system"],
        )
    )
    record = run.records[1]
    assert (
        np.isnan(record.value)
        and record.interval_note == "no verdict on sets of different sizes"
    )
    assert run.records[0].value > 0 and run.records[0].interval_note is None
    head = (
        "length, pearson_system (all): no verdict on 3 of 3 systems, "
        "whose sets differ in the number of references"
    )
    assert run.notes == [f"{head} (docs/judgments.md)"]


def test_captions_of_an_item_with_sets_of_different_sizes_are_left_out_within_it(
    plan, jsonl, length
):
    """The caption of one of the six items is among its references,
    and is scored without it.
    """
    records = [
        {**r, "references": ["a", "b", "own"], "caption": "own"} if k == 4 else r
        for k, r in enumerate(RECORDS)
    ]
    judged = {
        "form": "captions",
        "path": jsonl(
            [
                {**r, "own": r["caption"] == "own", "references": ["a", "b", "own"]}
                for r in records
            ]
        ),
    }
    metric = length()
    metric.spec = MetricSpec("length", True, level="set")
    run = execute(
        plan(
            {**judged, "columns": {"own_reference": "own"}},
            [metric],
            statistics=["kendall_within"],
        )
    )
    assert (run.records[0].n, run.records[0].skipped) == (15, 3)
    head = (
        "length, kendall_within (all): no verdict on 3 of 18 captions, "
        "whose sets differ in the number of candidates and references"
    )
    assert f"{head} (docs/judgments.md)" in run.notes


def test_a_judge_that_ties_on_all_pairs_has_the_interval_of_a_coin(plan, jsonl, length):
    pairs = [
        {
            "id": str(k),
            "references": ["r"],
            "first": f"{k} ab",
            "second": f"{k} cd",
            "preference": (-1) ** k,
        }
        for k in range(20)
    ]
    run = execute(
        plan(
            {"form": "pairs", "path": jsonl(pairs)}, [length()], statistics=["accuracy"]
        )
    )
    assert run.records[0].value == 0.5 and run.records[0].ci95 == wilson_interval(
        0.5, 20
    )


def test_captions_without_references_are_scored_by_metrics_that_need_none(
    plan, judgments, jsonl, length
):
    metric = length()
    metric.spec = MetricSpec("length", True, needs=frozenset())
    without = [
        {name: value for name, value in record.items() if name != "references"}
        for record in RECORDS
    ]
    bare = execute(
        plan(
            {"form": "captions", "path": jsonl(without, "bare.jsonl")},
            [metric],
            bootstrap={"samples": 0},
        )
    )
    assert (
        bare.records[0].value
        == execute(plan(judgments, [length()], bootstrap={"samples": 0}))
        .records[0]
        .value
    )
    assert set(map(tuple, bare.samples.lists("candidates"))) == {
        (record["caption"],) for record in RECORDS
    }
