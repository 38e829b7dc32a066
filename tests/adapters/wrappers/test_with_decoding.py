"""Models with some decoding settings fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pytest

from harness.contracts import (
    Adapter,
    Decoding,
    Example,
    GeneratesUnordered,
    Generation,
    Prepares,
    TaskView,
)
from harness.errors import HarnessError
from harness_models.wrappers.with_decoding import SETTINGS, WithDecoding

EXAMPLES = [Example(id="1", references=("a",)), Example(id="2", references=("b",))]


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
