"""A model under decoding settings of its own."""

import pytest

from harness.adapters.with_decoding.adapter import WithDecoding
from harness.contracts import Decoding, Example, TaskView
from harness.errors import HarnessError

EXAMPLES = [Example(id="1", references=("a",)), Example(id="2", references=("b",))]


class Echo:
    """Gives back what it was asked for."""

    def __init__(self):
        self.asked = []

    def fingerprint(self):
        return "echo"

    def prepare(self, task):
        self.asked.append(task.decoding)

    def generate(self, examples, decoding, seeds):
        self.asked.append(decoding)
        return [(f"{seed}",) for seed in seeds]


def test_fixed_settings_win_and_the_others_are_the_runs():
    model = Echo()
    adapter = WithDecoding(model=model, decoding={"strategy": "nucleus", "top_p": 0.9, "options": {"a": 1}})
    asked = Decoding(strategy="sample", temperature=0.7, candidates=10, options={"b": 2})
    assert list(adapter.generate(EXAMPLES, asked, [3, 4])) == [("3",), ("4",)]
    adapter.prepare(TaskView(EXAMPLES, asked, partial=True))
    for got in model.asked:
        assert (got.strategy, got.top_p, got.temperature, got.candidates) == ("nucleus", 0.9, 0.7, 10)
        assert dict(got.options) == {"a": 1, "b": 2}


def test_the_fingerprint_tells_settings_apart():
    prints = {WithDecoding(model=Echo(), decoding={"strategy": name}).fingerprint() for name in ("greedy", "beam")}
    assert len(prints) == 2


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        ({}, "expected some of strategy"),
        ({"temprature": 1}, "did you mean 'temperature'"),
        ({"candidates": 3}, "no 'candidates' here"),
        ({"temperature": [0.5, 1]}, "an axis belongs to the run"),
        ({"temperature": 0}, "a temperature is above 0"),
        ({"top_p": 1.5}, "a share in"),
    ],
)
def test_what_means_nothing_is_refused(decoding, message):
    with pytest.raises(HarnessError, match=message):
        WithDecoding(model=Echo(), decoding=decoding)


def test_a_model_without_scores_says_so():
    with pytest.raises(HarnessError, match="Echo scores no references"):
        WithDecoding(model=Echo(), decoding={"strategy": "greedy"}).score_references(EXAMPLES)
