"""Records and samples of systems, and records of metrics of token scores."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from harness.contracts import Example, Interval, MeanMetric, MetricSpec
from harness.run.example_store import ExampleStore
from harness.run.execution import Execution
from harness.run.intervals import estimate
from harness.run.metric_plan import MetricPlan, ModelPlan, TokenMetricPlan
from harness.run.results import collect_results, token_score_records
from harness.run.scored import Scored
from harness.run.systems import PlannedSystem
from harness.run.token_intervals import NO_INTERVAL
from harness.rundir.provenance import Provenance
from harness.spec.models import Spec

THREE = ExampleStore(Example(name, ("a",)) for name in ("1", "2", "3"))
ROWS = [
    {"candidates": ["a", "b"]},
    {"failure": "no file"},
    {"candidates": ["c"]},
    {"candidates": ["d"]},
    {"candidates": ["e"]},
    {"candidates": ["f"], "references": ["r"]},
]


EXAMPLES = [
    Example("first", ("r",)),
    *(Example(f"e{k}", ("r", "s"), meta={"film": f"f{k % 2}"}) for k in range(6)),
]


class Columns:
    """A metric of two columns, of which one has an interval."""

    spec = MetricSpec("columns", True, level="model")

    def signature(self):
        return "columns"

    def evaluate_scores(self, scores):
        return {"a": 1.0, "b": 2.0}

    def intervals(self, scores, samples, seed):
        return {"a": Interval((0.5, 1.5))}

    def per_example(self, scores):
        return {}


@pytest.mark.parametrize(
    ("method", "p_note"),
    [("none", None), ("exact", "judges token scores, not captions")],
)
def test_a_column_is_a_record_with_its_interval_or_the_reason(
    method, p_note, monkeypatch
):
    monkeypatch.setattr(
        "harness.run.results.time",
        SimpleNamespace(perf_counter=iter([100.0, 350.12346]).__next__),
    )
    spec = Spec.model_validate(
        {
            "task": "t",
            "dataset": {"reader": "d"},
            "models": ["m"],
            "metrics": ["columns"],
            "significance": method,
            "bootstrap": {"samples": 9},
        }
    )
    metric = Columns()
    plan = TokenMetricPlan("columns", "columns", {}, metric)  # type: ignore[arg-type]
    a, b = token_score_records(
        spec,
        ModelPlan("label", "m", {"path": "x"}, object()),
        plan,
        [[], [], []],
        THREE,
    )  # type: ignore[arg-type]
    assert (a.metric, a.value, a.ci95, a.interval_note) == (
        "columns(a)",
        1.0,
        (0.5, 1.5),
        None,
    )
    assert (b.metric, b.value, b.ci95, b.interval_note) == (
        "columns(b)",
        2.0,
        None,
        NO_INTERVAL,
    )
    assert (a.model, a.task, a.model_params, a.params, a.level, a.n) == (
        "label",
        "t",
        {"path": "x"},
        {"name": "a"},
        "model",
        3,
    )
    assert a.p_note == b.p_note == p_note
    assert a.seconds == b.seconds == 250.1235


class Parts(Columns):
    """A metric whose second column is that of a part of the examples."""

    def of_meta(self, meta):
        return self

    def column_sizes(self):
        return {"b": 2}


def test_a_column_of_a_part_of_the_examples_has_their_number():
    spec = Spec.model_validate(
        {
            "task": "t",
            "dataset": {"reader": "d"},
            "models": ["m"],
            "metrics": ["columns"],
        }
    )
    plan = TokenMetricPlan("columns", "columns", {}, Parts())  # type: ignore[arg-type]
    a, b = token_score_records(
        spec, ModelPlan("label", "m", {}, object()), plan, [[], [], []], THREE
    )  # type: ignore[arg-type]
    assert (a.n, b.n) == (3, 2)


class Ordered(Columns):
    """A metric whose interval shows the examples that it gets."""

    def __init__(self, order=()):
        self.order = order

    def of_meta(self, meta):
        return Ordered([fields["k"] for fields in meta])

    def column_sizes(self):
        return {}

    def intervals(self, scores, samples, seed):
        assert self.order == scores
        return {"a": Interval((float(scores[0]), float(scores[-1])))}


@pytest.mark.parametrize(
    ("names", "ends"),
    [(("10", "9", "8"), (3, 1)), (("8", "9", "10"), (1, 3)), (("c", "a", "b"), (2, 1))],
)
def test_token_scores_are_resampled_in_the_order_of_the_ids(names, ends):
    spec = Spec.model_validate(
        {
            "task": "t",
            "dataset": {"reader": "d"},
            "models": ["m"],
            "metrics": ["columns"],
        }
    )
    examples = ExampleStore(
        Example(name, ("a",), meta={"k": k}) for k, name in enumerate(names, 1)
    )
    plan = TokenMetricPlan(
        "columns",
        "columns",
        {},
        Ordered().of_meta(example.meta for example in examples),
    )  # type: ignore[arg-type]
    record, _ = token_score_records(
        spec, ModelPlan("label", "m", {}, object()), plan, [1, 2, 3], examples
    )  # type: ignore[arg-type]
    assert record.ci95 == ends


class Words(MeanMetric):
    """A metric with p-values, named by its label."""

    def __init__(self, name):
        self.spec = MetricSpec(name, True)

    def signature(self):
        return self.spec.name


def collect(examples, rows, columns, *, start=0, shards, **keys):
    """Return the execution, its events and the samples of a system of rows, and of the
    same as a second system with other scores.
    """
    store = ExampleStore(examples)
    names = list(columns)
    spec = Spec.model_validate(
        {
            "task": "t",
            "dataset": {"reader": "d"},
            "models": ["m"],
            "metrics": names,
            **keys,
        }
    )
    metrics = [MetricPlan(name, name, {}, Words(name)) for name in names]
    systems = [PlannedSystem.of_rows(label, store, rows, start) for label in ("m", "n")]
    scored = {
        (index, k): columns[name][index]
        for k, name in enumerate(names)
        for index in range(2)
    }
    scoring = SimpleNamespace(
        metrics=metrics,
        systems=systems,
        shards=shards,
        fit=SimpleNamespace(features=SimpleNamespace(examples=2)),
        statistics=lambda index, metric: (scored[index, metric], f"{index}-{metric}"),
    )
    events = []
    execution = Execution(Provenance({}))

    def log(event, **values):
        events.append((event, values))

    execution.log = log  # type: ignore[method-assign]
    models = [
        ModelPlan(label, "adapter", {"path": label}, object()) for label in ("m", "n")
    ]  # type: ignore[arg-type]
    table = collect_results(
        execution, SimpleNamespace(spec=spec, models=models), scoring
    )  # type: ignore[arg-type]
    return execution, events, table


def scored(values, p_values=None):
    rows = np.array(values, dtype=float)[:, None]
    p = None if p_values is None else np.array(p_values)
    return Scored(
        rows,
        p,
        None if p is None else np.full(len(p), 0.05),
        "exact" if p is not None else "",
        0.5,
    )


def test_every_system_and_metric_has_a_record_and_every_example_a_row():
    nan = float("nan")
    columns = {
        "tested": [
            scored([1, nan, 3, 4, 6], [0.5, nan, 0.25, 0.75, 1.0]),
            scored([2, 2, 3, 9, 7], [0.5] * 5),
        ],
        "plain": [scored([5, 6, 7, 8, 9]), scored([nan, 1, nan, 1, 4])],
    }
    execution, events, table = collect(
        EXAMPLES,
        ROWS,
        columns,
        start=1,
        shards=[(1, 3), (3, 4), (4, 7)],
        cluster="film",
        significance="exact",
        bootstrap={"samples": 200},
    )
    records = execution.records
    assert [(record.model, record.metric, record.statistics) for record in records] == [
        ("m", "tested", "0-0"),
        ("m", "plain", "0-1"),
        ("n", "tested", "1-0"),
        ("n", "plain", "1-1"),
    ]
    assert [(record.value, record.n, record.skipped) for record in records] == [
        (3.5, 4, 2),
        (7.0, 5, 1),
        (4.6, 5, 1),
        (2.0, 3, 3),
    ]
    assert [record.model_params["path"] for record in records] == ["m", "m", "n", "n"]
    assert {str(record.sizes) for record in records} == {
        "{'candidates': [1, 2], 'references': [1, 2]}"
    }
    films = np.array(["f0", "f0", "f1", "f0", "f1"])
    assert (
        records[1].ci95
        == estimate(Words("plain"), columns["plain"][0].stats, 200, 0, films)[1].ends
        is not None
    )
    assert [values for event, values in events if event == "skipped"] == [
        {"model": "m", "metric": "tested", "count": 1, "examples": ["e2"]},
        {"model": "n", "metric": "plain", "count": 2, "examples": ["e0", "e3"]},
    ]
    assert table is not None
    assert list(table["model"]) == ["m"] * 5 + ["n"] * 5
    assert list(table["example"]) == ["e0", "e2", "e3", "e4", "e5"] * 2
    assert list(table["tested"]) == [1, None, 3, 4, 6, 2, 2, 3, 9, 7]
    assert list(table["plain"]) == [5, 6, 7, 8, 9, None, 1, None, 1, 4]
    assert list(table["p:tested"]) == [0.5, None, 0.25, 0.75, 1.0, *[0.5] * 5]
    assert list(table["meta"])[:2] == ['{"film": "f0"}', '{"film": "f0"}']


def test_independent_examples_have_no_clusters_and_no_metadata():
    columns = {"plain": [scored([5, 6, 7]), scored([1, 2, 4])]}
    examples = [Example(f"e{k}", ("r",)) for k in range(3)]
    execution, events, table = collect(
        examples,
        [{"candidates": ["a"]}] * 3,
        columns,
        shards=[(0, 3)],
        bootstrap={"samples": 200},
    )
    assert (
        execution.records[0].ci95
        == estimate(Words("plain"), columns["plain"][0].stats, 200, 0)[1].ends
        is not None
    )
    assert [record.skipped for record in execution.records] == [0, 0]
    assert (
        table is not None and "meta" not in table.names and "p:plain" not in table.names
    )
    assert [event for event, _ in events if event == "skipped"] == []


def test_the_bar_ends_with_the_last_number_and_failures_are_skipped(monkeypatch):
    bars = []

    @contextmanager
    def bar(description, total, **values):
        bars.append([description, total, 0])

        def advance(n):
            bars[-1][2] += n

        yield advance

    monkeypatch.setattr("harness.run.results.bar", bar)
    columns = {name: [scored([1]), scored([2])] for name in ("a", "b", "c")}
    rows = [{"candidates": ["a"]}, {"failure": "no file"}, {"failure": "no file"}]
    examples = [Example(f"e{k}", ("r",)) for k in range(3)]
    execution, *_ = collect(
        examples, rows, columns, shards=[(0, 3)], bootstrap={"samples": 0}
    )
    assert {record.skipped for record in execution.records} == {2}
    assert bars == [["results", 6, 6]], "2 systems under 3 metrics"


def test_the_log_names_the_first_hundred_examples_without_a_score():
    examples = [Example(f"e{k}", ("r",)) for k in range(105)]
    values = [1.0, *[float("nan")] * 102, 2.0, 3.0]
    columns = {"plain": [scored(values), scored([1.0] * 105)]}
    _, events, _ = collect(
        examples,
        [{"candidates": ["a"]}] * 105,
        columns,
        shards=[(0, 105)],
        bootstrap={"samples": 0},
    )
    (values,) = [values for event, values in events if event == "skipped"]
    assert (values["count"], values["examples"]) == (
        102,
        [f"e{k}" for k in range(1, 101)],
    )
