"""One caption that a judge writes from several."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from harness.contracts import (
    Adapter,
    Decoding,
    Example,
    Failure,
    GeneratesUnordered,
    Generation,
    TaskView,
)
from harness.errors import HarnessError
from harness.testing import check_adapter
from harness_metrics.judges.replies import Reply
from harness_models.wrappers.consensus import Consensus

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
