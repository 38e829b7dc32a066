"""Checks of readers and of task files: each one detects its fault."""

from __future__ import annotations

import pytest

from harness.contracts import Example
from harness.testing import check_reader, check_task
from harness.testing.results import NotApplicable
from harness.testing.tasks import (
    MAX_EXAMPLES,
    READER_CHECKS,
    TASK_CHECKS,
    ReaderSubject,
    TaskSubject,
)

TASK = """
task: {name}
dataset: {{reader: jsonl, path: captions.jsonl}}
models: [{{human: {{held_out: 1}}}}]
metrics: [{metric}]
bootstrap: {{samples: 0}}
"""


class Reader:
    """Three examples."""

    def __init__(self, *, fault: str = "") -> None:
        self.fault = fault
        self.passes = 0

    def fingerprint(self):
        return f"reader|{self.fault}"

    def __iter__(self):
        self.passes += 1
        if self.fault == "raises":
            raise ValueError("no such file")
        for k in range(0 if self.fault == "empty" else 3):
            yield self.example(k)

    def example(self, k):
        if self.fault == "tuple":
            return (f"e{k}", ("a dog",))
        if self.fault == "list":
            return Example(f"e{k}", ["a dog"])  # type: ignore[arg-type]
        identifier = {"ids": "same", "number": k}.get(self.fault, f"e{k}")
        text = f"a dog {self.passes if self.fault == 'changes' else ''}"
        references = () if self.fault == "references" else (text,)
        return Example(identifier, references)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fault", "check", "reason"),
    [
        ("raises", "examples", "raised ValueError: no such file"),
        ("empty", "examples", "yields no example"),
        ("tuple", "examples", "yields tuple at 0; expected an Example"),
        ("number", "examples", "the id of example 0 is 0; expected a text"),
        ("ids", "examples", "two examples have the id 'same'"),
        (
            "list",
            "examples",
            "'e0': references are ['a dog']; expected a tuple of texts",
        ),
        ("references", "examples", "'e0' has no references"),
        (
            "changes",
            "deterministic",
            "returns other examples when run again: example 0",
        ),
    ],
)
def test_a_fault_of_a_reader_is_detected(fault, check, reason, outcome):
    result = outcome("readers", check, Reader(fault=fault))
    assert result.failed
    assert result.reason == reason


def test_a_sound_reader_passes_all_checks():
    outcomes = check_reader(Reader())
    assert {o.status for o in outcomes} == {"pass"}
    assert tuple(o.check for o in outcomes) == READER_CHECKS.names


def test_other_checks_refer_to_a_reader_that_raises(outcome):
    result = outcome("readers", "prints-nothing", Reader(fault="raises"))
    assert (result.status, result.reason) == (
        "not applicable",
        "returns no examples (ValueError): see 'examples'",
    )


def test_a_long_reader_is_read_in_part():
    class Long(Reader):
        """Endless examples."""

        def __iter__(self):
            k = 0
            while True:
                k += 1
                yield Example(f"e{k}", ("a dog",))

    subject = ReaderSubject(Long())
    assert len(subject.compute()) == MAX_EXAMPLES
    assert subject.difference([1, 2], [1, 3]) == "example 1"
    assert subject.difference([1, 2], [1]) == "2 and 1 examples"


@pytest.fixture
def task(tmp_path):
    """Return a function that writes a task file and returns its path."""

    def write(
        name="sample",
        metric="distinct",
        references='["a dog runs", "the dog ran", "one dog"]',
    ):
        rows = [f'{{"id": "{k}", "references": {references}}}' for k in range(4)]
        (tmp_path / "captions.jsonl").write_text("\n".join(rows) + "\n")
        (tmp_path / "task.yaml").write_text(TASK.format(name=name, metric=metric))
        return tmp_path / "task.yaml"

    return write


def test_a_sound_task_passes_all_checks(task):
    outcomes = check_task(task())
    assert {o.check: o.reason for o in outcomes if o.status != "pass"} == {}
    assert tuple(o.check for o in outcomes) == TASK_CHECKS.names


def test_a_task_that_is_not_valid(task):
    outcomes = {o.check: o for o in check_task(task(metric="distnct"))}
    assert outcomes["valid"].failed
    assert "did you mean 'distinct'?" in outcomes["valid"].reason
    assert outcomes["runs"].status == "not applicable"
    assert outcomes["runs"].reason.endswith("see 'valid'")
    with pytest.raises(NotApplicable, match="the spec is not valid"):
        _ = TaskSubject(task(metric="distnct")).valid_plans


def test_a_task_without_a_name(task):
    result = TASK_CHECKS.run_one("complete", TaskSubject(task(name='" "')))
    assert (result.status, result.reason) == ("fail", "has no name")


def test_a_task_whose_examples_fail(task):
    result = TASK_CHECKS.run_one("runs", TaskSubject(task(references='["a dog runs"]')))
    assert result.failed
    assert result.reason
