"""Checks of an adapter: each one detects its fault."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Decoding, Failure, Generation, TaskView, TokenScores
from harness.errors import InputError
from harness.testing import check_adapter
from harness.testing.adapters import (
    ADAPTER_CHECKS,
    AdapterSubject,
    captions,
    results_difference,
)
from harness.testing.sample_captions import examples

CASES = [
    ("address", "fingerprint", "fingerprint() contains an object's address"),
    ("short", "generates", "returned 5 results for 6 examples"),
    (
        "numbers",
        "generates",
        "generate returned (1, 2); expected captions, a Generation or a Failure",
    ),
    ("fails", "generates", "returned no caption: out of memory"),
    ("log_probs", "results", "scene-0: log_probs has 3 entries for 2 candidates"),
    (
        "references",
        "results",
        "scene-0: returns references that the example does not have",
    ),
    ("held out", "results", "scene-0: held_out is (0,), and other references are left"),
    ("no reference", "results", "scene-0: no reference is left to score"),
    ("no reason", "results", "scene-0: a failure without a reason"),
    ("one", "candidates", "returns 1 captions for decoding.candidates = 2"),
    (
        "global",
        "same-seeds-same-captions",
        "returns other captions when run again: scene-0 gets ",
    ),
    ("shared", "batch-split", "in batches of 1"),
    ("reversed", "example-order", "in another order"),
    ("raises", "failures-yielded", "raised OSError: no-such-folder/no-such-file.png"),
    ("entries", "score-references", "scene-0: 4 entries for 5 references"),
    ("probability", "score-references", "scene-0: a log-probability above 0, or NaN"),
    ("rank", "score-references", "scene-0: a rank below 0"),
    ("modifies", "inputs-unchanged", "modifies the examples"),
    (
        "global",
        "random-state",
        "draws from numpy's global random state; use np.random.default_rng(seed)",
    ),
    (
        "counts",
        "fingerprint-in-use",
        "the fingerprint changes when the component is used",
    ),
    ("parameter", "parameters", "times=2 changes the captions but not the fingerprint"),
    ("nan", "json-safe", "scene-0: Out of range float values are not JSON compliant"),
]


class Shuffler:
    """Words of the first reference in random order."""

    def __init__(self, *, fault: str = "", times: int = 1) -> None:
        self.fault = fault
        self.times = times
        self.calls = 0

    def fingerprint(self):
        if self.fault == "address":
            return repr(self)
        count = self.calls if self.fault == "counts" else ""
        times = "" if self.fault == "parameter" else self.times
        return f"shuffler|{self.fault}|{times}|{count}"

    def generate(self, examples, decoding, seeds):
        self.calls += 1
        shared = np.random.default_rng(0)
        if self.fault == "reversed":
            examples = examples[::-1]
        for k, (example, seed) in enumerate(zip(examples, seeds)):
            if example.media:
                if self.fault == "raises":
                    raise OSError(example.media)
                yield Failure("no such image")
                continue
            rng = shared if self.fault == "shared" else np.random.default_rng(seed)
            if self.fault == "global":
                rng = np.random.default_rng(np.random.randint(1 << 30))
            if self.fault == "modifies":
                object.__setattr__(example, "source", "other")
            words = rng.permutation(example.references[0].split()).tolist() * self.times
            count = (
                1
                if self.fault == "one" and decoding.candidates == 2
                else decoding.candidates or 2
            )
            yield from self.result(k, (" ".join(words),) * count)

    def result(self, k, texts):
        if self.fault == "log_probs":
            yield Generation(texts, log_probs=(0.5,) * (len(texts) + 1))
        elif self.fault == "references":
            yield Generation(texts, ("unknown",))
        elif self.fault == "held out":
            yield Generation(texts, held_out=(0,))
        elif self.fault == "no reference":
            yield Generation(texts, ())
        elif self.fault == "nan":
            yield Generation(texts, log_probs=(float("nan"),) * len(texts))
        elif self.fault == "no reason":
            yield Failure("") if k == 0 else texts
        elif self.fault == "fails":
            yield Failure("out of memory")
        elif not (self.fault == "short" and k == 0):
            yield texts if self.fault != "numbers" else (1, 2)

    def score_references(self, examples):
        probability = 1.5 if self.fault == "probability" else 0.5
        ranks = np.array([0, -1 if self.fault == "rank" else 3])
        for example in examples:
            references = example.references[: -1 if self.fault == "entries" else None]
            yield [TokenScores(np.log([0.5, probability]), ranks) for _ in references]


@pytest.mark.parametrize(("fault", "check", "reason"), CASES)
def test_a_fault_is_detected(fault, check, reason, outcome):
    result = outcome("adapters", check, Shuffler(fault=fault))
    assert result.failed
    assert reason in result.reason


def test_every_check_has_a_fault():
    shared = {"described", "prints-nothing", "writes-nothing"}
    assert {check for _, check, _ in CASES} | shared == set(ADAPTER_CHECKS.names)


def test_a_sound_adapter_passes_all_checks():
    assert {
        o.check: o.reason for o in check_adapter(Shuffler()) if o.status != "pass"
    } == {}


class Prepared(Shuffler):
    """Shuffler that looks at the task first."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: list[TaskView] = []

    def prepare(self, task: TaskView) -> None:
        self.tasks.append(task)
        if any(example.media for example in task.examples):
            raise InputError("no images")


def test_the_adapter_is_prepared_with_the_whole_task():
    adapter = Prepared()
    subject = AdapterSubject(adapter, decoding=Decoding(candidates=3))
    results = subject.generate(subject.examples[:2])
    assert [len(texts) for texts in captions(results)] == [3, 3]
    assert [len(task.examples) for task in adapter.tasks] == [6]
    assert adapter.tasks[0].decoding.candidates == 3


def test_unreadable_media_may_be_reported_before_captions_are_generated(outcome):
    result = outcome("adapters", "failures-yielded", Prepared())
    assert result.status == "not applicable"
    assert result.reason == "reports it before generating captions: no images"


def test_differences_of_results():
    items = examples(count=2)
    results = [Generation(("a",)), Generation(("b",))]
    assert results_difference(items, results, list(results)) == ""
    assert results_difference(items, results, results[:1]) == "1 results instead of 2"
    assert (
        results_difference(items, results, [results[0], Failure("x")])
        == "scene-1 gets () instead of ('b',)"
    )
    other = [results[0], Generation(("b",), items[1].references[:1])]
    assert results_difference(items, results, other) == "scene-1 has other references"
