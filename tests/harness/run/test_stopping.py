"""Runs that stop when decided: conditions, verdicts, growth, resuming, extending, and
what stays as in a whole run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import harness
from harness.contracts import Example, Objects
from harness.errors import HarnessError, InputError
from harness.run.example_store import ExampleStore
from harness.run.execution import Options
from harness.run.metric_plan import caption_plans, metric_plans
from harness.run.stopping import BATCH, Stopping, batches, order_examples
from harness.run.stopping_conditions import read_conditions
from harness.spec.models import UntilSpec
from harness.stats.anytime import betting_looks
from tests.support.chat_server import server
from tests.support.growing import write_task

__all__ = ["server"]
PLANS = caption_plans(metric_plans(["cider", "rouge", "bleu4", {"distinct": {"n": 2}}]))


HOLES = [[[0.9, 0.8, None], [0.1, None, 0.3]], [[0.7, 0.6], [0.2, 0.2]]]
"""Two batches of two systems that lack different examples."""


KILLED = """
import json, os, signal, sys
import harness
from harness.run import stopping
looks, decided = [], stopping.Stopping.decided
def die(self):
    if self.looks[-1] >= 300:
        os.kill(os.getpid(), signal.SIGKILL)
    return decided(self)
stopping.Stopping.decided = die
harness.evaluate(json.loads(sys.argv[1]), output=sys.argv[2])
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory) -> dict[str, Any]:
    return write_task(tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def whole(spec) -> harness.Run:
    """The run of all examples."""
    return harness.evaluate(spec)


def until(
    spec, *conditions, output=None, mode="auto", population=False, **fields
) -> harness.Run:
    content = {
        **spec,
        **fields,
        "until": {"conditions": list(conditions), "population": population},
    }
    return harness.evaluate(content, output=output, mode=mode)


def stopped(run) -> dict[str, Any]:
    content = run.provenance.content["stopped"]
    return json.loads(json.dumps(content))


def digits(path: Path) -> list[Any]:
    """Return the results of a run directory without timings."""
    results = json.loads((path / "results.json").read_text())["results"]
    return [
        {name: value for name, value in record.items() if name != "seconds"}
        for record in results
    ]


def test_batches_grow_and_cover_every_shard():
    shards = [(k, k + 1) for k in range(100)]
    found = [tuple(batch) for batch in batches(shards)]
    assert [shard for batch in found for shard in batch] == shards
    assert [len(batch) for batch in found][:10] == [1] * 10
    done = np.cumsum([len(batch) for batch in found])
    assert (done[10:-1] / done[9:-2] <= 1.2).all()
    assert done.tolist() == [
        *range(1, 11),
        12,
        14,
        16,
        19,
        22,
        26,
        31,
        37,
        44,
        52,
        62,
        74,
        88,
        100,
    ]
    assert list(batches([])) == []


def test_the_order_depends_on_seed_and_names_and_keeps_clusters_together():
    examples = ExampleStore(
        [Example(f"e{k}", ("a",), meta={"video": f"v{k % 4}"}) for k in range(20)],
        "test",
    )
    order = [example.id for example in order_examples(examples, 0, "")]
    assert sorted(order) == sorted(example.id for example in examples) and order != [
        f"e{k}" for k in range(20)
    ]
    assert order == [example.id for example in order_examples(examples, 0, "")]
    assert order != [example.id for example in order_examples(examples, 1, "")]
    videos = [example.meta["video"] for example in order_examples(examples, 0, "video")]
    assert all(videos[k : k + 5] == [videos[k]] * 5 for k in range(0, 20, 5))


def test_a_run_stops_when_it_has_decided(spec, whole, tmp_path):
    run = until(spec, "CIDEr-D: good > bad", output=tmp_path / "r")
    state = stopped(run)
    (condition,) = state["conditions"]
    assert condition["verdict"] == "confirmed"
    assert state["examples"] < state["of"] == 500 and state["examples"] % BATCH == 0
    assert (state["level"], condition["sequences"][0]["systems"]) == (
        0.05,
        "good - bad",
    )
    path = condition["sequences"][0]["path"]
    assert path[-1]["low"] > 0 and all(look["low"] <= 0 for look in path[:-1])
    assert [look["n"] for look in path] == list(
        range(BATCH, state["examples"] + 1, BATCH)
    )
    assert (
        f"stopped after {state['examples']} of 500 examples (CIDEr-D: good > bad: "
        "confirmed)" in run.notes[0]
    )
    assert (
        json.loads((tmp_path / "r" / "manifest.json").read_text())["stopped"] == state
    )
    assert {record.n for record in run.records} == {state["examples"]}


def test_scores_and_statistics_are_those_of_a_whole_run(spec, whole):
    run = until(spec, "CIDEr-D: good > bad")
    of_whole = {
        (model, example): k
        for k, (model, example) in enumerate(
            zip(whole.samples["model"], whole.samples["example"])
        )
    }
    rows = [of_whole[key] for key in zip(run.samples["model"], run.samples["example"])]
    for metric in ("cider", "rouge"):
        scores = np.array(run.samples[metric])
        expected = np.array(whole.samples[metric])[rows]
        assert scores.tolist() == expected.tolist(), (
            f"{metric}: document frequencies are those of all references"
        )
    for record in run.records:
        stats = np.asarray(run.statistics(record))
        (other,) = (
            r
            for r in whole.records
            if (r.model, r.metric) == (record.model, record.metric)
        )
        ids = [
            name
            for model, name in zip(run.samples["model"], run.samples["example"])
            if model == record.model
        ]
        position = {
            name: k
            for k, name in enumerate(
                whole.samples["example"][: len(whole.samples["example"]) // 3]
            )
        }
        assert (
            stats.tolist()
            == np.asarray(whole.statistics(other))[
                [position[name] for name in ids]
            ].tolist()
        )


def test_a_condition_that_the_data_do_not_decide_ends_with_them(spec, whole):
    run = until(spec, "rouge: good > twin")
    state = stopped(run)
    assert (state["examples"], state["conditions"][0]["verdict"]) == (500, "undecided")
    assert [r.value for r in run.records] == pytest.approx(
        [r.value for r in whole.records], rel=1e-12
    )


@pytest.mark.slow
def test_a_false_claim_is_refuted(spec):
    assert (
        stopped(until(spec, "rouge: bad > good"))["conditions"][0]["verdict"]
        == "refuted"
    )
    assert (
        stopped(until(spec, "bleu4: bad < good"))["conditions"][0]["verdict"]
        == "confirmed"
    )


@pytest.mark.slow
def test_several_conditions_share_the_level(spec):
    state = stopped(until(spec, "rouge: good > bad", "cider: good > bad"))
    assert state["level"] == 0.025
    assert [item["verdict"] for item in state["conditions"]] == ["confirmed"] * 2
    alone = stopped(until(spec, "rouge: good > bad"))
    first, shared = (
        item["conditions"][0]["sequences"][0]["path"][0] for item in (alone, state)
    )
    assert shared["high"] - shared["low"] > first["high"] - first["low"]


@pytest.mark.slow
def test_a_precision_is_reached_for_every_system(spec):
    state = stopped(until(spec, "ROUGE-L ± 0.12"))
    (condition,) = state["conditions"]
    assert condition["verdict"] == "confirmed" and state["examples"] < 500
    ends = [
        (item["path"][-1]["low"], item["path"][-1]["high"])
        for item in condition["sequences"]
    ]
    assert [item["systems"] for item in condition["sequences"]] == [
        "good",
        "twin",
        "bad",
    ]
    assert all((high - low) / 2 <= 0.12 for low, high in ends)
    tight = stopped(until(spec, "ROUGE-L ± 0.0001"))
    assert tight["conditions"][0]["verdict"] == "undecided" and tight["examples"] == 500
    for item in tight["conditions"][0]["sequences"]:
        assert [look["n"] for look in item["path"]] == [200, 400, 500], (
            "all looks from the first one on"
        )


@pytest.mark.slow
def test_a_size_that_few_examples_have_grows_with_the_others(tmp_path):
    """One example of 60 has five references,
    so that most batches of 10 have at most three.
    """
    spec = write_task(tmp_path, 60)
    first, *others = (tmp_path / "data.jsonl").read_text().splitlines()
    row = json.loads(first)
    (tmp_path / "data.jsonl").write_text(
        "\n".join(
            [json.dumps({**row, "references": [*row["references"], "a", "b"]}), *others]
        )
    )
    content = {
        **spec,
        "references": [3, 5],
        "until": {"conditions": ["rouge ± 0.0001"]},
    }
    run = harness.evaluate(content, options=Options(shard_size=10))
    sequences = stopped(run)["conditions"][0]["sequences"]
    assert [item["systems"] for item in sequences] == [
        "good",
        "good",
        "twin",
        "twin",
        "bad",
        "bad",
    ]
    assert all(
        [look["n"] for look in item["path"]] == [10, 20, 30, 40, 50, 60]
        for item in sequences
    )
    values = [record.value for record in run.records if record.metric == "rouge"]
    assert [item["path"][-1]["difference"] for item in sequences] == pytest.approx(
        values
    )
    assert [note for note in run.notes if "references" in note] == []


def test_the_claim_about_the_data_set_is_settled_by_its_end(spec, whole):
    state = stopped(until(spec, "rouge: good > twin", population=True))
    (condition,) = state["conditions"]
    values = {r.model: r.value for r in whole.records if r.metric == "rouge"}
    assert condition["verdict"] == (
        "confirmed" if values["good"] > values["twin"] else "refuted"
    )
    if state["examples"] == 500:
        look = condition["sequences"][0]["path"][-1]
        assert (
            look["low"]
            == pytest.approx(values["good"] - values["twin"])
            == look["high"]
        )


def test_whole_clusters_are_the_units(spec):
    state = stopped(until(spec, "rouge: good > bad", cluster="video"))
    path = state["conditions"][0]["sequences"][0]["path"]
    assert [look["n"] for look in path] == [
        stop // 5 for stop in range(BATCH, state["examples"] + 1, BATCH)
    ]
    assert state["conditions"][0]["verdict"] == "confirmed"


def test_a_cluster_that_is_cut_waits_for_its_end():
    examples = ExampleStore(
        [Example(f"e{k}", ("a",), meta={"video": f"v{k // 3}"}) for k in range(12)],
        "test",
    )
    plans = caption_plans(metric_plans([{"rouge": {"tokenizer": "none"}}]))
    stopping = Stopping(
        UntilSpec(conditions=["rouge: a > b"]),
        plans,
        examples,
        "video",
        looks=[4, 7, 12],
    )
    stopping.conditions = read_conditions(stopping.spec, plans, ["a", "b"])
    stopping._labels = ["a", "b"]
    for system, value in enumerate((0.9, 0.1)):
        stopping._blocks[system, 0] = [np.full((12, 1), value)]
    (condition,) = stopping.summary()["conditions"]
    assert [look["n"] for look in condition["sequences"][0]["path"]] == [1, 2, 4]


def test_a_condition_stays_decided_while_others_are_open():
    """The first 200 examples say that the first system is better,
    the next 200 that it is worse.
    """
    examples = ExampleStore([Example(f"e{k}", ("a",)) for k in range(400)], "test")
    plans = caption_plans(metric_plans([{"bleu4": {"tokenizer": "none"}}]))
    stopping = Stopping(
        UntilSpec(conditions=["bleu4: a > b"]), plans, examples, looks=[200]
    )
    stopping.conditions = read_conditions(stopping.spec, plans, ["a", "b"])
    stopping._labels = ["a", "b"]
    # score, n-grams that match, n-grams, lengths
    bad = np.tile([0.0, 5, 4, 3, 2, 8, 7, 6, 5, 8, 8], (200, 1))
    bad[::2, 1:5] -= 1
    good = bad.copy()
    good[:, 1:5] += 2
    for system, rows in enumerate((good, bad)):
        stopping._blocks[system, 0] = [rows]
    assert stopping.decided()
    for system, rows in enumerate((bad, good)):
        stopping._blocks[system, 0].append(rows)
    stopping.looks.append(400)
    assert stopping.decided()
    (condition,) = stopping.summary()["conditions"]
    assert (
        condition["verdict"] == "confirmed"
        and condition["sequences"][0]["path"][-1]["low"] < 0
    )


def test_examples_without_captions_are_left_out(spec, tmp_path):
    rows = Path(spec["models"][0]["predictions"]["path"]).read_text().splitlines()
    (tmp_path / "some.jsonl").write_text(
        "\n".join(row for k, row in enumerate(rows) if k % 10) + "\n"
    )
    models = [
        {
            "predictions": {
                "label": "good",
                "path": str(tmp_path / "some.jsonl"),
                "allow_missing": True,
            }
        },
        *spec["models"][1:],
    ]
    run = until({**spec, "models": models}, "rouge: good > bad")
    path = stopped(run)["conditions"][0]["sequences"][0]["path"]
    assert 60 < path[0]["n"] < BATCH


def growing(
    conditions,
    batches_of_scores,
    examples,
    *,
    metrics=("rouge",),
    cluster="",
    population=False,
):
    """A state after batches of scores, one list per system ``a``, ``b``, ... and None
    where a system has no caption.

    A second metric has half the scores.
    """
    plans = caption_plans(metric_plans([f"{name}:tokenizer=none" for name in metrics]))
    stopping = Stopping(
        UntilSpec(conditions=conditions, population=population),
        plans,
        ExampleStore(examples, "test"),
        cluster,
    )
    start = 0
    for scores in batches_of_scores:
        present = [np.array([score is not None for score in row]) for row in scores]
        rows = [
            np.array([[score] for score in row if score is not None], dtype=float)
            for row in scores
        ]
        systems = [
            SimpleNamespace(label="abc"[k], present=mask)
            for k, mask in enumerate(present)
        ]
        whole = (start, start + len(scores[0]))
        stopping.add(
            SimpleNamespace(
                systems=systems,
                whole=whole,
                batch_statistics=lambda k, metric, rows=rows: rows[k] / (1 + metric),
            )
        )
        start = whole[1]
    return stopping


def plain_examples(count):
    return [Example(f"e{k}", ("a",)) for k in range(count)]


def test_a_difference_is_that_of_the_examples_of_both_systems():
    summary = growing(["rouge: a > b"], HOLES, plain_examples(8)).summary()
    assert (summary["examples"], summary["of"], summary["level"]) == (5, 8, 0.05)
    (condition,) = summary["conditions"]
    assert (condition["condition"], condition["verdict"]) == (
        "rouge: a > b",
        "undecided",
    )
    (sequence,) = condition["sequences"]
    assert sequence["systems"] == "a - b"
    assert [look["n"] for look in sequence["path"]] == [1, 3]
    assert [look["difference"] for look in sequence["path"]] == pytest.approx(
        [0.8, (0.8 + 0.5 + 0.4) / 3]
    )
    assert all(
        -1 <= look["low"] < look["difference"] < look["high"] <= 1
        for look in sequence["path"]
    )


def test_a_precision_is_that_of_the_examples_of_each_system():
    stopping = growing(["rouge ± 0.5", "rouge ± 0.01"], HOLES, plain_examples(8))
    summary = stopping.summary()
    assert [item["verdict"] for item in summary["conditions"]] == [
        "confirmed",
        "undecided",
    ] and summary["level"] == 0.025
    assert not stopping.decided()
    for condition in summary["conditions"]:
        assert [item["systems"] for item in condition["sequences"]] == ["a", "b"]
        assert [
            [look["n"] for look in item["path"]] for item in condition["sequences"]
        ] == [[2, 4], [2, 4]]
        means = [
            [look["difference"] for look in item["path"]]
            for item in condition["sequences"]
        ]
        assert means == [pytest.approx([0.85, 0.75]), pytest.approx([0.2, 0.2])]
    assert growing(["rouge ± 0.5"], HOLES, plain_examples(8)).decided()


def test_intervals_narrow_to_the_ends_of_their_sequences():
    scores = [[[0.9] * count, [0.1] * count] for count in (20, 40)]
    order = growing(["rouge: a > b"], scores, plain_examples(99))
    assert order.decided()
    (sequence,) = order.summary()["conditions"][0]["sequences"]
    expected = betting_looks(
        np.full(60, 0.8), np.ones(60), 1.0, [20, 60], level=0.05, largest=1.0
    )
    assert [tuple(look.values()) for look in sequence["path"]] == [
        pytest.approx(tuple(asdict(look).values())) for look in expected
    ]
    assert sequence["path"][-1]["low"] > 0.5
    assert growing(["rouge ± 0.1"], scores, plain_examples(99)).decided()
    assert not growing(["rouge ± 0.1"], scores[:1], plain_examples(99)).decided()


def test_each_condition_has_the_numbers_of_its_metric_and_pair():
    scores = [[[0.9, 0.8], [0.1, 0.2], [0.5, 0.7]]]
    stopping = growing(
        ["self-cider: c < a", "rouge: b > c"],
        scores,
        plain_examples(4),
        metrics=("rouge", "self-cider"),
    )
    paths = [
        item["sequences"][0]["path"][-1]["difference"]
        for item in stopping.summary()["conditions"]
    ]
    assert paths == pytest.approx([-0.25 / 2, -0.45])
    assert [
        item["sequences"][0]["systems"] for item in stopping.summary()["conditions"]
    ] == ["c - a", "b - c"]


def test_the_rest_of_a_data_set_bounds_the_mean_of_the_whole():
    """Five examples have captions, of which one is still to come:
    it moves the mean by 1 / 5 at most.
    """
    scores = [[[0.9, 0.9, None, 0.8, 0.6], [0.1, 0.1, 0.5, 0.0, 0.0]]]
    stopping = growing(["rouge: a > b"], scores, plain_examples(6), population=True)
    assert stopping.decided()
    (condition,) = stopping.summary()["conditions"]
    (look,) = condition["sequences"][0]["path"]
    assert (look["n"], condition["verdict"]) == (4, "confirmed")
    assert (look["low"], look["high"]) == (
        pytest.approx((3.0 - 1) / 5),
        pytest.approx(min(1.0, (3.0 + 1) / 5)),
    )
    assert not growing(["rouge: a > b"], scores, plain_examples(6)).decided(), (
        "the population behind the data is not known"
    )


def videos(*sizes):
    names = ["badc"[number] for number, size in enumerate(sizes) for _ in range(size)]
    return [
        Example(f"e{k}", ("a",), meta={"video": name}) for k, name in enumerate(names)
    ]


def test_clusters_count_by_their_examples_and_those_without_captions_are_left_out():
    """Clusters of 2, 1, 2 and 3 examples: the second has no caption of one system, and
    the last one is cut after its first example.
    """
    scores = [[[0.9], [0.1]], [[0.5, None, 0.4, None, 0.7], [0.1, 0.2, 0.1, 0.2, 0.0]]]
    stopping = growing(["rouge: a > b"], scores, videos(2, 1, 2, 3), cluster="video")
    (condition,) = stopping.summary()["conditions"]
    path = condition["sequences"][0]["path"]
    assert [look["n"] for look in path] == [1, 2]
    assert [look["difference"] for look in path] == pytest.approx(
        [(0.8 + 0.4) / 2, (0.8 + 0.4 + 0.3) / 3]
    )
    sums = np.array([0.8 + 0.4, 0.3])
    sizes = np.array([2.0, 1.0])
    expected = betting_looks(sums, sizes, 1.0, [1, 2], level=0.05, largest=3.0)
    assert [(look["low"], look["high"], look["p_value"]) for look in path] == [
        pytest.approx((look.low, look.high, look.p_value)) for look in expected
    ]


def test_a_first_batch_within_one_cluster_has_a_look_of_what_there_is():
    (condition,) = growing(
        ["rouge: a > b"], [[[0.9], [0.1]]], videos(2, 1), cluster="video"
    ).summary()["conditions"]
    assert [
        (look["n"], look["difference"]) for look in condition["sequences"][0]["path"]
    ] == [(1, pytest.approx(0.8))]


@pytest.mark.parametrize("sizes", [(1, 2), (2, 1)])
def test_the_last_cluster_is_whole_where_the_data_end_with_it(sizes):
    stopping = growing(
        ["rouge: a > b"],
        [[[0.9, 0.8, 0.7], [0.1, 0.2, 0.3]]],
        videos(*sizes),
        cluster="video",
    )
    (condition,) = stopping.summary()["conditions"]
    assert [
        (look["n"], look["difference"]) for look in condition["sequences"][0]["path"]
    ] == [(2, pytest.approx(0.6))]


def test_the_remark_names_the_examples_and_the_verdicts():
    stopping = growing(["rouge: a > b", "rouge ± 0.5"], HOLES, plain_examples(1200))
    assert stopping.note(stopping.summary()) == (
        "stopped after 5 of 1,200 examples (rouge: a > b: undecided; rouge ± 0.5: "
        "confirmed); the intervals of the table are those of a "
        "fixed number of examples, the confidence sequences are in manifest.json and "
        "in the report"
    )


def test_the_remark_and_the_summary_say_what_a_sequence_waits_for():
    scores = [[[7.0, 9.0, 8.0], [7.0, 7.0, 7.0]]]
    stopping = growing(
        ["caption-length ± 5", "rouge ± 9"],
        scores,
        plain_examples(20),
        metrics=("caption-length", "rouge"),
    )
    first, second = stopping.summary()["conditions"]
    assert (first["verdict"], first["waits"]) == ("undecided", ["3 of 200 examples"]), (
        "said once, for both systems"
    )
    assert (
        first["sequences"][1]["path"][0]["waits"] == "3 of 200 examples"
        and "waits" not in second
    )
    assert (
        "(caption-length ± 5: undecided, not yet: 3 of 200 examples; rouge ± 9: "
        "confirmed)" in stopping.note(stopping.summary())
    )
    clustered = growing(
        ["caption-length ± 5"],
        scores,
        videos(1, 1, 1),
        metrics=("caption-length",),
        cluster="video",
    )
    assert clustered.summary()["conditions"][0]["waits"] == ["3 of 200 clusters"]
    assert not clustered.decided()


def test_statistics_that_need_all_examples_are_refused():
    plans = caption_plans(metric_plans([{"rouge": {"tokenizer": "none"}}]))
    stopping = Stopping(
        UntilSpec(conditions=["rouge: a > b"]),
        plans,
        ExampleStore(plain_examples(2), "test"),
    )
    systems = [
        SimpleNamespace(label=label, present=np.array([True, True])) for label in "ab"
    ]
    for stats in (
        None,
        Objects(
            {"x": np.zeros(2)}, {"x": np.ones(2, np.int64)}, np.ones(2, dtype=bool)
        ),
    ):
        scoring = SimpleNamespace(
            systems=systems,
            whole=(0, 2),
            batch_statistics=lambda system, metric, stats=stats: stats,
        )
        with pytest.raises(
            HarnessError,
            match="^until: 'ROUGE-L \\(COCO\\)' has no confidence sequence: "
            "its scores need all examples$",
        ):
            stopping.add(scoring)
    assert stopping.looks == []


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("cidre: good > bad", "no metric 'cidre'; did you mean 'cider'"),
        ("cider: god > bad", "no system 'god'; did you mean 'good'"),
    ],
)
def test_a_bad_condition_is_refused_before_anything_is_written(
    spec, tmp_path, condition, message
):
    with pytest.raises(HarnessError, match=message):
        until(spec, condition, output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_what_cannot_grow_is_refused(spec):
    with pytest.raises(HarnessError, match="cannot be combined with sizes: equal"):
        until(spec, "rouge: good > bad", sizes="equal")
    with pytest.raises(HarnessError, match="'good' has several decodings or sizes"):
        until(spec, "rouge: good > bad", references=[1, 3])


@pytest.mark.slow
def test_a_finished_run_is_opened_and_another_condition_is_another_run(spec, tmp_path):
    first = until(spec, "rouge: good > bad", output=tmp_path / "r")
    again = until(spec, "rouge: good > bad", output=tmp_path / "r")
    assert again.results == first.results
    with pytest.raises(InputError, match="holds another run"):
        until(spec, "rouge: good > twin", output=tmp_path / "r")


@pytest.mark.slow
def test_extend_takes_the_next_examples_of_the_order(spec, tmp_path):
    first = until(spec, "rouge: good > bad", output=tmp_path / "r")
    ids = first.samples["example"][: stopped(first)["examples"]]
    extended = until(spec, "rouge: good > twin", output=tmp_path / "r", mode="extend")
    assert extended.samples["example"][: len(ids)] == ids and stopped(extended)[
        "examples"
    ] > len(ids)
    afresh = until(spec, "rouge: good > twin", output=tmp_path / "s")
    assert stopped(afresh) == stopped(extended)
    assert digits(tmp_path / "r") == digits(tmp_path / "s")


def test_extend_refuses_other_data_and_another_seed(spec, tmp_path):
    until(spec, "rouge: good > bad", output=tmp_path / "r")
    before = (tmp_path / "r" / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="other data or with another seed"):
        until(spec, "rouge: good > twin", output=tmp_path / "r", mode="extend", seed=1)
    (tmp_path / "other").mkdir()
    other = write_task(tmp_path / "other", 300)
    with pytest.raises(InputError, match="other data or with another seed"):
        until(other, "rouge: good > twin", output=tmp_path / "r", mode="extend")
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before


@pytest.mark.slow
def test_a_whole_run_in_the_same_directory_has_its_own_digits(spec, whole, tmp_path):
    until(spec, "rouge: good > bad", output=tmp_path / "r")
    harness.evaluate(spec, output=tmp_path / "r", mode="extend")
    values = {(r["model"], r["metric"]): r["value"] for r in digits(tmp_path / "r")}
    assert values == {(r.model, r.metric): r.value for r in whole.records}
    assert "stopped" not in json.loads((tmp_path / "r" / "manifest.json").read_text())


@pytest.mark.slow
def test_shards_and_processes_change_no_digit(spec, tmp_path):
    from harness.run.executor import ExecutorOptions

    until(spec, "rouge: good > bad", output=tmp_path / "r")
    content = {**spec, "until": {"conditions": ["rouge: good > bad"]}}
    harness.evaluate(
        content,
        output=tmp_path / "s",
        options=Options(executor=ExecutorOptions("processes", 2)),
    )
    assert digits(tmp_path / "r") == digits(tmp_path / "s")


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_result(spec, tmp_path):
    content = {**spec, "until": {"conditions": ["rouge: good > twin"]}}
    process = subprocess.run(
        [sys.executable, "-c", KILLED, json.dumps(content), str(tmp_path / "r")],
        capture_output=True,
        check=False,
    )
    assert process.returncode == -9, process.stderr
    until(spec, "rouge: good > twin", output=tmp_path / "r", mode="resume")
    until(spec, "rouge: good > twin", output=tmp_path / "s")
    assert digits(tmp_path / "r") == digits(tmp_path / "s")
    manifests = [
        json.loads((tmp_path / name / "manifest.json").read_text())["stopped"]
        for name in "rs"
    ]
    assert manifests[0] == manifests[1]


@pytest.mark.slow
def test_a_server_is_asked_only_until_the_run_has_decided(server, spec, tmp_path):
    pytest.importorskip("httpx2")

    def answer(body):
        text = (
            "a dog cat" if body["model"] == "weak" else body["messages"][-1]["content"]
        )
        return {
            "choices": [
                {
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ]
        }

    server.answer = answer
    rows = [
        json.loads(line)
        for line in Path(spec["dataset"]["path"]).read_text().splitlines()
    ]
    rows = [{**row, "text": row["references"][0]} for row in rows]
    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    asked = {"base_url": server.url, "prompt": "{text}"}
    served = {
        **spec,
        "dataset": {"reader": "jsonl", "path": str(tmp_path / "data.jsonl")},
        "models": [
            {"openai": {**asked, "model": name, "label": name}}
            for name in ("strong", "weak")
        ],
    }
    with pytest.raises(HarnessError, match="no system 'strog'"):
        until(served, "rouge: strog > weak", output=tmp_path / "r")
    assert not server.requests, "a condition that cannot be read costs nothing"
    run = until(served, "rouge: strong > weak", output=tmp_path / "r")
    state = stopped(run)
    assert state["conditions"][0]["verdict"] == "confirmed"
    assert len(server.requests) == 2 * state["examples"] < 2 * state["of"]
    count = len(server.requests)
    until(
        served,
        "rouge: strong > weak",
        "cider: strong > weak",
        output=tmp_path / "r",
        mode="extend",
    )
    assert len(server.requests) - count <= 2 * (state["of"] - state["examples"]), (
        "answers that are there are not asked for again"
    )
