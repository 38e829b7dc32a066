"""Runs: results, samples, skipped and failed examples, resuming after a kill,
foreign directories.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import harness.api
from harness.contracts import TokenScores
from harness.errors import HarnessError, InputError
from harness.run import execute as execution_module
from harness.run import progress
from harness.run.estimates import Watch
from harness.run.execute import execute, read_examples
from harness.run.execution import Options
from harness.run.executor import ExecutorOptions, LocalExecutor
from harness.run.model_execution import ModelExecution
from harness.run.shard_grid import Part, ShardGrid

SPEC = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": [{"echo": {"n": 3}}],
    "metrics": ["length"],
    "bootstrap": {"samples": 50},
}


def stable(path):
    """results.json without its timings, and without the checksum of them."""
    data = json.loads((path / "results.json").read_text())
    data.pop("checksum", None)
    for record in data["results"]:
        record.pop("seconds")
    return data


def test_a_run_gives_records_and_samples(project):
    run = harness.evaluate(SPEC)
    (record,) = run.results
    # candidates: "a dog number i" (4 words), "the dog i runs x" (5), "a dog number i x
    # x" (6)
    assert record["value"] == pytest.approx(5)
    assert record["n"] == 6
    assert record["skipped"] == 0
    assert (record["ci95"], record["interval_note"]) == (
        None,
        "every resample of the examples gives the same number",
    )
    assert run.samples["length"] == pytest.approx([5] * 6)
    assert run.samples["example"] == [f"e{i}" for i in range(6)]


def test_undefined_examples_are_counted_listed_and_left_out(project):
    spec = {**SPEC, "metrics": [{"length": {"undefined": ["e1", "e4"]}}]}
    run = harness.evaluate(spec, output=project / "r")
    (record,) = run.results
    assert (record["n"], record["skipped"]) == (4, 2)
    assert run.samples["length"][1] is None
    events = [
        json.loads(line)
        for line in (project / "r" / "log.jsonl").read_text().splitlines()
    ]
    assert [event["examples"] for event in events if event["event"] == "skipped"] == [
        ["e1", "e4"]
    ], "named in the log"


def test_a_finished_run_reads_no_data_again(project, monkeypatch):
    before = harness.evaluate(SPEC, output="r").results
    monkeypatch.setattr(execution_module, "read_examples", None)
    assert harness.evaluate(SPEC, output="r").results == before


def test_models_forget_the_captions_that_the_run_has(project):
    (plan,) = harness.api.plans(SPEC)
    calls: list[str] = []
    plan.models[0].adapter.forget_texts = lambda: calls.append("forgets")
    execute(plan)
    assert calls == ["forgets"]


def test_failed_examples_do_not_stop_the_run(project):
    spec = {**SPEC, "models": [{"echo": {"fail": ["e2"]}}]}
    run = harness.evaluate(spec)
    assert run.failed == {"echo/e2": "could not read it"}
    assert (run.results[0]["n"], run.results[0]["skipped"]) == (5, 1)


def test_a_model_that_fails_on_every_example_says_why_and_is_asked_again(project):
    names = [f"e{i}" for i in range(6)]
    with pytest.raises(
        HarnessError,
        match="'echo' has candidates for none of 6 examples; 'e0': could not read it",
    ):
        harness.evaluate({**SPEC, "models": [{"echo": {"fail": names}}]}, output="r")
    assert not (project / "r").exists(), "nothing to go on from is kept"
    with pytest.raises(HarnessError, match="none of 6"):
        harness.evaluate(
            {
                **SPEC,
                "models": [
                    {"echo": {"n": 3}},
                    {"echo": {"label": "no", "fail": names}},
                ],
            },
            output="r",
        )
    assert len(list((project / "r" / "candidates").iterdir())) == 1, (
        "the other model's captions stay"
    )


def test_candidate_and_reference_counts_are_nested_axes(project):
    spec = {
        **SPEC,
        "decoding": {"candidates": [1, 3]},
        "references": [1, 2],
        "models": [{"echo": {"log": "calls.txt"}}],
    }
    run = harness.evaluate(spec)
    shapes = [
        (r["decoding"]["candidates"], r["decoding"]["references"]) for r in run.results
    ]
    assert shapes == [(1, 1), (1, 2), (3, 1), (3, 2)]
    assert [r["value"] for r in run.results] == pytest.approx([4, 4, 5, 5])
    assert len((project / "calls.txt").read_text().splitlines()) == 6, (
        "all sizes come from one generation"
    )


def test_p_values_follow_the_direction_and_are_combined(project):
    run = harness.evaluate({**SPEC, "significance": "exact"})
    (record,) = run.results
    # candidates have 4, 5, 6 words, references 4 and 4: a mean of 5 is the highest of
    # all 10 relabelings, so p = 1
    assert run.samples["p:length"] == pytest.approx([1.0] * 6)
    assert record["p_value"] == pytest.approx(1.0)
    assert record["p_method"] == "exact, fisher-discrete"
    assert (record["p"]["calibrated"], record["p"]["harmonic_mean"]) == (
        pytest.approx(1),
        pytest.approx(1),
    )
    assert record["p"]["floor"] == pytest.approx(0.1)


def test_a_spec_can_ask_for_the_harmonic_mean(project):
    texts = {"models": [{"echo": {"n": 1}}], "metrics": ["length"]}
    (calibrated,) = harness.evaluate({**SPEC, **texts, "significance": "exact"}).results
    significance = {"method": "exact", "aggregate": "harmonic-mean"}
    (harmonic,) = harness.evaluate(
        {**SPEC, **texts, "significance": significance}
    ).results
    assert harmonic["p"] == calibrated["p"]
    assert harmonic["p_value"] == calibrated["p"]["harmonic_mean"]
    assert harmonic["p_method"] == "exact, harmonic-mean"


def test_edited_code_is_another_run(project):
    harness.evaluate(SPEC, output="r")
    text = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(text.replace("self.scale * np", "100 * np"))
    sys.modules.pop("mine_parts")
    with pytest.raises(InputError, match="holds another run"):
        harness.evaluate(SPEC, output="r")


def test_sizes_beyond_the_data_are_noted_and_left_out(project):
    run = harness.evaluate({**SPEC, "references": [2, 5]})
    assert [record["decoding"]["references"] for record in run.results] == [2]
    assert run.notes == [
        "echo has at most 2 references, not 5: left out, "
        "a smaller size shows all of them"
    ]


def test_a_part_without_examples_notes_no_size_beyond_the_data(project):
    spec = {**SPEC, "dataset": {"reader": "words", "count": 1}, "references": [2, 5]}
    empty, whole = (
        harness.api.evaluate_all(
            spec,
            output=Path(f"p{part.index}"),
            options=Options(part=part, shard_size=1),
        )[0]
        for part in (Part(1, 2), Part(2, 2))
    )
    assert empty.notes == []
    assert whole.notes == [
        "echo has at most 2 references, not 5: left out, "
        "a smaller size shows all of them"
    ]


def test_captions_of_a_cluster_are_stored_in_the_order_of_the_examples():
    class Machines:
        def generate(self, model, examples, decoding, seeds):
            return (
                f"{model} {example} {seed}" for example, seed in zip(examples, seeds)
            )

    stored = {}
    execution = SimpleNamespace(cluster=Machines)
    ModelExecution._ask_cluster(
        execution, "m", ["a", "b"], None, [1, 2], stored.__setitem__
    )  # type: ignore[arg-type]
    assert stored == {0: "m a 1", 1: "m b 2"}


class ClusterHere:
    """A cluster of this process, which notes the models that it is asked for."""

    def __init__(self):
        self.asked = []

    def generate(self, model, examples, decoding, seeds):
        self.asked.append(model.label)
        return model.adapter.generate(examples, decoding, seeds)

    def executor(self, scorer):
        return LocalExecutor(scorer)


def test_a_cluster_is_asked_for_the_captions_of_models_that_need_one_example_at_a_time(
    project, monkeypatch
):
    cluster = ClusterHere()
    monkeypatch.setattr(
        execution_module,
        "connect_cluster",
        lambda options: nullcontext(lambda: cluster),
    )

    def models():
        plan = planned(
            models=[
                {"echo": {"label": label}}
                for label in ("plain", "checks", "whole", "server")
            ]
        )
        _, checks, whole, server = (model.adapter for model in plan.models)
        checks.prepare = whole.prepare = lambda task: None
        checks.prepare_only_checks = True

        def answer(examples, decoding, seeds, store):
            for position, item in reversed(
                list(enumerate(server.generate(examples, decoding, seeds)))
            ):
                store(position, item)

        server.generate_unordered = answer
        return plan

    there = execute(models(), options=Options(ExecutorOptions("ray", 2)))
    assert cluster.asked == ["plain", "checks"]
    cluster.asked.clear()
    here = execute(models())
    assert cluster.asked == []
    assert [record.value for record in there.records] == [
        record.value for record in here.records
    ]
    assert there.samples.to_dict() == here.samples.to_dict()


def test_parameters_of_a_plugin_tell_its_settings_apart(project):
    text = (project / "mine_parts.py").read_text()
    text += """

class Scaled(TextDistance):
    name = "scaled"

    def __init__(self, *, by=1.0):
        self.by = by

    def pairwise(self, texts):
        lengths = [len(text) for text in texts]
        return self.by * np.abs(np.subtract.outer(lengths, lengths))
"""
    (project / "mine_parts.py").write_text(text)
    from harness.registry import current

    made = [
        current().create("distances", "chars", {}),
        current().create("metrics", "length", {"scale": 2.0}),
    ]
    assert made[0].signature() == "chars"
    import mine_parts

    distance = mine_parts.Scaled(by=2.0)
    assert distance.signature() == "scaled|by:2.0"


def test_a_metric_of_a_plugin_that_raises_is_named(project):
    text = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(
        text.replace(
            "words = features.per_text",
            "raise ValueError('no') ; words = features.per_text",
            1,
        )
    )
    with pytest.raises(
        HarnessError, match="metric 'length' failed on model 'echo': ValueError: no"
    ):
        harness.evaluate(SPEC)


def test_limit_zero_and_double_ids_are_errors(project):
    with pytest.raises(InputError, match="no examples after limit 0"):
        harness.evaluate(SPEC, limit=0)


def test_a_finished_run_is_found_again_and_a_foreign_one_refused(project):
    first = harness.evaluate(SPEC, output="r")
    again = harness.evaluate(SPEC, output="r")
    assert again.results == first.results
    with pytest.raises(InputError, match="holds another run"):
        harness.evaluate(SPEC, output="r", seed=3)
    fresh = harness.evaluate(SPEC, output="r", seed=3, mode="fresh")
    assert fresh.manifest["seed"] == 3
    (project / "other").mkdir()
    (project / "other" / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="not empty and is no run directory"):
        harness.evaluate(SPEC, output="other")
    with pytest.raises(InputError, match="no run to resume"):
        harness.evaluate(SPEC, output="new", mode="resume")
    assert not (project / "new").exists()


def test_a_finished_run_that_is_replaced_by_itself_is_no_interrupted_one(
    project, caplog
):
    harness.evaluate(SPEC, output="r")
    harness.evaluate(SPEC, output="r", mode="fresh")
    assert "goes on" not in caplog.text


@pytest.mark.slow
@pytest.mark.equal_bits
def test_a_killed_run_resumes_to_the_same_results(project):
    body = SPEC | {
        "dataset": {"reader": "words", "count": 700},
        "models": [{"echo": {"log": "calls.txt", "die_at": "e600"}}],
    }
    (project / "spec.json.yaml").write_text(json.dumps(body))
    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        "spec.json.yaml",
        "--output",
        "killed",
        "--json",
    ]
    killed = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False
    )
    assert killed.returncode == -9, killed.stderr
    assert not (project / "killed" / "results.json").exists()
    (answers,) = (project / "killed" / "candidates").glob("*.jsonl")
    assert answers.name.startswith("000000-echo-")
    assert len(answers.read_text().splitlines()) == 600, (
        "every answer before the kill is on disk"
    )
    (project / "survive").touch()
    resumed = subprocess.run(
        [*command, "--resume"], cwd=project, capture_output=True, text=True, check=False
    )
    assert resumed.returncode == 0, resumed.stderr
    calls = [
        line.split()[0] for line in (project / "calls.txt").read_text().splitlines()
    ]
    assert {calls.count(f"e{k}") for k in range(600)} == {1}, (
        "no answer is asked for again"
    )
    (project / "calls.txt").unlink()
    subprocess.run(
        [*command[:-2], "whole", "--json"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert stable(project / "killed") == stable(project / "whole")
    assert not list((project / "killed").rglob("*.tmp"))


def test_seeds_depend_on_the_run_seed_and_the_example_alone(project):
    harness.evaluate(SPEC | {"models": [{"echo": {"log": "a.txt"}}]})
    harness.evaluate(
        SPEC
        | {
            "models": [{"echo": {"log": "b.txt"}}],
            "dataset": {"reader": "words", "count": 3},
        }
    )
    a, b = (
        dict(line.split() for line in (project / name).read_text().splitlines())
        for name in ("a.txt", "b.txt")
    )
    assert {key: a[key] for key in b} == b
    harness.evaluate(SPEC | {"models": [{"echo": {"log": "c.txt"}}]}, seed=1)
    assert (project / "c.txt").read_text() != (project / "a.txt").read_text()


def test_a_plugin_module_that_misbehaves_is_named(project):
    text = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(text.replace("yield Generation(", "yield ("))
    run = harness.evaluate(SPEC)
    assert run.results[0]["n"] == 6, "bare tuples of captions are fine"
    import sys as _sys

    _sys.modules.pop("mine_parts")
    (project / "mine_parts.py").write_text(
        text.replace("yield Generation(", "yield len(")
    )
    with pytest.raises(HarnessError, match="model 'echo' returned"):
        harness.evaluate(SPEC)


def test_metric_from_python(project):
    metric = harness.metric("length", p_value="exact")
    result = metric([["a b", "a b c"], ["x"]], [["a", "b"], ["y", "z"]])
    assert result.value == pytest.approx(1.75)
    assert result.per_example == pytest.approx([2.5, 1.0])
    assert isinstance(result.per_example, np.ndarray)
    assert result.p_values == pytest.approx([1.0, 1.0])
    assert result.signature == "length|scale:1"


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([["a"]], [["b"], ["c"]], "1 example has candidates but 2 have references"),
        ([["a"], []], [["b"], ["c"]], "candidates: example 1: the list is empty"),
        (
            [["a"], "text"],
            [["b"], ["c"]],
            "candidates: example 1: is a text, example 0 is a list; expected one kind",
        ),
        (
            [["a"]],
            [[3]],
            "references: example 0: the caption is the number 3; expected text",
        ),
        (
            [["a"], ["b \ud800"]],
            [["b"], ["c"]],
            "candidates: example 1: the caption holds an unpaired surrogate",
        ),
        ([], [], "there are no examples"),
        ("a", [["b"]], "candidates: expected a list"),
    ],
)
def test_bad_lists_are_named(project, candidates, references, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        harness.metric("length")(candidates, references)


def test_an_unknown_way_to_test_is_told_before_files_are_read():
    for call in (
        lambda: harness.score("no.json", "no.json", ["rouge"], p_value="exct"),
        lambda: harness.metric("rouge", p_value="exct"),
    ):
        with pytest.raises(
            HarnessError,
            match="p_value is 'exct'; expected None, 'exact' or 'monte-carlo'",
        ):
            call()


def test_a_fresh_run_that_cannot_read_its_data_leaves_the_finished_one(project):
    data = project / "data.jsonl"
    data.write_text('{"id": "1", "references": ["a dog", "the dog"]}\n')
    spec = {**SPEC, "dataset": {"reader": "jsonl", "path": str(data)}}
    harness.evaluate(spec, output="r")
    held = stable(project / "r")
    data.write_text("no JSON")
    with pytest.raises(HarnessError):
        harness.evaluate(spec, output="r", mode="fresh")
    assert stable(project / "r") == held


def planned(**fields):
    (item,) = harness.api.plans({**SPEC, **fields})
    return item


def test_the_first_examples_are_read_up_to_the_limit(project):
    assert [example.id for example in read_examples(planned(limit=2))] == ["e0", "e1"]
    assert len(read_examples(planned())) == len(read_examples(planned(limit=9))) == 6
    with pytest.raises(InputError) as caught:
        read_examples(planned(dataset={"reader": "words", "count": 0}))
    assert str(caught.value) == "reader 'words': the data set has no examples"
    with pytest.raises(InputError) as caught:
        read_examples(planned(limit=0))
    assert (
        str(caught.value)
        == "reader 'words': the data set has no examples after limit 0"
    )


class NotingReader:
    """A reader that calls a function before its first example."""

    def __init__(self, reader, call):
        self.reader = reader
        self.call = call

    def fingerprint(self):
        return self.reader.fingerprint()

    def __iter__(self):
        self.call()
        yield from self.reader


def reading(plan, call):
    return replace(plan, reader=NotingReader(plan.reader, call))


@pytest.mark.parametrize(("limit", "total"), [(None, 0), (2, 2)])
def test_reading_is_silent_unless_progress_is_shown(project, limit, total):
    seen = []

    def note():
        meter = progress.WORK[-1]
        seen.append((type(meter) is progress.Meter, meter.description, meter.total))

    read_examples(reading(planned(limit=limit), note))
    execute(reading(planned(limit=limit), note))
    read_examples(reading(planned(limit=limit), note), show=True)
    execute(reading(planned(limit=limit), note), show=True)
    assert seen == [
        (silent, "reading examples", total) for silent in (True, True, False, False)
    ]


def test_a_run_that_another_process_ends_while_the_data_are_read_is_opened(project):
    output = project / "r"
    seen = []
    plan = watched(planned(), seen)
    other = reading(planned(), lambda: None)
    run = execute(reading(plan, lambda: execute(other, output=output)), output=output)
    assert (run.path, len(run.records), seen) == (output, 1, [])


def watched(plan, seen):
    """Let the adapters of a plan note the work that goes on, the task that they
    prepare, and the examples that they are asked for.
    """
    for model in plan.models:
        generate = model.adapter.generate

        def noting(examples, decoding, seeds, generate=generate, label=model.label):
            work = []
            for meter in progress.WORK:
                shown = "" if type(meter) is progress.Meter else "shown "
                work.append(f"{shown}{meter.description}: {meter.total}")
            seen.append(
                (label, work, [example.id for example in examples], list(seeds))
            )
            return generate(examples, decoding, seeds)

        model.adapter.generate = noting
    return plan


def test_stages_are_numbered_over_all_models_and_decodings(project, monkeypatch):
    seen = []
    models = [{"echo": {"label": "a"}}, {"echo": {"label": "b"}}]
    plan = watched(planned(models=models, decoding={"temperature": [0.5, 1.0]}), seen)
    length = type(plan.metrics[0].metric)
    scores = length.scores

    def noting(*args):
        seen.append(("", [meter.description for meter in progress.WORK], [], []))
        return scores(*args)

    monkeypatch.setattr(length, "scores", noting)
    execute(plan)
    stages = list(dict.fromkeys(work[-1] for _, work, _, _ in seen))
    assert stages == [
        "[1/6] captions: a: 6",
        "[2/6] captions: a: 6",
        "[3/6] captions: b: 6",
        "[4/6] captions: b: 6",
        "[5/6] scores",
    ]


def scoring_tokens(plan, seen):
    """Let the adapters of a plan score references token by token,
    each token with probability 1/2.
    """
    for model in plan.models:

        def score_references(examples, label=model.label):
            seen.append(
                (
                    label,
                    f"{progress.WORK[-1].description}: {progress.WORK[-1].total}",
                    len(examples),
                )
            )
            half = np.log([0.5, 0.5])
            yield from (
                [TokenScores(half, np.zeros(2, dtype=int)) for _ in example.references]
                for example in examples
            )

        model.adapter.score_references = score_references
    return plan


@pytest.mark.parametrize(
    ("metrics", "count"), [(["perplexity"], 2), (["perplexity", "length"], 6)]
)
def test_token_scores_are_the_first_stages_of_a_run(project, metrics, count):
    seen = []
    captions = []
    plan = planned(
        models=[{"echo": {"label": "a"}}, {"echo": {"label": "b"}}], metrics=metrics
    )
    run = execute(watched(scoring_tokens(plan, seen), captions))
    assert seen == [
        ("a", f"[1/{count}] token scores: a: 6", 6),
        ("b", f"[2/{count}] token scores: b: 6", 6),
    ]
    assert [work[-1] for _, work, _, _ in captions] == (
        [] if count == 2 else ["[3/6] captions: a: 6", "[4/6] captions: b: 6"]
    )
    values = {
        (r["model"], r["metric"]): r["value"]
        for r in run.results
        if r["metric"] != "length"
    }
    assert {label for label, _ in values} == {"a", "b"} and 2.0 in [
        pytest.approx(value) for value in values.values()
    ]


def test_a_part_scores_the_tokens_of_its_examples_and_has_no_results(project):
    seen = []
    plan = scoring_tokens(planned(metrics=["perplexity"]), seen)
    run = execute(
        plan, output=project / "p", options=Options(part=Part(2, 3), shard_size=2)
    )
    assert seen == [("echo", "[1/1] token scores: echo: 2", 2)]
    assert run.records == ()


def test_shards_are_sized_by_the_texts_of_all_models_and_generations(
    project, monkeypatch
):
    sizes = []

    def grid(self, examples, texts):
        sizes.append((examples, texts))
        return ShardGrid(examples, 4)

    monkeypatch.setattr(ModelExecution, "grid", grid)
    models = [{"echo": {"label": "a"}}, {"echo": {"label": "b"}}]
    execute(
        planned(
            models=models, decoding={"temperature": [0.5, 1.0], "candidates": [1, 3]}
        )
    )
    execute(planned())
    assert sizes == [(6, 2 + 2 * (3 + 3)), (6, 2 + 1)], (
        "two references, and three captions of four generations"
    )


def test_an_adapter_prepares_the_task_of_each_generation_before_anything_is_written(
    project,
):
    for fields, partial in (({}, False), ({"limit": 3}, True)):
        plan = planned(
            decoding={"temperature": [0.5, 1.0], "candidates": [1, 2]}, **fields
        )
        tasks = []

        def prepare(task, tasks=tasks):
            if not (project / "r").exists():
                tasks.append(
                    (
                        task.decoding.temperature,
                        task.decoding.candidates,
                        len(task.examples),
                        task.partial,
                    )
                )

        plan.models[0].adapter.prepare = prepare
        execute(plan, output=project / "r")
        assert tasks == [
            (0.5, 2, 3 if partial else 6, partial),
            (1.0, 2, 3 if partial else 6, partial),
        ]
        shutil.rmtree(project / "r")


@pytest.mark.parametrize(("temperatures", "calls"), [([1.0], 1), ([0.5, 1.0], 4)])
def test_a_task_that_is_prepared_for_one_generation_is_not_prepared_again(
    project, temperatures, calls
):
    plan = planned(decoding={"temperature": temperatures})
    tasks = []
    plan.models[0].adapter.prepare = tasks.append
    execute(plan)
    assert len(tasks) == calls


def test_the_directory_of_an_unfinished_run_is_prepared_once(project):
    calls = []
    for mode in ("auto", "auto", "resume", "fresh"):
        run = execute(
            planned(),
            output=project / "r",
            mode=mode,
            prepare_directory=lambda rundir: calls.append(rundir.finished),
        )
        assert len(run.records) == 1
    assert calls == [False, False], "the first and the fresh run"
    assert (
        execute(planned(), prepare_directory=lambda rundir: calls.append(rundir)).path
        is None
    )
    assert len(calls) == 2


def test_a_part_has_its_captions_and_no_results(project):
    parts = {}
    for index in (1, 2):
        seen = []
        options = Options(part=Part(index, 2), shard_size=2)
        run = execute(
            watched(planned(), seen), output=project / f"p{index}", options=options
        )
        parts[index] = [name for _, _, names, _ in seen for name in names]
        assert (
            run.records == ()
            and run.manifest["part"] == f"{index}/2"
            and run.path == project / f"p{index}"
        )
        events = [
            json.loads(line)
            for line in (project / f"p{index}" / "log.jsonl").read_text().splitlines()
        ]
        assert [
            event["event"]
            for event in events
            if event["event"] in ("started", "finished part", "finished")
        ] == [
            "started",
            "finished part",
        ]
        assert events[-1]["part"] == f"{index}/2"
        assert seen[0][1] == [f"[1/3] captions: echo: {2 * index}"]
    assert parts == {1: ["e0", "e1"], 2: ["e2", "e3", "e4", "e5"]}
    assert "part" not in execute(planned()).manifest


def test_the_log_names_the_captions_of_a_model(project):
    spec = {**SPEC, "models": [{"echo": {"fail": ["e2", "e4"]}}]}
    run = harness.evaluate(spec, output="r")
    events = {
        event["event"]: event
        for event in map(
            json.loads, (project / "r" / "log.jsonl").read_text().splitlines()
        )
    }
    captions = events["captions"]
    assert (captions["model"], captions["failed"], captions["missing"]) == (
        "echo",
        dict.fromkeys(["e2", "e4"], "could not read it"),
        [],
    )
    assert 0 <= captions["seconds"] < 60
    assert events["started"]["digest"] == run.provenance.digest


def test_a_watch_has_the_task_and_the_captions_as_they_come(project):
    watch = Watch("earlier", 99)
    execute(planned(), options=Options(watch=watch))
    assert (watch.task, watch.examples) == ("words", 6)
    assert [(model, example.id) for model, example, _ in watch.latest] == [
        ("echo", f"e{k}") for k in range(6)
    ][-len(watch.latest) :]
    assert watch.estimates is not None


def test_two_models_that_are_compared_have_random_numbers_of_their_own(project):
    models = [{"echo": {"label": label}} for label in "abc"]

    def seeds(**fields):
        seen = []
        execute(watched(planned(models=models, **fields), seen))
        found = {}
        for label, _, _, numbers in seen:
            found.setdefault(label, []).extend(numbers)
        return found

    plain = seeds()
    compared = seeds(same=["a", "b"])
    assert plain["a"] == plain["b"] == plain["c"] == compared["c"]
    assert len({tuple(compared[label]) for label in "abc"}) == 3
    assert all(len(numbers) == 6 for numbers in compared.values())


def test_sizes_beyond_the_data_are_noted_once_and_kept_without_a_smaller_one(
    project,
):
    models = [{"echo": {"label": "a"}}, {"echo": {"label": "b"}}]
    run = harness.evaluate(
        {
            **SPEC,
            "models": models,
            "references": [5],
            "decoding": {"candidates": [1, 2]},
        }
    )
    assert run.notes == [
        f"{label} has at most 2 references, not 5: scored with what there is"
        for label in "ab"
    ]
    assert [(r["model"], r["decoding"]["candidates"]) for r in run.results] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]


def test_a_model_that_scores_no_tokens_is_refused_by_name(project):
    with pytest.raises(HarnessError) as caught:
        harness.evaluate(
            {**SPEC, "models": [{"echo": {"label": "mine"}}], "metrics": ["perplexity"]}
        )
    assert str(caught.value) == (
        "metric 'perplexity' needs a model that scores references token by token; "
        "'mine' (echo) does not "
        "(adapters: token-scores reads a file, generated-answers texts)"
    )


@pytest.mark.parametrize(
    ("fields", "part", "obstacle"),
    [
        ({"metrics": ["length"], "sizes": "equal"}, None, "sizes: equal"),
        ({"metrics": ["length"]}, Part(1, 2), "a part of a run (shard='1/2')"),
        ({"metrics": ["length", "perplexity"]}, None, "metrics of token scores"),
    ],
)
def test_a_run_until_a_decision_cannot_be_combined_with_all(
    project, fields, part, obstacle
):
    plan = planned(
        models=[{"echo": {"label": "a"}}, {"echo": {"label": "b"}}],
        until={"conditions": ["length: a > b"]},
        **fields,
    )
    with pytest.raises(HarnessError) as caught:
        execute(plan, output=project / "r", options=Options(part=part))
    assert (
        str(caught.value)
        == "conditions (until='CONDITION') grow a run example by example and "
        f"cannot be combined with {obstacle}"
    )
    assert not (project / "r").exists()


def test_sets_of_equal_size_need_all_examples(project):
    plan = planned(sizes="equal")
    assert len(execute(plan).records) == 1
    with pytest.raises(HarnessError) as caught:
        execute(plan, options=Options(part=Part(1, 2)))
    assert (
        str(caught.value) == "sizes: equal needs the captions of all examples; "
        "run this spec whole"
    )


def test_work_of_an_adapter_is_kept_beside_the_results(project):
    plan = planned()
    plan.models[0].adapter.usage = lambda: {"requests": 6}
    assert execute(plan).costs == {"echo": {"requests": 6}}
    assert execute(planned()).costs == {}


def growing(count=6, condition="rouge: a > b", **fields):
    models = [{"echo": {"label": "a", "n": 1}}, {"echo": {"label": "b", "n": 1}}]
    data = {"reader": "words", "count": count}
    return planned(
        models=models,
        metrics=["rouge"],
        dataset=data,
        until={"conditions": [condition]},
        **fields,
    )


@pytest.mark.parametrize(("count", "seed"), [(5, 1), (7, 1), (6, 0), (6, 2)])
def test_a_run_is_extended_on_its_data_with_its_seed(project, count, seed):
    output = project / "r"
    first = execute(growing(seed=1), output=output)
    extended = execute(
        growing(condition="rouge: b > a", seed=1), output=output, mode="extend"
    )
    assert [(record.model, record.value) for record in extended.records] == [
        (record.model, record.value) for record in first.records
    ]
    with pytest.raises(InputError) as caught:
        execute(growing(count, seed=seed), output=output, mode="extend")
    assert str(caught.value).endswith(
        f"{output}: holds a run on other data or with another seed: "
        "mode='extend' takes the next examples of one order"
    )
    with pytest.raises(InputError, match="holds another run"):
        execute(growing(count, seed=seed), output=output)
    assert (
        execute(growing(count, seed=seed), output=output, mode="fresh").manifest["seed"]
        == seed
    )
    with pytest.raises(InputError, match="holds no run to resume"):
        execute(growing(), output=project / "new", mode="extend")


@pytest.mark.parametrize(
    ("count", "shard_size", "first"), [(6, None, 6), (6, 2, 2), (12, 1, 1)]
)
def test_a_run_until_a_decision_looks_after_each_batch_of_shards(
    project, count, shard_size, first
):
    seen = []
    done = []
    plan = watched(growing(count), seen)
    generate = plan.models[0].adapter.generate

    def noting(*args):
        done.append(progress.WORK[0].done)
        return generate(*args)

    plan.models[0].adapter.generate = noting
    run = execute(plan, options=Options(shard_size=shard_size))
    asked = [names for label, _, names, _ in seen if label == "a"]
    assert len(asked[0]) == first
    assert done == [sum(map(len, asked[:k])) for k in range(len(asked))], (
        "progress counts the examples of earlier batches"
    )
    assert sorted(name for names in asked for name in names) == sorted(
        f"e{k}" for k in range(count)
    ), "equal models are not decided"
    assert run.provenance.content["stopped"]["conditions"][0]["verdict"] != "confirmed"
    assert sorted(run.samples["example"]) == sorted([f"e{k}" for k in range(count)] * 2)
    assert [note for note in run.notes if str(count) in note] and {
        record.n for record in run.records
    } == {count}
    stages = {work[0] for _, work, _, _ in seen}
    assert stages == {f"examples until decided: {count}"}
    assert not [
        text for _, work, _, _ in seen for text in work if text.startswith("shown")
    ]


def test_a_run_until_a_decision_shows_one_bar(project):
    seen = []
    execute(watched(growing(), seen), show=True)
    assert {work[0] for _, work, _, _ in seen} == {"shown examples until decided: 6"}
    assert not [
        text for _, work, _, _ in seen for text in work[1:] if text.startswith("shown")
    ]
    seen.clear()
    execute(watched(planned(), seen), show=True)
    assert [work for _, work, _, _ in seen] == [["shown [1/3] captions: echo: 6"]]
