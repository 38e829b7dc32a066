"""Base class of adapters around another adapter."""

from __future__ import annotations

import pytest

from harness.contracts import Decoding, Example, Scorer, TaskView, needs_whole_task
from harness.errors import HarnessError
from harness_models.wrappers.wrapper import Wrapper

WRAPPED = [Example("a", ("x",))]


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


def test_a_wrapper_needs_the_whole_task_if_it_or_its_model_does():
    assert not needs_whole_task(Sampling())
    assert needs_whole_task(Whole())


def test_a_model_without_reference_scores_is_named():
    assert isinstance(Sampling(), Scorer)
    with pytest.raises(HarnessError, match="sampling: Inner does not score references"):
        Sampling().score_references(WRAPPED)
