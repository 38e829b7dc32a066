"""Runs that stop when decided: conditions, verdicts, growth, resuming, extending, and what stays as in a whole run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness.run.example_store import ExampleStore
from harness.run.execution import Options
from harness.run.metric_plan import caption_plans, metric_plans
from harness.run.stopping import BATCH, Condition, Stopping, batches, order_examples, read_conditions
from harness.spec.models import UntilSpec
from harness.stats.anytime import Look
from tests.support.chat_server import server
from tests.support.growing import write_task

__all__ = ["server"]
PLANS = caption_plans(metric_plans(["cider", "rouge", "bleu4", {"distinct": {"n": 2}}]))


@pytest.fixture(scope="module")
def spec(tmp_path_factory) -> dict[str, Any]:
    return write_task(tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def whole(spec) -> harness.Run:
    """The run of all examples."""
    return harness.evaluate(spec)


def until(spec, *conditions, output=None, mode="auto", population=False, **fields) -> harness.Run:
    content = {**spec, **fields, "until": {"conditions": list(conditions), "population": population}}
    return harness.evaluate(content, output=output, mode=mode)


def stopped(run) -> dict[str, Any]:
    content = run.provenance.content["stopped"]
    return json.loads(json.dumps(content))


def digits(path: Path) -> list[Any]:
    """Return the results of a run directory without timings."""
    results = json.loads((path / "results.json").read_text())["results"]
    return [{name: value for name, value in record.items() if name != "seconds"} for record in results]


# --------------------------------------------------------------------------- conditions
@pytest.mark.parametrize(
    ("text", "metric", "systems", "sign", "width"),
    [
        ("CIDEr-D: ours > theirs", 0, (0, 1), ">", 0.0),
        ("  rouge:ours<theirs ", 1, (0, 1), "<", 0.0),
        ("ROUGE-L ± 0.01", 1, (), "", 0.01),
        ("bleu4 +- 1e-3", 2, (), "", 0.001),
        ("BLEU-4+/-.5", 2, (), "", 0.5),
    ],
)
def test_conditions_are_read(text, metric, systems, sign, width):
    condition = Condition.parse(text, PLANS, ["ours", "theirs"])
    assert (condition.metric, condition.systems, condition.sign, condition.width) == (metric, systems, sign, width)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CIDEr-D", "expected 'METRIC: SYSTEM > SYSTEM' or 'METRIC ± HALF-WIDTH'"),
        ("CIDEr-D: ours = theirs", "expected 'METRIC: SYSTEM > SYSTEM'"),
        ("CIDEr-D ± wide", "expected"),
        ("cidr: ours > theirs", "no metric 'cidr'; did you mean 'cider'"),
        ("cider: our > theirs", "no system 'our'; did you mean 'ours'"),
        ("cider: ours > their", "no system 'their'; did you mean 'theirs'"),
    ],
)
def test_conditions_that_cannot_be_read_are_one_line(text, message):
    with pytest.raises(HarnessError, match=message) as caught:
        Condition.parse(text, PLANS, ["ours", "theirs"])
    assert "\n" not in str(caught.value)


def test_a_system_of_several_decodings_is_refused():
    with pytest.raises(HarnessError, match="'ours' has several decodings or sizes"):
        Condition.parse("cider: ours > theirs", PLANS, ["ours", "ours", "theirs"])


def test_metrics_without_a_sequence_are_refused():
    with pytest.raises(HarnessError, match="has no confidence sequence: it is no function of sums"):
        read_conditions(UntilSpec(conditions=["distinct2: a > b"]), PLANS, ["a", "b"])
    with pytest.raises(HarnessError, match="--population: 'BLEU-4' is no mean of scores with known bounds"):
        read_conditions(UntilSpec(conditions=["bleu4: a > b"], population=True), PLANS, ["a", "b"])


@pytest.mark.parametrize(
    ("low", "high", "greater", "less"),
    [(0.1, 0.3, "confirmed", "refuted"), (-0.3, -0.1, "refuted", "confirmed"), (-0.1, 0.2, "undecided", "undecided")],
)
def test_verdicts_of_an_order(low, high, greater, less):
    looks = [Look(100, (low + high) / 2, low, high, 0.5 if low < 0 < high else 0.01)]
    for sign, expected in ((">", greater), ("<", less)):
        condition = Condition("", 0, (0, 1), sign)
        assert condition.verdict([looks], 0.05) == expected
        assert condition.pairs(3) == [(0, 1)]


def test_the_verdict_of_an_order_is_that_of_the_look_that_decided_it():
    looks = [Look(100, -0.1, -0.3, 0.1, 0.5), Look(200, 0.2, 0.1, 0.3, 0.01), Look(300, -0.01, -0.1, 0.1, 0.01)]
    assert [Condition("", 0, (0, 1), sign).verdict([looks], 0.05) for sign in "><"] == ["confirmed", "refuted"]
    assert Condition("", 0, (0, 1), ">").verdict([looks], 0.01) == "confirmed", "a p-value that is the level decides"
    assert Condition("", 0, (0, 1), ">").verdict([looks], 0.009) == "undecided"


def test_verdicts_of_a_precision_need_every_system():
    condition, narrow, wide = Condition("", 0, width=0.5), Look(9, 0.5, 0.0, 1.0, 1), Look(9, 0.5, -0.1, 1.1, 1)
    assert condition.verdict([[wide, narrow], [narrow]], 0.05) == "confirmed"
    assert condition.verdict([[narrow], [narrow, wide]], 0.05) == "undecided"
    assert condition.pairs(2) == [(0, None), (1, None)]


# --------------------------------------------------------------------------- growth and order
def test_batches_grow_and_cover_every_shard():
    shards = [(k, k + 1) for k in range(100)]
    found = [tuple(batch) for batch in batches(shards)]
    assert [shard for batch in found for shard in batch] == shards
    assert [len(batch) for batch in found][:10] == [1] * 10
    done = np.cumsum([len(batch) for batch in found])
    assert (done[10:-1] / done[9:-2] <= 1.2).all()


def test_the_order_depends_on_seed_and_names_and_keeps_clusters_together():
    examples = ExampleStore([Example(f"e{k}", ("a",), meta={"video": f"v{k % 4}"}) for k in range(20)], "test")
    order = [example.id for example in order_examples(examples, 0, "")]
    assert sorted(order) == sorted(example.id for example in examples) and order != [f"e{k}" for k in range(20)]
    assert order == [example.id for example in order_examples(examples, 0, "")]
    assert order != [example.id for example in order_examples(examples, 1, "")]
    videos = [example.meta["video"] for example in order_examples(examples, 0, "video")]
    assert all(videos[k : k + 5] == [videos[k]] * 5 for k in range(0, 20, 5))


# --------------------------------------------------------------------------- runs of files
def test_a_run_stops_when_it_has_decided(spec, whole, tmp_path):
    run = until(spec, "CIDEr-D: good > bad", output=tmp_path / "r")
    state = stopped(run)
    (condition,) = state["conditions"]
    assert condition["verdict"] == "confirmed"
    assert state["examples"] < state["of"] == 500 and state["examples"] % BATCH == 0
    assert (state["level"], condition["sequences"][0]["systems"]) == (0.05, "good - bad")
    path = condition["sequences"][0]["path"]
    assert path[-1]["low"] > 0 and all(look["low"] <= 0 for look in path[:-1])
    assert [look["n"] for look in path] == list(range(BATCH, state["examples"] + 1, BATCH))
    assert f"stopped after {state['examples']} of 500 examples (CIDEr-D: good > bad: confirmed)" in run.notes[0]
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["stopped"] == state
    assert {record.n for record in run.records} == {state["examples"]}


def test_scores_and_statistics_are_those_of_a_whole_run(spec, whole):
    run = until(spec, "CIDEr-D: good > bad")
    of_whole = {(model, example): k for k, (model, example) in enumerate(zip(whole.samples["model"], whole.samples["example"]))}
    rows = [of_whole[key] for key in zip(run.samples["model"], run.samples["example"])]
    for metric in ("cider", "rouge"):
        scores, expected = np.array(run.samples[metric]), np.array(whole.samples[metric])[rows]
        assert scores.tolist() == expected.tolist(), f"{metric}: document frequencies are those of all references"
    for record in run.records:
        stats = np.asarray(run.statistics(record))
        (other,) = (r for r in whole.records if (r.model, r.metric) == (record.model, record.metric))
        ids = [name for model, name in zip(run.samples["model"], run.samples["example"]) if model == record.model]
        position = {name: k for k, name in enumerate(whole.samples["example"][: len(whole.samples["example"]) // 3])}
        assert stats.tolist() == np.asarray(whole.statistics(other))[[position[name] for name in ids]].tolist()


def test_a_condition_that_the_data_do_not_decide_ends_with_them(spec, whole):
    run = until(spec, "rouge: good > twin")
    state = stopped(run)
    assert (state["examples"], state["conditions"][0]["verdict"]) == (500, "undecided")
    assert [r.value for r in run.records] == pytest.approx([r.value for r in whole.records], rel=1e-12)


def test_a_false_claim_is_refuted(spec):
    assert stopped(until(spec, "rouge: bad > good"))["conditions"][0]["verdict"] == "refuted"
    assert stopped(until(spec, "bleu4: bad < good"))["conditions"][0]["verdict"] == "confirmed"


def test_several_conditions_share_the_level(spec):
    state = stopped(until(spec, "rouge: good > bad", "cider: good > bad"))
    assert state["level"] == 0.025
    assert [item["verdict"] for item in state["conditions"]] == ["confirmed"] * 2
    alone = stopped(until(spec, "rouge: good > bad"))
    first, shared = (item["conditions"][0]["sequences"][0]["path"][0] for item in (alone, state))
    assert shared["high"] - shared["low"] > first["high"] - first["low"]


def test_a_precision_is_reached_for_every_system(spec):
    state = stopped(until(spec, "ROUGE-L ± 0.12"))
    (condition,) = state["conditions"]
    assert condition["verdict"] == "confirmed" and state["examples"] < 500
    ends = [(item["path"][-1]["low"], item["path"][-1]["high"]) for item in condition["sequences"]]
    assert [item["systems"] for item in condition["sequences"]] == ["good", "twin", "bad"]
    assert all((high - low) / 2 <= 0.12 for low, high in ends)
    tight = stopped(until(spec, "ROUGE-L ± 0.0001"))
    assert tight["conditions"][0]["verdict"] == "undecided" and tight["examples"] == 500
    for item in tight["conditions"][0]["sequences"]:
        assert [look["n"] for look in item["path"]] == [200, 400, 500], "all looks from the first one on"


def test_a_size_that_few_examples_have_grows_with_the_others(tmp_path):
    """One example of 60 has five references, so that most batches of 10 have at most three."""
    spec = write_task(tmp_path, 60)
    first, *others = (tmp_path / "data.jsonl").read_text().splitlines()
    row = json.loads(first)
    (tmp_path / "data.jsonl").write_text("\n".join([json.dumps({**row, "references": [*row["references"], "a", "b"]}), *others]))
    content = {**spec, "references": [3, 5], "until": {"conditions": ["rouge ± 0.0001"]}}
    run = harness.evaluate(content, options=Options(shard_size=10))
    sequences = stopped(run)["conditions"][0]["sequences"]
    assert [item["systems"] for item in sequences] == ["good", "good", "twin", "twin", "bad", "bad"]
    assert all([look["n"] for look in item["path"]] == [10, 20, 30, 40, 50, 60] for item in sequences)
    values = [record.value for record in run.records if record.metric == "rouge"]
    assert [item["path"][-1]["difference"] for item in sequences] == pytest.approx(values)
    assert [note for note in run.notes if "references" in note] == []


def test_the_claim_about_the_data_set_is_settled_by_its_end(spec, whole):
    state = stopped(until(spec, "rouge: good > twin", population=True))
    (condition,) = state["conditions"]
    values = {r.model: r.value for r in whole.records if r.metric == "rouge"}
    assert condition["verdict"] == ("confirmed" if values["good"] > values["twin"] else "refuted")
    if state["examples"] == 500:
        look = condition["sequences"][0]["path"][-1]
        assert look["low"] == pytest.approx(values["good"] - values["twin"]) == look["high"]


def test_whole_clusters_are_the_units(spec):
    state = stopped(until(spec, "rouge: good > bad", cluster="video"))
    path = state["conditions"][0]["sequences"][0]["path"]
    assert [look["n"] for look in path] == [stop // 5 for stop in range(BATCH, state["examples"] + 1, BATCH)]
    assert state["conditions"][0]["verdict"] == "confirmed"


def test_a_cluster_that_is_cut_waits_for_its_end():
    examples = ExampleStore([Example(f"e{k}", ("a",), meta={"video": f"v{k // 3}"}) for k in range(12)], "test")
    plans = caption_plans(metric_plans([{"rouge": {"tokenizer": "none"}}]))
    stopping = Stopping(UntilSpec(conditions=["rouge: a > b"]), plans, examples, "video", looks=[4, 7, 12])
    stopping.conditions, stopping._labels = read_conditions(stopping.spec, plans, ["a", "b"]), ["a", "b"]
    for system, value in enumerate((0.9, 0.1)):
        stopping._blocks[system, 0] = [np.full((12, 1), value)]
    (condition,) = stopping.summary()["conditions"]
    assert [look["n"] for look in condition["sequences"][0]["path"]] == [1, 2, 4]


def test_a_condition_stays_decided_while_others_are_open():
    """The first 200 examples say that the first system is better, the next 200 that it is worse."""
    examples = ExampleStore([Example(f"e{k}", ("a",)) for k in range(400)], "test")
    plans = caption_plans(metric_plans([{"bleu4": {"tokenizer": "none"}}]))
    stopping = Stopping(UntilSpec(conditions=["bleu4: a > b"]), plans, examples, looks=[200])
    stopping.conditions, stopping._labels = read_conditions(stopping.spec, plans, ["a", "b"]), ["a", "b"]
    bad = np.tile([0.0, 5, 4, 3, 2, 8, 7, 6, 5, 8, 8], (200, 1))  # score, n-grams that match, n-grams, lengths
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
    assert condition["verdict"] == "confirmed" and condition["sequences"][0]["path"][-1]["low"] < 0


def test_examples_without_captions_are_left_out(spec, tmp_path):
    rows = Path(spec["models"][0]["predictions"]["path"]).read_text().splitlines()
    (tmp_path / "some.jsonl").write_text("\n".join(row for k, row in enumerate(rows) if k % 10) + "\n")
    models = [{"predictions": {"label": "good", "path": str(tmp_path / "some.jsonl"), "allow_missing": True}}, *spec["models"][1:]]
    run = until({**spec, "models": models}, "rouge: good > bad")
    path = stopped(run)["conditions"][0]["sequences"][0]["path"]
    assert 60 < path[0]["n"] < BATCH


# --------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("condition", "message"),
    [("cidre: good > bad", "no metric 'cidre'; did you mean 'cider'"), ("cider: god > bad", "no system 'god'; did you mean 'good'")],
)
def test_a_bad_condition_is_refused_before_anything_is_written(spec, tmp_path, condition, message):
    with pytest.raises(HarnessError, match=message):
        until(spec, condition, output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_what_cannot_grow_is_refused(spec):
    with pytest.raises(HarnessError, match="cannot be combined with sizes: equal"):
        until(spec, "rouge: good > bad", sizes="equal")
    with pytest.raises(HarnessError, match="'good' has several decodings or sizes"):
        until(spec, "rouge: good > bad", references=[1, 3])


# --------------------------------------------------------------------------- again, extended, killed
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
    assert extended.samples["example"][: len(ids)] == ids and stopped(extended)["examples"] > len(ids)
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


def test_a_whole_run_in_the_same_directory_has_its_own_digits(spec, whole, tmp_path):
    until(spec, "rouge: good > bad", output=tmp_path / "r")
    harness.evaluate(spec, output=tmp_path / "r", mode="extend")
    values = {(r["model"], r["metric"]): r["value"] for r in digits(tmp_path / "r")}
    assert values == {(r.model, r.metric): r.value for r in whole.records}
    assert "stopped" not in json.loads((tmp_path / "r" / "manifest.json").read_text())


def test_shards_and_processes_change_no_digit(spec, tmp_path):
    from harness.run.executor import ExecutorOptions

    until(spec, "rouge: good > bad", output=tmp_path / "r")
    content = {**spec, "until": {"conditions": ["rouge: good > bad"]}}
    harness.evaluate(content, output=tmp_path / "s", options=Options(executor=ExecutorOptions("processes", 2)))
    assert digits(tmp_path / "r") == digits(tmp_path / "s")


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


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_result(spec, tmp_path):
    content = {**spec, "until": {"conditions": ["rouge: good > twin"]}}
    process = subprocess.run([sys.executable, "-c", KILLED, json.dumps(content), str(tmp_path / "r")], capture_output=True, check=False)
    assert process.returncode == -9, process.stderr
    until(spec, "rouge: good > twin", output=tmp_path / "r", mode="resume")
    until(spec, "rouge: good > twin", output=tmp_path / "s")
    assert digits(tmp_path / "r") == digits(tmp_path / "s")
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text())["stopped"] for name in "rs"]
    assert manifests[0] == manifests[1]


@pytest.mark.slow
def test_a_server_is_asked_only_until_the_run_has_decided(server, spec, tmp_path):
    pytest.importorskip("httpx2")

    def answer(body):
        text = "a dog cat" if body["model"] == "weak" else body["messages"][-1]["content"]
        return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}

    server.answer = answer
    rows = [json.loads(line) for line in Path(spec["dataset"]["path"]).read_text().splitlines()]
    rows = [{**row, "text": row["references"][0]} for row in rows]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = {"base_url": server.url, "prompt": "{text}"}
    served = {
        **spec,
        "dataset": {"reader": "jsonl", "path": str(tmp_path / "data.jsonl")},
        "models": [{"openai": {**asked, "model": name, "label": name}} for name in ("strong", "weak")],
    }
    with pytest.raises(HarnessError, match="no system 'strog'"):
        until(served, "rouge: strog > weak", output=tmp_path / "r")
    assert not server.requests, "a condition that cannot be read costs nothing"
    run = until(served, "rouge: strong > weak", output=tmp_path / "r")
    state = stopped(run)
    assert state["conditions"][0]["verdict"] == "confirmed"
    assert len(server.requests) == 2 * state["examples"] < 2 * state["of"]
    count = len(server.requests)
    until(served, "rouge: strong > weak", "cider: strong > weak", output=tmp_path / "r", mode="extend")
    assert len(server.requests) - count <= 2 * (state["of"] - state["examples"]), "answers that are there are not asked for again"
