"""Runs of judgments: records, costs and undefined metrics, sets of captions,
third-party metrics, resuming.
"""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from harness import api
from harness.cli.main import main
from harness.contracts import MetricSpec, Objects
from harness.errors import HarnessError, InputError
from harness.judgments.execute import _same, execute
from harness.judgments.metric_notes import note_on_single_captions
from harness.judgments.metric_scores import MetricScores
from harness.judgments.plan import make_judgment_plan
from harness.judgments.rated_agreement import CORRELATIONS
from harness.judgments.reference_policy import scoring_sets
from harness.judgments.scoring import ScoredMetric, _spread_points, score_metrics
from harness.registry import current
from harness.run.execution import Execution, Options
from harness.run.executor import ExecutorOptions
from harness.run.shard_grid import Part
from harness.rundir.provenance import Provenance
from harness.spec.loading import load_specs
from harness.stats import bootstrap
from harness.stats.quantiles import wilson_interval

RECORDS = [
    {
        "id": str(i),
        "system": s,
        "caption": "word " * (k + 1) + str(i),
        "human_score": k + (i % 2) * 0.5,
        "references": ["a", "b"],
        "kind": s,
    }
    for i in range(6)
    for k, s in enumerate("xyz")
]
FIVE_PAIRS = [
    {
        "id": str(k),
        "references": ["r"],
        "first": f"{k} ab",
        "second": f"{k} a",
        "preference": 1 if k < 4 else -1,
    }
    for k in range(5)
]
"""The longer caption is the preferred one of all pairs but the last."""
TEXTS = ["a dog runs on the beach", "the dog", "a red car at night", "a car"]
SCORING_RECORDS = [
    {
        "id": str(i),
        "caption_a": TEXTS[i],
        "caption_b": TEXTS[i - 1],
        "votes": (-1) ** i,
        "kind": "ab"[i % 2],
        "references": [TEXTS[i] + " fast", TEXTS[i - 2]],
    }
    for i in range(4)
]
DOG = "the dog is running"
BUS = "a red bus drives"
MEN = "two men walk home"
SPOKEN = [
    (
        [
            ("i0", "a dog runs", DOG, 2),
            ("i0", "cat", DOG, 1),
            ("i0", "some cat here", DOG, 1.5),
            ("i1", "a red bus", BUS, 5),
            ("i1", "red", BUS, 3),
        ],
        [2 / 3, 0, 0, 1, 0.135],
    ),
    (
        [
            ("k", "zzz", MEN, 3),
            ("k", "qqq qqq qqq", MEN, 1),
            ("k", "men", MEN, 4),
            ("m", "x", "snow lies there", 2),
            ("n", "lies", "lies there", 5),
        ],
        [0, 0, 0.05, 0, 0.6],
    ),
    (
        [
            ("a", "one", "red car", 1),
            ("b", "two words", "blue sea", 3),
            ("c", "now three words", "green hill", 2),
            ("d", "sky", "sky", 4),
        ],
        [0, 0, 0, 1],
    ),
]
"""Item, caption, reference and judgment of each caption;
numbers in the order of their BLEU-1.
"""


@pytest.fixture
def judgments(jsonl):
    return {"form": "captions", "path": jsonl(RECORDS)}


def test_a_cost_is_turned_round(plan, judgments, length):
    run = execute(plan=plan(judgments, [length(), length(sign=-1)]))
    gain, cost = run.records
    assert gain.value == cost.value > 0.8 and gain.ci95 == cost.ci95
    assert cost.higher_is_better is False
    assert gain.details["against"]["cost"]["jackknife_input"] == 1.0
    assert (gain.details["cluster"], cost.details["cluster"]) == (1, 1)
    assert run.samples.numbers("cost")[0] < 0  # samples hold the metric's own scores


def test_records_and_groups(plan, judgments, length):
    run = execute(
        plan(judgments, [length()], statistics=["kendall_c", "pearson"], groups="kind")
    )
    assert [(r.statistic, r.group) for r in run.records] == [
        (s, g) for s in ("kendall_c", "pearson") for g in ("all", "x", "y", "z", "mean")
    ]
    record = run.records[0].to_dict()
    assert {"metric", "statistic", "group", "value", "ci95", "n"} <= record.keys()
    assert record["signature"] == "length|kendall_c|own:caption"


def test_published_values_are_shares(plan, judgments, length):
    table = {"reference": "R", "values": {"length": 47.5, "cost": [30, 45]}}
    run = execute(plan(judgments, [length(), length(sign=-1)], published=table))
    assert [record.details["published"] for record in run.records] == [
        0.475,
        [0.3, 0.45],
    ]


def test_published_values_stand_beside_their_statistic_and_group_alone(
    plan, judgments, length
):
    tables = [
        {"reference": "A", "values": {"length": 30, "other": 1}},
        {"reference": "B", "values": {"length": 40}, "statistic": "kendall_b"},
        {"reference": "C", "values": {"length": 50}, "group": "y"},
        {"reference": "D", "values": {"other": 60}, "statistic": "spearman"},
    ]
    statistics = ["pearson", "kendall_b", "spearman"]
    run = execute(
        plan(
            judgments,
            [length()],
            statistics=statistics,
            groups="kind",
            published=tables,
            tests={"draws": 0},
        )
    )
    published = {
        (r.statistic, r.group): (r.details["published"], r.details["reference"])
        for r in run.records
        if "published" in r.details
    }
    assert published == {
        ("pearson", "all"): (0.3, "A"),
        ("kendall_b", "all"): (0.4, "B"),
        ("pearson", "y"): (0.5, "C"),
    }


@pytest.mark.parametrize("headline", ["all", "mean"])
def test_one_record_of_each_metric_and_of_people_is_the_headline(
    plan, jsonl, length, headline
):
    records = [
        {**r, "human_score": [k % 4, (2 * k + k // 3) % 5], "kind": "abc"[k // 3 % 3]}
        for k, r in enumerate(RECORDS)
    ]
    judged = {"form": "captions", "path": jsonl(records), "raters": "each"}
    statistics = ["pearson", "kendall_b", "spearman"]
    run = execute(
        plan(
            judged,
            [length()],
            statistics=statistics,
            groups={"by": "kind", "headline": headline},
            bootstrap={"samples": 0},
        )
    )
    people, own = (
        [record for record in run.records if (record.metric == "length") == wanted]
        for wanted in (False, True)
    )
    assert [(r.statistic, r.group) for r in own if "headline" in r.details] == [
        ("pearson", headline)
    ]
    assert [(r.statistic, r.group) for r in people if "ceiling" in r.details] == [
        ("pearson", headline)
    ]
    assert all(
        r.details["headline"] is True and r.details["cluster"] == 1
        for r in own
        if "headline" in r.details
    )
    assert (
        all(r.higher_is_better is True and r.details["people"] == 2 for r in people)
        and len(people) == len(own) == 15
    )
    assert (
        own[0].signature == "length|pearson|own:caption|raters:each"
        and people[0].signature == "people|pearson|own:caption|raters:each"
    )


@pytest.mark.parametrize("statistic", ["pearson", "kendall_b", "kendall_within"])
@pytest.mark.parametrize("grouping", ["item", "system"])
@pytest.mark.parametrize("defined", [0, 1])
def test_one_score_or_none_has_no_correlation_within_groups(
    plan, judgments, length, statistic, grouping, defined
):
    texts = [record["caption"] for record in RECORDS][defined:]
    run = execute(
        plan(
            judgments,
            [length(), length(sign=-1, undefined=texts)],
            statistics=[statistic],
            grouping=grouping,
        )
    )
    assert np.isnan(run.records[1].value) and run.records[1].skipped == len(texts)


def test_samples_are_those_of_captions_or_of_distinct_sets(
    plan, judgments, jsonl, length
):
    of_captions = execute(plan(judgments, [length()])).samples
    assert set(of_captions["model"]) == {record["system"] for record in RECORDS}
    assert len(of_captions["example"]) == len(RECORDS)
    path = jsonl(
        [
            {
                "id": str(i),
                "first": "a",
                "second": "b" * (1 + i),
                "preference": -1,
                "references": ["r"],
            }
            for i in range(2)
        ]
    )
    of_pairs = execute(
        plan({"form": "pairs", "path": path}, [length()], statistics=["accuracy"])
    ).samples
    assert set(of_pairs["model"]) == {""}
    assert sorted(zip(of_pairs["example"], of_pairs["candidates"])) == [
        ("0", ["a"]),
        ("0", ["b"]),
        ("1", ["a"]),
        ("1", ["bb"]),
    ]


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


@pytest.mark.parametrize("samples", [0, 1, 2, 50])
def test_the_standard_error_of_a_difference_is_that_of_the_same_resamples(
    plan, jsonl, length, samples
):
    class Worse(length):
        """A cost that is right on the third and the fourth pair."""

        def scores(self, batch, features, state):
            return np.array(
                [
                    1.0
                    if item.candidates[0].endswith(
                        ("0 ab", "1 ab", "2 a", "3 a", "4 a")
                    )
                    else 0.0
                    for item in batch.sets
                ]
            )

    metrics = [length(), Worse(sign=-1)]
    run = execute(
        plan(
            {"form": "pairs", "path": jsonl(FIVE_PAIRS)},
            metrics,
            statistics=["accuracy"],
            bootstrap={"samples": samples},
        )
    )
    assert [record.value for record in run.records] == [0.8, 0.4]
    against = [
        run.records[0].details["against"]["cost"],
        run.records[1].details["against"]["length"],
    ]
    if samples < 2:
        assert all("standard_error" not in entry for entry in against)
    else:
        (counts,) = bootstrap.weights(5, samples, 0)
        difference = counts @ (np.array([1, 1, 1, 1, 0]) - [0, 0, 1, 1, 0]) / 5
        assert [entry["standard_error"] for entry in against] == pytest.approx(
            [difference.std(ddof=1)] * 2, abs=1e-12
        )


def test_the_interval_of_a_share_is_that_of_the_resamples_unless_all_are_equal(
    plan, jsonl, judgments, length
):
    many = [
        {**pair, "id": f"{k}-{pair['id']}"} for k in range(20) for pair in FIVE_PAIRS
    ]
    (record,) = execute(
        plan(
            {"form": "pairs", "path": jsonl(many)}, [length()], statistics=["accuracy"]
        )
    ).records
    # Of 100 resampled pairs 80 are right on average, with a standard deviation of 4.
    assert record.ci95 == pytest.approx((0.72, 0.88), abs=0.011)
    (record,) = execute(
        plan(
            {"form": "pairs", "path": jsonl(FIVE_PAIRS)},
            [length()],
            statistics=["accuracy"],
        )
    ).records
    assert (
        record.value == 0.8
        and record.ci95 is None
        and "with 5 items, below 0.90" in record.interval_note
    )
    perfect = [
        {"id": str(k), "caption": "a" * (k + 1), "human_score": k, "references": ["r"]}
        for k in range(8)
    ]
    (record,) = execute(
        plan(
            {"form": "captions", "path": jsonl(perfect)},
            [length()],
            statistics=["spearman"],
        )
    ).records
    assert record.value == pytest.approx(1, abs=1e-12) and record.ci95 is None
    assert record.interval_note == "every resample of the items gives the same number"


@pytest.mark.parametrize("test", ["williams", "jackknife"])
def test_a_statistic_of_a_difference_has_the_sign_of_the_row(plan, jsonl, length, test):
    """The length follows the judgments, the cost is its opposite."""
    human = [1, 3, 2, 5, 4, 6, 8, 7]
    items = range(8) if test == "williams" else [k // 2 for k in range(8)]
    records = [
        {
            "id": str(item),
            "caption": "a" * h + "b",
            "human_score": k,
            "references": ["r"],
        }
        for k, (h, item) in enumerate(zip(human, items))
    ]

    class Noise(length):
        def scores(self, batch, features, state):
            return np.array(
                [float(len(item.candidates[0]) ** 3 % 7) for item in batch.sets]
            )

    run = execute(
        plan(
            {"form": "captions", "path": jsonl(records)},
            [length(), Noise(sign=-1)],
            statistics=["pearson"],
        )
    )
    better = run.records[0].details["against"]["cost"]
    worse = run.records[1].details["against"]["length"]
    assert run.records[0].value > run.records[1].value
    assert better[f"{test}_t"] > 0 and worse[f"{test}_t"] == -better[f"{test}_t"]
    assert (
        worse[test] == better[test] > 0 and worse["perm_input"] == better["perm_input"]
    )


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


@pytest.mark.parametrize(
    ("value", "rank", "standing"),
    [
        (0.25, 2, "kendall_b 0.250, cluster 2 of 3"),
        (0.25, None, "kendall_b 0.250"),
        (np.nan, 2, "it is undefined"),
    ],
)
@pytest.mark.parametrize("level", ["set", "corpus"])
def test_a_metric_of_sets_on_single_captions_has_a_remark(level, value, rank, standing):
    plan = SimpleNamespace(
        label="cr", metric=SimpleNamespace(spec=SimpleNamespace(level=level))
    )
    item = SimpleNamespace(
        metric=SimpleNamespace(plan=plan),
        values={("kendall_b", "all"): SimpleNamespace(value=value)},
    )
    spec = SimpleNamespace(headline=("kendall_b", "all"))
    judgments = SimpleNamespace(captions=[SimpleNamespace(texts=("a",))])
    line = (
        "cr compares sets, and a single caption is a set of one: "
        f"{standing} (docs/judgments.md)"
    )
    assert (
        note_on_single_captions(
            item, spec, judgments, SimpleNamespace(ranks=[3, None, 2]), rank
        )
        == line
    )
    assert (
        note_on_single_captions(
            item,
            spec,
            SimpleNamespace(
                captions=[*judgments.captions, SimpleNamespace(texts=("a", "b"))]
            ),
            None,
            rank,
        )
        == ""
    )


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


def numbers(run):
    return [(r.metric, r.value, r.ci95, r.n) for r in run.records]


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


def test_no_verdict_on_a_pair_of_sets_of_different_sizes(plan, jsonl, length):
    # The first caption of the first pair is one of the references, and is scored
    # without it.
    records = [
        {
            "id": str(i),
            "first": "one",
            "second": "longer",
            "preference": 1 - 2 * (i % 2),
            "kind": "" if i else "own",
            "references": ["a", "b", "one"],
        }
        for i in range(4)
    ]
    judged = {
        "form": "pairs",
        "path": jsonl(records),
        "columns": {"own_first": {"kind": "own"}},
    }
    run = execute(plan(judged, [length()], statistics=["accuracy"]))
    (record,) = run.records
    assert (record.value, record.n, record.skipped, record.details["unequal"]) == (
        2 / 3,
        3,
        1,
        1,
    )
    note = (
        "length, accuracy (all): no verdict on 1 of 4 pairs, "
        "whose sets differ in the number of references (docs/judgments.md)"
    )
    assert note in run.notes
    together = execute(
        plan(judged, [length()], statistics=["accuracy"], references={"own": "pair"})
    )
    assert (together.records[0].n, together.records[0].skipped) == (
        4,
        0,
    ) and not together.notes


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


def test_the_size_of_a_set_is_its_own_under_rotated_references(plan, jsonl, length):
    """The first caption has fewer rotations than the others:
    one of the references is its own.

    The last set has a text more.
    """
    texts = [["r0", "x"], ["longer", "x"], ["z", "x"], ["z", "xx", "xxx"]]
    references = [f"r{k}" for k in range(5)]
    records = [
        {
            "id": str(k // 2),
            "caption": text,
            "human_score": k,
            "references": references,
            "own": k == 0,
        }
        for k, text in enumerate(texts)
    ]
    metric = length()
    metric.spec = MetricSpec("length", True, level="set")
    judged = {
        "form": "captions",
        "path": jsonl(records),
        "columns": {"own_reference": "own"},
    }
    task = plan(
        judged, [metric], statistics=["kendall_within"], references={"rotate": 4}
    )
    assert (task.prepare()[1].index[:, 0] >= 0).sum(axis=1).tolist() == [1, 5, 5, 5]
    run = execute(task)
    (record,) = run.records
    assert (record.value, record.n, record.skipped) == (1, 2, 2)
    _, sets = task.prepare()
    first = [list(sets.sets[k].references) for k in sets.index[:, 0, 0]]
    assert list(map(list, run.samples.lists("references"))) == first, (
        "the references of the first rotation"
    )


def scored(jsonl, corpus, metrics=("cider",)):
    task = {
        "task": "t",
        "judgments": {"form": "pairs", "path": jsonl(SCORING_RECORDS)},
        "metrics": [{m: {"tokenizer": "none"}} for m in metrics],
        "statistics": ["accuracy"],
        "references": {"corpus": corpus},
        "groups": "kind",
    }
    (loaded,) = load_specs(task)
    plan = make_judgment_plan(loaded)
    judgments = plan.read()
    sets = scoring_sets(judgments, plan.spec.references, 0, "kind")
    return score_metrics(plan, sets, Execution(Provenance({})), judgments)


def test_the_scores_are_those_of_the_api(jsonl):
    (metric,) = scored(jsonl, "items")
    references = [record["references"] for record in SCORING_RECORDS]
    for position, key in enumerate(("caption_a", "caption_b")):
        expected = api.score(
            [[r[key]] for r in SCORING_RECORDS],
            references,
            [{"cider": {"tokenizer": "none"}}],
        )["cider"].per_example
        captions = metric.scores.scores[position::2, 0]
        np.testing.assert_allclose(captions, expected)


def test_every_list_of_categories_and_side_is_a_corpus_of_its_own(jsonl):
    (metric,) = scored(jsonl, [["a"], ["b"]])
    rows = [r for r in SCORING_RECORDS if r["kind"] == "a"]
    expected = api.score(
        [[r["caption_a"]] for r in rows],
        [r["references"] for r in rows],
        [{"cider": {"tokenizer": "none"}}],
    )
    np.testing.assert_allclose(
        metric.scores.scores[[0, 4], 0], expected["cider"].per_example
    )
    whole = scored(jsonl, "items")[0]
    assert not np.allclose(whole.scores.scores, metric.scores.scores)


@pytest.mark.parametrize("corpus", [[["a", "b"]], [["a"], ["b"]]])
def test_statistics_of_several_corpora_are_those_of_all_captions(
    plan, jsonl, length, tmp_path, corpus
):
    task = {"form": "pairs", "path": jsonl(SCORING_RECORDS)}
    metric = length()
    run = execute(
        plan(
            task,
            [metric],
            statistics=["accuracy"],
            references={"corpus": corpus},
            groups="kind",
        ),
        output=tmp_path / "r",
    )
    lengths = [
        len(record[side])
        for record in SCORING_RECORDS
        for side in ("caption_a", "caption_b")
    ]
    assert sorted(metric.per_example(run.statistics(run.records[0]))) == sorted(lengths)


def spoken(*rows):
    """Records of (item, caption, reference, score)."""
    return [
        {
            "id": item,
            "caption": caption,
            "references": [reference],
            "human_score": score,
        }
        for item, caption, reference, score in rows
    ]


@pytest.mark.parametrize(("rows", "scores"), SPOKEN)
@pytest.mark.parametrize("metric", ["bleu1", "bleu2", "bleu4"])
@pytest.mark.parametrize("statistic", ["kendall_b", "kendall_c", "spearman"])
def test_captions_without_a_word_in_common_are_ties(
    rows, scores, metric, statistic, jsonl
):
    records = spoken(*rows)
    content = {
        "task": "t",
        "judgments": {"form": "captions", "path": jsonl(records)},
        "metrics": [metric],
        "statistics": [statistic],
    }
    (loaded,) = load_specs({**content, "tests": {"draws": 0}})
    (record,) = execute(make_judgment_plan(loaded)).records
    human = np.array([row["human_score"] for row in records], dtype=float)
    if metric == "bleu1":
        expected = CORRELATIONS[statistic](np.array(scores, dtype=float), human)(
            np.ones((1, len(human)))
        )[0]
        assert record.value == pytest.approx(expected)
        if statistic == "kendall_b" and len(records) == 5 and scores[0]:
            assert record.value == pytest.approx(0.73786, abs=1e-5)
    nothing = [k for k, score in enumerate(scores) if score == 0]
    exchanged = [dict(row) for row in records]
    for k, other in zip(nothing, [*nothing[1:], nothing[0]]):
        exchanged[k]["human_score"] = records[other]["human_score"]
    (loaded,) = load_specs(
        {
            **content,
            "judgments": {"form": "captions", "path": jsonl(exchanged, "e.jsonl")},
            "tests": {"draws": 0},
        }
    )
    (same,) = execute(make_judgment_plan(loaded)).records
    assert same.value == pytest.approx(record.value)  # no order among them


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


def test_points_of_pairs_are_preferences_and_each_caption_has_their_mean():
    """Caption 0 beats 1 and ties with 2; caption k is judged in set 2 - k,
    by several draws of references.
    """
    pairs = [SimpleNamespace(first=0, second=1), SimpleNamespace(first=2, second=0)]
    judgments = SimpleNamespace(pairs=pairs, captions=range(4))
    index = np.full((4, 2, 2), 3)
    index[:, 0, 0] = [2, 1, 0, 3]
    metric = ScoredMetric(
        None, None, MetricScores(np.array([[1.0], [0.5]])), np.empty(0), ""
    )
    spread = _spread_points(
        metric, judgments, SimpleNamespace(index=index, sets=range(4))
    )
    assert spread.scores.of_pairs.tolist() == [
        [1.0],
        [0.0],
    ] and spread.scores.scores.shape == (4, 1)
    np.testing.assert_array_equal(spread.scores.scores[:, 0], [0.75, 0.0, 0.5, np.nan])
    np.testing.assert_array_equal(spread.per_set, [0.5, 0.0, 0.75, np.nan])


def test_the_number_of_a_system_is_that_of_its_captions(plan, judgments, length):
    run = execute(
        plan(
            judgments,
            [length(), length(sign=-1)],
            statistics=["pearson_system"],
            tests={"draws": 0},
        )
    )
    of_system = [
        [record for record in RECORDS if record["system"] == name] for name in "xyz"
    ]
    lengths, human = (
        [np.mean([value(record) for record in records]) for records in of_system]
        for value in (
            lambda record: len(record["caption"]),
            lambda record: record["human_score"],
        )
    )
    expected = np.corrcoef(lengths, human)[0, 1]
    assert [record.value for record in run.records] == pytest.approx(
        [expected, expected], abs=1e-12
    )
    assert [record.n for record in run.records] == [3, 3]


def test_the_number_of_a_system_is_that_of_its_corpus(plan, jsonl):
    words = ["a", "dog", "runs", "on", "the", "beach"]
    captions = [
        [
            " ".join(words[: 1 + i * (k + 2) % 6] + ["z"] * ((i + k) % 3))
            for i in range(6)
        ]
        for k in range(3)
    ]
    records = [
        {
            "id": str(i),
            "system": "xyz"[k],
            "caption": captions[k][i],
            "human_score": (k + 1) ** 2 + i % 2,
            "references": [" ".join(words)],
        }
        for i in range(6)
        for k in range(3)
    ]
    metric = current().create("metrics", "bleu1", {})
    run = execute(
        plan(
            {"form": "captions", "path": jsonl(records)},
            [metric],
            statistics=["pearson_system"],
            bootstrap={"samples": 0},
        )
    )
    of_corpora = [
        api.score([[text] for text in of_system], [[" ".join(words)]] * 6, ["bleu1"])[
            "bleu1"
        ]
        for of_system in captions
    ]
    human = np.array([1, 4, 9]) + 0.5
    assert run.records[0].value == pytest.approx(
        np.corrcoef([result.value for result in of_corpora], human)[0, 1], abs=1e-9
    )
    means = [np.mean(result.per_example) for result in of_corpora]
    assert run.records[0].value != pytest.approx(
        np.corrcoef(means, human)[0, 1], abs=1e-3
    ), "not the mean of its captions"


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


def test_the_number_of_a_system_is_the_mean_over_draws_of_references(
    plan, jsonl, length
):
    class OfReference(length):
        def scores(self, batch, features, state):
            return np.array(
                [
                    float(len(item.references[0]) + len(item.candidates[0]))
                    for item in batch.sets
                ]
            )

    records = [
        {**record, "references": ["a" * (1 + 7 * k % 5), "b" * 30, "c" * (60 + k)]}
        for k, record in enumerate(RECORDS)
    ]
    records = [{**record, "id": str(k)} for k, record in enumerate(records)]
    task = plan(
        {"form": "captions", "path": jsonl(records)},
        [OfReference()],
        statistics=["pearson_system"],
        references={"sample": 1, "draws": 2},
    )
    _, sets = task.prepare()
    score = [
        [
            len(sets.sets[k].references[0]) + len(sets.sets[k].candidates[0])
            for k in draws.ravel()
        ]
        for draws in sets.index
    ]
    assert sets.index.shape == (18, 2, 1) and any(
        first != second for first, second in score
    )
    mean = np.mean(score, axis=1).reshape(6, 3).mean(axis=0)
    human = np.reshape([record["human_score"] for record in records], (6, 3)).mean(
        axis=0
    )
    run = execute(task)
    assert run.records[0].value == pytest.approx(
        np.corrcoef(mean, human)[0, 1], abs=1e-12
    )
    by_system = np.argsort(np.arange(18) % 3, kind="stable")
    assert run.samples.numbers("length").tolist() == pytest.approx(
        np.mean(score, axis=1)[by_system]
    )
    first = [list(sets.sets[sets.index[k, 0, 0]].references) for k in by_system]
    assert list(map(list, run.samples.lists("references"))) == first, (
        "the references of the first draw"
    )


@pytest.mark.parametrize("told", [True, False])
def test_details_of_undefined_captions_stand_in_the_headline(
    plan, judgments, length, told
):
    class Refusing(length):
        def details(self, stats):
            return {"captions_with_x": len(stats)}

    metric = Refusing()
    metric.spec = MetricSpec("length", True, details_of_undefined=told)
    records = execute(
        plan(
            judgments, [metric], statistics=["kendall_b", "pearson"], tests={"draws": 0}
        )
    ).records
    assert [record.details.get("captions_with_x") for record in records] == [
        18 if told else None,
        None,
    ]


def test_metrics_of_pairs_stand_in_the_order_of_the_task(plan, jsonl, length):
    class Judge(length):
        """Prefers the longer caption."""

        spec = MetricSpec("judge", True, rival=True)

        def __init__(self):
            self.calls = 0

        def scores(self, batch, features, state):
            return np.array(
                [
                    float(len(item.candidates[0]) > len(item.references[0]))
                    for item in batch.sets
                ]
            )

    metrics = [length(), Judge(), length(sign=-1)]
    run = execute(
        plan(
            {"form": "pairs", "path": jsonl(FIVE_PAIRS)},
            metrics,
            statistics=["accuracy"],
        )
    )
    assert [(record.metric, record.value) for record in run.records] == [
        ("length", 0.8),
        ("judge", 0.8),
        ("cost", 0.8),
    ]
