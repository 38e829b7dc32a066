"""Adapters around another adapter."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from harness.contracts import (
    Adapter,
    Decoding,
    Example,
    Failure,
    GeneratesUnordered,
    Generation,
    Prepares,
    Scorer,
    TaskView,
    needs_whole_task,
)
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import check_adapter
from harness_metrics.judges.replies import Reply
from harness_models.wrappers import adapter as wrappers
from harness_models.wrappers.consensus import Consensus
from harness_models.wrappers.mbr import Mbr, rank_captions
from harness_models.wrappers.with_decoding import SETTINGS, WithDecoding
from harness_models.wrappers.wrapper import Wrapper

WRAPPED = [Example("a", ("x",))]
EXAMPLES = [Example(id="1", references=("a",)), Example(id="2", references=("b",))]
POOL = ("a dog runs", "a red bus", "a dog runs", "a dog sits", "the dog runs fast")
EXAMPLE = Example("x", ("a dog", "a cat"))


class Inner:
    prepare_only_checks = True

    def __init__(self):
        self.decodings = []

    def fingerprint(self):
        return "inner"

    def prepare(self, task):
        self.decodings.append(task.decoding.strategy)

    def generate(self, examples, decoding, seeds):
        self.decodings.append(decoding.strategy)
        return [("caption",) for _ in examples]


class Sampling(Wrapper):
    kind = "sampling"

    def __init__(self):
        self.model = Inner()

    def inner_decoding(self, decoding):
        return Decoding("sample")


class Whole(Sampling):
    whole_task = True


def test_the_model_sees_the_decoding_of_the_wrapper():
    wrapper = Sampling()
    wrapper.prepare(TaskView(WRAPPED, Decoding("greedy")))
    assert list(wrapper.generate(WRAPPED, Decoding("greedy"), [1])) == [("caption",)]
    assert wrapper.model.decodings == ["sample", "sample"]


class Served(Inner):
    """Stores its results in another order than that of the examples."""

    def fingerprint(self):
        return "served"

    def generate_unordered(self, examples, decoding, seeds, store):
        for position in reversed(range(len(examples))):
            store(
                position,
                Generation(
                    (
                        f"{examples[position].id} {decoding.temperature} "
                        f"{seeds[position]}",
                    )
                ),
            )


def test_results_of_a_server_pass_through_as_they_arrive():
    wrapper = WithDecoding(model=Served(), decoding={"temperature": 0.5})
    stored = []
    assert isinstance(wrapper, GeneratesUnordered)
    wrapper.generate_unordered(
        EXAMPLES,
        Decoding(),
        [3, 4],
        lambda position, result: stored.append((position, result.candidates)),
    )
    assert stored == [
        (1, (f"{EXAMPLES[1].id} 0.5 4",)),
        (0, (f"{EXAMPLES[0].id} 0.5 3",)),
    ]


def test_a_wrapper_of_a_model_in_order_gives_results_in_order():
    assert not isinstance(
        WithDecoding(model="human", decoding={"temperature": 0.5}), GeneratesUnordered
    )


def test_a_wrapper_needs_the_whole_task_if_it_or_its_model_does():
    assert not needs_whole_task(Sampling())
    assert needs_whole_task(Whole())


def test_a_model_without_reference_scores_is_named():
    assert isinstance(Sampling(), Scorer)
    with pytest.raises(HarnessError, match="sampling: Inner does not score references"):
        Sampling().score_references(WRAPPED)


class Recorder:
    """An adapter that records the decodings of its calls."""

    def __init__(self) -> None:
        self.decodings: list[Decoding] = []

    def fingerprint(self) -> str:
        return "recorder"

    def prepare(self, task: TaskView) -> None:
        self.decodings.append(task.decoding)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> list[tuple[str, ...]]:
        self.decodings.append(decoding)
        return [(f"{seed}",) for seed in seeds]


class Silent:
    """An adapter without the optional methods."""

    def fingerprint(self) -> str:
        return "silent"

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> list[tuple[str, ...]]:
        return []


def test_every_field_except_the_number_of_candidates_can_be_fixed():
    assert list(SETTINGS) == [
        f.name for f in fields(Decoding) if f.name != "candidates"
    ]


def test_fixed_settings_replace_those_of_the_run():
    model = Recorder()
    adapter = WithDecoding(
        model=model, decoding={"strategy": "nucleus", "top_p": 0.9, "options": {"a": 1}}
    )
    assert isinstance(adapter, Adapter) and isinstance(adapter, Prepares)
    decoding = Decoding(
        strategy="sample", temperature=0.7, candidates=10, options={"b": 2}
    )
    assert list(adapter.generate(EXAMPLES, decoding, [3, 4])) == [("3",), ("4",)]
    adapter.prepare(TaskView(EXAMPLES, decoding, partial=True))
    expected = Decoding(
        "nucleus", 0.7, top_p=0.9, candidates=10, options={"a": 1, "b": 2}
    )
    assert model.decodings == [expected, expected]


def test_values_are_converted_to_their_types():
    settings: dict[str, Any] = {
        "temperature": 1,
        "top_p": 1,
        "top_k": "5",
        "beams": None,
    }
    adapter = WithDecoding(model=Silent(), decoding=settings)
    assert adapter.fingerprint() == (
        'with-decoding|{"beams": null, "temperature": 1.0, "top_k": 5, "top_p": '
        "1.0}|silent"
    )


def test_the_fingerprint_depends_on_the_settings():
    fingerprints = {
        WithDecoding(model=Silent(), decoding={"strategy": s}).fingerprint()
        for s in ("greedy", "beam")
    }
    assert len(fingerprints) == 2


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        (
            {},
            "decoding is {}; expected some of strategy, temperature, top_p, top_k, "
            "beams, length_penalty, max_length",
        ),
        ("greedy", "decoding is 'greedy'; expected some of strategy"),
        (
            {"temprature": 1},
            "decoding has no 'temprature' here; did you mean 'temperature'?; "
            "expected some of",
        ),
        ({"candidates": 3}, "decoding has no 'candidates' here"),
        (
            {"temperature": [0.5, 1]},
            "temperature is a list; an axis belongs to the decoding of the run",
        ),
        (
            {"temperature": 0},
            "temperature is 0; expected greater than 0 (use strategy: "
            "greedy for the limit of 0)",
        ),
        ({"temperature": float("nan")}, "temperature is nan; expected a finite number"),
        (
            {"strategy": "beam", "temperature": "hot"},
            "temperature is 'hot'; expected a number",
        ),
        ({"temperature": None}, "temperature is None; expected a number"),
        ({"top_p": 1.5}, "top_p is 1.5; expected less than or equal to 1"),
        ({"top_k": 0}, "top_k is 0; expected greater than or equal to 1"),
        ({"beams": "1..4"}, "beams is '1..4'; expected a integer"),
        ({"max_length": 2.5}, "max_length is 2.5; expected a integer"),
        ({"options": "a"}, "options is 'a'; expected a dictionary"),
    ],
)
def test_settings_that_do_not_fit_are_refused(decoding: Any, message: str):
    with pytest.raises(HarnessError) as caught:
        WithDecoding(model=Silent(), decoding=decoding)
    assert str(caught.value).startswith(f"with-decoding: {message}")
    assert "\n" not in str(caught.value)


def test_optional_methods_follow_the_model():
    adapter = WithDecoding(model=Silent(), decoding={"strategy": "greedy"})
    adapter.prepare(TaskView(EXAMPLES, Decoding()))
    with pytest.raises(HarnessError, match="Silent does not score references"):
        adapter.score_references(EXAMPLES)


class Model:
    """Adapter with fixed captions, which records the decoding that it gets."""

    def __init__(self, results):
        self.results = results
        self.decodings = []

    def fingerprint(self):
        return "model"

    def prepare(self, task):
        self.decodings.append(task.decoding)

    def generate(self, examples, decoding, seeds):
        self.decodings.append(decoding)
        return iter(self.results)


class Words:
    """Distance by the number of words of the hypothesis that the reference lacks."""

    name = "words"

    def signature(self):
        return "words"

    def matrices(self, batch, features):
        return np.array(
            [
                [
                    [float(len(set(h.split()) - set(r.split()))) for r in texts]
                    for h in texts
                ]
                for texts in batch.texts
            ]
        )


def test_the_smallest_risk_first_and_repeated_captions_last():
    # sums of missing words: 4 ("a dog runs", twice), 9, 6 and 11
    (order,) = rank_captions([POOL], Words(), FeatureCache([EXAMPLE.references]))
    assert order == [0, 3, 1, 4, 2]
    assert rank_captions([("one",), ("a", "b")], Words(), FeatureCache([("x",)])) == [
        [0],
        [0, 1],
    ]


def test_all_fields_follow_and_failures_pass():
    generation = Generation(
        POOL, ("kept",), tuple(map(float, range(5))), tuple(range(5)), ("stop",) * 5
    )
    model = Model([generation, Failure("no image"), POOL])
    mbr = Mbr(model=model, distance=Words(), pool=5)
    decoding = Decoding(strategy="sample", candidates=2)
    mbr.prepare(TaskView([EXAMPLE] * 3, decoding))
    first, failed, plain = mbr.generate([EXAMPLE] * 3, decoding, [1, 2, 3])
    assert first == Generation(
        (POOL[0], POOL[3]), ("kept",), (0.0, 3.0), (0, 3), ("stop", "stop")
    )
    assert failed == Failure("no image")
    assert plain.candidates == first.candidates
    assert [d.candidates for d in model.decodings] == [5, 5]
    (single,) = Mbr(model=Model([POOL]), distance=Words()).generate(
        [EXAMPLE], Decoding(), [1]
    )
    assert single.candidates == (POOL[0],)


class Pools(Model):
    """Gives a pool of its own to each example, the last example first;
    its ``generate`` gives the same in order.
    """

    def pool(self, example):
        return (f"a dog {example.id}", *POOL[:4])

    def generate(self, examples, decoding, seeds):
        self.stored = []
        for example in examples:
            yield self.pool(example)
            self.stored.append(example.id)

    def generate_unordered(self, examples, decoding, seeds, store):
        for position in reversed(range(len(examples))):
            store(position, Generation(self.pool(examples[position])))


def test_a_pool_is_ranked_as_soon_as_it_is_there(monkeypatch):
    monkeypatch.setattr(wrappers, "KEPT_POOLS", 2)
    examples = [Example(str(k), ("a dog", "a cat")) for k in range(5)]
    model = Pools([])
    decoding = Decoding("sample", candidates=2)
    mbr = Mbr(model=model, distance="cider", pool=5)
    mbr.prepare(TaskView(examples, decoding))
    results = mbr.generate(examples, decoding, [0] * 5)
    first = next(results)
    assert model.stored == []  # the model has not been asked for the second example
    in_order = [first, *results]
    stored = []
    mbr.generate_unordered(
        examples,
        decoding,
        [0] * 5,
        lambda position, result: stored.append((position, result)),
    )
    assert [position for position, _ in stored] == [4, 3, 2, 1, 0]
    assert [result for _, result in reversed(stored)] == in_order
    assert rank_captions(
        [model.pool(example) for example in examples],
        mbr.distance,
        FeatureCache([e.references for e in examples]),
    ) == [
        rank_captions(
            [model.pool(example)],
            mbr.distance,
            FeatureCache([e.references for e in examples]),
        )[0]
        for example in examples
    ]


def test_a_registered_distance_and_the_fingerprint():
    mbr = Mbr(model=Model([POOL]), distance="bleu", pool=5)
    assert mbr.fingerprint().startswith("mbr|pool=5|")
    (result,) = mbr.generate([EXAMPLE], Decoding(candidates=1), [0])
    assert result.candidates == ("a dog runs",)


def test_mistakes():
    with pytest.raises(
        HarnessError, match="Mbr: pool is 1; expected a whole number of at least 2"
    ):
        Mbr(model=Model([]), pool=1)
    with pytest.raises(
        HarnessError, match="mbr: 20 candidates cannot be chosen from a pool of 16"
    ):
        list(
            Mbr(model=Model([]), distance="bleu").generate(
                [EXAMPLE], Decoding(candidates=20), [0]
            )
        )
    with pytest.raises(HarnessError, match="mbr: Model does not score references"):
        Mbr(model=Model([]), distance="bleu").score_references([EXAMPLE])


SUMMARISED = [
    Example(str(k), ("a dog", "the dog", "one dog", "dogs")) for k in range(4)
]


class Fixed:
    """Model with the same candidates for every example; the third example fails,
    the fourth has none.
    """

    def __init__(self) -> None:
        self.decodings: list[Decoding] = []

    def fingerprint(self) -> str:
        return "fixed"

    def prepare(self, task: TaskView) -> None:
        self.decodings.append(task.decoding)

    def generate(self, examples, decoding, seeds):
        self.decodings.append(decoding)
        for example in examples:
            if example.id == "2":
                yield Failure("broken image")
            elif example.id == "3":
                yield ()
            else:
                yield Generation(
                    (f"dog {example.id}", "a dog")[: decoding.candidates], ("other",)
                )


class Echo:
    """Judge that answers with the first caption of the prompt."""

    def signature(self) -> str:
        return "echo"

    def complete(self, conversations, store) -> None:
        for index, talk in enumerate(conversations):
            lines = [
                line
                for line in talk[0]["content"].splitlines()
                if line.startswith("- ")
            ]
            store(index, Reply(f'"{json.loads(lines[-1][2:])}"\n'))


class Mute(Echo):
    """Judge that refuses."""

    def signature(self) -> str:
        return "mute"

    def complete(self, conversations, store) -> None:
        for index in range(len(conversations)):
            store(index, Reply("I cannot help with that."))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def generated(adapter: Consensus) -> list[Any]:
    return list(adapter.generate(SUMMARISED, Decoding(candidates=3), [0] * 4))


def test_candidates_become_one_caption_and_failures_stay():
    model = Fixed()
    adapter = Consensus(model=model, judge=Echo(), candidates=2)
    assert isinstance(adapter, Adapter)
    first, second, third, fourth = generated(adapter)
    assert (first, second) == (
        Generation(("dog 0",), ("other",)),
        Generation(("dog 1",), ("other",)),
    )
    assert third == Failure("broken image")
    assert fourth == Failure("the model has no caption to summarise")
    adapter.prepare(TaskView(SUMMARISED, Decoding()))
    assert [decoding.candidates for decoding in model.decodings] == [2, 2]


class FixedServer(Fixed):
    """Stores the same results, the last example first,
    and waits for the third until the others are stored.
    """

    def __init__(self, stored) -> None:
        super().__init__()
        self.stored = stored

    def generate_unordered(self, examples, decoding, seeds, store):
        results = list(self.generate(examples, decoding, seeds))
        for position in (3, 1, 0):
            result = results[position]
            store(
                position,
                result if isinstance(result, Generation) else Generation(tuple(result)),
            )
        deadline = time.monotonic() + 10
        while len(self.stored) < 3 and time.monotonic() < deadline:
            time.sleep(0.002)
        store(2, results[2])


def test_captions_are_summarised_while_the_model_goes_on(monkeypatch):
    stored: dict[int, Any] = {}
    adapter = Consensus(model=FixedServer(stored), judge=Echo(), candidates=2)
    adapter.generate_unordered(
        SUMMARISED, Decoding(candidates=3), [0] * 4, stored.__setitem__
    )
    assert list(stored)[-1] == 2 and [stored[k] for k in range(4)] == generated(
        Consensus(model=Fixed(), judge=Echo(), candidates=2)
    )
    assert not isinstance(Consensus(model=Fixed(), judge=Echo()), GeneratesUnordered)


def test_an_error_of_the_model_ends_the_summaries():
    class Down(FixedServer):
        def generate_unordered(self, examples, decoding, seeds, store):
            store(1, Generation(("dog 1", "a dog")))
            raise HarnessError("the server is down")

    stored: dict[int, Any] = {}
    with pytest.raises(HarnessError, match="the server is down"):
        Consensus(model=Down(stored), judge=Echo()).generate_unordered(
            SUMMARISED, Decoding(), [0] * 4, stored.__setitem__
        )
    assert list(stored) == [1]


def test_a_refusal_is_a_failure():
    assert generated(Consensus(model=Fixed(), judge=Mute()))[0] == Failure(
        "the answer of the judge is refused"
    )


def test_the_contract_holds():
    outcomes = check_adapter(
        Consensus(model={"human": {"held_out": 2}}, judge=Echo(), candidates=2),
        examples=SUMMARISED,
    )
    assert {o.check: o.reason for o in outcomes if o.failed} == {}


def test_the_fingerprint_has_model_judge_and_prompt():
    texts = {
        Consensus(model=Fixed(), judge=Echo()).fingerprint(),
        Consensus(model=Fixed(), judge=Mute()).fingerprint(),
        Consensus(model=Fixed(), judge=Echo(), candidates=3).fingerprint(),
        Consensus(model=Fixed(), judge=Echo(), prompt="{candidates}").fingerprint(),
    }
    assert len(texts) == 4


def test_settings_are_checked():
    with pytest.raises(
        HarnessError, match="candidates is 1; expected a whole number of at least 2"
    ):
        Consensus(model=Fixed(), judge=Echo(), candidates=1)
    with pytest.raises(HarnessError, match="consensus: prompt has no {candidates}"):
        Consensus(model=Fixed(), judge=Echo(), prompt="x")
    with pytest.raises(HarnessError, match="consensus: judge is"):
        Consensus(model=Fixed(), judge=3)
