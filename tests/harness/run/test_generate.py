"""Captions artifact by artifact: results of adapters, failures, artifacts on disk."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from harness.contracts import Decoding, Example, Failure, Generation, TaskView
from harness.errors import HarnessError, InputError
from harness.files.dataset_source import DatasetSource
from harness.files.media import MediaCell
from harness.files.secrets import forget, remember
from harness.run import generate as module
from harness.run.example_store import ExampleStore
from harness.run.generate import as_generation, caption_identities, generate, shared_key
from harness.run.metric_plan import ModelPlan
from harness.run.provenance import code_of
from harness.run.systems import PlannedSystem
from harness.rundir.artifacts import ArtifactStore

DECODING = Decoding()
EXAMPLES = [Example(f"e{i}", (f"r{i}",), media=f"{i}.png") for i in range(5)]
PNG = b"\x89PNG\r\n\x1a\n\0\0"


class Model:
    """Returns ``produce(example)`` and records ids and seeds."""

    def __init__(self, produce: Any, version: str = "1") -> None:
        self.produce = produce
        self.version = version
        self.calls = []

    def fingerprint(self) -> str:
        return self.version

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ):
        for example, seed in zip(examples, seeds):
            self.calls.append((example.id, seed))
            yield self.produce(example)


def caption(example: Example):
    return (f"a {example.id}", "b", "c")


def run(
    model: Model, artifacts=None, seed=0, decoding=DECODING, examples=EXAMPLES
) -> PlannedSystem:
    task = TaskView(examples, decoding)
    return generate(
        ModelPlan("m", "mine", {}, model), task, seed=seed, artifacts=artifacts
    )


@pytest.fixture
def small_artifacts(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "REQUEST_EXAMPLES", 2)
    return ArtifactStore(tmp_path)


def test_tuples_generations_and_failures_become_results():
    items = {
        "e0": ("x",),
        "e1": ["y"],
        "e2": Generation(("z",), references=("other",)),
        "e3": Failure("no picture"),
        "e4": (),
    }
    generated = run(Model(lambda example: items[example.id]))
    assert [
        (s.id, s.candidates, s.references, s.media) for s in generated.caption_sets()
    ] == [
        ("e0", ("x",), ("r0",), "0.png"),
        ("e1", ("y",), ("r1",), "1.png"),
        ("e2", ("z",), ("other",), "2.png"),
    ]
    assert generated.failures == {"e3": "no picture"}
    assert generated.missing == ["e4"]


def test_everything_of_a_generation_comes_back_from_disk(small_artifacts):
    item = Generation(
        ("x", "y"), ("r",), (-1.5, -2.0), (2, 3), ("stop", "length"), (1,)
    )
    model = Model(lambda example: item if example.id == "e0" else ("z",))
    expected = {
        "candidates": ["x", "y"],
        "references": ["r"],
        "log_probs": [-1.5, -2.0],
        "lengths": [2, 3],
        "stop_reasons": ["stop", "length"],
        "held_out": [1],
    }
    for _ in range(2):
        assert run(model, small_artifacts, examples=EXAMPLES[:2]).rows(0, 2) == [
            expected,
            {"candidates": ["z"]},
        ]
    assert len(model.calls) == 2


def test_secrets_are_in_no_answer(small_artifacts):
    items = {"e0": ("a topsecret", "b"), "e1": Failure("refused topsecret")}
    remember("topsecret", "${secret:KEY}")
    try:
        rows = run(
            Model(lambda example: items[example.id]),
            small_artifacts,
            examples=EXAMPLES[:2],
        ).rows(0, 2)
    finally:
        forget()
    assert rows == [
        {"candidates": ["a ${secret:KEY}", "b"]},
        {"failure": "refused ${secret:KEY}"},
    ]


def test_answers_are_kept_in_blocks_of_examples(small_artifacts, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    model = Model(caption)
    expected = run(Model(caption))
    generated = run(model, small_artifacts)
    assert generated.caption_sets() == expected.caption_sets()
    assert generated.digest(0, 5) == expected.digest(0, 5)
    for first, last in ((1, 4), (4, 5), (0, 2), (3, 3)):
        assert [row["candidates"][0] for row in generated.rows(first, last)] == [
            f"a e{k}" for k in range(first, last)
        ]
    names = sorted(
        file.name for file in (small_artifacts.folder / "candidates").iterdir()
    )
    assert [name[:8] for name in names] == ["000000-m", "000001-m", "000002-m"]
    part = generate(
        ModelPlan("m", "mine", {}, model),
        TaskView(EXAMPLES, Decoding()),
        seed=0,
        artifacts=small_artifacts,
        span=(3, 5),
    )
    assert [item.id for item in part.caption_sets()] == ["e3", "e4"] and len(
        model.calls
    ) == 5


def test_no_answer_is_kept_of_a_part_on_which_a_model_always_fails(
    small_artifacts, monkeypatch
):
    monkeypatch.setattr(module, "BLOCK", 2)
    model = Model(
        lambda example: (
            Failure("offline") if example.id in ("e2", "e3", "e4") else ("x",)
        )
    )
    plan = ModelPlan("m", "mine", {}, model)
    task = TaskView(EXAMPLES, Decoding())
    for _ in range(2):
        assert (
            len(
                generate(
                    plan, task, seed=0, artifacts=small_artifacts, span=(2, 5)
                ).failures
            )
            == 3
        )
    assert [name for name, _ in model.calls] == ["e2", "e3", "e4"] * 2
    run(model, small_artifacts)
    run(model, small_artifacts)
    assert len(model.calls) == 11, "failures beside answers are kept"


def test_examples_are_asked_for_256_at_a_time_with_their_seeds():
    asked: list[tuple[int, int]] = []

    class Counting(Model):
        def generate(self, examples, decoding, seeds):
            asked.append((len(examples), len(seeds)))
            return super().generate(examples, decoding, seeds)

    many = [Example(f"e{k}", ("r",)) for k in range(257)]
    model = Counting(caption)
    alone = Model(caption)
    assert [item.id for item in run(model, examples=many).caption_sets()] == [
        example.id for example in many
    ]
    assert asked == [(256, 256), (1, 1)]
    run(alone, examples=many[255:])
    assert model.calls[255:] == alone.calls


def test_the_latest_answers_are_listed_with_their_examples():
    latest: deque[Any] = deque(maxlen=2)
    task = TaskView(EXAMPLES, Decoding(candidates=1))
    generate(
        model=ModelPlan("m", "mine", {}, Model(caption)),
        task=task,
        seed=0,
        latest=latest,
    )
    assert list(latest) == [
        ("m", EXAMPLES[k], {"candidates": [f"a e{k}"]}) for k in (3, 4)
    ]


def test_more_candidates_than_requested_are_cut():
    generated = run(Model(caption), decoding=Decoding(candidates=2))
    assert {len(item.candidates) for item in generated.caption_sets()} == {2}


@pytest.mark.parametrize("item", [3, "text", None, ("a", 3)])
def test_anything_else_is_refused(item):
    with pytest.raises(
        HarnessError,
        match=r"model 'm' returned .*; expected a tuple of captions, "
        r"a Generation or a Failure",
    ):
        as_generation(item, "m")


def test_a_result_that_is_refused_is_shown_by_its_beginning():
    with pytest.raises(HarnessError) as caught:
        as_generation(["x" * 99, 3], "m")
    shown = "['" + "x" * 78
    assert (
        str(caught.value)
        == f"model 'm' returned {shown}; expected a tuple of captions, "
        "a Generation or a Failure"
    )


@pytest.mark.parametrize(
    ("results", "number"),
    [
        ([], "0"),
        ([("a caption",)], "1"),
        (itertools.repeat(("a caption",)), "more than 5"),
    ],
)
def test_another_number_of_results_is_an_error_also_where_they_never_end(
    results, number
):
    class Other(Model):
        def generate(self, examples, decoding, seeds):
            yield from results

    with pytest.raises(
        HarnessError, match=f"model 'm' returned {number} results for 5 examples"
    ):
        run(Other(caption))


def test_seeds_depend_on_the_run_seed_and_the_id_alone():
    whole = Model(caption)
    part = Model(caption)
    other = Model(caption)
    run(whole)
    run(part, examples=EXAMPLES[3:])
    run(other, seed=1)
    assert part.calls == whole.calls[3:]
    assert {seed for _, seed in other.calls}.isdisjoint(seed for _, seed in whole.calls)


def test_artifacts_on_disk_are_not_generated_again(small_artifacts):
    first = Model(caption)
    second = Model(caption)
    captions = run(first, small_artifacts).caption_sets()
    assert run(second, small_artifacts).caption_sets() == captions
    assert (len(first.calls), second.calls) == (5, [])


@pytest.mark.parametrize(
    ("version", "change"),
    [("2", {}), ("1", {"seed": 1}), ("1", {"decoding": Decoding(temperature=0.5)})],
)
def test_everything_that_captions_depend_on_is_part_of_the_key(
    small_artifacts, version, change
):
    run(Model(caption), small_artifacts)
    model = Model(caption, version=version)
    run(model, small_artifacts, **change)
    assert len(model.calls) == 5


def test_earlier_code_that_a_manifest_declares_equal_counts_as_the_code(
    project,
):
    text = (project / "registry.yaml").read_text()
    echo = 'echo: {import: "mine_parts:Echo", summary: repeats}'
    declared = echo.replace(
        "repeats}", "repeats, captions_of: {mine_parts: 0123abcd}}"
    ).replace("echo:", "second:")
    (project / "registry.yaml").write_text(text.replace(echo, f"{echo}, {declared}"))
    model = Model(caption)
    store = ExampleStore(EXAMPLES)
    codes = [
        caption_identities(ModelPlan("m", name, {}, model), Decoding(), store, 0)[0][4]
        for name in ("second", "echo", "not registered")
    ]
    assert codes == [{"mine_parts": "0123abcd"}, code_of([model]), code_of([model])]
    assert code_of([model]) not in ({}, None)


def test_only_a_changed_example_is_generated_again(small_artifacts):
    run(Model(caption), small_artifacts)
    model = Model(caption)
    run(
        model,
        small_artifacts,
        examples=[
            EXAMPLES[1],
            EXAMPLES[0],
            *EXAMPLES[2:4],
            Example("e4", ("edited",)),
            Example("e5", ()),
        ],
    )
    assert [name for name, _ in model.calls] == ["e4", "e5"], (
        "order and number of the examples do not matter"
    )


def test_an_adapter_of_the_whole_task_generates_all_again_when_one_example_changes(
    small_artifacts,
):
    class Whole(Model):
        def prepare(self, task: TaskView) -> None:
            return

    run(Whole(caption), small_artifacts)
    model = Whole(caption)
    run(model, small_artifacts, examples=[*EXAMPLES[:4], Example("e4", ("edited",))])
    assert len(model.calls) == 5


def test_answers_received_before_an_error_are_kept(small_artifacts):
    class Breaks(Model):
        def generate(self, examples, decoding, seeds):
            for item in super().generate(examples, decoding, seeds):
                if self.calls[-1][0] == "e3":
                    raise RuntimeError("connection lost")
                yield item

    with pytest.raises(RuntimeError):
        run(Breaks(caption), small_artifacts)
    again = Model(caption)
    run(again, small_artifacts)
    assert [name for name, _ in again.calls] == ["e3", "e4"]


class Unordered(Model):
    """Stores its results from the last example to the first;
    those of ``absent`` never arrive.
    """

    def __init__(self, produce: Any, absent: Sequence[str] = ()) -> None:
        super().__init__(produce)
        self.absent = absent

    def generate_unordered(self, examples, decoding, seeds, store):
        for position in reversed(range(len(examples))):
            if examples[position].id not in self.absent:
                self.calls.append((examples[position].id, seeds[position]))
                store(position, self.produce(examples[position]))


def test_results_that_arrive_in_any_order_belong_to_their_examples(small_artifacts):
    model = Unordered(caption)
    ordered = Model(caption)
    captions = run(model, small_artifacts)
    assert captions.caption_sets() == run(ordered).caption_sets()
    assert captions.digest(0, 5) == run(ordered).digest(0, 5)
    assert model.calls == ordered.calls[4::-1]
    assert (
        run(
            Unordered(lambda example: pytest.fail("asked again")), small_artifacts
        ).caption_sets()
        == captions.caption_sets()
    )


def test_a_result_is_on_disk_before_the_next_one_is_asked_for(small_artifacts):
    stored: list[int] = []

    def count(example):
        stored.append(
            sum(
                len(file.read_bytes().splitlines())
                for file in small_artifacts.folder.rglob("*.jsonl")
            )
        )
        return caption(example)

    run(Unordered(count), small_artifacts)
    assert stored == [0, 1, 2, 3, 4]


def test_results_that_do_not_arrive_are_an_error_and_the_others_are_kept(
    small_artifacts,
):
    with pytest.raises(
        HarnessError, match="model 'm' returned no result for 2 of 5 examples"
    ):
        run(Unordered(caption, absent=("e1", "e4")), small_artifacts)
    again = Unordered(caption)
    run(again, small_artifacts)
    assert [name for name, _ in again.calls] == ["e4", "e1"]


def test_a_torn_answer_is_asked_for_again(small_artifacts):
    run(Model(caption), small_artifacts)
    (file,) = (small_artifacts.folder / "candidates").iterdir()
    file.write_bytes(file.read_bytes()[:-10])
    again = Model(caption)
    assert (
        run(again, small_artifacts).caption_sets() == run(Model(caption)).caption_sets()
    )
    assert [name for name, _ in again.calls] == ["e4"]


def test_a_part_of_the_examples(small_artifacts):
    model = Model(caption)
    task = TaskView(EXAMPLES, Decoding())
    part = generate(
        ModelPlan("m", "mine", {}, model),
        task,
        seed=0,
        artifacts=small_artifacts,
        span=(1, 3),
    )
    assert (
        [item.id for item in part.caption_sets()]
        == [name for name, _ in model.calls]
        == ["e1", "e2"]
    )
    whole = run(model, small_artifacts)
    assert whole.digest(1, 3) == part.digest(1, 3)
    assert len(model.calls) == 5


def test_failures_are_stored_but_not_those_of_a_model_that_always_fails(
    small_artifacts,
):
    def fail(example):
        return Failure("offline") if example.id != "e1" else ("x",)

    run(Model(fail), small_artifacts)
    again = Model(fail)
    assert run(again, small_artifacts).failures == dict.fromkeys(
        ["e0", "e2", "e3", "e4"], "offline"
    )
    assert again.calls == []
    broken = Model(lambda example: Failure("offline"), version="broken")
    run(broken, small_artifacts)
    run(broken, small_artifacts)
    assert len(broken.calls) == 10


def test_an_adapter_may_refuse_the_task_before_anything_is_generated():
    class Strict(Model):
        def prepare(self, task: TaskView) -> None:
            raise InputError(f"no predictions for {len(task.examples)} examples")

    model = Strict(caption)
    with pytest.raises(InputError, match="no predictions for 5 examples"):
        run(model)
    assert model.calls == []


def test_progress_is_reported_after_each_answer(small_artifacts):
    steps: list[int] = []
    task = TaskView(EXAMPLES, Decoding())
    generate(
        ModelPlan("m", "mine", {}, Model(caption)),
        task,
        seed=0,
        artifacts=None,
        advance=steps.append,
    )
    assert steps == [0, 1, 1, 1, 1, 1]


def test_stored_answers_of_a_part_count_as_progress_at_once(small_artifacts):
    steps: list[int] = []
    model = Model(caption)
    run(model, small_artifacts)
    plan = ModelPlan("m", "mine", {}, model)
    task = TaskView(EXAMPLES, Decoding())
    generate(
        plan, task, seed=0, artifacts=small_artifacts, advance=steps.append, span=(1, 4)
    )
    assert steps == [3] and len(model.calls) == 5


def test_answers_of_earlier_runs_are_counted_in_a_note_where_there_are_any(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("HARNESS_ANSWERS", "all")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    first = Model(caption)
    second = Model(caption)
    with caplog.at_level("INFO", logger="harness"):
        captions = run(first, examples=EXAMPLES[:3]).caption_sets()
        assert not caplog.messages
        assert run(second).caption_sets()[:3] == captions
    assert caplog.messages == [
        "m: 3 answers of earlier runs (HARNESS_ANSWERS=none asks again)"
    ]
    assert [name for name, _ in second.calls] == ["e3", "e4"]
    steps: list[int] = []
    plan = ModelPlan("m", "mine", {}, second)
    task = TaskView([*EXAMPLES, Example("e5", ("r",))], Decoding())
    generate(plan, task, seed=0, advance=steps.append)
    assert steps == [0, 5, 1] and len(second.calls) == 3


def test_failures_are_not_shared_and_nothing_is_by_default(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    models = [
        Model(lambda example: Failure("offline") if example.id == "e1" else ("x",))
        for _ in range(4)
    ]
    for model, setting in zip(models, ("servers", "all", "all", "none")):
        monkeypatch.setenv("HARNESS_ANSWERS", setting)
        run(model, examples=EXAMPLES[:2])
    assert [[name for name, _ in model.calls] for model in models] == [
        ["e0", "e1"],
        ["e0", "e1"],
        ["e1"],
        ["e0", "e1"],
    ]


class ReaderModel(Model):
    """Opens the media of its examples."""

    def __init__(self, media_folder) -> None:
        super().__init__(caption)
        self.media_folder = media_folder


def test_answers_are_shared_by_the_content_of_media_and_not_at_all_without(tmp_path):
    for name, content in (("0.png", PNG + b"a"), ("1.png", PNG + b"b")):
        (tmp_path / name).write_bytes(content)
    model = ReaderModel(tmp_path)
    first, second, absent = (
        shared_key(model, Example("x", ("a",), media=name))
        for name in ("0.png", "1.png", "2.png")
    )
    assert first and second and first != second and absent is None
    assert (
        shared_key(
            model,
            Example(
                "x",
                ("a",),
                media=MediaCell(DatasetSource(str(tmp_path)), "image", 9, "9").text,
            ),
        )
        is None
    )
    (tmp_path / "1.png").write_bytes(PNG + b"a")
    assert shared_key(model, Example("x", ("a",), media="1.png")) not in (second, None)
    assert shared_key(Model(caption), Example("x", ("a",), media="2.png"))


def test_an_answer_about_media_that_cannot_be_read_is_not_shared(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("HARNESS_ANSWERS", "all")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "0.png").write_bytes(PNG)
    first = ReaderModel(tmp_path)
    second = ReaderModel(tmp_path)
    expected = run(first, examples=EXAMPLES[:2]).caption_sets()
    assert run(second, examples=EXAMPLES[:2]).caption_sets() == expected
    assert [name for name, _ in second.calls] == ["e1"]
    assert not [message for message in caplog.messages if "damaged" in message]
